"""Certificates of counterfactuals, by additional calls or, for linear classifiers, by computation."""
