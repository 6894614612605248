"""Files and folders that the pages for contributors name exist."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from plant_faults import FAULTS
from tests.paths import TOP

PAGES = [TOP / "CONTRIBUTING.md", *sorted((TOP / "docs" / "development").glob("*.md"))]

SOURCES = [path for folder in ("addon", "scripts", "tests") for path in sorted((TOP / folder).rglob("*.py"))]


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_constants_and_modules_that_pages_name_exist(page):
    code = "\n".join(path.read_text("utf-8") for path in SOURCES)
    modules = {path.name for path in SOURCES}
    named = set(re.findall(r"`(_?[A-Z]+_[A-Z_]+|\w+\.py)`", page.read_text("utf-8"))) - {"UV_DEFAULT_INDEX"}
    missing = {name for name in named if name not in modules and name not in code}
    assert missing == set()


def test_modules_that_docstrings_name_exist():
    texts = {path: path.read_text("utf-8") for path in SOURCES if path.is_relative_to(TOP / "addon")}
    # What stands below each module and folder, by its name.
    below = defaultdict(str)
    for path, text in texts.items():
        below[path.stem] += text
        below[path.parent.name] += f" {path.stem} "
        below[path.parent.parent.name] += f" {path.parent.name} "
    missing = [
        (path.name, f"{first}.{second}")
        for path, text in texts.items()
        for first, second in re.findall(r"`([a-z]\w+)\.([a-z]\w+)`", text)
        if second != "py"
        and first in below
        and not re.search(rf"\b{second}\b", below[first])
        # These are members of documents.
        and f"{first}.{second}" not in ("extras.baseline", "envelope.local")
    ]
    assert missing == []
