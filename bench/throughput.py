"""Calls per second of each model, and exact inference compared with the sampling that it replaces."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

import countergraph as cg
from bench.data import real_data
from countergraph.classifiers.graph2vec import Graph2Vec
from countergraph.classifiers.model import CLASSIFIERS, MODELS, Accuracy
from countergraph.classifiers.sub2vec import Sub2Vec
from countergraph.classifiers.weisfeiler_lehman import weisfeiler_lehman
from countergraph.graphs.pairs import Bits, Floats

BATCHES = (1, 32, 512)
WALK_STEPS = 100_000


def main() -> None:
    root = real_data()
    print("Calls per second, best of 5 (one process, two cores)")
    print(f"| cohort | model | {' | '.join(f'batch {size}' for size in BATCHES)} |")
    print("|---|---|" + "---|" * len(BATCHES))
    for cohort in ("asd", "adhd"):
        data = cg.load_dataset(cohort, root=root)
        for kind in MODELS:
            model = _train_fast(data, kind)
            rates = [f"{_rate(model, data, size):,.0f}" for size in BATCHES]
            print(f"| {cohort} | {kind} | {' | '.join(rates)} |", flush=True)
    print()
    data = cg.load_dataset("asd", root=root)
    compare_with_gensim(data)
    compare_with_walks(data)


def _train_fast(data: cg.GraphDataset, kind: str) -> cg.Model:
    """Train on all graphs, without cross-validation; the number of epochs does not affect the speed of calls."""
    spec = MODELS[kind]
    settings = {**spec.settings, **spec.paper.get(data.about["cohort"], {})}
    if kind == "autoencoder":
        settings["epochs"] = 3
    steps = [] if spec.embedding is None else [("embedding", spec.embedding(**settings))]
    pipeline = Pipeline([*steps, ("classifier", CLASSIFIERS[spec.classifier]())]).fit(data.edges, data.labels)
    about = (data.classes, data.n_rois, data.atlas.name, data.fingerprint)
    return cg.Model(kind, settings, pipeline, *about, Accuracy(0, 0, 0, 0, 0))


def _rate(model: cg.Model, data: cg.GraphDataset, size: int) -> float:
    rng = np.random.default_rng(0)
    graphs = data.edges[rng.integers(len(data), size=size)]
    graphs = graphs ^ (rng.random(graphs.shape) < 0.01)
    model.predict(graphs)
    return size / min(_seconds(lambda: model.predict(graphs)) for _ in range(5))


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def compare_with_gensim(data: cg.GraphDataset) -> None:
    """Compare the exact vectors of graph2vec with sampled ones of gensim, which uses its own word vectors."""
    seconds: dict[str, list[float]] = {"exact": [], "sampled": []}

    def embed(fitted: Graph2Vec, gensim_model: object, edges: Bits) -> tuple[Floats, Floats]:
        began = time.perf_counter()
        exact = fitted.transform(edges)
        seconds["exact"].append((time.perf_counter() - began) / len(edges))
        counts = fitted._count(weisfeiler_lehman(edges, fitted.rounds_used_))
        words = np.arange(counts.shape[1]).astype(str)
        texts = [np.repeat(words, row).tolist() for row in counts]
        began = time.perf_counter()
        vectors = np.stack([gensim_model.infer_vector(text) for text in texts])  # type: ignore[attr-defined]
        seconds["sampled"].append((time.perf_counter() - began) / len(edges))
        return exact, vectors

    scores: dict[str, list[float]] = {"exact": [], "sampled": []}
    for seen, unseen in _folds(data):
        fitted = Graph2Vec().fit(data.edges[seen])
        gensim_model = _gensim_model(fitted, data.edges[seen])
        train, test = embed(fitted, gensim_model, data.edges[seen]), embed(fitted, gensim_model, data.edges[unseen])
        for inference, seen_vectors, unseen_vectors in zip(("exact", "sampled"), train, test, strict=True):
            scores[inference].append(_knn(seen_vectors, data.labels[seen], unseen_vectors, data.labels[unseen]))
    batch = np.repeat(data.edges, 6, axis=0)[:512]
    fitted = Graph2Vec().fit(data.edges)
    exact = min(_seconds(lambda: fitted.transform(batch)) for _ in range(5)) / len(batch)
    sampled = float(np.median(seconds["sampled"]))
    print("graph2vec on ASD, KNN, cross-validated accuracy, 5 x 5 folds (mean ± standard deviation over folds)")
    print(f"  exact inference         {np.mean(scores['exact']):.3f} ± {np.std(scores['exact']):.3f}")
    print(f"  gensim infer_vector     {np.mean(scores['sampled']):.3f} ± {np.std(scores['sampled']):.3f}")
    print(f"  time per graph: exact {1e6 * exact:.0f} µs, gensim {1e6 * sampled:.0f} µs; ratio {sampled / exact:.0f}\n")


def _gensim_model(fitted: Graph2Vec, edges: Bits) -> object:
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    counts = fitted._count(weisfeiler_lehman(edges, fitted.rounds_used_))
    words = np.arange(counts.shape[1]).astype(str)
    texts = [TaggedDocument(np.repeat(words, row).tolist(), [i]) for i, row in enumerate(counts)]
    return Doc2Vec(texts, vector_size=50, dm=0, min_count=1, sample=1e-4, epochs=100, workers=1, seed=0)


def compare_with_walks(data: cg.GraphDataset) -> None:
    """Compare sub2vec on expected visits with sub2vec on the visits of sampled random walks."""
    began = time.perf_counter()
    visits = np.stack([_walk(matrix, WALK_STEPS, seed) for seed, matrix in enumerate(data.adjacency)])
    walking = (time.perf_counter() - began) / len(data)
    scores = {"expected": [], "walked": []}  # type: ignore[var-annotated]
    for seen, unseen in _folds(data):
        fitted = Sub2Vec().fit(data.edges[seen])
        exact = fitted.transform(data.edges)
        walked = fitted._infer(visits.astype(np.float64))
        for visits_kind, vectors in (("expected", exact), ("walked", walked)):
            scores[visits_kind].append(_knn(vectors[seen], data.labels[seen], vectors[unseen], data.labels[unseen]))
    fitted = Sub2Vec().fit(data.edges)
    batch = np.repeat(data.edges, 6, axis=0)[:512]
    exact_time = min(_seconds(lambda: fitted.transform(batch)) for _ in range(5)) / len(batch)
    print(f"sub2vec on ASD, KNN, cross-validated accuracy, 5 x 5 folds; walks of {WALK_STEPS} steps")
    print(f"  expected visits         {np.mean(scores['expected']):.3f} ± {np.std(scores['expected']):.3f}")
    print(f"  visits of a random walk {np.mean(scores['walked']):.3f} ± {np.std(scores['walked']):.3f}")
    print(
        f"  time per graph: {1e6 * exact_time:.0f} µs (visits and vector), {1e3 * walking:.0f} ms for the walk; "
        f"ratio {walking / exact_time:.0f}\n"
    )


def _walk(matrix: NDArray[np.uint8], steps: int, seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    neighbours = [np.flatnonzero(row).tolist() for row in matrix]
    draws = rng.random(steps).tolist()
    visits = [0] * len(matrix)
    roi = int(rng.integers(len(matrix)))
    for draw in draws:
        visits[roi] += 1
        adjacent = neighbours[roi]
        if adjacent:
            roi = adjacent[int(draw * len(adjacent))]
    return np.array(visits)


def _folds(data: cg.GraphDataset) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    return list(RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0).split(data.edges, data.labels))


def _knn(seen: Floats, labels: NDArray[np.int64], unseen: Floats, truth: NDArray[np.int64]) -> float:
    classifier: BaseEstimator = clone(KNeighborsClassifier(algorithm="brute"))
    return float(classifier.fit(seen, labels).score(unseen, truth))


if __name__ == "__main__":
    main()
