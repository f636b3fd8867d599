"""The report in a real browser, with the network cut."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import countergraph as cg

pytestmark = pytest.mark.slow
FLAGS = ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
RULE = cg.LinearRule([range(6), range(8, 13)], [-0.5, 0.5], 0.1, n_rois=20)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("there is no chromium: 'make browser' installs Debian's")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def path(cohort: cg.GraphDataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("browser") / "report.html"
    cg.make_report(RULE, cohort, "ofs+obs", runs=2, subjects=3, local_runs=10).save(path)
    return path


class Visit:
    """An open page, and everything that it asked for or complained about."""

    def __init__(self, browser: Browser, path: Path, width: int, **options: Any) -> None:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
        self.page: Page = context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.goto(path.as_uri())


@pytest.mark.parametrize("width", [1400, 400])
def test_it_draws_and_asks_for_nothing(browser: Browser, path: Path, width: int) -> None:
    visit = Visit(browser, path, width)
    page = visit.page
    for section in ("#everybody", "#person-1", "#person-3"):
        page.locator(f"{section} .space").scroll_into_view_if_needed()
        page.wait_for_selector(f"{section} .space canvas")
    # Brains out of sight are given up.
    page.wait_for_function("document.querySelectorAll('#everybody .space canvas').length === 0")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 300)")
    assert [url for url in visit.requests if not url.startswith(("data:", "blob:"))] == [path.as_uri()]
    assert visit.complaints == []


def test_the_brain_in_space_has_colours(browser: Browser, path: Path) -> None:
    visit = Visit(browser, path, 1000)
    place = visit.page.locator("#person-1 .space")
    place.scroll_into_view_if_needed()
    visit.page.wait_for_selector("#person-1 .space canvas")
    visit.page.wait_for_timeout(500)
    from io import BytesIO

    import numpy as np
    from PIL import Image

    pixels = np.asarray(Image.open(BytesIO(place.screenshot())).convert("RGB"), dtype=int)
    red = (pixels[..., 0] > pixels[..., 2] + 60).sum()
    blue = (pixels[..., 2] > pixels[..., 0] + 60).sum()
    grey = ((np.ptp(pixels, axis=2) < 12) & (pixels[..., 0] < 245)).sum()
    assert red + blue > 100
    assert grey > 10_000  # the brain around them


def test_tables_sort(browser: Browser, path: Path) -> None:
    page = Visit(browser, path, 1400).page

    def column(index: int) -> list[str]:
        return page.locator(f"#everybody table >> nth=0 >> tbody tr td:nth-child({index})").all_inner_texts()

    heads = page.locator("#everybody table >> nth=0 >> th").all_inner_texts()
    total = 1 + [head.split()[0] for head in heads].index("total")
    button = page.locator(f"#everybody table >> nth=0 >> th:nth-child({total}) button")
    button.click()
    assert [int(text) for text in column(total)] == sorted((int(text) for text in column(total)), reverse=True)
    button.click()
    assert [int(text) for text in column(total)] == sorted(int(text) for text in column(total))
    page.locator("#everybody table >> nth=0 >> th:nth-child(1) button").focus()
    page.keyboard.press("Enter")
    assert [text.casefold() for text in column(1)] == sorted(text.casefold() for text in column(1))


def test_it_is_readable_without_scripts_and_on_paper(browser: Browser, path: Path, tmp_path: Path) -> None:
    page = Visit(browser, path, 1000, java_script_enabled=False).page
    assert page.locator("#everybody table").count() == 3
    assert page.locator(".space:visible").count() == 0
    assert page.locator("figure img:visible").count() >= 6
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").stat().st_size > 100_000
