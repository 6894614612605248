"""Scans and overlay of bones: oriented boxes and capsules are along the bone, as in documents."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.scene.blender.mesh_data import vertex_positions
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.jobs.contacts import find_contacts
from addon.scene.live.live_shapes import LiveSubjects
from addon.scene.motion import frame_reader
from addon.scene.settings import BoundsSettings, ContactSettings, FitSettings, Selection
from addon.scene.subjects.subject import identify_subjects
from tests.finished import finished
from tests.scene.blender.parts.rigs import add_rig, add_tube, evaluated_vertices, heaviest, rotate_bones
from tests.scene.building import CUBE, play
from tests.tiers import times

pytestmark = pytest.mark.usefixtures("object_settings")

BONES = Selection(split_by_bones=True)
SIZE = 0.002


def add_bending_tube(is_smooth: bool = False) -> tuple[bpy.types.Object, bpy.types.Object]:
    rig = add_rig()
    tube = add_tube(rig, is_smooth=is_smooth)
    tube.parent = rig
    for frame, angle in ((1, 0.1), (21, 1.5)):
        rotate_bones(rig, {1: angle, 2: 0.0}, frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 21
    bpy.context.scene.frame_set(1)
    return rig, tube


def add_speck(add_mesh, place) -> None:
    """Add a tiny cube, which touches what its center is inside of."""
    add_mesh("Speck", CUBE * (SIZE / 2)).location = place


def in_bone(rig: bpy.types.Object, bone: str, points: np.ndarray) -> np.ndarray:
    """World positions (n, 3) in the space of a bone, at the current frame."""
    matrix = np.array(rig.matrix_world @ rig.pose.bones[bone].matrix)
    return (np.linalg.inv(matrix) @ np.c_[points, np.ones(len(points))].T).T[:, :3]


def box_in_bone(rig, tube, bone: str) -> tuple[np.ndarray, np.ndarray]:
    """Box around the vertices of a bone, along its axes, in its space."""
    points, weights = evaluated_vertices(tube)
    names = [each.name for each in rig.data.bones]
    held = in_bone(rig, bone, points[[heaviest(each, names) == bone for each in weights]])
    return held.min(axis=0), held.max(axis=0)


def first_contact(shape: str, bone: str) -> float | None:
    """Frame of the first contact of a bone with the speck."""
    settings = ContactSettings(selection=BONES, shape=shape)
    result = finished(find_contacts(bpy.context.scene, settings))
    names = [subject.name for subject in result.subjects]
    assert not result.skipped
    for contact in result.report.contacts:
        if {names[contact.a], names[contact.b]} == {f"Tube/bone.{bone}", "Speck"}:
            return contact.first.frame
    return None


def first_time(is_inside) -> float | None:
    """First time at which a condition holds, to a fiftieth of a frame.

    It is found to a fifth of a frame at first: the speck stays inside for longer.
    """
    scene = bpy.context.scene
    begin = None
    for times_of_step in (np.linspace(1, 21, 101), np.linspace(-0.18, 0, 10)):
        for time in times_of_step.tolist():
            frame = time if begin is None else begin + time
            scene.frame_set(int(frame), subframe=frame % 1)
            if is_inside():
                break
        else:
            return None
        begin = frame
    return begin


@pytest.mark.smoke
@pytest.mark.parametrize("is_smooth", [False, True])
def test_scan_of_oriented_boxes_tests_the_box_along_the_bone(add_mesh, is_smooth):
    rig, tube = add_bending_tube(is_smooth)
    place = np.array([[0.1, -1.2, 1.9]])
    add_speck(add_mesh, place[0])

    def is_inside() -> bool:
        low, high = box_in_bone(rig, tube, "Bone 2")
        point = in_bone(rig, "Bone 2", place)[0]
        return bool((point >= low - SIZE).all() and (point <= high + SIZE).all())

    expected = first_time(is_inside)
    assert expected is not None and 3 < expected < 20
    assert first_contact("obb", "Bone 2") == pytest.approx(expected, abs=0.06)


@pytest.mark.long
def test_scan_of_capsules_tests_the_capsule_along_the_bone(add_mesh):
    rig, _ = add_bending_tube()
    place = np.array([[0.1, -1.2, 1.9]])
    settings = BoundsSettings(BONES, ("capsule",))
    bounds = {entry.bone: entry.local[0] for entry in compute_bounds(bpy.context.scene, settings).objects}
    capsule = bounds["Bone 2"]
    assert abs(capsule.axis[1]) == pytest.approx(1, abs=1e-6)
    add_speck(add_mesh, place[0])

    def is_inside() -> bool:
        offset = in_bone(rig, "Bone 2", place)[0] - capsule.center
        along = np.clip(offset @ capsule.axis, -capsule.half_length, capsule.half_length)
        return bool(np.linalg.norm(offset - along * capsule.axis) <= capsule.radius + SIZE)

    expected = first_time(is_inside)
    assert expected is not None and 3 < expected < 20
    assert first_contact("capsule", "Bone 2") == pytest.approx(expected, abs=0.06)


def test_corner_of_a_box_along_the_object_is_no_contact(add_mesh):
    rig, tube = add_bending_tube()
    # Inside of the box along the object's axes at frame 11, never inside of that along the bone.
    bpy.context.scene.frame_set(11)
    points, weights = evaluated_vertices(tube)
    held = points[[heaviest(each, ["Bone 0", "Bone 1", "Bone 2"]) == "Bone 2" for each in weights]]
    corner = np.array([0.0, held[:, 1].min() + 0.02, held[:, 2].min() + 0.02])
    assert ((corner >= held.min(axis=0)) & (corner <= held.max(axis=0))).all()
    bpy.context.scene.frame_start = bpy.context.scene.frame_end = 11
    add_speck(add_mesh, corner)
    low, high = box_in_bone(rig, tube, "Bone 2")
    inside = in_bone(rig, "Bone 2", corner[None])[0]
    assert ((inside < low - 0.05) | (inside > high + 0.05)).any()
    settings = ContactSettings(selection=BONES, shape="obb", static_pairs=True)
    result = finished(find_contacts(bpy.context.scene, settings))
    assert not [
        contact
        for contact in result.report.contacts
        if {result.subjects[index].bone for index in (contact.a, contact.b)} == {"Bone 2", None}
    ]


def test_mesh_of_a_played_character_is_read_once_at_each_frame_for_all_bones(add_mesh, monkeypatch):
    rig, tube = add_bending_tube()
    play(tube)
    add_speck(add_mesh, (0.1, -1.2, 1.9))
    frames: list[int] = []

    def record(evaluated, modifiers):
        frames.append(bpy.context.scene.frame_current)
        return vertex_positions(evaluated, modifiers)

    monkeypatch.setattr(frame_reader, "vertex_positions", record)
    settings = ContactSettings(selection=BONES, shape="obb", motion="linear")
    result = finished(find_contacts(bpy.context.scene, settings))
    assert rig and len([subject for subject in result.subjects if subject.bone]) == 3
    assert {*range(2, 22)} <= {*frames} and len(frames) == len({*frames})


@pytest.mark.parametrize("is_smooth", [False, True])
def test_overlay_shows_boxes_and_capsules_along_the_bone(is_smooth):
    rig, tube = add_bending_tube(is_smooth)
    scene = bpy.context.scene
    result = compute_bounds(scene, BoundsSettings(BONES))
    subjects = LiveSubjects(result, identify_subjects(result.subjects))
    for frame in (1, 7, 15, 21):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        live = subjects.update(depsgraph, FitSettings(), ("obb", "capsule"), "obb", False).shapes
        for owner, bone in enumerate(("Bone 0", "Bone 1", "Bone 2")):
            axes = np.array(rig.matrix_world @ rig.pose.bones[bone].matrix)[:3, :3]
            (row,) = np.flatnonzero(live["obb"].owners == owner)
            box, capsule = live["obb"].shape[row], live["capsule"].shape[row]
            assert np.allclose(np.abs(box.rotation.T @ axes), np.eye(3), atol=1e-5)
            low, high = box_in_bone(rig, tube, bone)
            assert box.half_extents == pytest.approx((high - low) / 2, abs=1e-5)
            assert abs(capsule.axis @ axes[:, 1]) == pytest.approx(1, abs=1e-6)


def test_bone_that_collapses_is_enclosed_along_its_object(add_mesh):
    rig, tube = add_bending_tube(is_smooth=True)
    bone = rig.pose.bones["Bone 2"]
    for frame, size in ((1, 1.0), (11, 0.0), (21, 1.0)):
        bone.scale = (size,) * 3
        bone.keyframe_insert("scale", frame=frame)
    scene = bpy.context.scene
    scene.frame_set(1)
    result = compute_bounds(scene, BoundsSettings(BONES))
    subjects = LiveSubjects(result, identify_subjects(result.subjects))
    for frame in (10, 11, 12):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        boxes = subjects.update(depsgraph, FitSettings(), ("obb",), "obb", False).shapes["obb"]
        (row,) = np.flatnonzero(boxes.owners == 2)
        points, weights = evaluated_vertices(tube)
        held = points[[heaviest(each, ["Bone 0", "Bone 1", "Bone 2"]) == "Bone 2" for each in weights]]
        offset = np.abs((held - boxes.shape[row].center) @ boxes.shape[row].rotation)
        assert (offset <= boxes.shape[row].half_extents + 1e-5).all()
        assert boxes.shape[row].half_extents.max() < 2
    add_speck(add_mesh, (9, 9, 9))
    assert first_contact("obb", "Bone 2") is None  # and no part is skipped


def test_base_meshes_are_along_their_object(add_mesh):
    rig, _ = add_bending_tube()
    add_speck(add_mesh, (0.0, 0.0, 2.5))
    fit = FitSettings(modifiers="base")
    settings = ContactSettings(selection=BONES, shape="obb", fit=fit, static_pairs=True)
    result = finished(find_contacts(bpy.context.scene, settings))
    (contact,) = result.report.contacts
    bones = {result.subjects[index].bone for index in (contact.a, contact.b)}
    assert bones == {"Bone 2", None} and contact.first.frame == 1
    assert rig


def triangles_of_bones(tube: bpy.types.Object) -> dict[str, np.ndarray]:
    """Centers of all triangles in the world whose vertices have all their weight in one bone, by bone."""
    mesh = tube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    names = [group.name for group in tube.vertex_groups]
    owners = [names[vertex.groups[0].group] for vertex in mesh.vertices]
    points = np.array([tube.matrix_world @ vertex.co for vertex in mesh.vertices])
    found: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for triangle in mesh.loop_triangles:
        if len({owners[vertex] for vertex in triangle.vertices}) == 1:
            found[owners[triangle.vertices[0]]].append(points[list(triangle.vertices)].mean(axis=0))
    return {name: np.array(centers) for name, centers in found.items()}


@pytest.mark.long
@pytest.mark.parametrize("shape", ["spheres", "compound"])
@pytest.mark.parametrize("seed", range(times(1, full=2)))
def test_parts_of_bones_hold_all_triangles_of_each_bone(add_mesh, shape, seed):
    """Faces between bones have one triangle in a bone, or none, anywhere in the order of faces."""
    _, tube = add_bending_tube()
    owners = np.random.default_rng(seed).choice(3, len(tube.data.vertices), p=[0.6, 0.3, 0.1]).tolist()
    for vertex, owner in enumerate(owners):
        for number, group in enumerate(tube.vertex_groups):
            group.add([vertex], float(number == owner), "REPLACE")
            if number != owner:
                group.remove([vertex])
    expected = set()
    for frame in (1, 21):
        bpy.context.scene.frame_set(frame)
        for bone, centers in triangles_of_bones(tube).items():
            for number, center in enumerate(centers[:: max(1, len(centers) // 4)]):
                name = f"{bone} {frame} {number}"
                add_mesh(name, CUBE * (SIZE / 2)).location = center
                expected.add((name, f"Tube/bone.{bone}"))
    bpy.context.scene.frame_set(1)
    fit = FitSettings(parts=3)
    settings = ContactSettings(selection=BONES, shape=shape, fit=fit, motion="linear", static_pairs=True)
    result = finished(find_contacts(bpy.context.scene, settings))
    found = {(result.subjects[each.a].name, result.subjects[each.b].name) for each in result.report.contacts}
    assert len(expected) >= 16
    assert {pair for pair in expected if pair not in found and pair[::-1] not in found} == set()
