"""The searches, and the driver that runs them in lockstep.

Nothing in this package may import a classifier, a dataset or scikit-learn: a search receives a graph, and the classes
of the candidates that it proposes. To write a search, see `countergraph.search.protocol` and CONTRIBUTING.md.
"""
