"""Pages in a headless Chromium, with WebGL on the processor."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from html_report import write_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Browser, or a skipped test where there is none."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    flags = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield started
        started.close()


@pytest.fixture(scope="module")
def open_page(browser, tmp_path_factory) -> Iterator[Callable[[Path], Page]]:
    """Return a function that writes the page about a document or a folder, and opens it without a network.

    The page must neither report an error nor request anything but itself.
    """
    context = browser.new_context(
        viewport={"width": 1280, "height": 1000}, offline=True, color_scheme="light"
    )
    problems: list[str] = []

    def open_(source: Path) -> Page:
        path = tmp_path_factory.mktemp("page") / "report.html"
        write_report(source, path)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        requests: list[str] = []
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-state=ready]", timeout=60_000)
        settle(page)
        assert [url for url in requests if not url.startswith("blob:")] == [path.as_uri()]
        return page

    yield open_
    context.close()
    assert problems == []


def settle(page: Page) -> None:
    """Wait until the page has drawn what was selected."""
    page.evaluate(
        """() => new Promise((end) =>
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(end))))"""
    )


def extent_of_first_bound(page: Page) -> list[float]:
    """Return the least and the greatest X of the first bound in the 3D view, in the space of the document."""
    extent: list[float] = page.evaluate("""() => {
      const { geometry } = collisionBoundsReport.view.stage.selection.children[0];
      geometry.computeBoundingBox();
      return [geometry.boundingBox.min.x, geometry.boundingBox.max.x];
    }""")
    return extent


def pixels_of_bounds(page: Page) -> list[int]:
    """Return the numbers of blue and of orange pixels in the 3D view."""
    counts: list[int] = page.evaluate("""() => {
      const canvas = document.querySelector("#view canvas");
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      const counts = [0, 0];
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] && data[at + 2] > data[at] + 60) counts[0]++;
        if (data[at + 3] && data[at] > data[at + 2] + 60) counts[1]++;
      }
      return counts;
    }""")
    return counts
