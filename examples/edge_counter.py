"""A classifier as an external program, here in Python: reads graphs as JSON lines and writes labels."""

import json
import sys

for line in sys.stdin:
    graph = json.loads(line)
    density = 2 * len(graph["edges"]) / (graph["n_regions"] * (graph["n_regions"] - 1))
    print(json.dumps({"id": graph["id"], "label": "dense" if density > 0.11 else "sparse"}), flush=True)
