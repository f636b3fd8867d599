"""Graph statistics of the synthetic cohort, compared with the ABIDE children."""

from __future__ import annotations

import numpy as np

import countergraph as cg
from bench.data import real_data


def statistics(data: cg.GraphDataset) -> dict[str, float]:
    """Return a few statistics of the graphs of a cohort."""
    distances = np.array([(data.edges ^ graph).sum(axis=1) for graph in data.edges], dtype=float)
    np.fill_diagonal(distances, np.nan)
    frequency = data.edges.mean(axis=0)
    degrees = data.adjacency.sum(axis=-1, dtype=float)
    matrices = data.adjacency.astype(float)
    triangles = np.einsum("sij,sjk,ski->s", matrices, matrices, matrices, optimize=True)
    accuracy = cg.train(data, alpha=0.025).accuracy
    return {
        "density": float(data.edges.mean()),
        "edge frequency, median": float(np.median(frequency)),
        "edge frequency, 95th percentile": float(np.percentile(frequency, 95)),
        "edge frequency, 99th percentile": float(np.percentile(frequency, 99)),
        "distance between subjects, mean": float(np.nanmean(distances)),
        "distance to the nearest subject, mean": float(np.nanmin(distances, axis=1).mean()),
        "degree, standard deviation": float(degrees.std(axis=1).mean()),
        "transitivity, mean": float((triangles / (degrees * (degrees - 1)).sum(axis=1)).mean()),
        "contrast subgraphs, cross-validated accuracy": accuracy.cross_validated,
    }


def main() -> None:
    root = real_data()
    real, synthetic = statistics(cg.load_dataset("asd", root=root)), statistics(cg.make_cohort())
    print("| | ABIDE children | synthetic |")
    print("|---|---|---|")
    for name, value in real.items():
        print(
            f"| {name} | {value:.3g} | {synthetic[name]:.3g} |"
            if value < 100
            else f"| {name} | {value:.0f} | {synthetic[name]:.0f} |"
        )
    print()


if __name__ == "__main__":
    main()
