"""Explain a classifier that also uses the age and the site of each subject.

`Oracle(..., with_subjects=True)` calls the classifier with the names of the subjects, so that it can look up their
confounds. A search changes only the connections: the confounds of a subject stay the same.
"""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import countergraph as cg

data = cg.make_cohort(n_subjects=40, n_rois=30, contrast=0.8)
assert data.attributes is not None
confounds = pd.get_dummies(data.attributes[["age", "site"]], dtype=float).set_axis(data.names)
classifier = LogisticRegression(C=0.1, max_iter=1000).fit(np.hstack([data.edges, confounds]), data.labels)


def classify(edges: np.ndarray, subjects: np.ndarray) -> np.ndarray:
    """Return the class of each graph; ``subjects`` are the names of the subjects."""
    classes: np.ndarray = classifier.predict(np.hstack([edges, confounds.loc[subjects]]))
    return classes


oracle = cg.Oracle(classify, input="edges", with_subjects=True)
results = cg.find_counterfactuals(oracle, data.subset(data.names[:5]), dataset=data)
for result in results:
    print(result.sentence)
