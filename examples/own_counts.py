"""Explain a classifier of structural connectomes: streamline counts, whose logarithm is taken inside the classifier."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import countergraph as cg

# Streamline counts of 40 people, 15 regions: patients have fewer streamlines at region 0.
rng = np.random.default_rng(0)
labels = np.arange(40) % 2
counts = []
for label in labels:
    means = np.full((15, 15), 40.0)
    means[0] = means[:, 0] = 10.0 if label else 40.0
    upper = np.triu(rng.poisson(means), 1)
    counts.append(upper + upper.T)
data = cg.GraphDataset(np.array(counts), labels, classes=("control", "patient"), measure="count")
classifier = make_pipeline(FunctionTransformer(np.log1p), RandomForestClassifier(50, random_state=0))
classifier.fit(data.values, data.labels)

[result] = cg.find_counterfactuals(classifier, data.subset([1]), dataset=data, change="target-median")
print(result.sentence)
