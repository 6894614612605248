"""Contacts of thirty bodies that Blender's rigid-body simulation drops.

The reference is a simulation of the same scene without a scan, with distances computed by the test: of balls
between centers, of boxes along separating axes and at their corners. Bodies at rest have small gaps or
overlaps, so the scans have a clearance.
"""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np
import pytest

from tests.scene.building import open_empty_file
from tests.scene.sampling import (
    Array,
    Trajectory,
    add_object,
    add_points,
    box_points,
    compute_gaps,
    contacts_by_names,
    scan_scene,
)

LAST = 50
CLEARANCE = 0.02
FLOOR = (6.0, 6.0, 0.5)
WHOLE = np.arange(1, LAST + 1)
FINE = np.linspace(1, LAST, 16 * (LAST - 1) + 1)


# ---- Scene


def half_sizes_by_name() -> dict[str, Array]:
    """Half sizes (3,) by name, of fifteen balls, fifteen boxes and a floor."""
    rng = np.random.default_rng(4)
    result = {f"Ball.{index:02}": np.full(3, rng.uniform(0.2, 0.4)) for index in range(15)}
    result |= {f"Box.{index:02}": rng.uniform(0.15, 0.4, 3) for index in range(15)}
    return result | {"Floor": np.array(FLOOR)}


def add_ball(name: str, radius: float) -> bpy.types.Object:
    """Add a ball of 642 vertices. Twelve of them are at or near the points where its box touches it."""
    import bmesh

    mesh = bpy.data.meshes.new(name)
    builder = bmesh.new()
    bmesh.ops.create_icosphere(builder, subdivisions=4, radius=radius)
    builder.to_mesh(mesh)
    builder.free()
    return add_object(name, mesh)


def build_scene() -> None:
    """Add five piles of bodies above a floor, at rest at frame 1."""
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, LAST, 24
    bpy.ops.rigidbody.world_add()
    physics = scene.rigidbody_world.collection = bpy.data.collections.new("Physics")
    rng = np.random.default_rng(5)
    for index, (name, half) in enumerate(half_sizes_by_name().items()):
        item = add_ball(name, half[0]) if name.startswith("Ball") else add_points(name, box_points(half))
        physics.objects.link(item)  # this makes it a rigid body
        body = item.rigid_body
        body.collision_shape = "SPHERE" if name.startswith("Ball") else "BOX"
        body.friction, body.restitution = 0.5, 0.1
        if name == "Floor":
            body.type = "PASSIVE"
            item.location = (0, 0, -FLOOR[2])
            continue
        # Two piles of balls, two of boxes, and one of both in turn. Each body is a little off the one below.
        kind, level = index // 15, index % 15 // 3
        pile = index % 3 if index % 3 == 2 else index % 3 + 3 * kind
        level = 2 * level + kind if pile == 2 else level
        offset = rng.uniform(-0.15, 0.15, 2)
        item.location = (2.4 * pile - 4.8 + offset[0], offset[1], 0.7 + 1.0 * level)
        if name.startswith("Box"):
            item.rotation_euler = rng.uniform(-0.6, 0.6, 3)
    cache = scene.rigidbody_world.point_cache
    cache.frame_start, cache.frame_end = 1, LAST
    scene.frame_set(1)


def play(first: int = 1) -> dict[str, Array]:
    """Play the scene frame by frame, and return the world matrices (frames, 4, 4) of all bodies."""
    names = list(half_sizes_by_name())
    samples = []
    for frame in range(first, LAST + 1):
        bpy.context.scene.frame_set(frame)
        samples.append([np.array(bpy.data.objects[name].matrix_world, dtype=np.float64) for name in names])
    return dict(zip(names, np.stack(samples, axis=1), strict=True))


# ---- Reference


@pytest.fixture(scope="module")
def reference() -> dict[str, Array]:
    build_scene()
    return play()


def interpolated(matrices: Array) -> Array:
    """Matrices at FINE, with entries interpolated linearly between frames."""
    flat = matrices.reshape(len(WHOLE), 16)
    return np.stack([np.interp(FINE, WHOLE, column) for column in flat.T], axis=1).reshape(-1, 4, 4)


def corner_distance(first: Trajectory, box: Trajectory) -> Array:
    """Least distance (t,) from a corner of one box to the other box, an upper limit of their distance."""
    corners = first.center[:, None] + first.offsets() - box.center[:, None]
    axes, half = box.oriented_box()
    local = np.einsum("tki,tni->tnk", axes, corners)
    return np.sqrt((np.maximum(np.abs(local) - half[:, None], 0) ** 2).sum(axis=2)).min(axis=1)


def is_within_clearance(shape: str, a: Trajectory, b: Trajectory) -> Array:
    """Return for each time (t,) whether the two are within the clearance for certain."""
    gap = compute_gaps(shape, a, b).largest()
    if shape == "sphere":
        return gap <= CLEARANCE
    distance = np.minimum(corner_distance(a, b), corner_distance(b, a))
    return (gap <= 0) | (distance <= CLEARANCE)


def first_time(times: Array, condition: Array) -> float | None:
    """First time at which a condition (t,) holds."""
    return float(times[condition.argmax()]) if condition.any() else None


PairTest = Callable[[str, str], bool]
CASES: dict[str, PairTest] = {
    "sphere": lambda a, b: a[:2] == b[:2] == "Ba",
    "obb": lambda a, b: a[:2] != "Ba" and b[:2] != "Ba",
    # Above a flat floor the box around a ball touches at the same time as the ball.
    "aabb": lambda a, b: {a[:2], b[:2]} == {"Ba", "Fl"},
}


def find_wrong_pairs(shape: str, found: dict, reference: dict[str, Array]) -> tuple[list[str], int]:
    """Return descriptions of pairs in which scan and simulation differ, and the number of all contacts."""
    wrong, touching = [], 0
    half = half_sizes_by_name()
    names = list(reference)
    points = {n: box_points([half[n][0] / 3**0.5] * 3 if n[:2] == "Ba" else half[n]) for n in names}
    whole_paths = {n: Trajectory(reference[n], points[n]) for n in names}
    fine_paths = {n: Trajectory(interpolated(reference[n]), points[n]) for n in names}
    for index, a in enumerate(names):
        for b in names[index + 1 :]:
            if not CASES[shape](a, b):
                continue
            whole = [whole_paths[n] for n in (a, b)]
            fine = [fine_paths[n] for n in (a, b)]
            if shape == "aabb":
                height = whole[0].center[:, 2] - half[a][0]
                seen = first_time(WHOLE, height <= CLEARANCE)
                earliest = first_time(FINE, fine[0].center[:, 2] - half[a][0] <= CLEARANCE + 0.01)
            else:
                seen = first_time(WHOLE, is_within_clearance(shape, *whole))
                # The clearance is between faces, so it is up to sqrt(3) times as large at corners. Boxes
                # also rotate.
                earliest = first_time(FINE, compute_gaps(shape, *fine).largest() <= CLEARANCE * 3**0.5 + 0.01)
            contact = found.get(frozenset((a, b)))
            touching += seen is not None
            if seen is not None and (contact is None or contact.first.frame > seen + 1e-3):
                wrong.append(f"{a}, {b}: touch at {seen}, found {contact and contact.first}")
            elif contact is not None and (earliest is None or contact.first.frame < earliest - 1 / 16):
                wrong.append(f"{a}, {b}: not before {earliest}, found {contact.first}")
            elif (
                contact is not None
                and seen is not None
                and contact.first.frame < seen - 1
                and earliest > seen - 1
            ):
                wrong.append(f"{a}, {b}: touch at {seen}, more than a frame after {contact.first}")
    return wrong, touching


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param("sphere", marks=pytest.mark.long),
        pytest.param("aabb", marks=pytest.mark.smoke),
        pytest.param("obb", marks=pytest.mark.long),
    ],
)
def test_first_contacts_match_simulation(reference, shape):
    build_scene()
    found = contacts_by_names(scan_scene(shape=shape, clearance=CLEARANCE))
    wrong, touching = find_wrong_pairs(shape, found, reference)
    assert not wrong, "\n".join(wrong)
    assert touching > 8


def test_simulated_pairs_are_marked_linear(reference):
    # Simulations are not evaluated between frames, so their motion is interpolated linearly.
    build_scene()
    found = contacts_by_names(scan_scene(shape="aabb"))
    assert {contact.first.motion for contact in found.values() if not contact.first.at_start} == {"linear"}


# ---- The simulation does not change


def is_equal(first: dict[str, Array], second: dict[str, Array]) -> bool:
    """Return whether two simulations have identical matrices."""
    return all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("shape", ["sphere", pytest.param("obb", marks=pytest.mark.long)])
def test_simulation_is_unchanged_after_scan(reference, shape):
    build_scene()
    scan_scene(shape=shape)
    assert bpy.context.scene.frame_current == 1
    assert is_equal(play(), reference)


def test_simulation_is_unchanged_after_cancelled_scan(reference):
    from addon.scene.jobs.contacts import find_contacts
    from addon.scene.settings import ContactSettings

    build_scene()
    job = find_contacts(bpy.context.scene, ContactSettings(shape="aabb", motion="adaptive"))
    for _ in range(17):
        next(job)
    job.close()
    assert is_equal(play(), reference)


def test_simulation_is_unchanged_after_scan_from_middle_of_timeline(reference):
    build_scene()
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
    scan_scene(shape="aabb")
    assert bpy.context.scene.frame_current == 20
    remaining = play(20)
    assert all(np.array_equal(remaining[name], reference[name][19:]) for name in reference)


def test_scan_that_starts_in_middle_plays_simulation_from_start(reference):
    # A simulation advances only frame by frame: after a jump to frame 25 in a new file, all bodies are still
    # in the air. A scan that plays it has bodies on the floor at frame 25, in contact at the start.
    build_scene()
    found = contacts_by_names(scan_scene(shape="aabb", clearance=CLEARANCE, frames=(25, LAST, 1)))
    lying = {
        n
        for n in reference
        if n[:2] == "Ba" and reference[n][24][2, 3] <= half_sizes_by_name()[n][0] + CLEARANCE / 2
    }
    assert lying
    touching = {name for name in lying if frozenset((name, "Floor")) in found}
    assert touching == lying
    assert all(found[frozenset((name, "Floor"))].first.at_start for name in lying)


def test_step_of_three_frames_does_not_change_simulation(reference):
    # A simulation without a cache is wrong after skipped frames, so the scan plays them too.
    build_scene()
    found = contacts_by_names(scan_scene(shape="aabb", clearance=CLEARANCE, frames=(1, LAST, 3)))
    sampled = range(0, LAST, 3)
    for name in reference:
        if name[:2] == "Ba":
            low = [
                f + 1
                for f in sampled
                if reference[name][f][2, 3] <= half_sizes_by_name()[name][0] + CLEARANCE / 2
            ]
            contact = found.get(frozenset((name, "Floor")))
            if low:
                assert contact is not None and low[0] - 3 < contact.first.frame <= low[0] + 1e-3, name
    assert is_equal(play(), reference)
