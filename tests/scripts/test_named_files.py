"""Files and folders that the pages for contributors name exist."""

from __future__ import annotations

import re

import pytest

from plant_faults import FAULTS
from tests.paths import TOP

PAGES = [TOP / "CONTRIBUTING.md", *sorted((TOP / "docs" / "development").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_named_files_exist(page):
    named = re.findall(r"[`\s]((?:addon|docs|scripts|tests)/[\w/.-]*\w)", page.read_text("utf-8"))
    assert [name for name in named if not (TOP / name).exists()] == []
    assert named


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_modules_named_by_their_layer_exist(page):
    named = re.findall(r"`((?:core|formats|scene|ui|cli)/[\w/.]+)`", page.read_text("utf-8"))
    assert [name for name in named if not (TOP / "addon" / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_that_pages_give_with_their_module_exist(page):
    named = re.findall(
        r"`(\w+)`\s+(?:of|in)\s+`((?:addon|scripts|tests)/[\w/]+\.py)`", page.read_text("utf-8")
    )
    missing = [
        (name, path) for name, path in named if not re.search(rf"\b{name}\b", (TOP / path).read_text("utf-8"))
    ]
    assert missing == []


@pytest.mark.parametrize(("file", "old"), [(file, old) for file, old, _, _ in FAULTS])
def test_code_that_a_planted_fault_replaces_exists(file, old):
    assert old in (TOP / "addon" / file).read_text("utf-8")
