"""The schema, the classes of the document and the settings of jobs have the same shapes."""

from __future__ import annotations

import pytest

from addon.formats import FILE_FORMATS, SkippedPairs, schema
from addon.formats.document.model import Track
from addon.formats.shape_members import SHAPE_TYPES
from addon.formats.spaces import AXES, PRESETS
from addon.scene.settings import BOUND_SHAPES, SCANNED_SHAPES
from tests.paths import TOP

PROPERTIES = schema()["properties"]


@pytest.mark.smoke
def test_shapes_of_objects():
    shapes = schema()["$defs"]["shapes"]["properties"]
    assert set(shapes) == set(SHAPE_TYPES) == set(BOUND_SHAPES)
    assert list(SHAPE_TYPES) == sorted(SHAPE_TYPES)


def test_shapes_of_contacts():
    shapes = PROPERTIES["contacts"]["items"]["properties"]["shape"]["enum"]
    assert set(shapes) == set(SCANNED_SHAPES)


def test_page_lists_all_reasons_in_order():
    page = (TOP / "docs" / "format.md").read_text("utf-8")
    rows = page.split("| `skippedPairs` | reason |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    assert [row.split("`")[1] for row in rows] == [reason.value for reason in SkippedPairs]


def test_shapes_of_tracks():
    keys = set(PROPERTIES["tracks"]["items"]["properties"])
    assert keys & set(SHAPE_TYPES) == set(Track.__dataclass_fields__) & set(SHAPE_TYPES) == {"sphere", "aabb"}


def test_file_formats_declare_known_shapes():
    assert all(each.shapes <= set(SHAPE_TYPES) for each in FILE_FORMATS)


def test_axes_and_presets():
    space = PROPERTIES["space"]["properties"]
    assert set(space["preset"]["enum"]) == set(PRESETS)
    assert set(schema()["$defs"]["axis"]["enum"]) == set(AXES)
