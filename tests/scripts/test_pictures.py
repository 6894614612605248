"""Documents and their pictures keep together: none is missing, none is left behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.paths import TOP

PAGES = [*sorted(TOP.glob("*.md")), *sorted((TOP / "docs").rglob("*.md"))]
MOST = 1_500_000
"""Bytes of all pictures: a clone should stay quick."""


def shown(page: Path) -> set[Path]:
    """The files that a page shows as pictures."""
    links = re.findall(r"!\[[^\]]*\]\(([^)#]+)\)", page.read_text("utf-8"))
    return {(page.parent / link).resolve() for link in links if "://" not in link}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(TOP).as_posix())
def test_every_picture_of_a_page_exists(page):
    missing = [str(path.relative_to(TOP)) for path in shown(page) if not path.is_file()]
    assert not missing, f"{page.name} shows {missing}"


def test_every_picture_is_on_a_page():
    kept = {path for path in (TOP / "docs" / "images").rglob("*") if path.is_file()}
    unused = sorted(str(path.relative_to(TOP)) for path in kept - set().union(*map(shown, PAGES)))
    assert not unused, f"no page shows {unused}"
    assert sum(path.stat().st_size for path in kept) < MOST


def headings(page: Path) -> set[str]:
    """What links to the headings of a page end with, as GitHub makes it."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    found = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(TOP).as_posix())
def test_every_link_leads_to_a_file_and_to_a_heading_of_it(page):
    for link, _, heading in re.findall(r"\]\(([^)#:]*)(#([^)]*))?\)", page.read_text("utf-8")):
        target = page.parent / link if link else page
        assert target.exists(), link
        assert not heading or heading in headings(target), f"{link}#{heading}"
