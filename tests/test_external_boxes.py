"""External classifiers: programs, HTTP services and torch modules."""

from __future__ import annotations

import contextlib
import gc
import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import countergraph as cg
from countergraph.errors import AnswerError, BlackBoxError, InputError
from countergraph.oracle.json_lines import decode, encode
from tests.conftest import random_graphs

GRAPHS = random_graphs(9, 7, seed=4)
DENSE = (GRAPHS.sum(axis=1) > 6).astype(int).tolist()

ANSWERS_EACH_LINE = """
import json, sys
for line in sys.stdin:
    graph = json.loads(line)
    print(json.dumps({"id": graph["id"], "label": int(len(graph["edges"]) > 6)}), flush=True)
"""
READS_TO_END = ANSWERS_EACH_LINE.replace(
    "for line in sys.stdin:", "for line in reversed(sys.stdin.read().splitlines()):"
)


def program(tmp_path: Path, code: str, **options) -> cg.Program:
    path = tmp_path / "classifier.py"
    path.write_text(code)
    return cg.Program([sys.executable, str(path)], **options)


def test_json_lines() -> None:
    lines = encode(GRAPHS).splitlines()
    first = json.loads(lines[0])
    assert (first["id"], first["n_regions"], len(first["edges"])) == (0, 7, GRAPHS[0].sum())
    assert all(i < j for i, j in first["edges"])
    assert decode(['{"id": 1, "label": "b"}', "", '{"id": 0, "label": "a"}'], 2, "program") == ["a", "b"]
    for answers, message in (
        (["not JSON"], "must answer with lines such as"),
        (['{"id": 0}'], "must answer with lines such as"),
        (['{"id": 7, "label": 1}'], "answered with id 7, which is unknown"),
        (['{"id": 0, "label": 1}', '{"id": 0, "label": 1}'], "was already answered"),
        (['{"id": 0, "label": 1}'], "answered only 1 of 2 graphs"),
    ):
        with pytest.raises(AnswerError, match=message):
            decode(answers, 2, "program")


def test_programs_keep_running_between_batches(tmp_path: Path) -> None:
    with program(tmp_path, ANSWERS_EACH_LINE) as classifier:
        oracle = cg.Oracle(classifier)
        assert oracle.ask(GRAPHS).tolist() == DENSE
        first = classifier._running
        assert oracle.ask(GRAPHS[::-1]).tolist() == DENSE[::-1]
        assert classifier._running is first
        assert cg.find_counterfactual(classifier, GRAPHS[0]).found
    assert classifier._running is None


def test_programs_that_read_their_input_to_the_end(tmp_path: Path) -> None:
    classifier = program(tmp_path, READS_TO_END, keep_alive=False)
    assert cg.Oracle(classifier).ask(GRAPHS).tolist() == DENSE
    with pytest.raises(BlackBoxError, match="did not answer within 0.5 s; .*keep_alive=False .attempts: 1."):
        cg.Oracle(program(tmp_path, READS_TO_END, timeout=0.5, retries=0)).ask(GRAPHS)


def test_large_batches_do_not_cause_a_deadlock(tmp_path: Path) -> None:
    many = random_graphs(3000, 40, seed=0)
    with program(tmp_path, ANSWERS_EACH_LINE) as classifier:
        assert len(cg.Oracle(classifier).ask(many)) == 3000


def test_programs_that_end_are_restarted(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    ends_once = f"""
import os, sys
if not os.path.exists({str(marker)!r}):
    open({str(marker)!r}, "w").close()
    sys.exit("out of memory")
{ANSWERS_EACH_LINE}
"""
    with program(tmp_path, ends_once) as classifier:
        assert cg.Oracle(classifier).ask(GRAPHS).tolist() == DENSE
    marker.unlink()
    with pytest.raises(BlackBoxError, match="ended with exit code 1: out of memory .attempts: 1."):
        cg.Oracle(program(tmp_path, ends_once, retries=0)).ask(GRAPHS)
    with pytest.raises(BlackBoxError, match="ended with exit code 3"):
        cg.Oracle(program(tmp_path, "import sys; sys.exit(3)", keep_alive=False)).ask(GRAPHS)


def test_programs_are_stopped_by_garbage_collection(tmp_path: Path) -> None:
    keeps_running = ANSWERS_EACH_LINE + "\nimport time\ntime.sleep(60)"
    classifier = program(tmp_path, keeps_running)
    assert cg.Oracle(classifier).ask(GRAPHS).tolist() == DENSE
    assert classifier._running is not None
    process = classifier._running.process
    del classifier
    gc.collect()
    assert process.poll() is not None
    with pytest.raises(InputError, match="retries must be"):
        program(tmp_path, ANSWERS_EACH_LINE, retries=-1)
    with pytest.raises(InputError, match="retries must be"):
        cg.Endpoint("http://localhost", retries=-1)


def test_invalid_output_and_missing_programs_raise(tmp_path: Path) -> None:
    with pytest.raises(AnswerError, match="must answer with lines such as .* not 'hello"):
        cg.Oracle(program(tmp_path, "for _ in range(9): print('hello', flush=True)")).ask(GRAPHS)
    with pytest.raises(BlackBoxError, match="'no-such-program' cannot be started"):
        cg.Oracle(cg.Program(["no-such-program"])).ask(GRAPHS)
    with pytest.raises(InputError, match="command must be a list of strings"):
        cg.Program("Rscript model.R")


class Service(BaseHTTPRequestHandler):
    """Service whose behaviour depends on the path."""

    requests = 0

    def do_POST(self) -> None:
        Service.requests += 1
        lines = self.rfile.read(int(self.headers["Content-Length"])).decode().splitlines()
        status = {"/busy": 503 if Service.requests < 3 else 200, "/down": 500, "/forbidden": 403}.get(self.path, 200)
        if self.path == "/slow":
            time.sleep(2)
        self.send_response(status)
        self.end_headers()
        for graph in map(json.loads, lines):
            label = "unknown" if self.path == "/unknown" else int(len(graph["edges"]) > 6)
            self.wfile.write((json.dumps({"id": graph["id"], "label": label}) + "\n").encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Service.requests = 0
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_services(service: str) -> None:
    assert cg.Oracle(cg.Endpoint(service)).ask(GRAPHS).tolist() == DENSE
    assert Service.requests == 1, "one request per batch"
    Service.requests = 0
    assert cg.Oracle(cg.Endpoint(f"{service}/busy")).ask(GRAPHS).tolist() == DENSE
    assert Service.requests == 3, "the request is repeated while the service is busy"


def test_failing_services_raise(service: str) -> None:
    for path, message in (
        ("down", r"returned status 500 \(Internal Server Error\) .attempts: 2."),
        ("forbidden", r"returned status 403 \(Forbidden\) .attempts: 1."),
    ):
        with pytest.raises(BlackBoxError, match=message):
            cg.Oracle(cg.Endpoint(f"{service}/{path}", retries=1)).ask(GRAPHS)
    with pytest.raises(BlackBoxError, match="did not answer within 0.3 s"):
        cg.Oracle(cg.Endpoint(f"{service}/slow", timeout=0.3, retries=0)).ask(GRAPHS)
    with pytest.raises(AnswerError, match="'unknown', which is none of the classes"):
        cg.Oracle(cg.Endpoint(f"{service}/unknown"), classes=("TD", "ASD")).ask(GRAPHS)
    with pytest.raises(BlackBoxError, match="cannot be reached"):
        cg.Oracle(cg.Endpoint("http://127.0.0.1:9", retries=0)).ask(GRAPHS)
    with pytest.raises(InputError, match="url must start with http"):
        cg.Endpoint("ftp://x")


def test_torch_modules() -> None:
    import torch

    def linear(out: int) -> torch.nn.Module:
        layer = torch.nn.Linear(21, out)
        with torch.no_grad():
            layer.weight.zero_()
            layer.bias.zero_()
            layer.weight[-1] += 1
            layer.bias[-1] -= 6.5
        return layer

    two, one = cg.TorchModel(linear(2), input="edges"), cg.TorchModel(linear(1), input="edges")
    assert cg.Oracle(two).ask(GRAPHS).tolist() == cg.Oracle(one).ask(GRAPHS).tolist() == DENSE
    probabilities = cg.Oracle(two).probabilities(GRAPHS)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert (probabilities[:, 1] > 0.5).astype(int).tolist() == DENSE
    flat = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(49, 3))
    assert cg.find_counterfactual(cg.TorchModel(flat), GRAPHS[0], max_calls=50).original_label in (0, 1, 2)
    with pytest.raises(InputError, match="module must be a torch.nn.Module, not int"):
        cg.TorchModel(3)
    with pytest.raises(BlackBoxError, match="must return logits"):
        cg.Oracle(cg.TorchModel(torch.nn.Linear(21, 2), input="edges", prepare=lambda t: (t[:1],))).ask(GRAPHS)
    with pytest.raises(InputError, match="Sequential is a torch module: wrap it in TorchModel"):
        cg.find_counterfactual(flat, GRAPHS[0])
    with pytest.raises(BlackBoxError, match="not finite"):
        cg.Oracle(cg.TorchModel(torch.nn.Linear(21, 2), input="edges", prepare=lambda t: (t / 0,))).ask(GRAPHS)


def test_probabilities_are_not_interpreted_as_logits() -> None:
    import torch

    layer = torch.nn.Linear(21, 1)
    with torch.no_grad():
        layer.weight.zero_().add_(1)
        layer.bias.zero_().sub_(6.5)
    sigmoid = torch.nn.Sequential(layer, torch.nn.Sigmoid())
    declared = cg.TorchModel(sigmoid, input="edges", probabilities=True)
    assert cg.Oracle(declared).ask(GRAPHS).tolist() == DENSE
    assert np.allclose(
        declared.predict_proba(GRAPHS)[:, 1], sigmoid(torch.from_numpy(GRAPHS.astype("f4"))).detach()[:, 0]
    )
    with pytest.raises(BlackBoxError, match=r"outputs of the module are between 0 and 1.*probabilities=True"):
        cg.find_counterfactuals(cg.TorchModel(sigmoid, input="edges"), GRAPHS)
    with pytest.raises(BlackBoxError, match="the outputs of the module are not probabilities"):
        cg.Oracle(cg.TorchModel(layer, input="edges", probabilities=True)).ask(GRAPHS)
    as_logits = cg.TorchModel(sigmoid, input="edges", probabilities=False)
    assert set(cg.Oracle(as_logits).ask(np.repeat(GRAPHS, 9, axis=0)).tolist()) == {1}
    assert cg.TorchModel(layer, input="edges").predict(GRAPHS[:0]).size == 0


def test_command_line_with_programs_and_services(service: str, tmp_path: Path) -> None:
    from tests.command_line import countergraph

    cg.GraphDataset(GRAPHS, DENSE).save(tmp_path / "d.npz")
    (tmp_path / "classifier.py").write_text(ANSWERS_EACH_LINE)
    for model in (service, f"program:{sys.executable} classifier.py"):
        done = countergraph("explain", "d.npz", model, "--subject", "graph 3", "--quiet", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "graph 3 is classified as" in done.stdout


def test_late_answers_are_not_assigned_to_the_next_batch(tmp_path: Path) -> None:
    second_answer = "print(json.dumps({'id': graph['id'], 'label': 5}), flush=True)"
    twice = ANSWERS_EACH_LINE.replace("flush=True)", f"flush=True); {second_answer}")
    with program(tmp_path, twice, retries=0) as classifier:
        cg.Oracle(classifier).ask(GRAPHS[:1])
        time.sleep(0.3)
        with pytest.raises(AnswerError, match="answered with id 0, which is unknown or was already answered"):
            cg.Oracle(classifier).ask(GRAPHS[:1])


def running(word: str) -> list[int]:
    """Return the ids of the processes with ``word`` in their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
    return found


@pytest.mark.parametrize("keep_alive", [True, False])
def test_child_processes_are_stopped_with_the_program(tmp_path: Path, keep_alive: bool) -> None:
    (tmp_path / "sleeper.py").write_text("import sys, time; print('{', end='', flush=True); time.sleep(600)")
    command = ["sh", "-c", f"{sys.executable} {tmp_path / 'sleeper.py'}; true"]
    start = time.monotonic()
    with pytest.raises(BlackBoxError, match="did not answer within 0.5 s"):
        cg.Oracle(cg.Program(command, timeout=0.5, retries=0, keep_alive=keep_alive)).ask(GRAPHS)
    assert time.monotonic() - start < 20
    for _ in range(50):  # the system needs some time to remove a killed process
        if not running(str(tmp_path / "sleeper.py")):
            break
        time.sleep(0.1)
    assert not running(str(tmp_path / "sleeper.py"))


@pytest.mark.parametrize("keep_alive", [True, False])
def test_output_that_is_not_valid_utf8(tmp_path: Path, keep_alive: bool) -> None:
    binary_errors = (
        "import sys\nsys.stderr.buffer.write(b'\\xff\\xfe' * 200000); sys.stderr.flush()\n" + ANSWERS_EACH_LINE
    )
    with program(tmp_path, binary_errors, keep_alive=keep_alive) as classifier:
        assert cg.Oracle(classifier).ask(GRAPHS).tolist() == DENSE
    binary_output = "import sys\nsys.stdout.buffer.write(b'\\xff\\n' * 9); sys.stdout.flush()\n"
    with pytest.raises(AnswerError, match="must answer with lines such as"):
        cg.Oracle(program(tmp_path, binary_output, keep_alive=keep_alive)).ask(GRAPHS)


class Broken(BaseHTTPRequestHandler):
    """Service that answers very slowly, or sends an incomplete response."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        if self.path == "/short":
            self.send_header("Content-Length", "1000")
        self.end_headers()
        if self.path == "/slow":
            for _ in range(40):
                self.wfile.write(b"\n")
                time.sleep(0.1)

    def log_message(self, *_: object) -> None:
        pass


def test_slow_and_incomplete_responses_raise() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Broken)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    start = time.monotonic()
    with pytest.raises(BlackBoxError, match="did not answer within 0.5 s"):
        cg.Oracle(cg.Endpoint(f"{url}/slow", timeout=0.5, retries=0)).ask(GRAPHS)
    assert time.monotonic() - start < 3
    with pytest.raises(BlackBoxError, match="sent an incomplete response .IncompleteRead. .attempts: 2."):
        cg.Oracle(cg.Endpoint(f"{url}/short", retries=1)).ask(GRAPHS)
    server.shutdown()
    server.server_close()


def test_labels_may_contain_line_separators() -> None:
    line = json.dumps({"id": 3, "label": "a\u2028b"}, ensure_ascii=False)
    assert decode(f"{line}\n".split("\n"), 1, "program", first=3) == ["a\u2028b"]


def test_probabilities_are_checked() -> None:
    class Classifier:
        def __init__(self, answer) -> None:
            self.answer = answer
            self.sizes: list[int] = []

        def predict(self, edges):
            return np.zeros(len(edges))

        def predict_proba(self, edges):
            self.sizes.append(len(edges))
            return self.answer(len(edges))

    valid = Classifier(lambda m: np.full((m, 2), 0.5))
    assert cg.Oracle(valid, batch_size=4).probabilities(GRAPHS).shape == (9, 2)
    assert valid.sizes == [4, 4, 1]
    for answer, message in (
        (lambda m: np.full((m, 2), 7.0), "must return probabilities that sum to 1; for one graph they sum to 14"),
        (lambda m: np.full(m, 0.5), r"an array of shape \(9, classes\); it returned shape \(9,\)"),
        (lambda m: 1 / 0, "raised ZeroDivisionError"),
    ):
        with pytest.raises(BlackBoxError, match=message):
            cg.Oracle(Classifier(answer)).probabilities(GRAPHS)
