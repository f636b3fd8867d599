"""Questions per second of each black box, and exact inference against what it stands for."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

import countergraph as cg
from bench.data import real_data
from countergraph.classifiers.graph2vec import Graph2Vec
from countergraph.classifiers.model import MODELS
from countergraph.classifiers.sub2vec import Sub2Vec
from countergraph.classifiers.weisfeiler_lehman import weisfeiler_lehman
from countergraph.graphs.pairs import Bits, Floats

BATCHES = (1, 32, 512)
WALK = 100_000


def main() -> None:
    root = real_data()
    print("Questions per second, best of 5 (one process, two cores)")
    print(f"| cohort | black box | {' | '.join(f'batch {size}' for size in BATCHES)} |")
    print("|---|---|" + "---|" * len(BATCHES))
    for cohort in ("asd", "adhd"):
        data = cg.load_dataset(cohort, root=root)
        for kind in MODELS:
            model = _quickly_trained(data, kind)
            rates = [f"{_rate(model, data, size):,.0f}" for size in BATCHES]
            print(f"| {cohort} | {kind} | {' | '.join(rates)} |", flush=True)
    print()
    data = cg.load_dataset("asd", root=root)
    against_gensim(data)
    against_walks(data)


def _quickly_trained(data: cg.GraphDataset, kind: str) -> cg.Model:
    """Train on all graphs, without measuring accuracy; fewer epochs make no difference to speed."""
    from sklearn.pipeline import Pipeline

    from countergraph.classifiers.model import CLASSIFIERS, MODELS, Accuracy

    chosen = MODELS[kind]
    settings = {**chosen.settings, **chosen.paper.get(data.about["cohort"], {})}
    if kind == "autoencoder":
        settings["epochs"] = 3
    steps = [] if chosen.embedding is None else [("embedding", chosen.embedding(**settings))]
    pipeline = Pipeline([*steps, ("classifier", CLASSIFIERS[chosen.classifier]())]).fit(data.edges, data.labels)
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


def against_gensim(data: cg.GraphDataset) -> None:
    """Compare graph2vec's exact vectors with gensim's sampled ``infer_vector``, word vectors being gensim's own."""
    seconds: dict[str, list[float]] = {"exact": [], "sampled": []}

    def embed(fitted: Graph2Vec, theirs: object, edges: Bits) -> tuple[Floats, Floats]:
        began = time.perf_counter()
        exact = fitted.transform(edges)
        seconds["exact"].append((time.perf_counter() - began) / len(edges))
        counts = fitted._count(weisfeiler_lehman(edges, fitted.rounds_used_))
        words = np.arange(counts.shape[1]).astype(str)
        texts = [np.repeat(words, row).tolist() for row in counts]
        began = time.perf_counter()
        vectors = np.stack([theirs.infer_vector(text) for text in texts])  # type: ignore[attr-defined]
        seconds["sampled"].append((time.perf_counter() - began) / len(edges))
        return exact, vectors

    scores: dict[str, list[float]] = {"exact": [], "sampled": []}
    for seen, unseen in _folds(data):
        fitted = Graph2Vec().fit(data.edges[seen])
        theirs = _gensim_model(fitted, data.edges[seen])
        train, test = embed(fitted, theirs, data.edges[seen]), embed(fitted, theirs, data.edges[unseen])
        for way, seen_vectors, unseen_vectors in zip(("exact", "sampled"), train, test, strict=True):
            scores[way].append(_knn(seen_vectors, data.labels[seen], unseen_vectors, data.labels[unseen]))
    sampled = scores["sampled"]
    big = np.repeat(data.edges, 6, axis=0)[:512]
    fitted = Graph2Vec().fit(data.edges)
    exact = min(_seconds(lambda: fitted.transform(big)) for _ in range(5)) / len(big)
    slow = float(np.median(seconds["sampled"]))
    print("graph2vec on ASD, KNN, held-out accuracy over 5 x 5 folds (mean, standard deviation of a fold)")
    print(f"  exact inference         {np.mean(scores['exact']):.3f} ± {np.std(scores['exact']):.3f}")
    print(f"  gensim's infer_vector   {np.mean(sampled):.3f} ± {np.std(sampled):.3f}")
    print(f"  per graph: {1e6 * exact:.0f} µs against {1e6 * slow:.0f} µs; ratio {slow / exact:.0f}\n")


def _gensim_model(fitted: Graph2Vec, edges: Bits) -> object:
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    counts = fitted._count(weisfeiler_lehman(edges, fitted.rounds_used_))
    words = np.arange(counts.shape[1]).astype(str)
    texts = [TaggedDocument(np.repeat(words, row).tolist(), [i]) for i, row in enumerate(counts)]
    return Doc2Vec(texts, vector_size=50, dm=0, min_count=1, sample=1e-4, epochs=100, workers=1, seed=0)


def against_walks(data: cg.GraphDataset) -> None:
    """Compare sub2vec on expected visits with sub2vec on the visits of real walks."""
    began = time.perf_counter()
    visits = np.stack([_walk(matrix, WALK, seed) for seed, matrix in enumerate(data.adjacency)])
    walking = (time.perf_counter() - began) / len(data)
    scores = {"expected": [], "walked": []}  # type: ignore[var-annotated]
    for seen, unseen in _folds(data):
        fitted = Sub2Vec().fit(data.edges[seen])
        exact = fitted.transform(data.edges)
        walked = fitted._infer(visits.astype(np.float64))
        for way, vectors in (("expected", exact), ("walked", walked)):
            scores[way].append(_knn(vectors[seen], data.labels[seen], vectors[unseen], data.labels[unseen]))
    fitted = Sub2Vec().fit(data.edges)
    big = np.repeat(data.edges, 6, axis=0)[:512]
    exact_time = min(_seconds(lambda: fitted.transform(big)) for _ in range(5)) / len(big)
    print(f"sub2vec on ASD, KNN, held-out accuracy over 5 x 5 folds; walks of {WALK} steps")
    print(f"  expected visits         {np.mean(scores['expected']):.3f} ± {np.std(scores['expected']):.3f}")
    print(f"  visits of a real walk   {np.mean(scores['walked']):.3f} ± {np.std(scores['walked']):.3f}")
    print(
        f"  per graph: {1e6 * exact_time:.0f} µs, vector included, against {1e3 * walking:.0f} ms for the walk alone; "
        f"ratio {walking / exact_time:.0f}\n"
    )


def _walk(matrix: NDArray[np.uint8], steps: int, seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    neighbours = [np.flatnonzero(row).tolist() for row in matrix]
    chances = rng.random(steps).tolist()
    visits = [0] * len(matrix)
    vertex = int(rng.integers(len(matrix)))
    for chance in chances:
        visits[vertex] += 1
        near = neighbours[vertex]
        if near:
            vertex = near[int(chance * len(near))]
    return np.array(visits)


def _folds(data: cg.GraphDataset) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    return list(RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0).split(data.edges, data.labels))


def _knn(seen: Floats, labels: NDArray[np.int64], unseen: Floats, truth: NDArray[np.int64]) -> float:
    box: BaseEstimator = clone(KNeighborsClassifier(algorithm="brute"))
    return float(box.fit(seen, labels).score(unseen, truth))


if __name__ == "__main__":
    main()
