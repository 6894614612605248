"""Find Contacts without a window, partial results of a stopped scan, and progress of a running one."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from addon.core import Progress
from addon.formats import dumps, parse_document
from addon.scene.jobs import result_store
from addon.scene.jobs.contacts import find_contacts
from addon.ui import job_state
from addon.ui.job_state import RunningJob
from addon.ui.operators.jobs import (
    COLLISION_BOUNDS_OT_compute_bounds,
    COLLISION_BOUNDS_OT_compute_envelope,
    COLLISION_BOUNDS_OT_find_contacts,
)
from addon.ui.panels.contacts import COLLISION_BOUNDS_PT_contacts, _warnings
from addon.ui.properties.options import BOUNDS_OPTIONS, PART_OPTIONS
from addon.ui.properties.scene import contact_settings
from addon.ui.row_order import fill_rows
from tests.finished import finished
from tests.scene.mesh_truth import boxes_and_meshes
from tests.scene.sampling import add_box, key
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page


@pytest.mark.smoke
def test_script_scans_in_one_piece_and_frame_and_selection_are_unchanged(settings):
    scanned_scene.build()
    bpy.data.objects["Far"].select_set(True)
    scanned_scene.scan()
    scene = bpy.context.scene
    assert (scene.frame_current, scene.frame_subframe) == (7, 0.25)
    assert [item.name for item in bpy.context.selected_objects] == ["Far"]
    assert len(settings.rows) == 4
    assert result_store.get(settings.result_id).scan_settings == contact_settings(settings)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("options", "label", "expected"),
    [
        ({}, "1 contact of meshes", boxes_and_meshes.OF_MESHES),
        ({"shape": "aabb"}, "2 contacts of bounds", boxes_and_meshes.OF_BOXES),
    ],
)
def test_button_finds_contacts_of_meshes_unless_another_shape_is_set(settings, options, label, expected):
    boxes_and_meshes.build()
    assert bpy.ops.collision_bounds.find_contacts(scope="VISIBLE", **options) == {"FINISHED"}
    found = {frozenset((row.a, row.b)): row.frame for row in settings.rows if not row.is_near_miss}
    assert found == pytest.approx(expected, abs=1e-5)
    assert label in Page(COLLISION_BOUNDS_PT_contacts).labels


def test_group_without_objects_is_reported_by_name(settings):
    scanned_scene.build()
    with pytest.raises(RuntimeError, match="'Nobody'"):
        bpy.ops.collision_bounds.find_contacts(scope="VISIBLE", group_a="Nobody")
    assert len(settings.rows) == 0
    assert bpy.ops.collision_bounds.find_contacts.poll()


def test_second_scan_is_refused_while_one_runs_and_stop_ends_it(settings):
    scanned_scene.build()
    assert not bpy.ops.collision_bounds.stop_scan.poll()
    scan = job_state.begin()
    scan.operator = COLLISION_BOUNDS_OT_compute_envelope.bl_idname
    scan.busy = COLLISION_BOUNDS_OT_compute_envelope.busy
    try:
        with pytest.raises(
            RuntimeError, match="Blender is computing swept bounds: stop it, or wait until it is done"
        ):
            bpy.ops.collision_bounds.find_contacts()
        assert not bpy.ops.collision_bounds.load_report.poll()
        assert bpy.ops.collision_bounds.stop_scan() == {"FINISHED"}
        assert scan.is_stopping
        assert not bpy.ops.collision_bounds.stop_scan.poll(), "it is stopping already"
    finally:
        job_state.end()
    assert bpy.ops.collision_bounds.find_contacts.poll()


def test_partial_result_fills_rows_and_is_marked(settings):
    scanned_scene.build()
    settings.scope = "VISIBLE"
    stopped = []
    job = find_contacts(bpy.context.scene, contact_settings(settings), lambda: bool(stopped))

    def stop_at_frame_9(progress):
        if progress.time >= 9:
            stopped.append(True)

    result = finished(job, stop_at_frame_9)
    fill_rows(settings, result)
    settings.result_id = result_store.put(result_store.Results(result, result))
    assert [round(row.frame, 3) for row in settings.rows if not row.is_near_miss] == [3.25, 4]
    assert _warnings(settings) == ["Stopped at frame 9: later contacts unknown"]
    assert parse_document(dumps(result.document()))["time"]["frameEnd"] == 9


def test_progress_has_percent_frame_and_time_left():
    seconds = [0.0]
    scan = RunningJob(lambda: seconds[0])
    assert scan.text == "Starting"
    scan.update(Progress(0, 50, 1.0))
    assert (scan.done, scan.text) == (0, "0%, frame 1")
    seconds[0] = 3.0
    # The three seconds before the first frame say nothing about the speed of the others.
    scan.update(Progress(5, 50, 6.0))
    assert scan.text == "10%, frame 6"
    seconds[0] = 4.0
    scan.update(Progress(7.5, 50, 8.0))
    assert scan.text == "15%, frame 8", "one estimate alone may be that of the slow first frames"
    for number, seconds[0] in ((10, 5.0), (12.5, 6.0)):
        scan.update(Progress(number, 50, number + 1))
    # 15 percent took three seconds, so the remaining 75 take 15.
    assert (scan.done, scan.text) == (pytest.approx(0.25), "25%, frame 13.5, 0:15 left")
    # Another phase has a speed of its own, but percent go on.
    scan.update(Progress(1, 4, 12.5, "fitting", part=0.6))
    assert (scan.done, scan.text) == (0.6, "60%, shapes")
    for part, seconds[0] in ((0.65, 7.0), (0.7, 8.0), (0.75, 9.0)):
        scan.update(Progress(2, 4, 13.0, "fitting", part=part))
    # 15 percent took three seconds, so 25 take five.
    assert scan.text == "75%, shapes, 0:05 left"


def test_progress_names_no_frame_where_none_is_read():
    scan = RunningJob()
    scan.update(Progress(0, 1, 1.0, "fitting", part=0.32))
    assert scan.text == "32%, shapes"
    # All frames are read, and the pairs are solved.
    scan.update(Progress(120, 120, 120.0, part=0.63))
    assert scan.text == "63%, pairs"
    scan.update(Progress(60, 120, 60.0, part=0.7))
    assert scan.text == "70%, frame 60"


def test_time_left_is_hidden_until_it_is_stable():
    seconds = [0.0]
    scan = RunningJob(lambda: seconds[0])
    scan.update(Progress(1, 1000, 1.0))
    texts = []
    # The first frames take a second each, the others 0.05 seconds.
    for second, done in enumerate((2, 3, 20, 40, 60, 80), start=1):
        seconds[0] = float(second)
        scan.update(Progress(done, 1000, float(done)))
        texts.append(scan.text)
    assert [" left" in text for text in texts] == [False, False, False, False, False, True]
    # 79 of a thousand took six seconds, so 920 take 70.
    assert texts[-1] == "8%, frame 80, 1:10 left"


def test_panel_and_status_bar_show_the_same_progress():
    seconds, drawn = [0.0], []
    layout = SimpleNamespace(progress=lambda **shown: drawn.append(shown["text"]))
    scan = RunningJob(lambda: seconds[0])
    for number in (0, 5, 10, 15, 20):
        scan.update(Progress(number, 50, 1.0 + number))
        seconds[0] += 2.0
    scan.show()
    scan.draw(layout)
    # Blender draws the second one later, when the time left would be another.
    seconds[0] += 3.0
    scan.draw(layout)
    assert drawn[0] == drawn[1] and "left" in drawn[0]


def test_text_says_what_esc_does():
    seconds = [0.0]
    scan = RunningJob(lambda: seconds[0])
    assert scan.esc_text == "Esc: stop", "nothing is found yet"
    scan.update(Progress(1, 50, 1.0, part=0.02))
    assert scan.esc_text == "Esc: stop and keep what is found"
    scan.stop()
    assert scan.esc_text == "Stopping" and not scan.drops_unsolved
    seconds[0] = 0.6
    assert scan.drops_unsolved
    seconds[0] = 1.1
    assert scan.esc_text == "Esc again: discard"


@pytest.mark.parametrize(
    "operator", [COLLISION_BOUNDS_OT_find_contacts, COLLISION_BOUNDS_OT_compute_envelope]
)
def test_f9_has_no_options_that_would_run_whole_scan_again(settings, operator):
    page = Page(operator)
    assert page.labels and not page.options and not page.buttons


@pytest.mark.parametrize(
    ("added", "group", "missing"),
    [({"compound"}, "Hand", set()), (set(), "", {*PART_OPTIONS, "group_threshold"})],
)
def test_f9_of_compute_bounds_has_all_options_that_apply(settings, added, group, missing):
    """Another option is applied at once, because convex parts are remembered."""

    class Options(Page):
        added_shapes, vertex_group, parts = added, group, 8
        bl_rna = bpy.ops.collision_bounds.compute_bounds.get_rna_type()

    assert {*Options(COLLISION_BOUNDS_OT_compute_bounds).options} == {"scope", *BOUNDS_OPTIONS} - missing


def test_second_stop_aborts_only_after_a_second():
    seconds = [0.0]
    scan = RunningJob(lambda: seconds[0])
    assert not scan.is_stopping and not scan.can_be_aborted
    scan.stop()
    assert scan.is_stopping and not scan.can_be_aborted
    seconds[0] = 1.5
    scan.stop()
    assert scan.can_be_aborted


@pytest.mark.parametrize("checked", [(), ("Near", "Far", "Overlap")])
def test_scan_of_the_same_objects_ignores_what_is_selected_since_and_keeps_the_scope(settings, checked):
    """Four objects never move, and Overlap is at rest in one of them. A click on a row selects a pair."""
    scanned_scene.build()
    add_box("Overlap", (0.5, 0.5, 0.5)).location = (5, 0.5, 0)
    settings.scope = "SELECTED"
    items = bpy.data.objects

    def select(names):
        for item in items:
            item.select_set(item.name in names)

    def pairs():
        return {frozenset((row.a, row.b)) for row in settings.rows if not row.is_near_miss}

    select(checked)
    if checked:
        key(items["Far"], "location", [(0, (15, 0, 0)), (20, (25, 0, 0))])
    bpy.ops.collision_bounds.find_contacts()
    before, overlap = pairs(), frozenset(("Near", "Overlap"))
    assert overlap not in before and len(before) == (0 if checked else 4)
    select(("Slider",))
    items["Near"].name = "Renamed"
    assert bpy.ops.collision_bounds.find_contacts(static_pairs=True, same_objects=True) == {"FINISHED"}
    renamed = {frozenset(name.replace("Near", "Renamed") for name in pair) for pair in before}
    assert pairs() == {*renamed, frozenset(("Renamed", "Overlap"))}
    assert settings.scope == "SELECTED" and settings.static_pairs
    notes = Page(COLLISION_BOUNDS_PT_contacts).labels
    assert ("3 selected objects checked" in notes) == bool(checked)
