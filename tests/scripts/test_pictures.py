"""Pages and pictures: every linked picture exists, and every picture is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.paths import TOP

PAGES = [*sorted(TOP.glob("*.md")), *sorted((TOP / "docs").rglob("*.md"))]
MAX_BYTES = 4_500_000
"""Limit for all pictures together, to keep clones fast. Those of docs/images/interface take most of it."""


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
