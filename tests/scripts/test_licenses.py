"""Loaders and the JSON Schema are under MIT-0, and contain nothing of the extension, which is under GPL."""

from __future__ import annotations

import ast
import json
import re
import tomllib

import pytest

from tests.paths import TOP

LOADERS = TOP / "docs" / "loaders"
SCHEMA = TOP / "addon" / "formats" / "validation" / "schema.json"
SOURCES = sorted(path for path in LOADERS.iterdir() if path.suffix in {".py", ".mjs", ".gd", ".hpp", ".cs"})

SUBSTANTIAL = 40
"""Shorter lines, such as a decorator, occur in any two programs."""

IMPORTED = re.compile(
    r"""^\s*(?:from|import)\s+([\w.]+)"""  # Python
    r"""|\bfrom\s+"([^"]+)"|\bimport\(?\s*"([^"]+)"|\brequire\("([^"]+)"\)"""  # JavaScript
    r"""|\b(?:pre)?load\("([^"]+)"\)|^extends\s+"([^"]+)\""""  # GDScript
    r"""|^\s*#\s*include\s*[<"]([^>"]+)[>"]"""  # C++
    r"""|^using\s+([\w.]+);""",  # C#
    re.MULTILINE,
)
LIBRARIES = {
    ".py": {"json", "math", "operator", "re", "struct", "sys", "dataclasses", "pathlib", "unreal"},
    ".mjs": {"three", "@babylonjs"},
    ".gd": set(),
    ".cs": {"System", "UnityEngine", "UnityEditor"},
}
"""First parts of the names of all modules that a loader may import. The headers of C++ have no path."""


def substantial_lines(text: str) -> set[str]:
    lines = {re.sub(r"\s+", " ", line).strip() for line in text.splitlines()}
    return {line for line in lines if len(line) >= SUBSTANTIAL and not line.startswith(("from ", "import "))}


def code_of(text: str, suffix: str) -> str:
    """Return the text without comments and docstrings, because their examples import the loader."""
    if suffix == ".py":
        return ast.unparse(ast.parse(re.sub(r'""".*?"""', '""', text, flags=re.DOTALL)))
    return re.sub(r"^\s*(//|#(?!\s*include)| \*|/\*).*$", "", text, flags=re.MULTILINE)


def imported_by(text: str, suffix: str) -> set[str]:
    """Return the modules, files and headers that a program imports."""
    return {next(filter(None, found)) for found in IMPORTED.findall(code_of(text, suffix))}


EXTENSION_LINES = set().union(
    *(substantial_lines(path.read_text("utf-8")) for path in (TOP / "addon").rglob("*.py"))
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_loader_states_its_license_and_copyright_in_the_first_lines(path):
    first, second = path.read_text("utf-8").splitlines()[:2]
    assert re.fullmatch(r"(#|//) SPDX-License-Identifier: MIT-0", first)
    (holder,) = re.findall(r"^Copyright (.*)$", (LOADERS / "LICENSE").read_text("utf-8"), re.MULTILINE)
    assert second == f"{first.split()[0]} SPDX-FileCopyrightText: {holder}"


def test_loaders_of_all_six_engines_are_examined():
    assert len(SOURCES) >= 6
    table = set(re.findall(r"\]\(([\w.-]+\.\w+)\)", (LOADERS / "README.md").read_text("utf-8")))
    assert table == {path.name for path in SOURCES}


def test_schema_states_its_license():
    assert json.loads(SCHEMA.read_text("utf-8"))["$comment"] == "SPDX-License-Identifier: MIT-0"


def test_license_file_is_mit_without_attribution():
    text = " ".join((LOADERS / "LICENSE").read_text("utf-8").split())
    assert text.startswith("MIT No Attribution Copyright")
    # The sentence in which MIT differs from MIT-0.
    assert "above copyright notice" not in text
    assert "THE SOFTWARE IS PROVIDED" in text


def test_extension_is_under_gpl():
    manifest = tomllib.loads((TOP / "blender_manifest.toml").read_text("utf-8"))
    assert manifest["license"] == ["SPDX:GPL-3.0-or-later"]
    assert "GNU GENERAL PUBLIC LICENSE" in (TOP / "LICENSE").read_text("utf-8")[:200]


@pytest.mark.parametrize("path", [*SOURCES, SCHEMA], ids=lambda path: path.name)
def test_file_has_no_substantial_line_of_the_extension(path):
    lines = substantial_lines(path.read_text("utf-8"))
    assert len(lines) >= 20 or path == SCHEMA
    assert lines & EXTENSION_LINES == set()


def test_comparison_finds_a_copied_line():
    copied = (TOP / "addon" / "formats" / "validation" / "validate.py").read_text("utf-8")
    assert len(substantial_lines(copied) & EXTENSION_LINES) > 20


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_loader_imports_only_standard_libraries_and_its_engine(path):
    found = imported_by(path.read_text("utf-8"), path.suffix)
    if path.suffix == ".hpp":
        assert found and all(re.fullmatch(r"[a-z_0-9]+", name) for name in found)
        return
    allowed = LIBRARIES[path.suffix]
    # GDScript needs no imports for the classes of its engine.
    assert bool(found) == bool(allowed)
    assert {re.split(r"[./]", name)[0] for name in found} <= allowed


@pytest.mark.parametrize(
    ("suffix", "line", "name"),
    [
        (".py", "from addon.core import Sphere", "addon.core"),
        (".mjs", 'import { x } from "../../addon/x.mjs";', "../../addon/x.mjs"),
        (".gd", 'const X = preload("res://addon/x.gd")', "res://addon/x.gd"),
        (".hpp", '#include "../../addon/x.hpp"', "../../addon/x.hpp"),
        (".cs", "using Addon.Core;", "Addon.Core"),
    ],
)
def test_search_finds_imports_of_each_language(suffix, line, name):
    assert imported_by(line, suffix) == {name}
