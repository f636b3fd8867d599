from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

import countergraph as cg
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.errors import BlackBoxError, FileError, InputError, NotFoundError
from countergraph.explain.litmus import used_rois
from countergraph.report.pictures import save_pictures
from countergraph.report.report import Report

CALLS = (
    "calls for the cohort",
    "calls for single subjects",
    "calls for the closest counterfactuals (learned)",
    "calls for certificates",
)
RULE = LinearRule([range(6), range(8, 13)], [-0.5, 0.5], 0.1, n_rois=20)


@pytest.fixture(scope="module")
def report(cohort: cg.GraphDataset) -> Report:
    return cg.make_report(RULE, cohort, "ofs+obs", runs=2, subjects=2, local_runs=20)


@pytest.fixture(scope="module")
def page(report: Report, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    report.save(path)
    return path.read_text(encoding="utf-8")


class Outline(HTMLParser):
    """The tags and attributes of a page; checks that all tags are closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_page_is_self_contained_and_small(page: str) -> None:
    outline = Outline(page)
    assert outline.open == []
    elements = [each for tag in ("img", "script", "link") for each in outline.all(tag)]
    sources = [each.get(name) or "" for each in elements for name in ("src", "href")]
    assert all(source == "" or source.startswith("data:") for source in sources)
    assert len(page) < 15e6


def test_page_is_accessible(page: str) -> None:
    outline = Outline(page)
    assert outline.all("html") == [{"lang": "en"}]
    assert all(each.get("alt") for each in outline.all("img"))
    assert len(outline.all("caption")) == len(outline.all("table"))
    assert all(each.get("scope") == "col" for each in outline.all("th"))
    headings = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(headings))
    anchors = [(each["href"] or "")[1:] for each in outline.all("a")]
    assert set(anchors) <= {attributes.get("id") for _, attributes in outline.tags}


def test_page_contains_the_main_results(page: str, report: Report) -> None:
    for name in report.people:
        assert report.person(name).sentence in page
    assert report.headline in page
    for roi in report.data.atlas.names:
        assert f"<td>{roi}</td>" in page
    assert "ROC AUC" in page


def test_names_are_escaped(cohort: cg.GraphDataset) -> None:
    unsafe = '</script><script>alert("x")</script>'
    names = [f"{unsafe}{i}" for i in range(len(cohort))]
    atlas = cg.Atlas([f"{unsafe}{i}" for i in range(20)], cohort.atlas.coordinates, networks=[unsafe] * 20)
    data = cg.GraphDataset(cohort.edges, cohort.labels, names, (f"a{unsafe}", "b<b>"), atlas)
    made = cg.make_report(RULE, data, "ofs+obs", runs=1, subjects=1, local_runs=5)
    from countergraph.report.page import render

    page = render(made)
    assert "<script>alert" not in page
    assert "b<b>" not in page
    reference = cg.make_report(RULE, cohort, "ofs+obs", runs=1, subjects=1, local_runs=5)
    assert page.count("<script") == render(reference).count("<script")


def test_json_and_csv_contain_the_same_numbers(report: Report, tmp_path: Path) -> None:
    report.save(tmp_path / "report.json")
    report.save(tmp_path / "tables")
    plain = json.loads((tmp_path / "report.json").read_text())
    assert plain["headline"] == report.headline
    assert len(plain["counterfactuals"]) == len(report.results)
    assert plain["litmus"]["roc_auc"] == pytest.approx(report.litmus.roc_auc if report.litmus else None)
    for name, table in report.tables.items():
        with (tmp_path / "tables" / f"{name.replace(' ', '-')}.csv").open() as file:
            rows = list(csv.reader(file))
        assert len(rows) - 1 == len(table) == len(plain["tables"][name])
    totals = [row["total"] for row in plain["tables"]["rois"]]
    assert totals == report.tables["rois"]["total"].tolist()
    assert totals == sorted(totals, reverse=True)
    with pytest.raises(FileError, match=r"report.json: cannot be written \(File exists"):
        report.save(tmp_path / "report.json", "csv")


def test_costs_and_plausibility_of_subjects_and_of_all_results(
    cohort: cg.GraphDataset, report: Report, tmp_path: Path
) -> None:
    costs = cg.Constraints(cost="length")
    made = cg.make_report(RULE, cohort, "ofs+obs", runs=1, subjects=2, local_runs=3, constraints=costs)
    plain = made.to_dict()
    json.dumps(plain, allow_nan=False)
    measures = cg.plausibility(made.results, cohort)
    for name, entry in plain["people"].items():
        person = made.person(name)
        assert (entry["distance"], entry["cost"]) == (person.distance, person.cost)
        assert entry["proof"] == person.certificate.proof
        assert entry["plausibility"]["nearest"] == cg.plausibility(person, cohort)["nearest"].item()
    seen = [each["plausibility"]["seen"] for each in plain["counterfactuals"]]
    assert seen == [None if np.isnan(value) else value for value in measures["seen"]]
    assert made.tables["results"]["cost"].tolist() == [each.cost for each in made.results]
    assert made.tables["results"]["nearest"].equals(measures["nearest"])
    assert made.tables["plausibility"]["cost"].tolist() == [made.person(name).cost for name in made.people]
    assert "cost (median)" in made.tables["search"]
    made.save(tmp_path / "page.html")
    assert "Cost of the changes" in (tmp_path / "page.html").read_text()
    assert "cost" not in report.tables["plausibility"]
    assert all(entry["cost"] is None for entry in report.to_dict()["people"].values())


def test_alternative_counterfactuals_are_diverse(report: Report, page: str) -> None:
    from countergraph.report.page import render

    assert all(not report.others(name) for name in report.people)
    assert "Alternative counterfactuals" not in page
    several = replace(report, diverse=3)
    text = render(several)
    assert "Alternative counterfactuals" in text
    for name, entry in several.to_dict()["people"].items():
        others = several.others(name)
        assert len(others) == len(entry["others"]) == 2
        changed = [{*each.added, *each.removed} for each in (several.person(name), *others)]
        assert all(one != other for one, other in combinations(changed, 2))
        assert all(escape(each.sentence, quote=False) in text for each in others)
    with pytest.raises(InputError, match="diverse must be an integer of at least 1"):
        replace(report, diverse=0)


def test_figures_are_written(report: Report, tmp_path: Path) -> None:
    paths = save_pictures(report, tmp_path / "figures", "svg")
    assert {path.stem for path in paths} >= {"heatmaps", "heatmaps-normalised", "roi-strip", "chord", "litmus"}
    assert all(path.read_text().lstrip().startswith("<?xml") for path in paths)


def test_model_table_contains_the_cross_validated_accuracy(cohort: cg.GraphDataset, model: cg.Model) -> None:
    made = cg.make_report(model, cohort, "ofs+obs", runs=1, subjects=0)
    rows = dict(made.tables["model"].to_numpy().tolist())
    assert rows["cross-validated accuracy (5 folds)"] == model.accuracy.cross_validated
    assert rows["accuracy on this cohort"] == pytest.approx(model.accuracy.training)
    assert made.people == {}


def test_used_rois_by_counter(model: cg.Model) -> None:
    rows = used_rois(RULE, ("TD", "ASD"))
    assert rows == {
        "TD -": tuple(range(6)),
        "ASD +": tuple(range(6)),
        "TD +": tuple(range(8, 13)),
        "ASD -": tuple(range(8, 13)),
    }
    assert {roi for row in used_rois(model, ("TD", "ASD")).values() for roi in row} == set(
        np.concatenate(model.estimator[0].subgraphs_)
    )
    assert used_rois(lambda a: a, ("TD", "ASD")) == {}


def test_report_with_few_or_no_counterfactuals(cohort: cg.GraphDataset, tmp_path: Path) -> None:
    constant = cg.make_report(
        lambda a: np.zeros(len(a)), cohort, "ofs+obs", runs=1, max_calls=3, local_runs=2, subjects=["subject-001"]
    )
    constant.save(tmp_path / "constant.html")
    text = (tmp_path / "constant.html").read_text()
    assert "No counterfactual was found." in text
    assert "<code>ofs+obs</code> found no counterfactual for 24 subjects" in text
    json.dumps(constant.to_dict(), allow_nan=False)
    partial = cg.make_report(RULE, cohort, "ofs+obs", runs=1, max_calls=2, k=4, subjects=1, local_runs=3)
    assert 0 < len(partial.results.found) < len(partial.results)
    partial.save(tmp_path / "partial.html")
    single = cg.make_report(RULE, cohort.subset([3]), "ofs+obs", runs=1, local_runs=1)
    single.save(tmp_path / "single.html")
    assert "1 graph, 1 search, 1 counterfactual." in (tmp_path / "single.html").read_text()


def test_report_shows_the_closest_known_counterfactual(cohort: cg.GraphDataset, page: str) -> None:
    options = {"runs": 1, "local_runs": 2, "subjects": list(cohort.names), "max_calls": 40}
    made = cg.make_report(RULE, cohort, "ofs", **options)
    joint = {each.subject: each for each in cg.find_counterfactuals(RULE, cohort, "learned", max_calls=40)}
    separate = [*made.results.found, *(each for runs in made.local.values() for each in runs.found)]
    for name, own in joint.items():
        others = [each.distance for each in separate if each.subject == name]
        assert made.person(name).distance == min([own.distance, *others])
    assert any(own.distance < min(e.distance for e in separate if e.subject == name) for name, own in joint.items())
    assert made.facts["calls for the closest counterfactuals (learned)"] == sum(each.calls for each in joint.values())
    assert "all graphs were searched once more in a joint run with <code>learned</code>" in " ".join(page.split())
    assert not len(cg.make_report(RULE, cohort, "learned", **{**options, "subjects": 1}).closest)


def test_three_classes_without_coordinates(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    data = cg.GraphDataset(rng.random((9, 66)) < 0.3, [0, 1, 2] * 3, classes=("low", "middle", "high"))
    made = cg.make_report(lambda a: np.clip(a.sum(axis=(1, 2)) // 12 - 2, 0, 2), data, "ofs+obs", runs=2, local_runs=4)
    made.save(tmp_path / "three.html")
    assert "high -" in (tmp_path / "three.html").read_text()
    assert list(made.tables["search"]["predicted class"]) == [
        name for label, name in enumerate(data.classes) if any(each.original_label == label for each in made.results)
    ]


def test_target_class_is_reached() -> None:
    data = cg.GraphDataset(np.random.default_rng(1).random((9, 66)) < 0.3, [0, 1, 2] * 3, classes=("a", "b", "c"))

    def by_density(matrices: np.ndarray) -> np.ndarray:
        return np.clip(matrices.sum(axis=(1, 2)) // 12 - 2, 0, 2)

    made = cg.make_report(by_density, data, "ofs+obs", runs=2, local_runs=4, target=2)
    assert {each.counterfactual_label for each in made.results.found} == {2}
    assert {each.stopped for each in made.results if each.original_label == 2} == {"already in target class"}
    with pytest.raises(InputError, match="target"):
        cg.make_report(by_density, data, "ofs+obs", runs=1, target=7)


def test_results_are_kept_if_the_model_fails_during_certification(cohort: cg.GraphDataset) -> None:
    options = {"method": "ofs+obs", "runs": 1, "subjects": 1, "local_runs": 2}
    counted = cg.Oracle(lambda a: (a.sum(axis=(1, 2)) > 40).astype(int))
    made = cg.make_report(counted, cohort, **options)
    n_calls, last = 0, counted.asked

    def fails(matrices: np.ndarray) -> np.ndarray:
        nonlocal n_calls
        n_calls += len(matrices)
        if n_calls == last:
            raise RuntimeError("connection lost")
        return (matrices.sum(axis=(1, 2)) > 40).astype(int)

    with pytest.raises(BlackBoxError, match="connection lost") as stopped:
        cg.make_report(fails, cohort, **options)
    assert len(stopped.value.results) == len(made.results) + 2 + len(made.closest)
    facts = made.facts
    assert sum(facts[name] for name in CALLS) == last


def test_no_comparison_with_the_optimum_under_constraints(cohort: cg.GraphDataset) -> None:
    options = {"method": "ofs+obs", "runs": 1, "subjects": 0}
    assert "optimum" in cg.make_report(RULE, cohort, **options).tables
    assert "optimum" not in cg.make_report(RULE, cohort, constraints=cg.Constraints(only="added"), **options).tables


def test_invalid_arguments_raise(cohort: cg.GraphDataset, report: Report, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="unknown subject 'unknown'; 24 are known"):
        cg.make_report(RULE, cohort, subjects=["unknown"])
    with pytest.raises(InputError, match="make_report takes a GraphDataset, not a ndarray"):
        cg.make_report(RULE, cohort.edges)
    with pytest.raises(InputError, match="format must be one of html, json, csv, not 'docx'"):
        report.save(tmp_path / "report.docx")
    with pytest.raises(InputError, match="subjects must be"):
        cg.make_report(RULE, cohort, subjects=-1)


def test_report_resumes_from_a_store(cohort: cg.GraphDataset, tmp_path: Path) -> None:
    counted = cg.Oracle(RULE)
    options = {"runs": 1, "subjects": 1, "local_runs": 3}
    with cg.Store(tmp_path / "store.sqlite") as store:
        first = cg.make_report(counted, cohort, "ofs+obs", store=store, **options)
        n_calls = counted.asked
        again = cg.make_report(counted, cohort, "ofs+obs", store=store, **options)
        assert counted.asked - n_calls < 20  # only the certificate of one subject
        assert again.headline == first.headline
        n_calls, searches = counted.asked, store.count()
        cg.make_report(counted, cohort, "ofs+obs", constraints=cg.Constraints(only="added"), store=store, **options)
        assert counted.asked - n_calls > 100, "other constraints need new searches"
        assert store.count() == 2 * searches


def test_report_contains_warnings(cohort: cg.GraphDataset, tmp_path: Path) -> None:
    rule = LinearRule([range(8)], [1.0], -9.0, 20)
    predicted = rule.predict(cohort.edges)
    for labels, correct in ((predicted, True), (1 - predicted, False)):
        labelled = cg.GraphDataset(cohort.edges, labels, cohort.names, atlas=cohort.atlas)
        made = cg.make_report(rule, labelled, "ofs+obs", runs=1, local_runs=2, subjects=["subject-001"])
        assert any("agree with only 0% of the labels" in each for each in made.cautions) != correct
    few = cg.make_report(rule, cohort, "ofs+obs", runs=1, max_calls=8, local_runs=2, subjects=["subject-001"])
    assert few.results.found
    [caution] = [each for each in few.cautions if "not representative of this class. The method" in each][:1]
    few.save(tmp_path / "few.html")
    assert caution.split(":")[0] in (tmp_path / "few.html").read_text()
    aimed = cg.make_report(RULE, cohort, "ofs+obs", runs=1, local_runs=2, target="ASD", subjects=["subject-001"])
    assert not [each for each in aimed.cautions if "not representative" in each], (
        "graphs in the target class are not searched"
    )
    for method in (few.person, few.others):
        with pytest.raises(NotFoundError, match="'unknown'"):
            method("unknown")
