"""Scans that are stopped before their end: results are kept, marked as partial, and correct so far."""

from __future__ import annotations

from itertools import pairwise

import bpy
import pytest

from addon.formats import dumps, parse_document
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import ContactSettings
from tests.finished import finished
from tests.scene.building import open_empty_file
from tests.scene.sampling import add_box, key


@pytest.fixture(autouse=True)
def two_contacts():
    """Add Slider, which moves by 1 per frame and touches Near at frame 4 and Far at frame 14, at rest."""
    open_empty_file()
    slider = add_box("Slider", (0.5, 0.5, 0.5))
    key(slider, "location", [(0, (0, 0, 0)), (20, (20, 0, 0))])
    add_box("Near", (0.5, 0.5, 0.5)).location = (5, 0, 0)
    add_box("Far", (0.5, 0.5, 0.5)).location = (15, 0, 0)
    bpy.context.scene.frame_set(7, subframe=0.25)


def scan_until(condition, **settings):
    """Scan until a condition on the progress holds. Returns the result and all progress."""
    is_stopped = []
    chosen = ContactSettings(**{"shape": "aabb", "frames": (0, 20, 1), **settings})
    job = find_contacts(bpy.context.scene, chosen, lambda: bool(is_stopped))
    all_progress = []

    def on_progress(progress):
        all_progress.append(progress)
        if condition(progress):
            is_stopped.append(True)

    return finished(job, on_progress), all_progress


def document_of(result):
    return parse_document(dumps(result.document()))


@pytest.mark.parametrize("shape", ["aabb", "mesh"])
def test_stopped_scan_keeps_contacts_and_reports_last_frame(shape):
    result, _ = scan_until(lambda progress: progress.time >= 9, shape=shape)
    scene = bpy.context.scene
    assert (scene.frame_current, scene.frame_subframe) == (7, 0.25)
    document = document_of(result)
    (contact,) = document["contacts"]
    assert {contact["a"], contact["b"]} == {"Slider", "Near"}
    assert contact["first"]["frame"] == pytest.approx(4, abs=1e-3)
    assert (document["time"]["frameStart"], document["time"]["frameEnd"]) == (0, 9)
    assert document["extras"] == {"partial": {"plannedEnd": 20}, "skippedPairs": {"static": 1}}


@pytest.mark.parametrize("shape", ["aabb", "mesh"])
def test_document_of_stopped_scan_equals_that_of_shorter_scan_except_for_partial_mark(shape):
    part, _ = scan_until(lambda progress: progress.time >= 9, shape=shape)
    whole = finished(find_contacts(bpy.context.scene, ContactSettings(shape=shape, frames=(0, 9, 1))))
    document = document_of(part)
    del document["extras"]["partial"]
    assert document == document_of(whole)


def test_stopped_scan_does_not_say_that_what_turns_after_its_end_rotates():
    key(bpy.data.objects["Slider"], "rotation_euler", [(12, (0, 0, 0)), (20, (0, 0, 1))])
    part, _ = scan_until(lambda progress: progress.time >= 9)
    whole, _ = scan_until(lambda progress: False)
    names = [[each.subjects[index].name for index in each.rotating_in_contacts] for each in (part, whole)]
    assert names == [[], ["Slider"]]


@pytest.mark.parametrize("shape", ["aabb", "mesh"])
def test_progress_grows_from_sample_to_sample(shape):
    whole, all_progress = scan_until(lambda progress: False, shape=shape)
    assert whole.partial is None and len(whole.report.contacts) == 2
    assert {progress.phase for progress in all_progress} == {"frames"}
    shares = [progress.share for progress in all_progress]
    assert all(a <= b for a, b in pairwise(shares)) and shares[0] < 0.5 and shares[-1] <= 1


def test_scene_deleted_at_start_of_scan_is_an_error():
    job = find_contacts(bpy.context.scene, ContactSettings(shape="aabb", frames=(0, 20, 1)))
    next(job)
    bpy.context.window.scene = bpy.data.scenes.new("Other")
    bpy.data.scenes.remove(bpy.data.scenes["Scene"])
    with pytest.raises(Exception, match="the scene was deleted"):
        next(job)
