"""Black boxes outside Python: programs, services, and torch networks."""

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

GOOD = """
import json, sys
for line in sys.stdin:
    graph = json.loads(line)
    print(json.dumps({"id": graph["id"], "label": int(len(graph["edges"]) > 6)}), flush=True)
"""
READS_ALL = GOOD.replace("for line in sys.stdin:", "for line in reversed(sys.stdin.read().splitlines()):")


def program(tmp_path: Path, code: str, **options) -> cg.Program:
    path = tmp_path / "box.py"
    path.write_text(code)
    return cg.Program([sys.executable, str(path)], **options)


def test_the_lines() -> None:
    lines = encode(GRAPHS).splitlines()
    first = json.loads(lines[0])
    assert (first["id"], first["n_regions"], len(first["edges"])) == (0, 7, GRAPHS[0].sum())
    assert all(i < j for i, j in first["edges"])
    assert decode(['{"id": 1, "label": "b"}', "", '{"id": 0, "label": "a"}'], 2, "it") == ["a", "b"]
    for answers, message in (
        (["nonsense"], "must answer lines such as"),
        (['{"id": 0}'], "must answer lines such as"),
        (['{"id": 7, "label": 1}'], "answered id 7, which was not asked"),
        (['{"id": 0, "label": 1}', '{"id": 0, "label": 1}'], "is answered already"),
        (['{"id": 0, "label": 1}'], "answered 1 of 2 graphs"),
    ):
        with pytest.raises(AnswerError, match=message):
            decode(answers, 2, "it")


def test_a_program_is_kept_alive(tmp_path: Path) -> None:
    with program(tmp_path, GOOD) as box:
        oracle = cg.Oracle(box)
        assert oracle.ask(GRAPHS).tolist() == DENSE
        first = box._running
        assert oracle.ask(GRAPHS[::-1]).tolist() == DENSE[::-1]
        assert box._running is first
        assert cg.find_counterfactual(box, GRAPHS[0]).found
    assert box._running is None


def test_a_program_that_reads_to_the_end(tmp_path: Path) -> None:
    box = program(tmp_path, READS_ALL, keep_alive=False)
    assert cg.Oracle(box).ask(GRAPHS).tolist() == DENSE
    with pytest.raises(BlackBoxError, match="did not answer within 0.5 s; .*keep_alive=False .attempts: 1."):
        cg.Oracle(program(tmp_path, READS_ALL, timeout=0.5, retries=0)).ask(GRAPHS)


def test_large_batches_do_not_block(tmp_path: Path) -> None:
    many = random_graphs(3000, 40, seed=0)
    with program(tmp_path, GOOD) as box:
        assert len(cg.Oracle(box).ask(many)) == 3000


def test_a_program_that_dies_is_started_again(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    dies_once = f"""
import os, sys
if not os.path.exists({str(mark)!r}):
    open({str(mark)!r}, "w").close()
    sys.exit("out of memory")
{GOOD}
"""
    with program(tmp_path, dies_once) as box:
        assert cg.Oracle(box).ask(GRAPHS).tolist() == DENSE
    mark.unlink()
    with pytest.raises(BlackBoxError, match="ended with code 1: out of memory .attempts: 1."):
        cg.Oracle(program(tmp_path, dies_once, retries=0)).ask(GRAPHS)
    with pytest.raises(BlackBoxError, match="ended with code 3"):
        cg.Oracle(program(tmp_path, "import sys; sys.exit(3)", keep_alive=False)).ask(GRAPHS)


def test_a_program_that_was_forgotten_is_ended(tmp_path: Path) -> None:
    stays = GOOD + "\nimport time\ntime.sleep(60)"
    box = program(tmp_path, stays)
    assert cg.Oracle(box).ask(GRAPHS).tolist() == DENSE
    assert box._running is not None
    process = box._running.process
    del box
    gc.collect()
    assert process.poll() is not None
    with pytest.raises(InputError, match="retries must be"):
        program(tmp_path, GOOD, retries=-1)
    with pytest.raises(InputError, match="retries must be"):
        cg.Endpoint("http://localhost", retries=-1)


def test_a_program_that_talks_nonsense_or_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AnswerError, match="must answer lines such as .* not 'hello"):
        cg.Oracle(program(tmp_path, "for _ in range(9): print('hello', flush=True)")).ask(GRAPHS)
    with pytest.raises(BlackBoxError, match="'no-such-program' cannot be started"):
        cg.Oracle(cg.Program(["no-such-program"])).ask(GRAPHS)
    with pytest.raises(InputError, match="command must be a list of words"):
        cg.Program("Rscript model.R")


class Service(BaseHTTPRequestHandler):
    """Does what the path says."""

    asked = 0

    def do_POST(self) -> None:
        Service.asked += 1
        lines = self.rfile.read(int(self.headers["Content-Length"])).decode().splitlines()
        status = {"/busy": 503 if Service.asked < 3 else 200, "/down": 500, "/forbidden": 403}.get(self.path, 200)
        if self.path == "/slow":
            time.sleep(2)
        self.send_response(status)
        self.end_headers()
        for graph in map(json.loads, lines):
            label = "nonsense" if self.path == "/nonsense" else int(len(graph["edges"]) > 6)
            self.wfile.write((json.dumps({"id": graph["id"], "label": label}) + "\n").encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Service.asked = 0
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_service(service: str) -> None:
    assert cg.Oracle(cg.Endpoint(service)).ask(GRAPHS).tolist() == DENSE
    assert Service.asked == 1, "one request for a batch"
    Service.asked = 0
    assert cg.Oracle(cg.Endpoint(f"{service}/busy")).ask(GRAPHS).tolist() == DENSE
    assert Service.asked == 3, "asked again when the service is busy"


def test_a_service_that_fails(service: str) -> None:
    for path, message in (
        ("down", r"answered status 500 \(Internal Server Error\) .attempts: 2."),
        ("forbidden", r"answered status 403 \(Forbidden\) .attempts: 1."),
    ):
        with pytest.raises(BlackBoxError, match=message):
            cg.Oracle(cg.Endpoint(f"{service}/{path}", retries=1)).ask(GRAPHS)
    with pytest.raises(BlackBoxError, match="did not answer within 0.3 s"):
        cg.Oracle(cg.Endpoint(f"{service}/slow", timeout=0.3, retries=0)).ask(GRAPHS)
    with pytest.raises(AnswerError, match="'nonsense', which is none of the classes"):
        cg.Oracle(cg.Endpoint(f"{service}/nonsense"), classes=("TD", "ASD")).ask(GRAPHS)
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
    shares = cg.Oracle(two).probabilities(GRAPHS)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (shares[:, 1] > 0.5).astype(int).tolist() == DENSE
    flat = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(49, 3))
    assert cg.find_counterfactual(cg.TorchModel(flat), GRAPHS[0], max_calls=50).original_class in (0, 1, 2)
    with pytest.raises(InputError, match="module must be a torch.nn.Module; int is not"):
        cg.TorchModel(3)
    with pytest.raises(BlackBoxError, match="must give logits"):
        cg.Oracle(cg.TorchModel(torch.nn.Linear(21, 2), input="edges", prepare=lambda t: (t[:1],))).ask(GRAPHS)
    with pytest.raises(InputError, match="Sequential is a network of torch: wrap it in TorchModel"):
        cg.find_counterfactual(flat, GRAPHS[0])
    with pytest.raises(BlackBoxError, match="not finite"):
        cg.Oracle(cg.TorchModel(torch.nn.Linear(21, 2), input="edges", prepare=lambda t: (t / 0,))).ask(GRAPHS)


def test_probabilities_are_not_taken_for_logits() -> None:
    import torch

    layer = torch.nn.Linear(21, 1)
    with torch.no_grad():
        layer.weight.zero_().add_(1)
        layer.bias.zero_().sub_(6.5)
    sigmoid = torch.nn.Sequential(layer, torch.nn.Sigmoid())
    told = cg.TorchModel(sigmoid, input="edges", probabilities=True)
    assert cg.Oracle(told).ask(GRAPHS).tolist() == DENSE
    assert np.allclose(told.predict_proba(GRAPHS)[:, 1], sigmoid(torch.from_numpy(GRAPHS.astype("f4"))).detach()[:, 0])
    with pytest.raises(BlackBoxError, match=r"outputs of the module lie between 0 and 1.*probabilities=True"):
        cg.find_counterfactuals(cg.TorchModel(sigmoid, input="edges"), GRAPHS)
    with pytest.raises(BlackBoxError, match="these are no probabilities"):
        cg.Oracle(cg.TorchModel(layer, input="edges", probabilities=True)).ask(GRAPHS)
    insisting = cg.TorchModel(sigmoid, input="edges", probabilities=False)
    assert set(cg.Oracle(insisting).ask(np.repeat(GRAPHS, 9, axis=0)).tolist()) == {1}
    assert cg.TorchModel(layer, input="edges").predict(GRAPHS[:0]).size == 0


def test_the_command_line_asks_programs_and_services(service: str, tmp_path: Path) -> None:
    from tests.command_line import countergraph

    cg.save_dataset(cg.GraphDataset(GRAPHS, DENSE), tmp_path / "d.npz")
    (tmp_path / "box.py").write_text(GOOD)
    for model in (service, f"program:{sys.executable} box.py"):
        done = countergraph("explain", "d.npz", model, "--subject", "graph 3", "--quiet", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "graph 3 is classified as" in done.stdout


def test_a_late_answer_is_not_taken_for_the_next(tmp_path: Path) -> None:
    twice = GOOD.replace("flush=True)", "flush=True); print(json.dumps({'id': graph['id'], 'label': 5}), flush=True)")
    with program(tmp_path, twice, retries=0) as box:
        cg.Oracle(box).ask(GRAPHS[:1])
        time.sleep(0.3)
        with pytest.raises(AnswerError, match="answered id 0, which was not asked or is answered already"):
            cg.Oracle(box).ask(GRAPHS[:1])


def running(word: str) -> list[int]:
    """The processes that have ``word`` in their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
    return found


@pytest.mark.parametrize("keep_alive", [True, False])
def test_whatever_a_program_started_ends_with_it(tmp_path: Path, keep_alive: bool) -> None:
    (tmp_path / "sleeper.py").write_text("import sys, time; print('{', end='', flush=True); time.sleep(600)")
    command = ["sh", "-c", f"{sys.executable} {tmp_path / 'sleeper.py'}; true"]
    began = time.monotonic()
    with pytest.raises(BlackBoxError, match="did not answer within 0.5 s"):
        cg.Oracle(cg.Program(command, timeout=0.5, retries=0, keep_alive=keep_alive)).ask(GRAPHS)
    assert time.monotonic() - began < 20
    for _ in range(50):  # the system takes a moment to take a killed process away
        if not running(str(tmp_path / "sleeper.py")):
            break
        time.sleep(0.1)
    assert not running(str(tmp_path / "sleeper.py"))


@pytest.mark.parametrize("keep_alive", [True, False])
def test_bytes_that_are_not_text_do_no_harm(tmp_path: Path, keep_alive: bool) -> None:
    noisy = "import sys\nsys.stderr.buffer.write(b'\\xff\\xfe' * 200000); sys.stderr.flush()\n" + GOOD
    with program(tmp_path, noisy, keep_alive=keep_alive) as box:
        assert cg.Oracle(box).ask(GRAPHS).tolist() == DENSE
    garbage = "import sys\nsys.stdout.buffer.write(b'\\xff\\n' * 9); sys.stdout.flush()\n"
    with pytest.raises(AnswerError, match="must answer lines such as"):
        cg.Oracle(program(tmp_path, garbage, keep_alive=keep_alive)).ask(GRAPHS)


class Broken(BaseHTTPRequestHandler):
    """Drips, or breaks off."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        if self.path == "/short":
            self.send_header("Content-Length", "1000")
        self.end_headers()
        if self.path == "/drip":
            for _ in range(40):
                self.wfile.write(b"\n")
                time.sleep(0.1)

    def log_message(self, *_: object) -> None:
        pass


def test_services_that_drip_or_break_off() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Broken)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    began = time.monotonic()
    with pytest.raises(BlackBoxError, match="did not answer within 0.5 s"):
        cg.Oracle(cg.Endpoint(f"{url}/drip", timeout=0.5, retries=0)).ask(GRAPHS)
    assert time.monotonic() - began < 3
    with pytest.raises(BlackBoxError, match="broke off its answer .IncompleteRead. .attempts: 2."):
        cg.Oracle(cg.Endpoint(f"{url}/short", retries=1)).ask(GRAPHS)
    server.shutdown()
    server.server_close()


def test_labels_may_hold_any_character() -> None:
    line = json.dumps({"id": 3, "label": "a\u2028b"}, ensure_ascii=False)
    assert decode(f"{line}\n".split("\n"), 1, "it", first=3) == ["a\u2028b"]


def test_probabilities_are_checked_like_answers() -> None:
    class Box:
        def __init__(self, answer) -> None:
            self.answer = answer
            self.sizes: list[int] = []

        def predict(self, edges):
            return np.zeros(len(edges))

        def predict_proba(self, edges):
            self.sizes.append(len(edges))
            return self.answer(len(edges))

    good = Box(lambda m: np.full((m, 2), 0.5))
    assert cg.Oracle(good, batch_size=4).probabilities(GRAPHS).shape == (9, 2)
    assert good.sizes == [4, 4, 1]
    for answer, message in (
        (lambda m: np.full((m, 2), 7.0), "add up to 1"),
        (lambda m: np.full(m, 0.5), "add up to 1|shape"),
        (lambda m: 1 / 0, "raised ZeroDivisionError"),
    ):
        with pytest.raises(BlackBoxError, match=message):
            cg.Oracle(Box(answer)).probabilities(GRAPHS)
