"""Classifiers of brain networks: embeddings, linear rules, training and model files."""
