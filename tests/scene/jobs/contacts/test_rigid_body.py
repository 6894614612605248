"""Thirty bodies that Blender's rigid-body engine drops: contacts where its own transforms have them.

The truth is a simulation of the same scene that no scan ever touched, looked at with this test's own
distances: of balls by their centres, of boxes by the axes that can part them and by their corners. Bodies at
rest stand a little apart or a little inside each other, so contacts are looked for with a clearance.
"""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np
import pytest

from tests.scene.building import open_empty_file
from tests.scene.sampled import (
    Array,
    Path,
    add_object,
    add_points,
    box_points,
    contacts_by_names,
    gaps,
    scanned,
)

LAST = 50
CLEARANCE = 0.02
FLOOR = (6.0, 6.0, 0.5)
WHOLE = np.arange(1, LAST + 1)
FINE = np.linspace(1, LAST, 16 * (LAST - 1) + 1)


# --- the scene -------------------------------------------------------------------------------------------


def sizes() -> dict[str, Array]:
    """Half sizes by name: fifteen balls, fifteen boxes, a floor."""
    rng = np.random.default_rng(4)
    result = {f"Ball.{index:02}": np.full(3, rng.uniform(0.2, 0.4)) for index in range(15)}
    result |= {f"Box.{index:02}": rng.uniform(0.15, 0.4, 3) for index in range(15)}
    return result | {"Floor": np.array(FLOOR)}


def sphere_of(name: str, radius: float) -> bpy.types.Object:
    """A ball of 642 vertices, twelve of them where its box touches it or nearly so."""
    import bmesh

    mesh = bpy.data.meshes.new(name)
    build = bmesh.new()
    bmesh.ops.create_icosphere(build, subdivisions=4, radius=radius)
    build.to_mesh(mesh)
    build.free()
    return add_object(name, mesh)


def build() -> None:
    """Five piles above a floor, at rest in the air at frame 1."""
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, LAST, 24
    bpy.ops.rigidbody.world_add()
    physics = scene.rigidbody_world.collection = bpy.data.collections.new("Physics")
    rng = np.random.default_rng(5)
    for index, (name, half) in enumerate(sizes().items()):
        item = sphere_of(name, half[0]) if name.startswith("Ball") else add_points(name, box_points(half))
        physics.objects.link(item)  # this makes it a rigid body
        body = item.rigid_body
        body.collision_shape = "SPHERE" if name.startswith("Ball") else "BOX"
        body.friction, body.restitution = 0.5, 0.1
        if name == "Floor":
            body.type = "PASSIVE"
            item.location = (0, 0, -FLOOR[2])
            continue
        # Two piles of balls, two of boxes, one in which they take turns; each a bit beside the one below.
        box, level = index // 15, index % 15 // 3
        pile = index % 3 if index % 3 == 2 else index % 3 + 3 * box
        level = 2 * level + box if pile == 2 else level
        aside = rng.uniform(-0.15, 0.15, 2)
        item.location = (2.4 * pile - 4.8 + aside[0], aside[1], 0.7 + 1.0 * level)
        if name.startswith("Box"):
            item.rotation_euler = rng.uniform(-0.6, 0.6, 3)
    cache = scene.rigidbody_world.point_cache
    cache.frame_start, cache.frame_end = 1, LAST
    scene.frame_set(1)


def played(first: int = 1) -> dict[str, Array]:
    """World matrices (frames, 4, 4) of all bodies, frame by frame as the playhead goes."""
    names = list(sizes())
    samples = []
    for frame in range(first, LAST + 1):
        bpy.context.scene.frame_set(frame)
        samples.append([np.array(bpy.data.objects[name].matrix_world, dtype=np.float64) for name in names])
    return dict(zip(names, np.stack(samples, axis=1), strict=True))


# --- the truth -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def truth() -> dict[str, Array]:
    build()
    return played()


def between(matrices: Array) -> Array:
    """Matrices at FINE: entries go straight from frame to frame."""
    flat = matrices.reshape(len(WHOLE), 16)
    return np.stack([np.interp(FINE, WHOLE, column) for column in flat.T], axis=1).reshape(-1, 4, 4)


def corner_distance(corners_of: Path, box: Path) -> Array:
    """(t,) the least distance from a corner of one to the other: never less than that of the two."""
    corners = corners_of.center[:, None] + corners_of.offsets() - box.center[:, None]
    axes, half = box.turned_box()
    local = np.einsum("tki,tni->tnk", axes, corners)
    return np.sqrt((np.maximum(np.abs(local) - half[:, None], 0) ** 2).sum(axis=2)).min(axis=1)


def surely_touching(shape: str, a: Path, b: Path) -> Array:
    """(t,) times at which the two are closer than the clearance."""
    apart = gaps(shape, a, b).of()
    if shape == "sphere":
        return apart <= CLEARANCE
    near = np.minimum(corner_distance(a, b), corner_distance(b, a))
    return (apart <= 0) | (near <= CLEARANCE)


def first_of(times: Array, there: Array) -> float | None:
    return float(times[there.argmax()]) if there.any() else None


Wanted = Callable[[str, str], bool]
CASES: dict[str, Wanted] = {
    "sphere": lambda a, b: a[:2] == b[:2] == "Ba",
    "obb": lambda a, b: a[:2] != "Ba" and b[:2] != "Ba",
    # Above a flat floor the box around a ball is as good as the ball.
    "aabb": lambda a, b: {a[:2], b[:2]} == {"Ba", "Fl"},
}


def wrong_pairs(shape: str, found: dict, truth: dict[str, Array]) -> tuple[list[str], int]:
    """Return the pairs that only the scan or only the simulation has, and the number of all contacts."""
    wrong, touching = [], 0
    half = sizes()
    names = list(truth)
    points = {n: box_points([half[n][0] / 3**0.5] * 3 if n[:2] == "Ba" else half[n]) for n in names}
    whole_paths = {n: Path(truth[n], points[n]) for n in names}
    fine_paths = {n: Path(between(truth[n]), points[n]) for n in names}
    for index, a in enumerate(names):
        for b in names[index + 1 :]:
            if not CASES[shape](a, b):
                continue
            whole = [whole_paths[n] for n in (a, b)]
            fine = [fine_paths[n] for n in (a, b)]
            if shape == "aabb":
                height = whole[0].center[:, 2] - half[a][0]
                seen = first_of(WHOLE, height <= CLEARANCE)
                earliest = first_of(FINE, fine[0].center[:, 2] - half[a][0] <= CLEARANCE + 0.01)
            else:
                seen = first_of(WHOLE, surely_touching(shape, *whole))
                # It is kept to faces, which at corners is up to the root of 3 of it; and boxes turn.
                earliest = first_of(FINE, gaps(shape, *fine).of() <= CLEARANCE * 3**0.5 + 0.01)
            told = found.get(frozenset((a, b)))
            touching += seen is not None
            if seen is not None and (told is None or told.first.frame > seen + 1e-3):
                wrong.append(f"{a}, {b}: touch at {seen}, told {told and told.first}")
            elif told is not None and (earliest is None or told.first.frame < earliest - 1 / 16):
                wrong.append(f"{a}, {b}: not before {earliest}, told {told.first}")
            elif (
                told is not None and seen is not None and told.first.frame < seen - 1 and earliest > seen - 1
            ):
                wrong.append(f"{a}, {b}: touch at {seen}, more than a frame after {told.first}")
    return wrong, touching


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param("sphere", marks=pytest.mark.long),
        pytest.param("aabb", marks=pytest.mark.smoke),
        pytest.param("obb", marks=pytest.mark.long),
    ],
)
def test_first_contacts_are_those_of_the_simulation(truth, shape):
    build()
    found = contacts_by_names(scanned(shape=shape, clearance=CLEARANCE))
    wrong, touching = wrong_pairs(shape, found, truth)
    assert not wrong, "\n".join(wrong)
    assert touching > 8


def test_simulated_pairs_are_marked_linear(truth):
    # A simulation is not evaluated between two frames: nothing better than a straight line is known.
    build()
    found = contacts_by_names(scanned(shape="aabb"))
    assert {contact.first.motion for contact in found.values() if not contact.first.at_start} == {"linear"}


# --- the simulation is left alone ------------------------------------------------------------------------


def same(first: dict[str, Array], second: dict[str, Array]) -> bool:
    return all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("shape", ["sphere", pytest.param("obb", marks=pytest.mark.long)])
def test_simulation_is_unchanged_after_scan(truth, shape):
    build()
    scanned(shape=shape)
    assert bpy.context.scene.frame_current == 1
    assert same(played(), truth)


def test_simulation_is_unchanged_after_cancelled_scan(truth):
    from addon.scene.jobs.contacts import find_contacts
    from addon.scene.settings import ContactSettings

    build()
    job = find_contacts(bpy.context.scene, ContactSettings(shape="aabb", motion="adaptive"))
    for _ in range(17):
        next(job)
    job.close()
    assert same(played(), truth)


def test_scan_from_middle_of_timeline_leaves_simulation_unchanged(truth):
    build()
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
    scanned(shape="aabb")
    assert bpy.context.scene.frame_current == 20
    rest = played(20)
    assert all(np.array_equal(rest[name], truth[name][19:]) for name in truth)


def test_scan_that_starts_in_middle_plays_simulation_from_start(truth):
    # A simulation only goes on from frame to frame: jumping to 25 in a fresh file shows everything still in
    # the air. From there on, bodies that lie on the floor already are in contact from the start.
    build()
    found = contacts_by_names(scanned(shape="aabb", clearance=CLEARANCE, frames=(25, LAST, 1)))
    lying = {n for n in truth if n[:2] == "Ba" and truth[n][24][2, 3] <= sizes()[n][0] + CLEARANCE / 2}
    assert lying
    told = {name for name in lying if frozenset((name, "Floor")) in found}
    assert told == lying
    assert all(found[frozenset((name, "Floor"))].first.at_start for name in lying)


def test_step_of_three_frames_does_not_change_simulation(truth):
    # With frames left out a simulation that is not cached goes wrong, unless they are played all the same.
    build()
    found = contacts_by_names(scanned(shape="aabb", clearance=CLEARANCE, frames=(1, LAST, 3)))
    sampled = range(0, LAST, 3)
    for name in truth:
        if name[:2] == "Ba":
            low = [f + 1 for f in sampled if truth[name][f][2, 3] <= sizes()[name][0] + CLEARANCE / 2]
            told = found.get(frozenset((name, "Floor")))
            if low:
                assert told is not None and low[0] - 3 < told.first.frame <= low[0] + 1e-3, name
    assert same(played(), truth)
