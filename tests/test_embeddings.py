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
from countergraph.classifiers.pv_dbow import _kept
from countergraph.classifiers.sub2vec import expected_visits
from countergraph.classifiers.weisfeiler_lehman import weisfeiler_lehman
from countergraph.errors import InputError
from countergraph.graphs.pairs import as_edge_vector, to_adjacency
from tests.conftest import random_graphs

EMBEDDINGS = [cg.ContrastSubgraphs(), cg.Graph2Vec(epochs=5), cg.Sub2Vec(epochs=2), cg.Autoencoder(epochs=3)]


def plain_labels(matrix: np.ndarray, rounds: int) -> list[list[object]]:
    """The textbook's labels: own label and sorted labels of the neighbours."""
    labels: list[object] = matrix.sum(axis=1).tolist()
    history = [labels]
    for _ in range(rounds):
        neighbours = [sorted((labels[j] for j in np.flatnonzero(row)), key=repr) for row in matrix]
        labels = [(own, tuple(near)) for own, near in zip(labels, neighbours, strict=True)]
        history.append(labels)
    return history


@given(st.integers(0, 999), st.floats(0, 1))
def test_labels_are_those_of_weisfeiler_and_lehman(seed: int, density: float) -> None:
    graphs = random_graphs(4, 9, seed, density)
    hashed = weisfeiler_lehman(graphs, 2)
    plain = [plain_labels(matrix.astype(int), 2) for matrix in to_adjacency(graphs)]
    for round_ in range(3):
        ours = hashed[round_].ravel().tolist()
        theirs = [label for history in plain for label in history[round_]]
        assert len(set(zip(ours, theirs, strict=True))) == len(set(ours)) == len(set(theirs)), "one to one"
    assert not set(hashed[0].ravel().tolist()) & set(hashed[1].ravel().tolist())


@given(st.integers(0, 99), st.permutations(range(8)))
def test_graph2vec_does_not_know_which_vertex_is_which(seed: int, order: list[int]) -> None:
    matrix = to_adjacency(random_graphs(1, 8, seed)[0])
    renamed = matrix[np.ix_(order, order)]
    labels = [np.sort(np.concatenate(weisfeiler_lehman(as_edge_vector(m)[None], 2), axis=1)) for m in (matrix, renamed)]
    assert (labels[0] == labels[1]).all()


def test_expected_visits_are_what_a_long_walk_finds() -> None:
    graph = nx.disjoint_union(nx.cycle_graph(4), nx.star_graph(3))
    graph.add_node(8)
    matrix = nx.to_numpy_array(graph)
    share = expected_visits(np.stack([as_edge_vector(matrix)] * 2))[1]
    assert share.sum() == pytest.approx(1)
    rng, visits = np.random.default_rng(0), np.zeros(9)
    for start in range(9):
        vertex = start
        for _ in range(4000):
            visits[vertex] += 1
            near = np.flatnonzero(matrix[vertex])
            vertex = int(rng.choice(near)) if near.size else vertex
    assert share == pytest.approx(visits / visits.sum(), abs=0.01)


@pytest.mark.parametrize("embedding", [cg.Graph2Vec(dimensions=6, epochs=20), cg.Sub2Vec(dimensions=6, epochs=5)])
def test_inference_is_exact(embedding: cg.Graph2Vec | cg.Sub2Vec, cohort: cg.GraphDataset) -> None:
    """Compared with a general-purpose optimiser on the stated objective."""
    embedding = clone(embedding).fit(cohort.edges)
    counts = np.random.default_rng(0).integers(0, 9, (3, len(embedding.noise_))).astype(float)
    found = embedding._infer(counts)
    words = embedding.word_vectors_
    for row, vector in zip(counts, found, strict=True):
        share = row * embedding.kept_ / (row * embedding.kept_).sum()

        def cost(d: np.ndarray, share: np.ndarray = share) -> float:
            guess = words @ d
            gain = share @ log_expit(guess) + embedding.noise_ @ log_expit(-guess)
            return float(embedding.ridge_ / 2 * d @ d - gain)

        best = minimize(cost, np.zeros(6), options={"gtol": 1e-9})
        assert cost(vector) <= best.fun + 1e-12
        assert vector == pytest.approx(best.x, abs=1e-4)
        slope = (share - (share + embedding.noise_) * expit(words @ vector)) @ words - embedding.ridge_ * vector
        assert np.abs(slope).max() < 1e-6


def test_it_is_close_to_what_gensim_trains(asd: cg.GraphDataset) -> None:
    """The ridge stands for gensim's early stopping: the vectors are nearly those of gensim's own training."""
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    box = cg.Graph2Vec().fit(asd.edges)
    assert (box.vocabulary_.size, box.rounds_used_) == (31, 0), "with the paper's settings only degrees are words"
    counts = box._count(weisfeiler_lehman(asd.edges, box.rounds_used_))
    texts = [
        TaggedDocument(np.repeat(np.arange(counts.shape[1]).astype(str), row).tolist(), [i])
        for i, row in enumerate(counts)
    ]
    settings = {"dm": 0, "min_count": 1, "sample": 1e-4, "epochs": 100, "workers": 1, "seed": 0}
    theirs = Doc2Vec(texts, vector_size=50, **settings)
    order = [theirs.wv.key_to_index[str(word)] for word in range(counts.shape[1])]
    box.word_vectors_ = theirs.syn1neg[order].astype(float)
    share = (counts * box.kept_).sum(axis=0)
    box._whiten(share / share.sum())
    ours = box._infer(counts.astype(float))
    agreement = [np.corrcoef(a, b)[0, 1] for a, b in zip(ours, theirs.dv.vectors, strict=True)]
    assert np.mean(agreement) > 0.98
    norms = np.linalg.norm(ours, axis=1).mean() / np.linalg.norm(theirs.dv.vectors, axis=1).mean()
    assert norms == pytest.approx(1, abs=0.1)


def test_down_sampling_is_word2vecs() -> None:
    totals = np.array([1000.0, 10.0, 1.0])
    assert _kept(totals, 0).tolist() == [1, 1, 1]
    threshold = 0.001 * 1011
    assert _kept(totals, 0.001)[0] == pytest.approx((np.sqrt(1000 / threshold) + 1) * threshold / 1000)
    assert _kept(totals, 0.001)[2] == 1


def test_the_autoencoder_rebuilds_what_it_has_seen() -> None:
    """Graphs of two kinds get codes of two kinds."""
    rng = np.random.default_rng(0)
    kinds = rng.random((2, 190)) < 0.3
    graphs = kinds[np.arange(60) % 2] ^ (rng.random((60, 190)) < 0.03)
    codes = cg.Autoencoder(dimensions=8, epochs=60, learning_rate=0.01).fit(graphs).transform(graphs)
    assert codes.dtype == np.float32
    assert (codes >= 0).all()
    apart = np.linalg.norm(codes[::2].mean(axis=0) - codes[1::2].mean(axis=0))
    assert apart > 2 * codes[::2].std(axis=0).mean()


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=lambda each: type(each).__name__)
def test_they_are_transformers(embedding, cohort: cg.GraphDataset) -> None:
    box = clone(embedding)
    assert box.get_params() == embedding.get_params()
    first = box.fit(cohort.edges, cohort.labels).transform(cohort.edges)
    again = clone(embedding).fit(cohort.edges, cohort.labels).transform(cohort.edges)
    assert np.allclose(first, again, atol=1e-5), "same seed, same vectors"
    assert first.shape == (24, len(box.get_feature_names_out()))
    parts = np.concatenate([box.transform(row[None]) for row in cohort.edges])
    assert np.allclose(parts, first, atol=1e-4 if isinstance(box, cg.Autoencoder) else 1e-9)
    with pytest.raises(ValueError, match="features"):
        box.transform(random_graphs(2, 5, 0))


def test_refusals(cohort: cg.GraphDataset) -> None:
    with pytest.raises(InputError, match="no Weisfeiler-Lehman label occurs 9999 times; lower min_count"):
        cg.Graph2Vec(min_count=9999).fit(cohort.edges)
    with pytest.raises(InputError, match="dimensions must be a whole number of at least 1, not 0"):
        cg.Sub2Vec(dimensions=0).fit(cohort.edges)
    for box in (cg.Graph2Vec(), cg.Sub2Vec(), cg.Autoencoder()):
        with pytest.raises(ValueError, match="fit no number of regions"):
            box.fit(cohort.edges[:, :-1])


# What scikit-learn's checks offer is not always what these transformers take.
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
    "an edge vector has n(n-1)/2 entries; the check offers another number",
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
    "contrast subgraphs tell two classes apart; the check offers one, or more than two",
)


def expected_failures(estimator: object) -> dict[str, str]:
    return EDGE_VECTORS | (TWO_CLASSES if isinstance(estimator, cg.ContrastSubgraphs) else {})


@pytest.mark.slow
@parametrize_with_checks(EMBEDDINGS, expected_failed_checks=expected_failures)  # type: ignore[untyped-decorator]
def test_scikit_learns_own_checks(estimator, check) -> None:
    check(estimator)


def test_bad_settings_are_refused_by_name(cohort: cg.GraphDataset) -> None:
    for box, message in (
        (cg.Sub2Vec(dimensions=2.5), "dimensions must be a whole number"),
        (cg.Graph2Vec(learning_rate=-1), "learning_rate must be above 0"),
        (cg.Graph2Vec(rounds=-1), "rounds must be a whole number"),
        (cg.Sub2Vec(walk_length=0), "walk_length must be a whole number"),
        (cg.Autoencoder(dimensions=0), "dimensions must be a whole number"),
        (cg.Autoencoder(epochs=0), "epochs must be a whole number"),
        (cg.Autoencoder(noise=1.5), "noise must lie between 0 and 1"),
    ):
        with pytest.raises(InputError, match=message):
            box.fit(cohort.edges)
