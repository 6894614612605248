"""Allowed imports between the packages of addon/, limits of sizes, and one meaning for each name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.paths import TOP

LAYERS = {
    "core": (),
    "formats": ("core",),
    "scene": ("core", "formats", "translations"),
    "cli": ("core", "formats", "scene"),
    "translations": (),
    "ui": ("core", "formats", "scene", "translations"),
    "api": ("core", "formats", "scene", "ui"),
    "registration": ("scene", "cli", "ui", "api"),
}
"""Layers, each with those that it may import."""

ROOMS = {
    "core": (
        "numeric",
        "curves",
        "skins",
        "shapes",
        "broad_phase",
        "fitting",
        "trees",
        "mesh",
        "compound",
        "distance",
        "sweep",
        "interval",
        "motion",
        "scan",
        "envelope",
    ),
    "formats": ("validation", "document", "export"),
    "scene": (
        "blender",
        "subjects",
        "fitting",
        "motion",
        "jobs",
        "live",
        "colliders",
        "gltf_export",
    ),
    "ui": ("properties", "overlay", "operators", "panels"),
}
"""Rooms of each layer: each may import those before it, and the files next to the rooms."""

MAX_FILES, MAX_LINES, MAX_PARAMETERS = 15, 80, 7

SHARED_NAMES = {
    "attach",
    "detach",
    "register",
    "unregister",
    "MESSAGES",  # of one language
    "MEANINGS",
}
"""Top-level names that several modules define with one meaning."""

ADDON = TOP / "addon"


def name_of(path: Path) -> str:
    parts = path.relative_to(TOP).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(ADDON.rglob("*.py"))}
PACKAGES = sorted(path.parent.relative_to(ADDON).as_posix() for path in ADDON.rglob("*/__init__.py"))


@cache
def imports_of(name: str) -> frozenset[str]:
    """Modules of addon/ that a module imports: anywhere in it, also for type checkers alone."""
    return frozenset(imports_in(name))


def imports_in(name: str) -> Iterator[str]:
    path = MODULES[name]
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                target = f"{source}.{alias.name}" if f"{source}.{alias.name}" in MODULES else source
                if target in MODULES and target != name:
                    yield target


@pytest.mark.parametrize("name", [name for name in MODULES if name != "addon"])
def test_modules_import_from_rooms_before_theirs_alone(name):
    _, layer, *rest = name.split(".")
    for target in imports_of(name):
        _, other, *inside = target.split(".")
        if other != layer:
            assert other in LAYERS[layer], f"{name} imports {target}"
        elif layer in ROOMS and rest and inside and inside[0] != rest[0] and inside[0] in ROOMS[layer]:
            # Files next to the rooms may import from all of them.
            before = ROOMS[layer][: ROOMS[layer].index(rest[0])] if rest[0] in ROOMS[layer] else ROOMS[layer]
            assert inside[0] in before, f"{name} imports {target}"


def test_no_module_imports_itself_by_way_of_others():
    try:
        TopologicalSorter({name: imports_of(name) for name in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


def test_every_folder_of_a_layer_is_a_room():
    for layer, rooms in ROOMS.items():
        folders = {path.parent.name for path in (ADDON / layer).glob("*/__init__.py")}
        assert folders == set(rooms)


def test_table_of_the_page_has_these_layers_and_rooms():
    page = (TOP / "docs" / "development" / "architecture.md").read_text("utf-8")
    rows = page.split("| layer | imports | rooms |\n|---|---|---|\n")[1].split("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    listed = {name.strip("`"): (imports, rooms) for name, imports, rooms in cells}
    assert listed == {
        layer: (", ".join(imports), ", ".join(ROOMS.get(layer, ()))) for layer, imports in LAYERS.items()
    }


@pytest.mark.parametrize("folder", PACKAGES)
def test_docstring_of_each_package_lists_its_modules(folder):
    folder = ADDON / folder
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    modules |= {path.parent.name for path in folder.glob("*/__init__.py")}
    assert modules - set(re.findall(r"`(\w+)(?:\.py|/)?`", docstring)) == set()
    # The words at the start of a line of a list or table are its entries.
    entries = re.findall(r"^(?:- |\| |)((?:`[a-z\d_./]+`(?:, )?)+)(?: |:)", docstring, re.MULTILINE)
    listed = {name for entry in entries for name in re.findall(r"`([\w/]+)(?:\.py)?`", entry)}
    assert {name for name in listed if not (folder / name).exists() and name not in modules} == set()


def test_folders_of_tests_mirror_the_packages():
    mirrored = {name for name in PACKAGES if (TOP / "tests" / name).is_dir()}
    assert set(PACKAGES) - mirrored == {"translations", "scene/gltf_export"}


@pytest.mark.parametrize("top", ["addon", "docs", "scripts", "tests"])
def test_no_folder_has_too_many_files(top):
    for folder in [TOP / top, *(path for path in (TOP / top).rglob("*") if path.is_dir())]:
        names = [path.name for path in folder.iterdir() if path.is_file() and path.suffix != ".pyc"]
        assert len(names) <= MAX_FILES, folder


SOURCES: dict[str, list[Path]] = {}
for path in sorted([*ADDON.rglob("*.py"), *(TOP / "scripts").rglob("*.py"), *(TOP / "tests").rglob("*.py")]):
    SOURCES.setdefault("/".join(path.relative_to(TOP).parts[:2]), []).append(path)


@pytest.mark.parametrize("folder", SOURCES)
def test_no_function_is_too_long_or_has_too_many_parameters(folder):
    for path in SOURCES[folder]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                name = f"{path.relative_to(TOP)}: {node.name}"
                assert node.end_lineno is not None and node.end_lineno - node.lineno < MAX_LINES, name
                parameters = [
                    arg.arg for arg in (*node.args.args, *node.args.kwonlyargs) if arg.arg != "self"
                ]
                # Blender calls draw_item with nine.
                assert len(parameters) <= MAX_PARAMETERS or node.name == "draw_item", name


def test_no_public_name_has_two_meanings():
    modules: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        for node in ast.parse(path.read_text("utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = [getattr(node, "name", None), *(getattr(target, "id", None) for target in targets)]
            for name in names:
                if name and not name.startswith("_") and name not in SHARED_NAMES:
                    modules.setdefault(name, []).append(module)
    assert {name: found for name, found in modules.items() if len(found) > 1} == {}
