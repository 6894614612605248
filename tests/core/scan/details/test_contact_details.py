"""Begin and deepest overlap of every contact interval: closed forms, and dense samples of linear motion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Contact,
    Meshes,
    Obb,
    Sample,
    ScanSettings,
    Sphere,
    Triangle,
    TriangleMesh,
    minimum_translation,
    scan_contacts,
    separation,
)
from addon.core import at as interpolated
from tests.core.scan.known.paths import Polylines, PolylinesAroundMesh
from tests.core.scan.scans import zigzags
from tests.core.scan.surfaces import balls_and_surfaces, pose_at
from tests.finished import finished
from tests.tiers import times

Array = np.ndarray


@dataclass
class Adaptive:
    """A motion given as a function of time, which can be sampled at any time."""

    shapes: Any
    count: int = 2

    @property
    def refinable(self) -> Array:
        return np.ones(self.count, dtype=bool)

    def sample(self, time: float) -> Any:
        return self.shapes(time)

    def sample_between(self, time: float, subjects: Array) -> Any:
        whole = self.shapes(time)
        return whole if isinstance(whole, Sample) else whole[subjects]


def contacts(moving: Any, frames: Any, **settings: Any) -> tuple[Contact, ...]:
    return finished(scan_contacts(moving, frames, ScanSettings(**settings))).contacts


def only(found: tuple[Contact, ...]) -> Contact:
    (contact,) = found
    assert len(contact.details) == len(contact.intervals)
    first = contact.details[0]
    assert first.uncertainty == contact.first.uncertainty
    assert np.array_equal(first.point, contact.first.point)
    assert np.array_equal(first.normal, contact.first.normal)
    assert max(each.depth for each in contact.details) == contact.depth
    return contact


# ---- Closed forms

SHAPES = {
    "sphere": lambda centers: Sphere(centers, 0.5),
    "aabb": lambda centers: Aabb(centers - 0.5, centers + 0.5),
    "obb": lambda centers: Obb(
        centers, np.full((len(centers), 3), 0.5), np.tile(np.eye(3), (len(centers), 1, 1))
    ),
}


@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_zigzag_against_a_wall_has_its_speed_and_depth_each_time(shape, is_swapped):
    # The body goes from x = 3 to 0.9, back, to 0.7, back and so on, in two frames each way.
    # The wall is at the origin; they touch at x = 1.
    turns = [0.9, 0.7, 0.5, 0.8]
    path = [3.0]
    for turn in turns:
        path += [(3 + turn) / 2, turn, (3 + turn) / 2, 3.0]

    def centers(time: float) -> Array:
        x = np.interp(time, range(len(path)), path)
        both = np.array([(x, 0.125, 0), (0, 0.125, 0)])
        return both[::-1].copy() if is_swapped else both

    contact = only(contacts(Adaptive(lambda t: SHAPES[shape](centers(t))), range(len(path)), motion="linear"))
    side = 1.0 if is_swapped else -1.0
    for k, (turn, span, details) in enumerate(zip(turns, contact.intervals, contact.details, strict=True)):
        speed = (3 - turn) / 2
        assert span.start == pytest.approx(4 * k + 2 / speed, abs=1e-9)
        np.testing.assert_allclose(details.point, (0.5, 0.125, 0), atol=1e-9)
        np.testing.assert_allclose(details.normal, (side, 0, 0), atol=1e-9)
        # The body moves to -x: relative to it, the wall moves to +x.
        np.testing.assert_allclose(details.velocity, (-side * speed, 0, 0), atol=1e-9)
        assert details.closing_speed == pytest.approx(speed, abs=1e-9)
        assert details.deepest_frame == pytest.approx(4 * k + 2, abs=1e-9)
        assert details.depth == pytest.approx(1 - turn, abs=1e-9)
        np.testing.assert_allclose(details.direction, (side, 0, 0), atol=1e-9)
    assert (contact.depth, contact.deepest_frame) == (pytest.approx(0.5), 10)


@pytest.mark.parametrize("shape", SHAPES)
def test_sine_that_touches_a_wall_many_times_has_the_derivative_as_its_speed(shape):
    # x = 2 + 1.5 cos(0.4 t), with a second, slower wave so that all depths differ.
    def x(t: float) -> float:
        return 2 + 1.5 * math.cos(0.4 * t) - 0.1 * math.cos(0.03 * t)

    def slope(t: float) -> float:
        return -0.6 * math.sin(0.4 * t) + 0.003 * math.sin(0.03 * t)

    motion = Adaptive(lambda t: SHAPES[shape](np.array([(0.0, 0, 0), (x(t), 0, 0)])))
    contact = only(contacts(motion, range(100)))
    assert len(contact.intervals) == 6
    dense = np.arange(0, 99, 1 / 256)
    values = np.array([x(t) for t in dense])
    for k, (span, details) in enumerate(zip(contact.intervals, contact.details, strict=True)):
        assert details.uncertainty < (1e-3 if k == 0 else 1e-2)
        assert abs(x(span.start) - 1) <= (details.uncertainty + 1e-6) * abs(slope(span.start)) * 1.1
        np.testing.assert_allclose(details.normal, (1, 0, 0), atol=1e-9)
        assert details.closing_speed == pytest.approx(-slope(span.start), rel=0.02)
        within = (dense >= span.start) & (dense <= span.end)
        assert details.depth == pytest.approx(1 - values[within].min(), abs=0.005)
        assert 1 - x(details.deepest_frame) == pytest.approx(details.depth, abs=0.005)
        np.testing.assert_allclose(details.direction, (1, 0, 0), atol=1e-9)


def test_blade_that_turns_hits_with_the_speed_of_its_tip():
    # A blade from -2 to 2 along x turns by 0.05 a frame about z. The tip of its lower side reaches the cube.
    def shapes(t: float) -> Obb:
        angle = 0.05 * t
        turn = np.array(
            [(math.cos(angle), -math.sin(angle), 0), (math.sin(angle), math.cos(angle), 0), (0, 0, 1)]
        )
        return Obb([(0, 0, 0), (1.5, 1.2, 0)], [(2, 0.1, 0.1), (0.3, 0.3, 0.3)], [turn, np.eye(3)])

    contact = only(contacts(Adaptive(shapes), range(20)))
    (details,) = contact.details
    # Rotation about z: the blade at the point moves at angular velocity x arm.
    velocity = -np.cross((0, 0, 0.05), details.point)
    np.testing.assert_allclose(details.velocity, velocity, rtol=0.01, atol=1e-4)
    assert details.closing_speed > 0.05
    # The lower left corner of the cube, or its right one, is on the blade.
    assert min(np.linalg.norm(details.point[:2] - corner) for corner in ((1.2, 0.9), (1.8, 0.9))) < 0.02


def test_growing_spheres_close_in_by_their_growth():
    # Radii grow by 0.1 and 0.2 a frame, from 0.5 each; the centers are 4 apart: contact after 10 frames.
    motion = Adaptive(lambda t: Sphere([(0, 0, 0), (0, 4, 0)], [0.5 + 0.1 * t, 0.5 + 0.2 * t]))
    contact = only(contacts(motion, range(13), motion="linear"))
    (details,) = contact.details
    assert contact.first.frame == pytest.approx(10)
    np.testing.assert_allclose(details.velocity, (0, -0.3, 0), atol=1e-9)
    assert details.closing_speed == pytest.approx(0.3)


def test_clearance_counts_from_the_distance_at_which_contact_begins():
    # The gap is 0.3 at the closest, at frame 5: with a clearance of 0.5, it begins at 4.8 with a speed of 1.
    motion = Adaptive(lambda t: Sphere([(0, 0, 0), (1.3 + abs(t - 5), 0, 0)], 0.5))
    (details,) = only(contacts(motion, range(11), motion="linear", clearance=0.5)).details
    assert details.closing_speed == pytest.approx(1)
    assert (details.depth, details.deepest_frame) == (pytest.approx(-0.3), 5)
    np.testing.assert_allclose(details.point, (0.75, 0, 0), atol=1e-9)
    np.testing.assert_allclose(details.direction, (1, 0, 0))


# ---- Begins without a speed


@pytest.mark.parametrize("shape", SHAPES)
def test_contact_at_the_first_frame_has_no_velocity_and_later_ones_do(shape):
    # Apart from frame 1 on, in contact again from frame 9 on.
    motion = Adaptive(lambda t: SHAPES[shape](np.array([(0.0, 0, 0), (abs(5 - t) * -1.0 + 5, 0, 0)])))
    contact = only(contacts(motion, range(11), motion="linear"))
    first, later = contact.details
    assert contact.first.at_start and first.velocity is None and first.closing_speed is None
    assert (first.depth, first.deepest_frame, first.uncertainty) == (1, 0, 0)
    assert later.closing_speed == pytest.approx(1)
    assert later.depth == pytest.approx(1)


@pytest.mark.parametrize("time", [3, 3.5])
@pytest.mark.parametrize("has_mesh", [False, True])
def test_contact_that_begins_with_a_jump_has_no_velocity_and_the_next_one_has(time, has_mesh):
    # Jumps into the wall, leaves it, and returns at 0.5 a frame.
    path = [(-9, 0, 0), (-9, 0, 0), (0.25, 0, 0), (-4.5, 0, 0), (0.0, 0, 0)]
    knots = [([0, time, time, 6, 15], path)]
    if has_mesh:
        wall = TriangleMesh(Triangle([(0, -9, -9)], [(0, 9, -9)], [(0, 0, 20)]))
        motion: Any = PolylinesAroundMesh(knots, wall)
        contact = only(contacts(motion, range(16)))
        touch = -0.5
    else:
        contact = only(contacts(Polylines([*knots, ([0], [(0, 0, 0)])]), range(16)))
        touch = -1.0
    jumped, returned = contact.details
    assert contact.intervals[0].start == time and jumped.velocity is None
    assert jumped.uncertainty == 0
    assert contact.intervals[1].start == pytest.approx(6 + (touch + 4.5) / 0.5, abs=1e-3)
    np.testing.assert_allclose(returned.velocity, (-0.5, 0, 0), atol=1e-6)
    np.testing.assert_allclose(returned.normal, (1, 0, 0), atol=1e-6)
    assert returned.closing_speed == pytest.approx(0.5)


def test_jump_that_sampled_motion_shows_as_very_fast_has_no_velocity():
    def shapes(t: float) -> Sphere:
        return Sphere([(0, 0, 0), (0.25 if t >= 4.3 else 9.0, 0, 0)], 0.5)

    (details,) = only(contacts(Adaptive(shapes), range(11))).details
    assert details.velocity is None


def test_bodies_that_appear_in_contact_have_no_velocity():
    def shapes(t: float) -> Sample:
        present = np.array([True, t >= 4])
        return Sample(Sphere([(0, 0, 0), (0.5 + 0.01 * t, 0, 0)], 0.5), present)

    (details,) = only(contacts(Adaptive(shapes), range(11), motion="linear")).details
    assert details.velocity is None
    np.testing.assert_allclose(details.normal, (1, 0, 0), atol=1e-9)
    assert details.depth == pytest.approx(1 - 0.54)


# ---- Surfaces and sphere trees


@pytest.mark.parametrize("is_floor_first", [False, True])
def test_surface_that_moves_counts_with_its_velocity(is_floor_first):
    # A floor rises by 0.2 a frame and slides by 0.1 towards a ball that falls by 0.3 a frame and then rests.
    floor = TriangleMesh(Triangle([(-50, -50, 0)], [(50, -50, 0)], [(0, 80, 0)]))

    def shapes(t: float) -> Meshes:
        ball, pose = Sphere([(0, 0, 6 - 0.3 * t)], 0.5), pose_at(0.1 * t, 0, 0.2 * t)
        return balls_and_surfaces(ball, [floor], pose[None])[[1, 0] if is_floor_first else [0, 1]]

    contact = only(contacts(Adaptive(shapes), range(15)))
    (details,) = contact.details
    assert contact.first.frame == pytest.approx(11, abs=1e-3)
    # b relative to a; upwards is from the floor to the ball.
    np.testing.assert_allclose(details.normal, (0, 0, 1 if is_floor_first else -1), atol=1e-6)
    sign = 1 if is_floor_first else -1
    np.testing.assert_allclose(details.velocity, np.multiply(sign, (-0.1, 0, -0.5)), atol=1e-3)
    assert details.closing_speed == pytest.approx(0.5, abs=1e-3)
    # As its center passes the floor at frame 12, the ball is as deep from either side.
    assert details.deepest_frame == pytest.approx(12, abs=0.01)
    assert details.depth == pytest.approx(0.5, abs=0.005 * 0.5)
    np.testing.assert_allclose(np.abs(details.direction), (0, 0, 1), atol=1e-6)


@pytest.mark.parametrize("is_floor_first", [False, True])
def test_direction_of_the_depth_in_a_surface_is_the_shortest_way_out(is_floor_first):
    # A ball falls until its center is 0.2 above the floor, at frame 5, and rises again.
    floor = TriangleMesh(Triangle([(-50, -50, 0)], [(50, -50, 0)], [(0, 80, 0)]))

    def shapes(t: float) -> Meshes:
        ball = Sphere([(0, 0, 0.2 + 0.3 * abs(t - 5))], 0.5)
        return balls_and_surfaces(ball, [floor])[[1, 0] if is_floor_first else [0, 1]]

    (details,) = only(contacts(Adaptive(shapes), range(11))).details
    assert details.deepest_frame == pytest.approx(5, abs=0.01)
    assert details.depth == pytest.approx(0.3, abs=0.005 * 0.5)
    np.testing.assert_allclose(details.direction, (0, 0, 1 if is_floor_first else -1), atol=1e-6)


def test_surface_that_rotates_hits_with_the_speed_of_its_place():
    # A gate in the plane y = 0, from the hinge at the origin to x = 4, turns by 0.02 a frame about z.
    gate = TriangleMesh(Triangle([(0, 0, -3)], [(9, 0, 0)], [(0, 0, 3)]))
    radius, distance = 0.25, 2.0

    def shapes(t: float) -> Meshes:
        place = distance * math.cos(0.5), distance * math.sin(0.5), 0
        return balls_and_surfaces(Sphere([place], radius), [gate], pose_at(0, 0, 0, turn=0.02 * t)[None])

    contact = only(contacts(Adaptive(shapes), range(30)))
    (details,) = contact.details
    # The distance of the center from the gate is 2 sin(0.5 - 0.02 t).
    assert contact.first.frame == pytest.approx((0.5 - math.asin(radius / distance)) / 0.02, abs=2e-3)
    np.testing.assert_allclose(details.velocity, np.cross((0, 0, 0.02), details.point), atol=4e-4)
    assert details.closing_speed == pytest.approx(0.02 * math.sqrt(distance**2 - radius**2), rel=0.01)


def test_deepest_sphere_of_a_tree_gives_the_direction():
    # Subject 0 has two spheres; the upper one meets subject 1 first, the lower one gets deeper.
    def shapes(t: float) -> Sphere:
        return Sphere([(0.2 * t, 2, 0), (0.2 * t, 0, 0), (5, 0, 0), (4, 2, 0)], [0.5, 1.5, 0.5, 0.6])

    motion, owners = Adaptive(shapes), np.array([0, 0, 1, 1])
    contact = only(contacts(motion, range(21), motion="linear", owners=owners))
    (details,) = contact.details
    # 4 - 0.2 t = 1.1 for the upper spheres, 5 - 0.2 t = 2 for the lower ones.
    assert contact.first.frame == pytest.approx(14.5)
    np.testing.assert_allclose(details.point, (2.9 + 0.5, 2, 0), atol=1e-9)
    assert details.closing_speed == pytest.approx(0.2)
    # Concentric upper spheres at the end: 1.1 deep.
    assert (details.deepest_frame, details.depth) == (20, pytest.approx(1.1))


# ---- Dense samples


def random_shapes(shape: str, centers: Array, rng: np.random.Generator) -> Any:
    """Shapes (k, n) with sizes that change from frame to frame, and rotations of boxes that do not."""
    k, n = centers.shape[:2]
    sizes = rng.uniform(0.6, 1.6, (n, 3)) * np.linspace(1, 1.2, k)[:, None, None]
    if shape == "sphere":
        return Sphere(centers, sizes[..., 0])
    if shape == "aabb":
        return Aabb(centers - sizes, centers + sizes)
    rotation = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    rotation[np.linalg.det(rotation) < 0] *= -1
    return Obb(centers, sizes, np.broadcast_to(rotation, (k, n, 3, 3)))


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(times(1, full=3)))
def test_random_linear_motion_agrees_with_dense_samples_in_all_intervals(shape, seed):
    rng, frames, count = np.random.default_rng(seed), 60, 14
    # Random walks in a small room, so that pairs touch again and again.
    steps = zigzags(rng, count, frames) - zigzags(np.random.default_rng(seed), count, frames)[:1]
    shapes = random_shapes(shape, 4 * np.sin(steps / 4), rng)
    found = contacts(Adaptive(lambda t: shapes[int(t)], count), range(frames), motion="linear")
    checked = 0
    for contact in found:
        only((contact,))
        for span, details in zip(contact.intervals, contact.details, strict=True):
            check_against_samples(shapes, contact, span, details)
            checked += 1
    assert checked > len(found) > 20


def check_against_samples(shapes: Any, contact: Contact, span: Any, details: Any) -> None:
    """Compare one interval with dense samples of both shapes."""

    def both(times: Array) -> tuple[Any, Any]:
        frame = np.minimum(np.floor(times).astype(int), shapes.shape[0] - 2)
        pairs = []
        for body in (contact.a, contact.b):
            pairs.append(interpolated(shapes[frame, body], shapes[frame + 1, body], times - frame))
        return pairs[0], pairs[1]

    samples = np.linspace(span.start, span.end, 64 * (1 + int(span.end - span.start)))
    dense = np.union1d(samples, [*np.arange(np.ceil(span.start), span.end), details.deepest_frame])
    gaps = separation(*both(dense))
    assert details.depth == pytest.approx(-gaps.min(), abs=1e-6)
    assert span.start - 1e-9 <= details.deepest_frame <= span.end + 1e-9
    a, b = both(np.array([details.deepest_frame]))
    # Moved along the direction, b only touches a: the depth is the length of the shortest way.
    moved = translated(b, details.direction * details.depth)
    assert float(separation(a, moved)[0]) == pytest.approx(0, abs=1e-6)
    if details.depth > 1e-3:
        shortest = float(np.linalg.norm(minimum_translation(a, b)[0]))
        assert details.depth == pytest.approx(shortest, abs=1e-6)
    assert np.linalg.norm(details.normal) == pytest.approx(1, abs=1e-12)
    if span.start == 0:
        assert details.velocity is None
        return
    earlier = max(span.start - 1e-5, np.ceil(span.start) - 1)
    before, begin = separation(*both(np.array([earlier, span.start])))
    assert begin == pytest.approx(0, abs=1e-6)
    if span.start - earlier > 1e-6:
        closing = (before - begin) / (span.start - earlier)
        assert details.closing_speed == pytest.approx(closing, abs=1e-3 * (1 + abs(closing)))


def translated(shape: Any, offset: Array) -> Any:
    """Shape (1,), moved."""
    if isinstance(shape, Aabb):
        return Aabb(shape.min + offset, shape.max + offset)
    if isinstance(shape, Sphere):
        return Sphere(shape.center + offset, shape.radius)
    return Obb(shape.center + offset, shape.half_extents, shape.rotation)
