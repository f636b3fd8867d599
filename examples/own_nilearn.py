"""Explain a classifier of Fisher z values: nilearn's ConnectivityMeasure, then a scikit-learn pipeline."""

import numpy as np
from nilearn.connectome import ConnectivityMeasure
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import countergraph as cg

# Time series of 40 people, 20 regions: in patients, the regions 0 to 4 share a signal.
rng = np.random.default_rng(0)
labels = np.arange(40) % 2
shared = [label * rng.normal(size=(120, 1)) * (np.arange(20) < 5) for label in labels]
time_series = [signal + rng.normal(size=(120, 20)) for signal in shared]

correlations = ConnectivityMeasure(kind="correlation", standardize="zscore_sample").fit_transform(time_series)
for matrix in correlations:
    np.fill_diagonal(matrix, 0)  # the Fisher z value of 1 is infinite
data = cg.GraphDataset(np.arctanh(correlations), labels, classes=("control", "patient"), measure="fisher z")
classifier = make_pipeline(StandardScaler(), LogisticRegression(C=0.01)).fit(data.values, data.labels)

[result] = cg.find_counterfactuals(classifier, data.subset([1]), dataset=data, amounts=True)
print(result.method, result.distance, result.total_change)
print(result.sentence)
