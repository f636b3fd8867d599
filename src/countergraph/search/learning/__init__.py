"""The parts of the learned search.

surrogate, deviation, smoothing, calibration    the surrogate model: shared by all graphs, and corrected for one graph
guide                                           the surrogate model as the search of one graph uses it
embeddings, neighbours                          gains from the nearest labelled graphs
random_probing, degree_bias                     random candidates
random_shrinking, bayesian_shrinking,
probit_surrogate                                shrinking of a large first counterfactual
first_success, proposals, improvement, bandit   starting orders, proposals, and the choice among them
enumeration                                     exhaustive search of small problems
"""
