"""Collider objects in the window: created, changed, undone, redone, removed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.window.harness import Recording

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def recording(run_drive_script: Callable[..., Recording]) -> Recording:
    """Record colliders that are created, replaced and removed."""
    return run_drive_script("objects/drive_colliders.py")


def names_and_parents(recording: Recording, note: str) -> list[list[str]]:
    return [[name, parent] for name, parent, _ in recording.notes[note]["colliders"]]


def expected(prefix: str) -> list[list[str]]:
    return [[f"{prefix}_{name}_00", name] for name in ("Crate", "Launcher")]


def test_create_button_makes_one_collider_for_each_selected_object(recording: Recording) -> None:
    assert names_and_parents(recording, "boxes") == expected("UBX")
    assert {vertices for *_, vertices in recording.notes["boxes"]["colliders"]} == {8}


def test_changing_the_kind_in_adjust_last_operation_replaces_the_colliders(recording: Recording) -> None:
    assert names_and_parents(recording, "spheres") == expected("USP")
    assert (recording.viewport("boxes") != recording.viewport("spheres")).any(), "colliders are not visible"


def test_second_click_on_create_replaces_the_colliders(recording: Recording) -> None:
    assert names_and_parents(recording, "hulls") == expected("UCX")


def test_creating_colliders_is_one_undo_step(recording: Recording) -> None:
    assert recording.notes["undone"]["colliders"] == recording.notes["spheres"]["colliders"]
    assert recording.notes["redone"]["colliders"] == recording.notes["hulls"]["colliders"]


def test_remove_button_removes_colliders_with_their_meshes_and_collections(recording: Recording) -> None:
    note = recording.notes["removed"]
    assert note["colliders"] == [] and note["before"] == note["after"]
    assert recording.notes["removal undone"]["colliders"] == recording.notes["hulls"]["colliders"]
