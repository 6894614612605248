"""The code follows the rules of the extensions platform, and needs the permissions of its manifest."""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import TOP

pytestmark = pytest.mark.long

ADDON = TOP / "addon"
TREES = {path: ast.parse(path.read_text("utf-8")) for path in sorted(ADDON.rglob("*.py"))}
PERMISSIONS = tomllib.loads((TOP / "blender_manifest.toml").read_text("utf-8"))["permissions"]

NETWORK = {
    *(
        "urllib",
        "http",
        "socket",
        "socketserver",
        "ssl",
        "ftplib",
        "smtplib",
        "imaplib",
        "poplib",
        "telnetlib",
    ),
    *("xmlrpc", "asyncio", "webbrowser", "requests", "select", "selectors"),
}
PROCESSES = {"subprocess", "multiprocessing", "threading", "concurrent", "ctypes", "pip", "ensurepip"}
SHIPPED = {
    "bpy",
    "bpy_extras",
    "bmesh",
    "mathutils",
    "gpu",
    "gpu_extras",
    "blf",
    "addon_utils",
    "numpy",
    "bl_ui",
}
SHIPPED |= {"bl_operators", "io_scene_gltf2", "pxr", "rna_prop_ui", "_bpy"}
"""Modules that Blender includes."""
PREFIX = re.compile(r"collision_bounds\.|[A-Z0-9_]+_MT_collision_bounds|COLLISION_BOUNDS_")


def imported_modules(tree: ast.AST) -> Iterator[str]:
    """Yield the first parts of the names of absolute imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def full_name(node: ast.AST) -> str:
    """Return the dotted name of an attribute of a name, and a name with an empty first part for all else."""
    if isinstance(node, ast.Attribute):
        return f"{full_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@functools.cache
def lines_of_names(tree: ast.AST) -> dict[str, list[int]]:
    """Return the lines of each full name, such as `sys.path`, that is read in a module."""
    lines: dict[str, list[int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            lines.setdefault(full_name(node), []).append(node.lineno)
    return lines


def places_of(tree: ast.AST, *names: str) -> list[int]:
    """Return the lines that call a function or read an attribute with one of these full names."""
    return sorted(line for name in names for line in lines_of_names(tree).get(name, []))


@functools.cache
def imports_of_all() -> set[str]:
    return {name for tree in TREES.values() for name in imported_modules(tree)}


def test_code_needs_only_python_and_what_blender_includes():
    assert imports_of_all() <= SHIPPED | set(sys.stdlib_module_names)
    assert imports_of_all() >= {"bpy", "numpy"}


def test_code_uses_no_network_and_asks_for_no_permission_of_it():
    assert imports_of_all() & NETWORK == set()
    assert "network" not in PERMISSIONS
    for path, tree in TREES.items():
        assert places_of(tree, "bpy.app.online_access", "bpy.ops.wm.url_open") == [], path


def test_code_starts_no_processes_and_threads_for_pauses_alone_and_loads_no_libraries():
    assert imports_of_all() & PROCESSES == {"threading"}
    # A thread that waits where a search pauses, and never runs at the same time as Blender.
    assert [path.name for path, tree in TREES.items() if "threading" in imported_modules(tree)] == [
        "progress.py"
    ]
    for path, tree in TREES.items():
        assert places_of(tree, "os.system", "os.popen", "os.fork", "os.execv", "os.startfile") == [], path


def test_code_runs_no_text_and_leaves_the_path_of_modules_unchanged():
    for path, tree in TREES.items():
        assert places_of(tree, "eval", "exec", "__import__", "sys.path") == [], path


def test_code_imports_itself_by_relative_names_only():
    assert imports_of_all() & {"addon", "bl_ext", "collision_bounds"} == set()


def test_clipboard_is_used_and_permitted():
    uses = [
        node for tree in TREES.values() for node in ast.walk(tree) if getattr(node, "attr", "") == "clipboard"
    ]
    assert bool(uses) == ("clipboard" in PERMISSIONS)


def test_files_are_used_and_permitted():
    uses = [
        node
        for tree in TREES.values()
        for node in ast.walk(tree)
        if getattr(node, "attr", "") in {"open", "read_text", "read_bytes"}
    ]
    assert bool(uses) == ("files" in PERMISSIONS)


@pytest.mark.parametrize(
    "code", ["import socket", "from urllib.request import urlopen", "import os, http.client"]
)
def test_search_finds_imports_of_the_network(code):
    assert set(imported_modules(ast.parse(code))) & NETWORK


def test_search_finds_calls_that_are_forbidden():
    assert places_of(ast.parse("import sys\nsys.path.append('x')\neval('1')"), "sys.path", "eval") == [2, 3]


def test_folder_of_the_code_is_only_read():
    """Each function that knows the folder of the code reads a file of the extension."""
    knowing = {
        path.relative_to(ADDON).as_posix() for path, tree in TREES.items() if places_of(tree, "__file__")
    }
    # The schema, the version in the manifest, the dictionaries, the presets, and the manual.
    expected = {
        "formats/validation/validate.py",
        "formats/wording.py",
        "translations/__init__.py",
        "ui/panels/menus.py",
        "ui/properties/preferences.py",
    }
    assert knowing == expected
    writing = {"write_text", "write_bytes", "mkdir", "touch", "unlink", "rename", "replace", "open"}
    for name in knowing:
        attributes = {getattr(node, "attr", "") for node in ast.walk(TREES[ADDON / name])}
        assert (
            attributes & writing <= {"replace"} if name == "formats/wording.py" else not attributes & writing
        )


def test_classes_and_operators_have_the_prefix_of_the_extension():
    # The identifier of an operator is made from the name of its class, see `operators/command.py`.
    found = 0
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and full_name(node.targets[0]) == "bl_idname":
                value = ast.literal_eval(node.value) if isinstance(node.value, ast.Constant) else ""
                assert not value or PREFIX.match(value)
            if isinstance(node, ast.ClassDef) and re.search(r"_(OT|PT|MT|UL|GT|GGT|HT|FH)_", node.name):
                assert "collision_bounds" in node.name.lower(), f"{path}: {node.name}"
                if "_OT_" in node.name:
                    assert node.name.startswith("COLLISION_BOUNDS_OT_"), f"{path}: {node.name}"
                    found += 1
    assert found > 30


def test_code_has_no_settings_of_old_add_ons():
    assert "bl_info" not in (ADDON / "__init__.py").read_text("utf-8")


def test_code_is_readable_text_in_utf_8():
    for path in ADDON.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            assert path.suffix in {".py", ".json"}, path
            lines = path.read_text("utf-8").splitlines()
            # Minified code is not accepted.
            is_data = path.suffix == ".json"
            assert is_data or max(map(len, lines), default=0) < 200, Path(path)
