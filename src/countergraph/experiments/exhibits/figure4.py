"""Figure 4: how far counterfactuals are, after the first phase and after both."""

from __future__ import annotations

from countergraph.experiments.exhibits.exhibit import OURS, Exhibit, ExhibitOutput, Results, by_graph, first_distance
from countergraph.experiments.experiment import Experiment
from countergraph.plots.experiments import plot_distributions

DS, OFS, DFS = (Experiment.of("asd", "published", method) for method in ("ds", "ofs+obs", "dfs+dbs"))
OWN = tuple(Experiment.of("asd", "published", method) for method in OURS)


def show(results: Results) -> ExhibitOutput:
    """Draw both panels, and print how many first counterfactuals of DFS are below 400."""
    first = {
        name: by_graph(results.of(each), first_distance) for name, each in (("DS", DS), ("OFS", OFS), ("DFS", DFS))
    }
    both = {
        each.method.upper(): by_graph(results.of(each), lambda result: result.distance) for each in (OFS, DFS, *OWN)
    }
    picture = plot_distributions({"Phase 1": first, "Phase 1 and Phase 2": both}, "edit distance")
    below = 100 * (first["DFS"] < 400).mean()
    text = (
        f"First counterfactuals of DFS below 400 changes: **{below:.0f}%** of the graphs (paper: 80%). "
        f"Mean distance of DS: **{first['DS'].mean():.0f}** (paper: about 1000). "
        f"Medians after both phases: {', '.join(f'{name} {sorted(v)[len(v) // 2]:.1f}' for name, v in both.items())}."
    )
    why = (
        "DFS needs fewer changes here than in the paper. After both phases OFS+OBS is closer than DFS+DBS: the weights "
        "of DBS, read literally, revert the most discriminative changes first ([searches.md](searches.md))."
    )
    return ExhibitOutput(f"{text}\n\n{why}", {"figure4": picture})


FIGURE4 = Exhibit("figure4", "Figure 4: distance by method (ASD, contrast subgraphs)", (DS, OFS, DFS, *OWN), show)
