"""Explain a classifier that takes networkx graphs."""

import networkx as nx

import countergraph as cg

data = cg.make_cohort(n_subjects=10, n_rois=20, density=0.2)


def is_clustered(graph: nx.Graph) -> str:
    return "clustered" if nx.transitivity(graph) > 0.35 else "loose"


black_box = cg.Oracle(is_clustered, input="networkx")
result = cg.find_counterfactual(black_box, data.adjacency[0], max_calls=300)
print(result.sentence)
