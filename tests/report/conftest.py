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
