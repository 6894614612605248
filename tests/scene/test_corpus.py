"""`scripts/corpus.py` on a small folder: what passes, and planted faults, each of which is found."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import bpy
import pytest

import corpus
from corpus_check.files import Checker, FileResult
from tests.paths import TOP
from tests.scene.building import CUBE, add_instance, add_vertices, key_location, open_empty_file

PROGRAM = TOP / "scripts" / "collision_bounds.py"

FAULTY = """
import json, subprocess, sys
code = subprocess.run([sys.executable, {program!r}, *sys.argv[1:]]).returncode
if "bounds" in sys.argv:
    document = json.load(open(sys.argv[-1], encoding="utf-8"))
    {fault}
    json.dump(document, open(sys.argv[-1], "w", encoding="utf-8"))
sys.exit(code)
"""
LARGEST = "max(document['objects'], key=lambda item: item['world']['sphere']['radius'])"
FAULTS = {
    "aabb": f"{LARGEST}['world']['aabb']['max'][2] -= 1e-5",
    "sphere": f"{LARGEST}['world']['sphere']['radius'] -= 1e-5",
    "obb": f"{LARGEST}['world']['obb']['halfExtents'][0] -= 1e-5",
    "spheres": f"[n.update(radius=n['radius'] * 0.9) for n in {LARGEST}['world']['spheres']]",
    "hull": f"{LARGEST}['world']['hull']['vertices'] = [[0.999 * x for x in v] for v in "
    f"{LARGEST}['world']['hull']['vertices']]",
    "missing": "document['objects'].pop()",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a scene of animated cubes and instances, an .obj file, and a broken scene."""
    folder = tmp_path_factory.mktemp("corpus")
    open_empty_file()
    cube = add_vertices("Cube", CUBE, [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1)], scale=(1, 3, 2))
    key_location(cube, {1: (0, 0, 0), 9: (9, 1, 2)})
    add_vertices("Small", 0.1 * CUBE, location=(5, 0.3, 0), rotation_euler=(0.3, 0.2, 0.1))
    collection = bpy.data.collections.new("Crates")
    collection.objects.link(bpy.data.objects.new("Crate", cube.data))
    for number in range(2):
        add_instance("Crates", collection, location=(3 * number, 20, 0))
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "cubes.blend"))
    (folder / "triangle.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 2\nf 1 2 3\n", encoding="utf-8")
    (folder / "broken.blend").write_bytes(b"no scene")
    (folder / "readme.txt").write_text("no scene", encoding="utf-8")
    return folder


def checker(program: Path, seconds: float = 300) -> Checker:
    return Checker(Path(sys.executable), program, seconds, os.environ)


@pytest.fixture(scope="module")
def results(folder: Path) -> list[FileResult]:
    return [checker(PROGRAM).check(path) for path in corpus.corpus_files(folder, None)]


def test_folder_passes_and_the_broken_file_counts_as_unreadable(results: list[FileResult]):
    broken, cubes, triangle = results
    assert not any(result.problems for result in results), [str(result) for result in results]
    assert not broken.is_readable
    # Two cubes and two instances of eight vertices.
    assert (cubes.found["objects"], cubes.found["vertices"]) == (4, 32)
    assert (triangle.found["objects"], triangle.found["vertices"]) == (1, 3)
    assert [step.name for step in cubes.steps] == [
        "load",
        "bounds",
        "validate",
        "check",
        "contacts",
        "validate",
    ]
    assert corpus.summary(results).startswith("3 files, 0 failed, 1 unreadable; 5 objects, 35 vertices, 0 ")


@pytest.fixture(scope="module", params=[*FAULTS])
def faulty(
    request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, FileResult]:
    """Check the cubes with a program whose documents have a fault."""
    program = tmp_path_factory.mktemp("faulty") / "program.py"
    program.write_text(FAULTY.format(program=str(PROGRAM), fault=FAULTS[request.param]), encoding="utf-8")
    return request.param, checker(program).check(folder / "cubes.blend")


@pytest.mark.long
def test_planted_fault_is_found(faulty: tuple[str, FileResult]):
    fault, result = faulty
    expected = "not in the document: Small" if fault == "missing" else f"outside: Cube: world {fault} by"
    assert any(text.startswith(expected) for text in result.problems), result
    assert str(result).startswith("FAILED")


def test_time_limit_and_internal_error_are_problems(folder: Path, tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text("raise SystemError('a bug')", encoding="utf-8")
    (problem,) = checker(program).check(folder / "triangle.obj").problems
    assert "SystemError: a bug" in problem
    (problem,) = checker(PROGRAM, 0.2).check(folder / "triangle.obj").problems
    assert problem == "load: time limit"
