"""The paper, reproduced: do what is missing of some exhibits, then write one page about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from countergraph.errors import InputError, unknown_name
from countergraph.experiments.exhibits import EXHIBITS
from countergraph.experiments.exhibits.exhibit import Exhibit, ExhibitOutput, Results
from countergraph.experiments.experiment import QUICK_EVERY, QUICK_LOCAL_RUNS, QUICK_RUNS, Experiment
from countergraph.experiments.runner import ProgressCallback, run_units
from countergraph.experiments.unit import Unit
from countergraph.experiments.workspace import Workspace
from countergraph.plots.style import save_picture
from countergraph.store.store import Store
from countergraph.version import __version__

FIGURE_DPI = 90
TITLE = "# The paper, reproduced"
UNFINISHED = ExhibitOutput("Not finished: some of its searches are not in the store.")


@dataclass(frozen=True)
class Reproduction:
    """Some exhibits of the paper, from the cohorts to the page.

    Parameters
    ----------
    workspace
        Where the cohorts lie and where results are kept.
    exhibits
        Which tables and figures.
    quick
        A small part of every experiment: every 8th graph (all, where searches learn together), one run; 100
        counterfactuals for the one person of Figure 8.
    """

    workspace: Workspace
    exhibits: tuple[Exhibit, ...]
    quick: bool = False

    @property
    def experiments(self) -> list[Experiment]:
        """What has to be run, each once."""
        wanted = dict.fromkeys(each for exhibit in self.exhibits for each in exhibit.experiments)
        return list(dict.fromkeys(each.quick if self.quick else each for each in wanted))

    def train(self, told: Callable[[str], ProgressCallback | None]) -> None:
        """Train the black boxes that are not there yet; ``told``, given a name, is told how far each is."""
        self.workspace.folder.mkdir(parents=True, exist_ok=True)
        for experiment in self.experiments:
            self.workspace.train(experiment, told(f"{experiment.box} on {experiment.cohort}"))

    def units(self) -> list[Unit]:
        """Return all the work, whether done or not."""
        return list(dict.fromkeys(unit for each in self.experiments for unit in self.workspace.units(each)))

    def run(self, workers: int = 1, scheduler: str | None = None, progress: ProgressCallback | None = None) -> None:
        """Search what is missing (see `run_units`)."""
        with Store(self.workspace.store) as store:
            for each in self.experiments:
                setting = self.workspace.setting(each)
                store.name(setting.cohort, Path(each.cohort).stem)
                store.name(setting.box, each.box if each.neighbours is None else f"{each.box}-{each.neighbours}")
        run_units(self.workspace.store, self.units(), workers, scheduler, progress)

    def write(self, page: Path, command: str) -> list[Path]:
        """Write the page, and its pictures beside it in ``figures/``; return what was written."""
        self.check_page(page)
        figures = page.parent / "figures"
        figures.mkdir(parents=True, exist_ok=True)
        written, parts = [page], [self._opening(command)]
        with Store(self.workspace.store) as store:
            results = Results(self.workspace, store, self.quick)
            for exhibit in self.exhibits:
                shown = exhibit.show(results) if exhibit.allows_missing or results.has_all(exhibit) else UNFINISHED
                parts += [f"## {exhibit.title}", shown.text]
                for name, picture in shown.pictures.items():
                    written.append(_save(picture, figures / f"{name}.png"))
                    parts.append(f"![{name}](figures/{name}.png)")
        page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        return written

    @staticmethod
    def check_page(page: Path) -> None:
        """Refuse to write over anything but an earlier page."""
        if page.exists() and not (page.is_file() and page.read_bytes().startswith(TITLE.encode())):
            raise InputError(f"{page} exists, and is no page of an earlier reproduction; choose another --page")

    def _opening(self, command: str) -> str:
        part = (
            f"\n\n**This is the quick part**: every {QUICK_EVERY}th graph (all, for `learned`), {QUICK_RUNS} run; "
            f"{QUICK_LOCAL_RUNS} counterfactuals in Figure 8. Percentiles of so few searches are rough."
            if self.quick
            else ""
        )
        return (
            f"{TITLE}\n\n"
            "Abrate & Bonchi, *Counterfactual Graphs for Explainable Classification of Brain Networks*, KDD 2021: its "
            f"tables and figures from the real cohorts, beside the printed numbers.{part}\n\n"
            f"Everything on this page was written by countergraph {__version__} with\n\n"
            f"```sh\n{command}\n```\n\n"
            "which searches only what the store does not hold yet, and can be stopped and started at any time "
            "([experiments.md](experiments.md))."
        )


def choose_exhibits(names: Sequence[str]) -> tuple[Exhibit, ...]:
    """Return exhibits by name, in the order of the paper; "all" for all."""
    for name in names:
        if name != "all" and name not in EXHIBITS:
            raise unknown_name("table or figure", name, ["all", *EXHIBITS])
    return tuple(exhibit for name, exhibit in EXHIBITS.items() if "all" in names or name in names)


def _save(picture: Figure | Axes, path: Path) -> Path:
    save_picture(picture.axes[0] if isinstance(picture, Figure) else picture, path, FIGURE_DPI)
    return path
