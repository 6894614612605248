"""Collider objects by hand: made, changed, undone, redone, removed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.window.harness import Told

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def told(told_by: Callable[..., Told]) -> Told:
    """One visit for all tests here."""
    return told_by("objects/drive_colliders.py")


def named(told: Told, note: str) -> list[list[str]]:
    return [[name, parent] for name, parent, _ in told.notes[note]["colliders"]]


def expected(prefix: str) -> list[list[str]]:
    return [[f"{prefix}_{name}_00", name] for name in ("Crate", "Launcher")]


def test_the_button_makes_one_for_each_selected_object(told: Told) -> None:
    assert named(told, "boxes") == expected("UBX")
    assert {corners for *_, corners in told.notes["boxes"]["colliders"]} == {8}


def test_another_kind_in_the_panel_of_the_last_operation_replaces_them(told: Told) -> None:
    assert named(told, "spheres") == expected("USP")
    assert (told.viewport("boxes") != told.viewport("spheres")).any(), "they are seen"


def test_the_button_again_replaces_them(told: Told) -> None:
    assert named(told, "hulls") == expected("UCX")


def test_undo_and_redo_are_one_step(told: Told) -> None:
    assert told.notes["undone"]["colliders"] == told.notes["spheres"]["colliders"]
    assert told.notes["again"]["colliders"] == told.notes["hulls"]["colliders"]


def test_the_cross_removes_them_and_what_they_were_created_for(told: Told) -> None:
    note = told.notes["removed"]
    assert note["colliders"] == [] and note["before"] == note["after"]
    assert told.notes["back"]["colliders"] == told.notes["hulls"]["colliders"]
