"""Text of stages: strings, structure, and extents. Pixar's USD reads the stages in tests/engines."""

from __future__ import annotations

import re

import numpy as np
import pytest

from addon.formats.export.robotics.usd_physics import string_text
from tests.formats.export.robotics.robot_files import box_part, document_of_parts, nested_parts, text_of
from tests.formats.export.robotics.test_urdf import axial_document


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Crate", '"Crate"'),
        ('a"b', r'"a\"b"'),
        ("a\\b", r'"a\\b"'),
        ("a\nb\r\tc", r'"a\nb\r\tc"'),
        ("\x1b\x00", r'"\x1b\x00"'),
        ("Würfel 🚗", '"Würfel 🚗"'),
        ("", '""'),
    ],
)
def test_strings_are_escaped(text, expected):
    assert string_text(text) == expected


def test_braces_are_closed_and_children_are_inside_of_their_parents():
    text = text_of(document_of_parts(nested_parts(4, count=9), "spheres"), "usd")
    level, parents, path = 0, {}, []
    for line in text.splitlines():
        if match := re.match(r' *def Xform "(Part_\d|Scene)"', line):
            path = path[: (len(line) - len(line.lstrip())) // 2]
            parents[match[1]] = path[-1] if path else None
            path = [*path, match[1]]
        level += line.count("{") - line.count("}")
        assert level >= 0
    assert level == 0
    for part in nested_parts(4, count=9):
        assert parents[part.name] == (part.parent or "Scene")


def test_extents_of_spheres_are_single_precision_numbers_rounded_outward():
    document = document_of_parts([box_part("A")], "sphere")
    document["objects"][0]["world"]["sphere"]["radius"] = 1 / 3
    text = text_of(document, "usd")
    radius = float(re.search(r"double radius = (.*)", text)[1])
    low, high = (float(number) for number in re.search(r"extent = \[\((.*?),.*\), \((.*?),", text).groups())
    assert low == -high and np.float32(high) == high
    assert radius <= high <= np.nextafter(np.float32(radius), np.float32(1))


def test_hull_has_the_approximation_and_the_schema_of_meshes():
    text = text_of(document_of_parts([box_part("A")], "hull"), "usd")
    assert 'apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]' in text
    assert 'uniform token physics:approximation = "convexHull"' in text


@pytest.mark.parametrize(("kind", "end"), [("capsule", 1.75), ("cylinder", 1.5)])
def test_capsules_and_cylinders_are_along_z_with_their_extent(kind, end):
    text = text_of(axial_document(kind, np.array([0.6, 0.0, 0.8]), 1.5, 0.25), "usd")
    assert f'def {kind.capitalize()} "collision"' in text and 'uniform token axis = "Z"' in text
    assert float(re.search(r"double height = (.*)", text)[1]) == pytest.approx(3, abs=1e-11)
    extents = re.findall(r"extent = \[.*\((.*?), (.*?), (.*?)\)\]", text)
    assert [float(number) for number in extents[-1]] == pytest.approx([0.25, 0.25, end], rel=1e-6)
