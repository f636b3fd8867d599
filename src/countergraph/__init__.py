"""Counterfactual explanations of brain-network classifiers.

>>> import countergraph as cg
>>> data = cg.make_cohort()
>>> model = cg.train(data)
>>> result = cg.find_counterfactuals(model, data.subset(["subject-001"]), dataset=data)[0]
>>> print(result.sentence)  # doctest: +SKIP

Less common names are in the subpackages, for example `countergraph.classifiers.linear_rule.LinearRule`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from countergraph.version import __version__ as __version__

if TYPE_CHECKING:
    from countergraph.classifiers.model import Model as Model
    from countergraph.classifiers.model_files import load_model as load_model
    from countergraph.classifiers.training import select as select
    from countergraph.classifiers.training import train as train
    from countergraph.datasets.load import load_dataset as load_dataset
    from countergraph.datasets.synthetic import make_cohort as make_cohort
    from countergraph.explain.compare import Comparison as Comparison
    from countergraph.explain.diverse import Diverse as Diverse
    from countergraph.explain.importance import GlobalExplanation as GlobalExplanation
    from countergraph.explain.local import LocalExplanation as LocalExplanation
    from countergraph.explain.plausibility import plausibility as plausibility
    from countergraph.finding.constraints import Constraints as Constraints
    from countergraph.finding.diverse import find_diverse as find_diverse
    from countergraph.finding.find import find_counterfactual as find_counterfactual
    from countergraph.finding.find import find_counterfactuals as find_counterfactuals
    from countergraph.finding.run import Finished as Finished
    from countergraph.finding.run import Improved as Improved
    from countergraph.finding.run import SearchRun as SearchRun
    from countergraph.graphs.atlas import Atlas as Atlas
    from countergraph.graphs.atlas import load_atlas as load_atlas
    from countergraph.graphs.binarize import binarize as binarize
    from countergraph.graphs.dataset import GraphDataset as GraphDataset
    from countergraph.oracle.endpoint import Endpoint as Endpoint
    from countergraph.oracle.oracle import Oracle as Oracle
    from countergraph.oracle.program import Program as Program
    from countergraph.oracle.torch_module import TorchModel as TorchModel
    from countergraph.proofs.certify import certify as certify
    from countergraph.proofs.optimum import optimal_counterfactual as optimal_counterfactual
    from countergraph.report.make import make_report as make_report
    from countergraph.results.counterfactual import Counterfactual as Counterfactual
    from countergraph.results.counterfactual import Counterfactuals as Counterfactuals
    from countergraph.results.files import load_results as load_results
    from countergraph.search.driver import Asked as Asked
    from countergraph.search.methods import list_methods as list_methods
    from countergraph.search.methods import register_search as register_search
    from countergraph.search.options import SearchOptions as SearchOptions
    from countergraph.store.resume import resume_counterfactuals as resume_counterfactuals
    from countergraph.store.store import Store as Store

# The module of each public name. Modules are imported on first use, so that `import countergraph` is fast.
_MODULES = {
    "classifiers.model": ("Model",),
    "classifiers.model_files": ("load_model",),
    "classifiers.training": ("select", "train"),
    "datasets.load": ("load_dataset",),
    "datasets.synthetic": ("make_cohort",),
    "explain.compare": ("Comparison",),
    "explain.diverse": ("Diverse",),
    "explain.importance": ("GlobalExplanation",),
    "explain.local": ("LocalExplanation",),
    "explain.plausibility": ("plausibility",),
    "finding.constraints": ("Constraints",),
    "finding.diverse": ("find_diverse",),
    "finding.find": ("find_counterfactual", "find_counterfactuals"),
    "finding.run": ("Finished", "Improved", "SearchRun"),
    "graphs.atlas": ("Atlas", "load_atlas"),
    "graphs.binarize": ("binarize",),
    "graphs.dataset": ("GraphDataset",),
    "oracle.endpoint": ("Endpoint",),
    "oracle.oracle": ("Oracle",),
    "oracle.program": ("Program",),
    "oracle.torch_module": ("TorchModel",),
    "proofs.certify": ("certify",),
    "proofs.optimum": ("optimal_counterfactual",),
    "report.make": ("make_report",),
    "results.counterfactual": ("Counterfactual", "Counterfactuals"),
    "results.files": ("load_results",),
    "search.driver": ("Asked",),
    "search.methods": ("list_methods", "register_search"),
    "search.options": ("SearchOptions",),
    "store.resume": ("resume_counterfactuals",),
    "store.store": ("Store",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'countergraph' has no attribute {name!r}")
    value = getattr(import_module(f"countergraph.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
