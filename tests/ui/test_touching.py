"""Pairs that touch at the playhead: they follow edits that no scan has seen."""

from __future__ import annotations

from dataclasses import replace

import bpy
import pytest
from mathutils import Matrix

from addon.scene.errors import SceneError
from addon.scene.live import contact_state
from addon.ui.operators import pairs
from addon.ui.operators.pairs import pairs_now
from addon.ui.overlay import handlers
from addon.ui.overlay import state as overlays
from addon.ui.panels.display import COLLISION_BOUNDS_PT_touching
from tests.scene.sampling import key
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page


def touching_names():
    subjects, touching = pairs_now(bpy.context)
    return [{subjects[a].name, subjects[b].name} for a, b in touching.pairs.tolist()]


@pytest.fixture
def scanned(settings):
    scanned_scene.build()
    scanned_scene.scan()
    return settings


def test_pairs_follow_the_playhead_and_edits(scanned):
    # Slider moves 1 per frame from 0; cubes of side 1 touch while it is within 1 of the next.
    bpy.context.scene.frame_set(4, subframe=0.5)
    assert touching_names() == [{"Slider", "Near"}]
    _, touching = pairs_now(bpy.context)
    assert touching.depths.tolist() == pytest.approx([0.5], abs=1e-5)
    bpy.context.scene.frame_set(8)
    assert touching_names() == []
    bpy.data.objects["Aside"].location = (8.2, 0, 0)
    bpy.context.view_layer.update()
    assert touching_names() == [{"Slider", "Aside"}], "no scan has seen this"


def test_ignored_pairs_are_not_listed(scanned):
    bpy.context.scene.frame_set(5)
    scanned.active_row = scanned_scene.row_of(scanned, "Slider", "Near")
    assert bpy.ops.collision_bounds.ignore_pair() == {"FINISHED"}
    bpy.context.scene.frame_set(5)
    assert touching_names() == []


def test_pattern_without_a_match_is_explained(scanned):
    scanned.group_a = "Missing*"
    with pytest.raises(SceneError, match="Missing"):
        pairs_now(bpy.context)
    assert any("Missing" in label for label in Page(COLLISION_BOUNDS_PT_touching).labels)


def test_panel_has_as_many_lines_whatever_touches_but_one_for_nothing(scanned):
    bpy.context.scene.frame_set(5)
    touching = Page(COLLISION_BOUNDS_PT_touching).labels
    bpy.context.scene.frame_set(8)
    nothing = Page(COLLISION_BOUNDS_PT_touching).labels
    assert touching[0].startswith("1 pair") and nothing[0].startswith("Nothing")
    assert len(touching) > 8 and len(nothing) == 1


def test_reason_is_given_without_results_and_without_display(settings):
    scanned_scene.build()
    with pytest.raises(SceneError, match="Compute bounds or find contacts first"):
        pairs_now(bpy.context)
    scanned_scene.scan()
    settings.display.show_overlay = False
    with pytest.raises(SceneError, match="Display"):
        pairs_now(bpy.context)


def test_click_selects_both_objects(scanned):
    bpy.context.scene.frame_set(5)
    _, touching = pairs_now(bpy.context)
    a, b = touching.pairs[0].tolist()
    assert bpy.ops.collision_bounds.select_touching(a=a, b=b) == {"FINISHED"}
    assert {item.name for item in bpy.context.selected_objects} == {"Slider", "Near"}
    assert bpy.context.scene.frame_current == 5


# --- meshes ------------------------------------------------------------------------------------------------


@pytest.fixture
def balls(settings):
    """Two balls of radius 1 on a diagonal: their boxes overlap from a distance of sqrt(3) * 2 on."""
    for name in ("Still", "Mover"):
        bpy.ops.mesh.primitive_uv_sphere_add(radius=1, segments=32, ring_count=16)
        bpy.context.object.name = name
    key(bpy.data.objects["Mover"], "location", [(0, (2, 2, 2)), (20, (0, 0, 0))])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 20
    assert bpy.ops.collision_bounds.find_contacts(scope="VISIBLE") == {"FINISHED"}  # of meshes, by default
    return settings


def test_meshes_touch_where_their_surfaces_do_and_not_where_boxes_do(balls):
    scene = bpy.context.scene
    scene.frame_set(5)  # centers 1.5 sqrt(3) apart, boxes by 1.5 on each axis
    assert touching_names() == []
    labels = Page(COLLISION_BOUNDS_PT_touching).labels
    assert labels[0].startswith("Nothing touches") and labels[1].startswith("Tested in ")
    _, shown = pairs.overlay_now(bpy.context)
    assert not shown.in_contact.any(), "bounds are blue too"
    balls.shape = "aabb"
    assert touching_names() == [{"Still", "Mover"}]
    balls.shape = "mesh"
    assert touching_names() == []
    scene.frame_set(12)  # 0.8 sqrt(3) apart
    assert touching_names() == [{"Still", "Mover"}]
    _, found = pairs_now(bpy.context)
    assert found.overlaps.tolist() == [""]
    assert found.depths.tolist() == pytest.approx([2 - 0.8 * 3**0.5], abs=0.02)
    labels = Page(COLLISION_BOUNDS_PT_touching).labels
    assert labels[0].startswith("1 pair of meshes") and "60" in " ".join(labels)


def test_bounds_without_a_scan_are_red_where_meshes_touch(balls, monkeypatch):
    bpy.ops.collision_bounds.clear_results()
    assert bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE") == {"FINISHED"}

    def red_at(frame):
        bpy.context.scene.frame_set(frame)
        return pairs.overlay_now(bpy.context)[1].in_contact.tolist()

    assert red_at(5) == [False, False] and red_at(12) == [True, True]
    balls.shape = "aabb"
    assert red_at(5) == [True, True]


def test_bounds_are_red_by_boxes_until_all_meshes_are_tested(balls, monkeypatch):
    for index in range(4):
        bpy.ops.mesh.primitive_ico_sphere_add(radius=1, location=(1.5 * index, 8 + 1.5 * index, 0))
    bpy.ops.collision_bounds.clear_results()
    assert bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE") == {"FINISHED"}
    monkeypatch.setattr(contact_state, "_SECONDS", 0.0)
    monkeypatch.setattr(contact_state, "TRIANGLES_AT_ONCE", 1)
    bpy.context.scene.frame_set(5)  # centers are 1.5 sqrt(2) or sqrt(3) apart, so that boxes alone overlap
    reds = []
    while True:
        live = pairs.overlay_now(bpy.context)[1]
        reds.append(int(live.in_contact.sum()))
        if live.is_complete:
            break
        waits = handlers._go_on()
        assert (waits is None) == pairs.overlay_now(bpy.context)[1].is_complete
    # Four pairs one after the other: red are the objects of those that are left.
    assert reds[0] in (4, 5, 6) and reds == sorted(reds, reverse=True) and len(reds) == 4 and reds[-1] == 0
    # An overlay that no window shows does not keep the timer busy.
    cached, other = pairs.overlay_now(bpy.context)[0], bpy.data.scenes.new("Other")
    hidden = replace(cached, live=cached.live._replace(is_complete=False))
    overlays.state.overlays[overlays.view_layer_key(other, other.view_layers[0])] = hidden
    assert handlers._go_on() is None


def test_meshes_that_change_are_followed(balls):
    scene, mover = bpy.context.scene, bpy.data.objects["Mover"]
    scene.frame_set(5)
    mover.data.transform(Matrix.Scale(1.7, 4))
    bpy.context.view_layer.update()
    assert touching_names() == [{"Still", "Mover"}], "an edit of the vertices"
    mover.data.clear_geometry()
    mover.data.from_pydata([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)], [], [(0, 1, 2)])
    mover.data.update()
    bpy.context.view_layer.update()
    assert touching_names() == [], "other triangles"


def test_search_of_meshes_goes_on_with_each_drawing(balls, monkeypatch):
    for index in range(6):
        bpy.ops.mesh.primitive_ico_sphere_add(radius=1, location=(0.3 * index, 5, 0))
    scanned_scene.scan(shape="mesh")
    monkeypatch.setattr(pairs, "_SECONDS_AT_ONCE", 0.0)
    monkeypatch.setattr(contact_state, "TRIANGLES_AT_ONCE", 1)
    bpy.context.scene.frame_set(12)
    left = [pairs_now(bpy.context)[1].untested for _ in range(17)]
    assert left[:16] == list(range(15, -1, -1)) and left[16] == 0
    assert len(touching_names()) == 16
    bpy.context.scene.frame_set(11)
    labels = Page(COLLISION_BOUNDS_PT_touching).labels
    assert any(" near pairs are left after " in label for label in labels)


def test_meshes_are_moved_apart_until_they_do_not_touch(balls):
    scene = bpy.context.scene
    bpy.data.objects["Mover"].animation_data_clear()
    scene.frame_set(12)
    bpy.data.objects["Mover"].location = (0.8, 0.8, 0.8)
    bpy.context.view_layer.update()
    balls.active_row = 0
    bpy.context.view_layer.objects.active = bpy.data.objects["Mover"]
    before = bpy.data.objects["Mover"].location.copy()
    assert bpy.ops.collision_bounds.move_apart() == {"FINISHED"}
    assert touching_names() == []
    moved = (bpy.data.objects["Mover"].location - before).length
    assert moved == pytest.approx(2 - 0.8 * 3**0.5, abs=0.1)
