"""Documents and their pictures keep together: none is missing, none is left behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
PAGES = [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]
MOST = 1_500_000
"""Bytes of all pictures: a clone should stay quick."""


def shown(page: Path) -> set[Path]:
    """The files that a page shows as pictures."""
    links = re.findall(r"!\[[^\]]*\]\(([^)#]+)\)", page.read_text("utf-8"))
    return {(page.parent / link).resolve() for link in links if "://" not in link}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_picture_of_a_page_exists(page):
    missing = [str(path.relative_to(TOP)) for path in shown(page) if not path.is_file()]
    assert not missing, f"{page.name} shows {missing}"


def test_every_picture_is_on_a_page():
    kept = {path for path in (TOP / "docs" / "images").rglob("*") if path.is_file()}
    unused = sorted(str(path.relative_to(TOP)) for path in kept - set().union(*map(shown, PAGES)))
    assert not unused, f"no page shows {unused}"
    assert sum(path.stat().st_size for path in kept) < MOST


def test_every_link_to_a_page_leads_somewhere():
    for page in PAGES:
        links = re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", page.read_text("utf-8"))
        assert all((page.parent / link).is_file() for link in links), page.name
