"""Shapes of a vertex group, added shapes and options of shapes: clicked, undone, redone, changed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.window.harness import SMALL, Recording

pytestmark = pytest.mark.long
OPTIONS = {"size": SMALL}


@pytest.mark.parametrize(
    ("name", "key", "before", "after"),
    [
        ("typed group", "vertex_group", "", "Top"),
        ("vertex group", "vertex_group", "", "Top"),
        ("also fit", "added", [], ["capsule"]),
        ("axes", "box_axes", "object", "smallest"),
        ("shape", "override", "none", "box"),
        ("added shape", "more", [], ["box"]),
    ],
)
def test_each_command_is_one_undo_step(
    recording: Recording, name: str, key: str, before: object, after: object
) -> None:
    done, undone, redone = (recording.notes[note][key] for note in (name, f"{name} undone", f"{name} redone"))
    assert (done, undone, redone) == (after, before, after)


def test_bounds_of_a_group_are_around_its_vertices_after_adjust_last_operation_too(
    recording: Recording,
) -> None:
    group, changed = recording.notes["group"], recording.notes["bounds changed"]
    assert recording.notes["bounds undone"]["bounds"] is None
    for note in ("bounds", "bounds redone"):
        low, high = recording.notes[note]["bounds"]
        assert low == pytest.approx(group["low"], abs=1e-5) and high == pytest.approx(group["high"], abs=1e-5)
    assert (changed["vertex_group"], changed["padding"]) == ("Top", 0.25)
    low, high = changed["bounds"]
    assert low == pytest.approx(np.subtract(group["low"], 0.25), abs=1e-5)
    assert high == pytest.approx(np.add(group["high"], 0.25), abs=1e-5)


def test_custom_shape_of_a_group_is_the_box_of_its_vertices(recording: Recording) -> None:
    note, group = recording.notes["shape"], recording.notes["group"]
    assert np.subtract(note["center"], note["half_extents"]) == pytest.approx(group["low"], abs=1e-5)
    assert np.add(note["center"], note["half_extents"]) == pytest.approx(group["high"], abs=1e-5)


def test_custom_shapes_are_changed_to_spheres(recording: Recording) -> None:
    assert recording.notes["shape changed"]["override"] == "sphere"
    assert recording.notes["shape changed"]["more"] == []
    assert recording.notes["added shape changed"]["more"] == ["sphere"]


def test_collider_of_a_group_is_around_its_vertices(recording: Recording) -> None:
    group = recording.notes["group"]
    assert not recording.notes["collider undone"]["boxes"]
    for note in ("collider", "collider redone"):
        ((name, (low, high)),) = recording.notes[note]["boxes"].items()
        assert name == "UBX_Crate_00"
        assert low == pytest.approx(group["low"], abs=1e-5)
        assert high == pytest.approx(group["high"], abs=1e-5)
    assert list(recording.notes["collider changed"]["boxes"]) == ["USP_Crate_00"]
