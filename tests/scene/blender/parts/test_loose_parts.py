"""Loose parts as subjects: their bounds, contacts and meshes as obstacles."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from addon.scene.blender.parts.weights import rows_by_label
from addon.scene.motion import frame_reader
from addon.scene.settings import PairSettings, Selection
from addon.scene.subjects import reader as subject_reader
from addon.scene.subjects.find import find_subjects
from addon.scene.subjects.selection import make_scan_settings
from tests.scene.building import CUBE, key_location
from tests.scene.enclosing import (
    POSE,
    SHAPES,
    add_item,
    add_two_cubes,
    animate,
    bounds_by_name,
    change_settings,
    encloses,
    sample_shapes,
    scan_with_static_pairs,
    world_vertices,
)

pytestmark = pytest.mark.usefixtures("object_settings")


def test_rows_by_label_returns_rows_of_each_label():
    random = np.random.default_rng(5)
    for count in range(6):
        numbers = random.integers(0, count, 30) if count else np.empty(0, dtype=np.int64)
        found = rows_by_label(numbers, 7)
        assert [rows.tolist() for rows in found] == [
            [row for row, number in enumerate(numbers) if number == part] for part in range(7)
        ]
    assert rows_by_label(np.empty(0, dtype=np.int64)) == []


def test_loose_parts_are_labeled_once_per_object(monkeypatch):
    calls = []
    for module in (subject_reader, frame_reader):
        original = module.part_rows

        def count_call(*arguments, original=original):
            calls.append(arguments)
            return original(*arguments)

        monkeypatch.setattr(module, "part_rows", count_call)
    grid = add_item("Grid", np.concatenate([CUBE + np.array((5 * k, 0, 0)) for k in range(9)]), [])
    change_settings(grid, bounds_for="loose_parts").shape_key_add(name="Basis")
    grid.shape_key_add(name="Taller").data[0].co[2] = 3
    assert len(next(iter(sample_shapes("sphere")))) == 9 * 8
    # One call for the bounds, and two for the motion: for the first positions, and for the moving vertices.
    assert len(calls) == 3


@pytest.mark.parametrize("shape", SHAPES)
def test_each_loose_part_has_bounds(shape):
    item = animate(change_settings(add_two_cubes("Pair", **POSE), bounds_for="loose_parts"))
    for frame in sample_shapes(shape):
        assert list(frame) == ["Pair/part.0", "Pair/part.1"]
        for part, rows in enumerate((slice(0, 8), slice(8, 16))):
            part_points = [tuple(vertex.co) for vertex in item.data.vertices][rows]
            assert encloses(frame[f"Pair/part.{part}"], world_vertices(item, part_points))
        assert not encloses(frame["Pair/part.0"], world_vertices(item))


@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_enclose_loose_parts_of_deforming_mesh(shape):
    item = change_settings(add_two_cubes("Pair"), bounds_for="loose_parts")
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="Taller")
    for number, point in enumerate(key.data):
        point.co[2] *= 2 + number // 8
    for frame, value in ((1, 0.0), (5, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    for frame in sample_shapes(shape):
        evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = [tuple(vertex.co) for vertex in evaluated.data.vertices]
        for part, rows in enumerate((slice(0, 8), slice(8, 16))):
            assert encloses(frame[f"Pair/part.{part}"], world_vertices(item, points[rows]))


def test_object_between_two_loose_parts_touches_neither():
    change_settings(add_two_cubes("Pair"), bounds_for="loose_parts")
    add_item("Between", CUBE * 0.5, [], location=(2.5, 0, 0))
    result = scan_with_static_pairs(frames=(1, 1, 1))
    assert [entry.name for entry in result.objects] == ["Between", "Pair/part.0", "Pair/part.1"]
    assert not result.report.contacts
    bpy.data.objects["Pair"].collision_bounds.bounds_for = "object"
    assert len(scan_with_static_pairs(frames=(1, 1, 1)).report.contacts) == 1


def test_loose_parts_of_one_object_are_pairs_only_on_request():
    change_settings(
        add_item("Pair", np.concatenate([CUBE, CUBE + 0.5]), [(0, 1, 3), (8, 9, 11)]),
        bounds_for="loose_parts",
    )
    assert not scan_with_static_pairs(frames=(1, 1, 1)).report.contacts
    assert scan_with_static_pairs(frames=(1, 1, 1), ignore_parents=False).report.contacts


def test_child_is_not_paired_with_loose_parts_of_parent():
    pair = change_settings(add_two_cubes("Pair"), bounds_for="loose_parts")
    add_item("Child", [(0, 0, 0), (5, 0, 0)], [], parent=pair)
    add_item("Other", [(0, 0, 0), (5, 0, 0)], [])
    bounds, _ = bounds_by_name()
    assert bounds["Child"].parent == "Pair/part.0" and bounds["Other"].parent is None
    result = scan_with_static_pairs(frames=(1, 1, 1))
    names = [subject.name for subject in result.subjects]
    found = {frozenset((names[contact.a], names[contact.b])) for contact in result.report.contacts}
    expected = {frozenset(("Other", name)) for name in ("Child", "Pair/part.0", "Pair/part.1")}
    assert found == expected


def test_thousand_loose_parts_are_ignored_without_list_of_pairs():
    grid = np.arange(1000)[:, None] * [(3, 0, 0)]
    points = (grid[:, None] + [(0, 0, 0), (1, 0, 0), (0, 1, 0)]).reshape(-1, 3)
    faces = [(k, k + 1, k + 2) for k in range(0, 3000, 3)]
    change_settings(add_item("Many", points, faces), bounds_for="loose_parts")
    scene = bpy.context.scene
    subjects, _ = find_subjects(scene, bpy.context.evaluated_depsgraph_get(), Selection())
    for more in ({}, {"ignore_collection": True}):
        scan_settings = make_scan_settings(
            scene, subjects, [None] * len(subjects), PairSettings(**more)
        ).settings
        assert len(subjects) == 1000 and len(scan_settings.ignored) == 0
        assert len(set(scan_settings.separate.tolist())) == 1 and scan_settings.separate[0] >= 0


def test_obstacle_that_is_a_loose_part_has_only_its_triangles():
    change_settings(add_two_cubes("Level"), bounds_for="loose_parts")
    key_location(add_item("Ball", CUBE * 0.25, []), {1: (5, 0, 11), 11: (5, 0, -9)})
    (contact,) = scan_with_static_pairs("sphere", obstacles=("Level*",)).report.contacts
    # It moves down by 2 per frame. The top of the second cube is at z = 1, the radius is sqrt(3) / 4.
    assert contact.first.frame == pytest.approx(1 + (10 - 0.25 * math.sqrt(3)) / 2, abs=2e-3)
