"""Counterfactual explanations of brain-network classifiers.

>>> import countergraph as cg
>>> data = cg.make_cohort()
>>> model = cg.train(data)
>>> result = cg.find_counterfactuals(model, data.subset(["subject-001"]), dataset=data)[0]
>>> print(result.sentence)  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from countergraph.version import __version__ as __version__

if TYPE_CHECKING:
    from countergraph.classifiers.autoencoder import Autoencoder as Autoencoder
    from countergraph.classifiers.contrast_subgraphs import ContrastSubgraphs as ContrastSubgraphs
    from countergraph.classifiers.graph2vec import Graph2Vec as Graph2Vec
    from countergraph.classifiers.linear_rule import LinearRule as LinearRule
    from countergraph.classifiers.model import CLASSIFIERS as CLASSIFIERS
    from countergraph.classifiers.model import MODELS as MODELS
    from countergraph.classifiers.model import Model as Model
    from countergraph.classifiers.model_files import load_model as load_model
    from countergraph.classifiers.model_files import save_model as save_model
    from countergraph.classifiers.published_rules import load_published_rule as load_published_rule
    from countergraph.classifiers.sub2vec import Sub2Vec as Sub2Vec
    from countergraph.classifiers.training import select as select
    from countergraph.classifiers.training import train as train
    from countergraph.datasets.load import DATASETS as DATASETS
    from countergraph.datasets.load import load_dataset as load_dataset
    from countergraph.datasets.synthetic import make_cohort as make_cohort
    from countergraph.explain.compare import Comparison as Comparison
    from countergraph.explain.contrastive import changes as changes
    from countergraph.explain.diverse import Diverse as Diverse
    from countergraph.explain.importance import GlobalExplanation as GlobalExplanation
    from countergraph.explain.litmus import litmus as litmus
    from countergraph.explain.local import LocalExplanation as LocalExplanation
    from countergraph.explain.plausibility import plausibility as plausibility
    from countergraph.finding.constraints import Constraints as Constraints
    from countergraph.finding.diverse import find_diverse as find_diverse
    from countergraph.finding.find import find_counterfactual as find_counterfactual
    from countergraph.finding.find import find_counterfactuals as find_counterfactuals
    from countergraph.finding.prove import certify as certify
    from countergraph.finding.white_box import optimal_counterfactual as optimal_counterfactual
    from countergraph.graphs.atlas import Atlas as Atlas
    from countergraph.graphs.atlas import load_atlas as load_atlas
    from countergraph.graphs.binarize import binarize as binarize
    from countergraph.graphs.dataset import GraphDataset as GraphDataset
    from countergraph.graphs.files import save_dataset as save_dataset
    from countergraph.oracle.endpoint import Endpoint as Endpoint
    from countergraph.oracle.oracle import Oracle as Oracle
    from countergraph.oracle.program import Program as Program
    from countergraph.oracle.torch_module import TorchModel as TorchModel
    from countergraph.plots.chord import plot_chord as plot_chord
    from countergraph.plots.compare import plot_comparison as plot_comparison
    from countergraph.plots.contrastive import plot_counterfactual as plot_counterfactual
    from countergraph.plots.diverse import plot_diverse as plot_diverse
    from countergraph.plots.heatmaps import plot_heatmaps as plot_heatmaps
    from countergraph.plots.interactive import view as view
    from countergraph.plots.litmus import plot_litmus as plot_litmus
    from countergraph.plots.local import plot_local as plot_local
    from countergraph.plots.registry import PLOTS as PLOTS
    from countergraph.plots.rois import plot_roi_bars as plot_roi_bars
    from countergraph.plots.rois import plot_roi_brain as plot_roi_brain
    from countergraph.plots.rois import plot_roi_strip as plot_roi_strip
    from countergraph.report.make import make_report as make_report
    from countergraph.report.report import Report as Report
    from countergraph.results.certificate import Certificate as Certificate
    from countergraph.results.counterfactual import Counterfactual as Counterfactual
    from countergraph.results.counterfactual import Counterfactuals as Counterfactuals
    from countergraph.results.files import load_results as load_results
    from countergraph.results.files import save_results as save_results
    from countergraph.search.methods import METHODS as METHODS
    from countergraph.store.resume import resume_counterfactuals as resume_counterfactuals
    from countergraph.store.store import Store as Store

# Where each public name lives. They are imported when first used, so that `countergraph --help` does not wait for
# scikit-learn and matplotlib.
_HOMES = {
    "results.certificate": ("Certificate",),
    "finding.prove": ("certify",),
    "finding.constraints": ("Constraints",),
    "finding.diverse": ("find_diverse",),
    "explain.diverse": ("Diverse",),
    "explain.plausibility": ("plausibility",),
    "classifiers.contrast_subgraphs": ("ContrastSubgraphs",),
    "classifiers.linear_rule": ("LinearRule",),
    "classifiers.published_rules": ("load_published_rule",),
    "classifiers.autoencoder": ("Autoencoder",),
    "classifiers.graph2vec": ("Graph2Vec",),
    "classifiers.sub2vec": ("Sub2Vec",),
    "classifiers.model": ("CLASSIFIERS", "MODELS", "Model"),
    "classifiers.training": ("select", "train"),
    "classifiers.model_files": ("load_model", "save_model"),
    "results.counterfactual": ("Counterfactual", "Counterfactuals"),
    "datasets.load": ("DATASETS", "load_dataset"),
    "datasets.synthetic": ("make_cohort",),
    "store.resume": ("resume_counterfactuals",),
    "store.store": ("Store",),
    "explain.compare": ("Comparison",),
    "explain.contrastive": ("changes",),
    "explain.importance": ("GlobalExplanation",),
    "explain.litmus": ("litmus",),
    "explain.local": ("LocalExplanation",),
    "finding.find": ("find_counterfactual", "find_counterfactuals"),
    "graphs.atlas": ("Atlas", "load_atlas"),
    "graphs.binarize": ("binarize",),
    "graphs.dataset": ("GraphDataset",),
    "graphs.files": ("save_dataset",),
    "oracle.endpoint": ("Endpoint",),
    "oracle.oracle": ("Oracle",),
    "oracle.program": ("Program",),
    "oracle.torch_module": ("TorchModel",),
    "plots.contrastive": ("plot_counterfactual",),
    "plots.chord": ("plot_chord",),
    "plots.compare": ("plot_comparison",),
    "plots.diverse": ("plot_diverse",),
    "plots.heatmaps": ("plot_heatmaps",),
    "plots.interactive": ("view",),
    "plots.litmus": ("plot_litmus",),
    "plots.local": ("plot_local",),
    "plots.rois": ("plot_roi_bars", "plot_roi_brain", "plot_roi_strip"),
    "plots.registry": ("PLOTS",),
    "report.make": ("make_report",),
    "report.report": ("Report",),
    "results.files": ("load_results", "save_results"),
    "search.methods": ("METHODS",),
    "finding.white_box": ("optimal_counterfactual",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _HOME_OF:
        raise AttributeError(f"module 'countergraph' has no attribute {name!r}")
    value = getattr(import_module(f"countergraph.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
