"""The linear rules that the authors of the paper published."""

from __future__ import annotations

import json
from pathlib import Path

from countergraph.classifiers.linear_rule import LinearRule
from countergraph.datasets.cohorts import ROOT_VARIABLE, cohort_folder
from countergraph.errors import FileError, unknown_name


def load_published_rule(cohort: str, root: str | Path | None = None) -> LinearRule:
    """Load the rule that the authors of the paper published for ``"asd"`` or ``"adhd"``.

    Parameters
    ----------
    cohort
        The name of the cohort.
    root
        The folder that contains ``published_rules.json``; by default the value of the environment variable
        ``COUNTERGRAPH_DATA``.
    """
    path = cohort_folder(cohort, root).parent / "published_rules.json"
    try:
        rules = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read as JSON ({error}); pass root= or set {ROOT_VARIABLE}") from error
    if cohort not in rules:
        raise unknown_name("published rule", cohort, rules)
    rule = rules[cohort]
    names = [f"td_{cohort}", f"{cohort}_td"]
    n_rois = {"asd": 116, "adhd": 190}[cohort]
    return LinearRule(
        [rule[name] for name in names],
        [rule[f"{name}_weight"] for name in names],
        rule["intercept"],
        n_rois,
    )
