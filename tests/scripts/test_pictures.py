"""Pages and pictures: every linked picture exists, is used, and comes from a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from figures import FIGURES
from tests.paths import TOP

PAGES = [*sorted(TOP.glob("*.md")), *sorted((TOP / "docs").rglob("*.md"))]
MAX_BYTES = 2_000_000
"""Limit for all pictures together, to keep clones fast."""


def pictures_of(page: Path) -> set[Path]:
    """Return the files that a page shows as pictures."""
    links = re.findall(r"!\[[^\]]*\]\(([^)#]+)\)", page.read_text("utf-8"))
    return {(page.parent / link).resolve() for link in links if "://" not in link}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(TOP).as_posix())
def test_every_picture_of_a_page_exists(page):
    missing = [str(path.relative_to(TOP)) for path in pictures_of(page) if not path.is_file()]
    assert not missing, f"{page.name} shows {missing}"


def test_every_picture_is_on_a_page():
    pictures = {path for path in (TOP / "docs" / "images").rglob("*") if path.is_file()}
    unused = sorted(str(path.relative_to(TOP)) for path in pictures - set().union(*map(pictures_of, PAGES)))
    assert not unused, f"no page shows {unused}"
    assert sum(path.stat().st_size for path in pictures) < MAX_BYTES


SOURCES = {
    "contact.webp": "tests/window/pictures/test_readme_clip.py",
    "window.png": "tests/window/pictures/test_readme_picture.py",
    "report.png": "tests/report/test_document_page.py",
    "guide/": "tests/window/pictures/test_guide_pictures.py",
    "window/": "tests/window/pictures/test_interface_pictures.py",
    "listing/icon.png": "tests/package/platform/test_listing.py",
    "math/": "tests/scripts/test_pictures.py",
}
"""Tests that make the pictures of docs/images, by the begin of their path there."""


def test_every_picture_comes_from_a_test():
    folder = TOP / "docs" / "images"
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    unknown = [name for name in names if not name.startswith(tuple(SOURCES))]
    assert not unknown, f"no test makes {unknown}"
    for begin, test in SOURCES.items():
        assert any(name.startswith(begin) for name in names), begin
        words = re.findall(r"\w+", begin)
        source = (TOP / test).read_text("utf-8")
        assert all(word in source for word in words if word not in ("png", "webp")), f"{test}: {begin}"


@pytest.mark.long
def test_figures_of_the_math_are_those_that_the_script_draws(tmp_path):
    for name, draw in FIGURES.items():
        draw().save(tmp_path / "figure.svg")
        stored = TOP / "docs" / "images" / "math" / f"{name}.svg"
        assert stored.read_bytes() == (tmp_path / "figure.svg").read_bytes(), name


def headings(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub generates them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(TOP).as_posix())
def test_every_link_has_existing_file_and_heading(page):
    for link, _, heading in re.findall(r"\]\(([^)#:]*)(#([^)]*))?\)", page.read_text("utf-8")):
        target = page.parent / link if link else page
        assert target.exists(), link
        assert not heading or heading in headings(target), f"{link}#{heading}"


OUTSIDE = {"https://distributed.dask.org", "https://github.com/OpenJobDescription"}
"""Links to other sites. No test fetches them: look at them before a release."""


def test_outside_links_are_listed():
    pages = [
        re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE) for page in PAGES
    ]
    assert set(re.findall(r"https?://[^\s)>`\"]+", "\n".join(pages))) == OUTSIDE
