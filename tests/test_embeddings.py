from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import countergraph as cg
from countergraph.classifiers.autoencoder import Autoencoder
from countergraph.classifiers.contrast_subgraphs import ContrastSubgraphs
from countergraph.classifiers.graph2vec import Graph2Vec
from countergraph.classifiers.pv_dbow import _keep_probability
from countergraph.classifiers.sub2vec import Sub2Vec, expected_visits
from countergraph.classifiers.weisfeiler_lehman import weisfeiler_lehman
from countergraph.errors import InputError
from countergraph.graphs.pairs import as_edge_vector, to_adjacency
from tests.conftest import random_graphs

EMBEDDINGS = [ContrastSubgraphs(), Graph2Vec(epochs=5), Sub2Vec(epochs=2), Autoencoder(epochs=3)]


def reference_labels(matrix: np.ndarray, rounds: int) -> list[list[object]]:
    """Return labels by definition: the old label and the sorted labels of the neighbours."""
    labels: list[object] = matrix.sum(axis=1).tolist()
    history = [labels]
    for _ in range(rounds):
        neighbours = [sorted((labels[j] for j in np.flatnonzero(row)), key=repr) for row in matrix]
        labels = [(own, tuple(others)) for own, others in zip(labels, neighbours, strict=True)]
        history.append(labels)
    return history


@given(st.integers(0, 999), st.floats(0, 1))
def test_labels_are_equivalent_to_the_definition(seed: int, density: float) -> None:
    graphs = random_graphs(4, 9, seed, density)
    hashed = weisfeiler_lehman(graphs, 2)
    reference = [reference_labels(matrix.astype(int), 2) for matrix in to_adjacency(graphs)]
    for round_ in range(3):
        ours = hashed[round_].ravel().tolist()
        theirs = [label for history in reference for label in history[round_]]
        assert len(set(zip(ours, theirs, strict=True))) == len(set(ours)) == len(set(theirs)), (
            "the mapping between both is one to one"
        )
    assert not set(hashed[0].ravel().tolist()) & set(hashed[1].ravel().tolist())


@given(st.integers(0, 99), st.permutations(range(8)))
def test_weisfeiler_lehman_labels_are_invariant_under_permutation(seed: int, order: list[int]) -> None:
    matrix = to_adjacency(random_graphs(1, 8, seed)[0])
    permuted = matrix[np.ix_(order, order)]
    labels = [
        np.sort(np.concatenate(weisfeiler_lehman(as_edge_vector(m)[None], 2), axis=1)) for m in (matrix, permuted)
    ]
    assert (labels[0] == labels[1]).all()


def test_expected_visits_agree_with_a_simulated_walk() -> None:
    graph = nx.disjoint_union(nx.cycle_graph(4), nx.star_graph(3))
    graph.add_node(8)
    matrix = nx.to_numpy_array(graph)
    share = expected_visits(np.stack([as_edge_vector(matrix)] * 2))[1]
    assert share.sum() == pytest.approx(1)
    rng, visits = np.random.default_rng(0), np.zeros(9)
    for start in range(9):
        node = start
        for _ in range(4000):
            visits[node] += 1
            neighbours = np.flatnonzero(matrix[node])
            node = int(rng.choice(neighbours)) if neighbours.size else node
    assert share == pytest.approx(visits / visits.sum(), abs=0.01)


@pytest.mark.parametrize("embedding", [Graph2Vec(dimensions=6, epochs=20), Sub2Vec(dimensions=6, epochs=5)])
def test_inference_is_exact(embedding: Graph2Vec | Sub2Vec, cohort: cg.GraphDataset) -> None:
    """Compare with a general-purpose optimiser on the documented objective."""
    embedding = clone(embedding).fit(cohort.edges)
    counts = np.random.default_rng(0).integers(0, 9, (3, len(embedding.noise_))).astype(float)
    found = embedding._infer(counts)
    words = embedding.word_vectors_
    for row, vector in zip(counts, found, strict=True):
        share = row * embedding.kept_ / (row * embedding.kept_).sum()

        def cost(d: np.ndarray, share: np.ndarray = share) -> float:
            score = words @ d
            gain = share @ log_expit(score) + embedding.noise_ @ log_expit(-score)
            return float(embedding.ridge_ / 2 * d @ d - gain)

        best = minimize(cost, np.zeros(6), options={"gtol": 1e-9})
        assert cost(vector) <= best.fun + 1e-12
        assert vector == pytest.approx(best.x, abs=1e-4)
        gradient = (share - (share + embedding.noise_) * expit(words @ vector)) @ words - embedding.ridge_ * vector
        assert np.abs(gradient).max() < 1e-6


def test_vectors_are_close_to_those_of_gensim(asd: cg.GraphDataset) -> None:
    """The ridge penalty replaces the early stopping of gensim; the vectors are nearly the same."""
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    embedding = Graph2Vec().fit(asd.edges)
    assert (embedding.vocabulary_.size, embedding.rounds_used_) == (31, 0), (
        "with the paper's settings, only degrees are words"
    )
    counts = embedding._count(weisfeiler_lehman(asd.edges, embedding.rounds_used_))
    documents = [
        TaggedDocument(np.repeat(np.arange(counts.shape[1]).astype(str), row).tolist(), [i])
        for i, row in enumerate(counts)
    ]
    settings = {"dm": 0, "min_count": 1, "sample": 1e-4, "epochs": 100, "workers": 1, "seed": 0}
    theirs = Doc2Vec(documents, vector_size=50, **settings)
    order = [theirs.wv.key_to_index[str(word)] for word in range(counts.shape[1])]
    embedding.word_vectors_ = theirs.syn1neg[order].astype(float)
    share = (counts * embedding.kept_).sum(axis=0)
    embedding._whiten(share / share.sum())
    ours = embedding._infer(counts.astype(float))
    agreement = [np.corrcoef(a, b)[0, 1] for a, b in zip(ours, theirs.dv.vectors, strict=True)]
    assert np.mean(agreement) > 0.98
    norms = np.linalg.norm(ours, axis=1).mean() / np.linalg.norm(theirs.dv.vectors, axis=1).mean()
    assert norms == pytest.approx(1, abs=0.1)


def test_down_sampling_is_that_of_word2vec() -> None:
    totals = np.array([1000.0, 10.0, 1.0])
    assert _keep_probability(totals, 0).tolist() == [1, 1, 1]
    threshold = 0.001 * 1011
    assert _keep_probability(totals, 0.001)[0] == pytest.approx((np.sqrt(1000 / threshold) + 1) * threshold / 1000)
    assert _keep_probability(totals, 0.001)[2] == 1


def test_autoencoder_separates_two_groups_of_graphs() -> None:
    """Graphs of two different groups get different codes."""
    rng = np.random.default_rng(0)
    prototypes = rng.random((2, 190)) < 0.3
    graphs = prototypes[np.arange(60) % 2] ^ (rng.random((60, 190)) < 0.03)
    codes = Autoencoder(dimensions=8, epochs=60, learning_rate=0.01).fit(graphs).transform(graphs)
    assert codes.dtype == np.float32
    assert (codes >= 0).all()
    separation = np.linalg.norm(codes[::2].mean(axis=0) - codes[1::2].mean(axis=0))
    assert separation > 2 * codes[::2].std(axis=0).mean()


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=lambda each: type(each).__name__)
def test_embeddings_are_scikit_learn_transformers(embedding, cohort: cg.GraphDataset) -> None:
    fitted = clone(embedding)
    assert fitted.get_params() == embedding.get_params()
    first = fitted.fit(cohort.edges, cohort.labels).transform(cohort.edges)
    again = clone(embedding).fit(cohort.edges, cohort.labels).transform(cohort.edges)
    assert np.allclose(first, again, atol=1e-5), "the seed determines the vectors"
    assert first.shape == (24, len(fitted.get_feature_names_out()))
    parts = np.concatenate([fitted.transform(row[None]) for row in cohort.edges])
    assert np.allclose(parts, first, atol=1e-4 if isinstance(fitted, Autoencoder) else 1e-9)
    with pytest.raises(ValueError, match="features"):
        fitted.transform(random_graphs(2, 5, 0))


def test_invalid_arguments_raise(cohort: cg.GraphDataset) -> None:
    with pytest.raises(InputError, match="no Weisfeiler-Lehman label occurs 9999 times; use a smaller min_count"):
        Graph2Vec(min_count=9999).fit(cohort.edges)
    with pytest.raises(InputError, match="dimensions must be an integer of at least 1, not 0"):
        Sub2Vec(dimensions=0).fit(cohort.edges)
    for embedding in (Graph2Vec(), Sub2Vec(), Autoencoder()):
        with pytest.raises(ValueError, match="fit no number of ROIs"):
            embedding.fit(cohort.edges[:, :-1])


# Some scikit-learn checks use inputs that these transformers do not accept.
EDGE_VECTORS = dict.fromkeys(
    (
        "check_estimators_overwrite_params",
        "check_estimators_fit_returns_self",
        "check_readonly_memmap_input",
        "check_n_features_in_after_fitting",
        "check_positive_only_tag_during_fit",
        "check_estimators_dtypes",
        "check_fit_idempotent",
        "check_fit_check_is_fitted",
        "check_n_features_in",
    ),
    "an edge vector has n(n-1)/2 entries; the check uses another number",
)
TWO_CLASSES = dict.fromkeys(
    (
        "check_fit_score_takes_y",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_f_contiguous_array_estimator",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_fit2d_1sample",
        "check_dict_unchanged",
        "check_fit2d_predict1d",
    ),
    "contrast subgraphs need exactly two classes; the check uses another number",
)


def expected_failures(estimator: object) -> dict[str, str]:
    return EDGE_VECTORS | (TWO_CLASSES if isinstance(estimator, ContrastSubgraphs) else {})


@pytest.mark.slow
@parametrize_with_checks(EMBEDDINGS, expected_failed_checks=expected_failures)  # type: ignore[untyped-decorator]
def test_scikit_learn_estimator_checks(estimator, check) -> None:
    check(estimator)


def test_errors_of_invalid_settings_contain_the_name(cohort: cg.GraphDataset) -> None:
    for embedding, message in (
        (Sub2Vec(dimensions=2.5), "dimensions must be an integer"),
        (Graph2Vec(learning_rate=-1), "learning_rate must be above 0"),
        (Graph2Vec(rounds=-1), "rounds must be an integer"),
        (Sub2Vec(walk_length=0), "walk_length must be an integer"),
        (Autoencoder(dimensions=0), "dimensions must be an integer"),
        (Autoencoder(epochs=0), "epochs must be an integer"),
        (Autoencoder(noise=1.5), "noise must be between 0 and 1, and learning_rate above 0; got 1.5"),
    ):
        with pytest.raises(InputError, match=message):
            embedding.fit(cohort.edges)
