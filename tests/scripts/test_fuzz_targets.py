"""Targets of the fuzzer find planted faults, and accept correct results."""

from __future__ import annotations

import json
import random
import sys

import numpy as np
import pytest

from addon.core import Aabb
from fuzzing import command_line, meshes
from fuzzing.exact_checks import (
    box_problem,
    capsule_problem,
    exact,
    hull_problem,
    oriented_box_problem,
    sphere_problem,
)

CORNERS = [exact((x, y, z)) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
TETRAHEDRON = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
BELOW = 1 - 1e-12


@pytest.fixture(autouse=True)
def without_blender(monkeypatch):
    for module in (meshes, command_line):
        monkeypatch.setattr(module, "_HAS_BLENDER", False)


@pytest.mark.parametrize("size", [1, BELOW])
def test_exact_checks_find_points_just_outside(size):
    half = [size] * 3
    # sqrt(3), the distance of the corners, rounded up.
    radius = 1.7320508075688774 * size
    problems = (
        box_problem([-1, -size, -1], [1, 1, 1], CORNERS),
        sphere_problem([0, 0, 0], radius, CORNERS),
        oriented_box_problem([0, 0, 0], half, np.eye(3), CORNERS),
        capsule_problem([0, 0, -1], [0, 0, 1], 1.4142135623730951 * size, CORNERS),
        hull_problem(TETRAHEDRON, FACES, [exact((0.5, 0.5 * (2 - size), 0))]),
    )
    assert [problem is None for problem in problems] == [size == 1] * 5


def test_exact_check_finds_hole_of_hull():
    assert hull_problem(TETRAHEDRON, FACES[:3], []) == "the hull is not closed"


def test_meshes_target_finds_box_that_is_too_small(monkeypatch):
    content = json.dumps({"points": TETRAHEDRON, "triangles": [[0, 1, 2]], "matrix": []}).encode()
    assert meshes.check_mesh(content) is None
    monkeypatch.setattr(meshes, "aabb_from_points", lambda points: Aabb([0, 0, 0], [1, 1, BELOW]))
    assert meshes.check_mesh(content).startswith("box: ")


def test_meshes_target_finds_errors_without_reason_and_tracebacks(monkeypatch):
    content = json.dumps({"points": TETRAHEDRON, "triangles": [], "matrix": []}).encode()
    monkeypatch.setattr(meshes, "_tree_problem", lambda triangles: None)

    def fail(points):
        raise meshes.EmptyGeometryError("no points")

    monkeypatch.setattr(meshes, "capsule_from_points", fail)
    assert "capsule: raised EmptyGeometryError" in meshes.check_mesh(content)
    monkeypatch.setattr(meshes, "capsule_from_points", lambda points: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        meshes.check_mesh(content)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Use this folder for the files of a case."""
    monkeypatch.setattr(command_line, "_FOLDER", tmp_path / "case")
    return tmp_path / "case"


def faulty_main(code, err="", written=""):
    """Return an entry function that prints, changes a file, and returns an exit code."""

    def main(arguments, *, opens_file, out):
        print(err, end="", file=sys.stderr)
        if written:
            (command_line._FOLDER / written).write_text("half")
        return code

    return main


@pytest.mark.parametrize(
    ("main", "found"),
    [
        (faulty_main(2, "collision_bounds: a.json: is missing\n"), None),
        (faulty_main(0), None),
        (faulty_main(3, "Traceback"), "code 3"),
        (faulty_main(1), "code 1"),
        (faulty_main(2, "one\ntwo\n"), "code 2 with"),
        (faulty_main(2), "code 2 with"),
        (faulty_main(0, "warning\n"), "but printed"),
        (faulty_main(2, "collision_bounds: a.json: is missing\n", "old.json"), "changed ['old.json']"),
        (faulty_main(2, "collision_bounds: a.json: is missing\n", "a.tmp"), "changed ['a.tmp']"),
        (faulty_main(0, written="document.json"), "changed ['document.json']"),
        (faulty_main(0, written="old.json"), "'old.json': "),
    ],
)
def test_command_line_target_finds_wrong_codes_messages_and_files(monkeypatch, folder, main, found):
    monkeypatch.setattr(command_line, "main", main)
    problem = command_line.check_arguments(json.dumps(["validate", "{here}/document.json"]).encode())
    assert problem is None if found is None else found in problem


def test_command_line_target_runs_the_program(folder):
    for number in range(20):
        content = command_line.make_arguments(random.Random(number))
        assert command_line.check_arguments(content) is None
