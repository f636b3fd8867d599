"""The report page in a real browser, offline."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import countergraph as cg
from countergraph.classifiers.linear_rule import LinearRule

pytestmark = pytest.mark.slow
FLAGS = ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
RULE = LinearRule([range(6), range(8, 13)], [-0.5, 0.5], 0.1, n_rois=20)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium not found; install it with 'make browser'")
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
    """An open page with its network requests and errors."""

    def __init__(self, browser: Browser, path: Path, width: int, **options: Any) -> None:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
        self.page: Page = context.new_page()
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.goto(path.as_uri())


@pytest.mark.parametrize("width", [1400, 400])
def test_page_draws_without_network_requests(browser: Browser, path: Path, width: int) -> None:
    visit = Visit(browser, path, width)
    page = visit.page
    for section in ("#global-explanation", "#subject-1", "#subject-3"):
        page.locator(f"{section} .scene3d").scroll_into_view_if_needed()
        page.wait_for_selector(f"{section} .scene3d canvas")
    # 3-D views outside the window are removed.
    page.wait_for_function("document.querySelectorAll('#global-explanation .scene3d canvas').length === 0")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 300)")
    assert [url for url in visit.requests if not url.startswith(("data:", "blob:"))] == [path.as_uri()]
    assert visit.errors == []


def test_3d_view_has_colours(browser: Browser, path: Path) -> None:
    visit = Visit(browser, path, 1000)
    view = visit.page.locator("#subject-1 .scene3d")
    view.scroll_into_view_if_needed()
    visit.page.wait_for_selector("#subject-1 .scene3d canvas")
    visit.page.wait_for_timeout(500)
    from io import BytesIO

    import numpy as np
    from PIL import Image

    pixels = np.asarray(Image.open(BytesIO(view.screenshot())).convert("RGB"), dtype=int)
    red = (pixels[..., 0] > pixels[..., 2] + 60).sum()
    blue = (pixels[..., 2] > pixels[..., 0] + 60).sum()
    grey = ((np.ptp(pixels, axis=2) < 12) & (pixels[..., 0] < 245)).sum()
    assert red + blue > 100
    assert grey > 10_000  # the brain surface


def test_tables_sort(browser: Browser, path: Path) -> None:
    page = Visit(browser, path, 1400).page

    def column(index: int) -> list[str]:
        return page.locator(f"#global-explanation table >> nth=0 >> tbody tr td:nth-child({index})").all_inner_texts()

    headers = page.locator("#global-explanation table >> nth=0 >> th").all_inner_texts()
    total = 1 + [header.split()[0] for header in headers].index("total")
    button = page.locator(f"#global-explanation table >> nth=0 >> th:nth-child({total}) button")
    button.click()
    assert [int(text) for text in column(total)] == sorted((int(text) for text in column(total)), reverse=True)
    button.click()
    assert [int(text) for text in column(total)] == sorted(int(text) for text in column(total))
    page.locator("#global-explanation table >> nth=0 >> th:nth-child(1) button").focus()
    page.keyboard.press("Enter")
    assert [text.casefold() for text in column(1)] == sorted(text.casefold() for text in column(1))


def test_page_is_readable_without_scripts_and_printed(browser: Browser, path: Path, tmp_path: Path) -> None:
    page = Visit(browser, path, 1000, java_script_enabled=False).page
    assert page.locator("#global-explanation table").count() == 3
    assert page.locator(".scene3d:visible").count() == 0
    assert page.locator("figure img:visible").count() >= 6
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").stat().st_size > 100_000
