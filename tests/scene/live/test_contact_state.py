"""Overlaps of objects that never move: counted where something else moves, contacts where nothing does."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.scene.live.contact_state import ContactTimes
from tests.scene.sampling import add_box, key, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")


def boxes_that_overlap() -> None:
    for name, x in (("Left", 0.0), ("Right", 1.5), ("Aside", 9.0)):
        add_box(name, (1, 1, 1)).location = x, 0, 0
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 20


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
def test_where_nothing_moves_overlaps_are_contacts(motion):
    boxes_that_overlap()
    result = scan_scene(shape="aabb", motion=motion)
    (contact,) = result.report.contacts
    assert {result.subjects[index].name for index in (contact.a, contact.b)} == {"Left", "Right"}
    assert contact.first.at_start and contact.depth == pytest.approx(0.5)
    assert result.static_overlap_count == 0


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
def test_where_something_moves_overlaps_of_others_are_counted(motion):
    boxes_that_overlap()
    key(add_box("Mover", (1, 1, 1)), "location", [(1, (0, 50, 0)), (20, (0, 90, 0))])
    result = scan_scene(shape="aabb", motion=motion)
    assert not result.report.contacts and result.static_overlap_count == 1
    table = result.contacts_table(result.document())
    assert table.splitlines()[0] == "No contacts."
    assert table.splitlines()[-1] == "Skipped 1 overlap of objects that never move."
    in_contact = ContactTimes(result.report, len(result.subjects), result.time).in_contact_at(7.0)
    names = {result.subjects[index].name for index in np.flatnonzero(in_contact).tolist()}
    assert names == {"Left", "Right"}
    complete = scan_scene(shape="aabb", motion=motion, static_pairs=True)
    assert len(complete.report.contacts) == 1 and complete.static_overlap_count == 0
    assert "Skipped" not in complete.contacts_table(complete.document())
