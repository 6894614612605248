"""Instances that come after the first frame, or come and go, against playing the scene in small steps."""

from __future__ import annotations

from itertools import pairwise

import bpy
import numpy as np
import pytest

from addon.core.progress import run_to_end
from addon.formats import dumps, parse_document
from addon.scene.blender.instances import visible_instances
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import ContactSettings, Selection
from tests.scene.building import Nodes
from tests.scene.jobs.contacts.test_instances import HALF, add_crowd, add_part
from tests.scene.sampling import add_box, contacts_by_names, key, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")

LOW, HIGH = np.array([-20, -0.5, 4.5]), np.array([20, 0.5, 5.5])
"""Corners of the wall."""
STEPS = 16


def add_wall() -> None:
    add_box("Wall", (20, 0.5, 0.5)).location.z = 5


def touches_wall(center: np.ndarray, radius: float | None) -> bool:
    """Return whether a cube, or a sphere of a radius, touches the wall."""
    if radius is None:
        return bool((center + 0.5 >= LOW).all() and (center - 0.5 <= HIGH).all())
    return float(np.linalg.norm(center - np.clip(center, LOW, HIGH))) <= radius


def first_touches(start: int, end: int, radius: float | None = None) -> dict[object, float]:
    """First time at which each instance touches the wall, by key, in steps of 1/16 frame."""
    touches: dict[object, float] = {}
    scene = bpy.context.scene
    for step in range((end - start) * STEPS + 1):
        whole, part = divmod(step, STEPS)
        scene.frame_set(start + whole, subframe=part / STEPS)
        for item in visible_instances(bpy.context.evaluated_depsgraph_get()):
            if item.key[2]:
                center = np.array(item.instance.matrix_world)[:3, 3]
                if touches_wall(center, radius):
                    touches.setdefault(item.key, start + step / STEPS)
    return touches


def check_against_playing(
    start: int, end: int, radius: float | None = None, **settings: object
) -> dict[str, str]:
    """Check the contacts of a scan with the wall; return the reasons of what was skipped."""
    expected = first_touches(start, end, radius)
    bpy.context.scene.frame_set(start)
    result = scan_scene(frames=(start, end, 1), **settings)
    parse_document(dumps(result.document()))
    key_of = {subject.name: subject.key for subject in result.subjects}
    found = {}
    for names, contact in contacts_by_names(result).items():
        if "Wall" in names:
            (name,) = names - {"Wall"}
            found[key_of[name]] = contact.first.frame
    assert expected and set(found) == set(expected)
    for instance, time in expected.items():
        # It touches first within the step before it is seen to touch.
        assert time - 1 / STEPS - 1e-3 <= found[instance] <= time + 1e-3, instance
    return {entry.name: entry.reason for entry in result.skipped}


def add_row(count_of: object) -> bpy.types.Object:
    """Add a host of nodes with a row of cubes; `count_of` returns the socket of their number."""
    part, host = add_part(), add_box("Host", HALF)
    nodes = Nodes(host)
    count = count_of(nodes, nodes.math("FLOOR", nodes.time("Frame")))
    line = nodes.add("GeometryNodeMeshLine", {"Count": count, "Offset": (3, 0, 0)}).outputs["Mesh"]
    nodes.end(nodes.on_points(line, nodes.instance_of(part)))
    return host


def growing(nodes, frame):
    """One instance more in each frame after the third."""
    return nodes.math("MAXIMUM", nodes.math("SUBTRACT", frame, 2.99), 0.01)


def coming_and_going(nodes, frame):
    """From none to four instances, and again."""
    return nodes.math("ADD", nodes.math("FLOORED_MODULO", frame, 5.0), 0.01)


@pytest.mark.parametrize("shape", ["aabb", "obb", "sphere"])
@pytest.mark.parametrize("count_of", [growing, coming_and_going])
def test_first_contacts_of_instances_that_come_are_those_of_playing(count_of, shape):
    add_wall()
    host = add_row(count_of)
    # Through the wall and back.
    key(host, "location", [(0, (0, 0, 0)), (10, (0, 0, 7)), (20, (0, 0, 3))], "SINE")
    if shape == "sphere":
        skipped = check_against_playing(0, 12, 0.75**0.5, shape=shape, obstacles=("Wall",))
    else:
        skipped = check_against_playing(0, 20, shape=shape)
    assert not [reason for reason in skipped.values() if "not tested" in reason]
    assert skipped["Host/Part.0"].startswith("not present at frame")


@pytest.mark.parametrize("has_wall", [True, False])
def test_collection_instance_that_a_key_switches_on_takes_part(has_wall):
    part = add_part()
    crowd = add_crowd(part)
    key(crowd, "location", [(1, (0, 0, 0)), (21, (0, 0, 8))], "QUAD")
    key(part, "hide_viewport", [(1, True), (5, False), (9, True), (12, False)], "CONSTANT")
    if not has_wall:
        result = scan_scene(frames=(1, 21, 1))
        assert [subject.name for subject in result.subjects] == ["Crowd/Part.0"]
        return
    add_wall()
    skipped = check_against_playing(1, 21)
    assert skipped["Crowd/Part.0"] == "not present at frame 1: skipped while absent"


def test_hair_instances_that_a_key_switches_on_take_part():
    add_wall()
    part = add_part()
    host = add_box("Host", HALF)
    host.modifiers.new("Hair", "PARTICLE_SYSTEM")
    settings = host.particle_systems[0].settings
    settings.type, settings.count, settings.hair_step = "HAIR", 3, 2
    settings.render_type, settings.instance_object, settings.particle_size = "OBJECT", part, 1.0
    settings.use_advanced_hair = True
    key(host.modifiers[0], "show_viewport", [(1, False), (4, True)], "CONSTANT")
    key(host, "location", [(1, (0, 0, -2)), (21, (0, 0, 8))], "LINEAR")
    scene = bpy.context.scene
    scene.frame_set(6)
    shown = [item.key for item in visible_instances(bpy.context.evaluated_depsgraph_get()) if item.key[2]]
    assert len(shown) == 3
    scene.frame_set(1)
    result = scan_scene(frames=(1, 21, 1))
    names = {subject.name for subject in result.subjects}
    assert names == {"Wall", "Host", *(f"Host/Part.{number}" for number in range(3))}
    found = contacts_by_names(result)
    assert {frozenset(("Wall", f"Host/Part.{number}")) for number in range(3)} <= set(found)


def test_sphere_trees_of_instances_that_come_are_as_fine_as_those_of_the_first_frame():
    add_wall()
    host = add_row(lambda nodes, frame: nodes.math("ADD", frame, 0.01))
    key(host, "location", [(2, (0, 0, 0)), (6, (0, 0, 8))], "LINEAR")
    found = contacts_by_names(scan_scene(frames=(2, 6, 1), shape="spheres", obstacles=("Wall",)))
    assert len(found) == 5
    at_first = found[frozenset(("Wall", "Host/Part.0"))].first.frame
    times = [found[frozenset(("Wall", f"Host/Part.{number}"))].first.frame for number in range(3)]
    assert times == pytest.approx([at_first] * 3, abs=1e-9)


def test_numbers_of_instances_that_come_follow_those_of_the_first_frame():
    add_wall()
    host = add_row(lambda nodes, frame: nodes.math("ADD", frame, 0.01))
    key(host, "location", [(2, (0, 0, 0)), (6, (0, 0, 8))], "LINEAR")
    result = scan_scene(frames=(2, 6, 1), selection=Selection(("Wall", "Host/Part.*")))
    keys = {subject.name: subject.key for subject in result.subjects}
    assert [keys[f"Host/Part.{number}"][2][-1] for number in range(6)] == list(range(6))


def test_a_scan_that_is_stopped_keeps_what_it_found_before_it_tests_what_came():
    add_wall()
    host = add_row(growing)
    key(host, "location", [(0, (0, 0, 0)), (10, (0, 0, 7))], "LINEAR")
    calls = []

    def stops():
        calls.append(1)
        return len(calls) > 15

    settings = ContactSettings(shape="aabb", frames=(0, 10, 1))
    result = run_to_end(find_contacts(bpy.context.scene, settings, stops))
    assert result.partial is None
    reasons = [entry.reason for entry in result.skipped if entry.name == "Host/Part"]
    assert "not tested" in reasons[0]


def test_progress_with_instances_that_come_never_goes_backwards():
    add_wall()
    key(add_row(growing), "location", [(0, (0, 0, 0)), (10, (0, 0, 7))], "LINEAR")
    settings = ContactSettings(shape="aabb", frames=(0, 10, 1))
    done = [p.share for p in find_contacts(bpy.context.scene, settings)]
    assert done == sorted(done)
    # It may stand still once, when it becomes known that another scan follows.
    assert sum(a == b for a, b in pairwise(done)) <= 1
    assert 0.95 < done[-1] <= 1


def test_scan_of_instances_that_come_has_the_frames_of_the_first_scan():
    add_wall()
    add_row(growing)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.frame_step = 1, 12, 1
    job = find_contacts(scene, ContactSettings(shape="aabb"))
    next(job)
    # Edited while the job runs.
    scene.frame_start, scene.frame_end, scene.frame_step = 3, 40, 2
    result = run_to_end(job)
    assert any(subject.key[2] for subject in result.subjects)
    assert (result.time.start, result.time.end, result.time.step) == (1, 12, 1)
