"""Explain a classifier that is an external program; it can be written in any language."""

import sys
from pathlib import Path

import countergraph as cg

data = cg.make_cohort(n_subjects=4, n_rois=30)
with cg.Program([sys.executable, str(Path(__file__).with_name("edge_counter.py"))], timeout=30) as black_box:
    result = cg.find_counterfactual(black_box, data.edges[0])
print(result.sentence)
