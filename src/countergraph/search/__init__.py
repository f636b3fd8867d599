"""How a counterfactual is found: the searches, and the driver that asks for all of them at once.

Nothing in here may import a classifier, a dataset or scikit-learn: a search sees a graph, and the classes of the
graphs it asks about.
"""
