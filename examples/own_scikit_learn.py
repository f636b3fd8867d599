"""Explain a scikit-learn pipeline that takes edge vectors."""

from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import countergraph as cg

data = cg.make_cohort(n_subjects=40, n_rois=30, contrast=0.8)
names = [data.classes[label] for label in data.labels]
classifier = make_pipeline(PCA(10), KNeighborsClassifier()).fit(data.edges, names)

[result] = cg.find_counterfactuals(classifier, data.subset(["subject-001"]), dataset=data)
print(result.sentence)
