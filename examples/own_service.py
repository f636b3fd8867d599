"""Explain a classifier behind an HTTP service. The example starts a small service itself."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import countergraph as cg


class Service(BaseHTTPRequestHandler):
    """Service that classifies the graphs of a POST request by the degree of ROI 0."""

    def do_POST(self) -> None:
        """Classify every graph of the request."""
        lines = self.rfile.read(int(self.headers["Content-Length"])).decode().splitlines()
        answers = []
        for graph in map(json.loads, lines):
            degree = sum(0 in edge for edge in graph["edges"])
            answers.append(json.dumps({"id": graph["id"], "label": "hub" if degree > 3 else "no hub"}))
        self.send_response(200)
        self.end_headers()
        self.wfile.write("\n".join(answers).encode())

    def log_message(self, *_: object) -> None:
        """Write no log messages."""


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()

data = cg.make_cohort(n_subjects=4, n_rois=30)
black_box = cg.Endpoint(f"http://127.0.0.1:{server.server_port}/classify", timeout=30)
print(cg.find_counterfactual(black_box, data.edges[0]).sentence)
server.shutdown()
server.server_close()
