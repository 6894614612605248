"""Scans of balls against surfaces: expected values by formulas, or brute force over time and triangles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from addon.core import ContactReport, Sample, ScanSettings, Sphere, Triangle, TriangleMesh, scan_contacts
from tests.core.scan.surfaces import balls_and_surfaces, mesh_of, pose_at, surfaces_apart
from tests.finished import finished
from tests.tiers import times

Array = np.ndarray


@dataclass
class FormulaMotion:
    """Balls with centers (n, 3) as a function of time, then surfaces with matrices (k, 4, 4)."""

    centers: Callable[[float], Array]
    radii: Array
    poses: Callable[[float], Array] | None = None
    surfaces: Sequence[TriangleMesh] = ()
    owners: Array = field(default_factory=lambda: np.zeros(1, dtype=int))
    sampled: list[float] = field(default_factory=list)

    @property
    def refinable(self) -> Array:
        return np.ones(self.owners[-1] + 1, dtype=bool)

    def sample(self, time: float) -> Sample:
        matrices = None if self.poses is None else self.poses(time)
        return Sample(balls_and_surfaces(Sphere(self.centers(time), self.radii), self.surfaces, matrices))

    def sample_between(self, time: float, subjects: Array) -> Sample:
        self.sampled.append(time)
        return Sample(self.sample(time).shapes[np.isin(self.owners, subjects)])


def scanned(
    moving: FormulaMotion, frames: object, *surfaces: TriangleMesh, **settings: object
) -> ContactReport:
    """Scan balls and surfaces, of which two are no pair."""
    moving.surfaces = surfaces
    moving.owners = settings.get("owners", np.arange(len(moving.radii) + len(surfaces)))
    labels = surfaces_apart(len(moving.radii), len(surfaces))
    labels = labels[np.unique(moving.owners, return_index=True)[1]]
    return finished(scan_contacts(moving, frames, ScanSettings(separate=labels, **settings)))


def box_corners(half: Array) -> Array:
    """Triangles (12, 3, 3) of a box around the origin, counter-clockwise seen from outside."""
    corners = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            middle = sign * np.eye(3)[axis]
            quad = [
                middle - u - sign * v,
                middle + u - sign * v,
                middle + u + sign * v,
                middle - u + sign * v,
            ]
            corners += [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
    return np.array(corners) * half


def terrain(size: int, height: float, rng: np.random.Generator) -> Array:
    """Triangles (t, 3, 3) of a square of 2 x 2 with random heights, counter-clockwise seen from above."""
    line = np.linspace(-1, 1, size)
    x, y = np.meshgrid(line, line, indexing="ij")
    grid = np.stack([x, y, rng.uniform(-height, height, x.shape)], axis=-1)
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    return np.concatenate([np.stack(t, axis=-2).reshape(-1, 3, 3) for t in ((a, b, c), (a, c, d))])


def distance(point: Array, corners: Array) -> float:
    """Distance from one point to the nearest of triangles (t, 3, 3), by brute force."""
    a, b, c = corners.transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    height = ((point - a) * normal).sum(axis=1) / (normal**2).sum(axis=1)
    foot = point - normal * height[:, None]
    sides = [(np.cross(q - p, foot - p) * normal).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))]
    inside = np.min(sides, axis=0) >= 0
    found = [np.linalg.norm(point - foot, axis=1)[inside]]
    for p, q in ((a, b), (b, c), (c, a)):
        along = np.clip(((point - p) * (q - p)).sum(axis=1) / ((q - p) ** 2).sum(axis=1), 0, 1)
        found.append(np.linalg.norm(point - p - along[:, None] * (q - p), axis=1))
    return float(np.concatenate(found).min())


def first_below(f: Callable[[float], float], low: float, high: float, steps: int = 2000) -> float | None:
    """Find the first time at which f is not positive, by dense samples and bisection."""
    times = np.linspace(low, high, steps)
    inside = [k for k, t in enumerate(times) if f(t) <= 0]
    if not inside:
        return None
    if inside[0] == 0:
        return low
    a, b = times[inside[0] - 1], times[inside[0]]
    for _ in range(50):
        middle = (a + b) / 2
        a, b = (a, middle) if f(middle) <= 0 else (middle, b)
    return b


@pytest.mark.smoke
@pytest.mark.parametrize("one_sided", [False, True])
def test_projectile_through_thin_plate_mesh_is_found(one_sided):
    speed = 400 / 24
    motion = FormulaMotion(lambda t: np.array([[(t - 3.3) * speed, 0.01, 0.02]]), np.array([0.005]))
    plate = mesh_of(box_corners(np.array([0.001, 1.0, 1.0])), one_sided)
    (contact,) = scanned(motion, range(1, 8), plate).contacts
    assert (contact.a, contact.b) == (0, 1)
    assert contact.first.frame == pytest.approx(3.3 - 0.006 / speed, abs=1e-9)
    assert contact.first.tunnelling and not contact.first.at_start
    assert contact.first.point == pytest.approx([-0.001, 0.01, 0.02], abs=1e-6)
    assert contact.first.normal == pytest.approx([1, 0, 0])
    assert contact.intervals[0].end == pytest.approx(3.3 + 0.006 / speed, abs=1e-7)


def test_normal_points_from_group_a_to_group_b_when_surface_is_a():
    motion = FormulaMotion(lambda t: np.array([[0.0, 0.0, 5.0 - t]]), np.array([0.5]))
    floor = mesh_of(box_corners(np.array([2.0, 2.0, 0.5])))
    is_floor = np.array([False, True])
    (contact,) = scanned(motion, range(1, 8), floor, group_a=is_floor, group_b=~is_floor).contacts
    assert (contact.a, contact.b) == (1, 0)
    assert contact.first.normal == pytest.approx([0, 0, 1])


@pytest.mark.parametrize("seed", range(times(2, full=4)))
def test_balls_on_parabolas_hit_terrain_at_formula_time(seed):
    rng = np.random.default_rng(seed)
    corners = terrain(7, 0.15, rng)
    count = 5
    start = np.column_stack([rng.uniform(-0.8, 0.8, (count, 2)), rng.uniform(0.6, 1.4, count)])
    velocity = np.column_stack([rng.uniform(-0.15, 0.15, (count, 2)), rng.uniform(-0.1, 0.2, count)])
    radii = rng.uniform(0.03, 0.15, count)

    def centers(t: float) -> Array:
        return start + velocity * t - np.array([0, 0, 0.04]) * t * t

    report = scanned(FormulaMotion(centers, radii), range(9), mesh_of(corners))
    found = {c.a: c.first for c in report.contacts if c.b == count}
    for index in range(count):
        steps = times(200, 60, full=400)
        truth = first_below(lambda t, i=index: distance(centers(t)[i], corners) - radii[i], 0, 8, steps)
        assert (truth is None) == (index not in found), index
        if truth is not None:
            first = found[index]
            assert first.motion == "sampled"
            assert abs(first.frame - truth) < 1e-3
            assert first.frame <= truth + first.uncertainty + 1e-9


def test_rotating_paddle_hits_ball_at_formula_angle():
    # A blade of length 3 along x rotates about z by 0.2 per frame; the ball is at distance 2, at a right
    # angle.
    radius, thick, rate = 0.25, 0.05, 0.2

    def poses(t: float) -> Array:
        return pose_at(0, 0, 0, turn=rate * t)[None]

    blade = box_corners(np.array([1.5, thick, 0.5])) + np.array([1.5, 0, 0])
    motion = FormulaMotion(lambda t: np.array([[0.0, 2.0, 0.0]]), np.array([radius]), poses)
    (contact,) = scanned(motion, range(12), mesh_of(blade)).contacts
    # The blade's upper side is a line at distance `thick` from the middle: it meets the ball when the ball's
    # height above the blade's middle line is radius + thick.
    height = radius + thick
    truth = (math.pi / 2 - math.asin(height / 2.0)) / rate
    assert contact.first.frame == pytest.approx(truth, abs=1e-3)
    assert contact.first.frame <= truth + contact.first.uncertainty
    angle = rate * truth
    normal = np.array([math.sin(angle), -math.cos(angle), 0])
    assert contact.first.normal == pytest.approx(normal, abs=1e-3)
    assert contact.first.point == pytest.approx(np.array([0, 2.0, 0]) + radius * normal, abs=2e-3)


def test_blade_far_from_its_axis_hits_ball_within_a_thousandth_of_a_frame():
    # It turns by 3.8 rad a frame about an axis at a distance of 8. Relative to the blade, the ball moves by
    # 30 times its size in each frame, and most of the time it is far away.
    corners = [(x, 0.0, z) for x, z in ((7, -1), (9, -1), (9, 1), (7, -1), (9, 1), (7, 1))]
    blade = mesh_of(np.array(corners).reshape(2, 3, 3))
    rate, radius = 3.8, 0.3

    def poses(time: float) -> Array:
        return pose_at(0, 0, 0, turn=rate * time)[None]

    for place in np.linspace(0.5, 6, times(4, 1)).tolist():
        center = 8 * np.array([[math.cos(place), math.sin(place), 0]])
        motion = FormulaMotion(lambda _, center=center: center, np.array([radius]), poses)
        (contact,) = scanned(motion, range(4), blade).contacts
        # The distance of the ball from the plane of the blade is 8 sin of the angle between them.
        expected = (place - math.asin(radius / 8)) / rate
        assert contact.first.frame == pytest.approx(expected, abs=contact.first.uncertainty + 1e-9)
        assert contact.first.uncertainty < 1e-3


def test_lift_carrying_ball_is_one_contact():
    def poses(t: float) -> Array:
        return pose_at(0, 0, 0.3 * math.sin(0.4 * t))[None]

    motion = FormulaMotion(
        lambda t: np.array([[0, 0, 0.5 + 0.249 + 0.3 * math.sin(0.4 * t)]]), np.array([0.25]), poses
    )
    (contact,) = scanned(motion, range(12), mesh_of(box_corners(np.array([1, 1, 0.5])))).contacts
    assert contact.first.at_start
    assert [(i.start, i.end) for i in contact.intervals] == [(0, 11)]
    assert contact.depth == pytest.approx(0.001)


def test_ball_rolling_over_triangle_edges_is_one_contact():
    rng, frames = np.random.default_rng(3), times(20, 10)
    floor = mesh_of(terrain(30, 0.0, rng))
    motion = FormulaMotion(
        lambda t: np.array([[0.7 * math.cos(t / 5), 0.7 * math.sin(t / 5), 0.098]]), np.array([0.1])
    )
    (contact,) = scanned(motion, range(frames), floor).contacts
    assert [(i.start, i.end) for i in contact.intervals] == [(0, frames - 1)]
    assert contact.depth == pytest.approx(2e-3, rel=1e-6)
    # No more samples are taken once the overlap is certain over the whole interval.
    assert len(motion.sampled) < 6 * frames


def test_sphere_behind_one_sided_mesh_has_no_contact():
    motion = FormulaMotion(lambda t: np.array([[0.0, 0.0, -2.0 + 0.3 * t]]), np.array([0.4]))
    ground = terrain(3, 0.0, np.random.default_rng(0))
    assert len(scanned(motion, range(7), mesh_of(ground)).contacts) == 1
    assert scanned(motion, range(7), mesh_of(ground, one_sided=True)).contacts == ()


def test_near_miss_of_mesh_has_gap_and_frame():
    motion = FormulaMotion(lambda t: np.array([[t - 5.25, 0.0, 0.9]]), np.array([0.3]))
    post = mesh_of(box_corners(np.array([0.01, 0.01, 0.5])))
    report = scanned(motion, range(12), post)
    assert report.contacts == ()
    (near,) = report.clearances
    assert (near.a, near.b) == (0, 1)
    assert near.gap == pytest.approx(0.1, abs=1e-6)
    # Over the flat top the distance is constant.
    assert abs(near.frame - 5.25) <= 0.011


def test_clearance_counts_as_contact_with_mesh():
    motion = FormulaMotion(lambda t: np.array([[t - 5.25, 0.0, 0.9]]), np.array([0.3]))
    post = mesh_of(box_corners(np.array([0.01, 0.01, 0.5])))
    (contact,) = scanned(motion, range(12), post, clearance=0.2).contacts
    # The upper edge of the post, 0.4 below the middle of the ball, from 0.5 away.
    assert contact.first.frame == pytest.approx(5.25 - 0.01 - 0.3, abs=1e-6)
    assert contact.depth == pytest.approx(-0.1)


def test_bodies_touch_each_other_and_surfaces_do_not():
    # Two balls meet above two plates that overlap each other.
    motion = FormulaMotion(lambda t: np.array([[t - 4.0, 0, 1.0], [4.0 - t, 0, 1.0]]), np.array([0.5, 0.5]))
    plate = mesh_of(box_corners(np.array([9, 1, 0.1])))
    report = scanned(motion, range(9), plate, plate)
    assert [(c.a, c.b, c.first.frame) for c in report.contacts] == [(0, 1, 3.5)]
    assert {(n.a, n.b) for n in report.clearances} == {(0, 2), (0, 3), (1, 2), (1, 3)}
    ignored = scanned(motion, range(9), plate, plate, ignored=[(2, 0), (1, 3)])
    assert {(n.a, n.b) for n in ignored.clearances} == {(0, 3), (1, 2)}


def test_subject_with_parts_touches_when_its_first_part_does():
    motion = FormulaMotion(
        lambda t: np.array([[0.0, 0.0, 5 - t], [0.0, 1.0, 4.5 - t], [7.0, 0.0, 4 - t]]), np.full(3, 0.5)
    )
    floor = mesh_of(box_corners(np.array([9.0, 9.0, 1.0])))
    report = scanned(motion, range(9), floor, owners=np.array([0, 0, 1, 2]), ignored=[(0, 1)])
    assert [(c.a, c.b) for c in report.contacts] == [(1, 2), (0, 2)]
    assert [c.first.frame for c in report.contacts] == [2.5, 3.0]


def test_sphere_at_rest_on_mesh_at_rest_is_reported_on_request():
    # Of two spheres, the second one moves far from the mesh.
    centers, speeds = np.array([[0.0, 0.0, 0.9], [9.0, 0.0, 0.0]]), np.array([[0, 0, 0], [1, 0, 0]])
    motion = FormulaMotion(lambda t: centers + t * speeds, np.array([0.5, 0.5]))
    floor = mesh_of(box_corners(np.array([1.0, 1.0, 0.5])))
    report = scanned(motion, range(5), floor)
    assert (report.contacts, report.static_overlaps) == ((), ((0, 2),))
    (contact,) = scanned(motion, range(5), floor, static_pairs=True).contacts
    assert contact.first.at_start and contact.depth == pytest.approx(0.1)


@pytest.mark.long
def test_crowd_over_terrain_matches_brute_force():
    rng = np.random.default_rng(11)
    corners = terrain(12, 0.2, rng)
    count = 40
    start, end = (
        np.column_stack([rng.uniform(-1, 1, (count, 2)), rng.uniform(-0.1, 0.8, count)]) for _ in "ab"
    )
    radii = rng.uniform(0.02, 0.1, count)

    def centers(t: float) -> Array:
        return start + (end - start) * t / 4

    pairs = [(i, j) for i in range(count) for j in range(i)]
    report = scanned(FormulaMotion(centers, radii), range(5), mesh_of(corners), ignored=pairs)
    found = {c.a: c.first.frame for c in report.contacts}
    assert 5 < len(found) < count
    for index in range(count)[::3][: times(7, 4, full=14)]:
        truth = first_below(lambda t, i=index: distance(centers(t)[i], corners) - radii[i], 0, 4, 120)
        if truth is None:
            assert index not in found or distance(centers(found[index])[index], corners) < radii[index] + 1e-9
        else:
            assert found[index] <= truth + 1e-6
            assert (
                distance(centers(found[index])[index], corners) == pytest.approx(radii[index]) or truth == 0
            )


def test_depth_is_known_for_clearance_larger_than_ball():
    triangle = TriangleMesh(Triangle([[-1, -1, 0]], [[1, -1, 0]], [[0, 1, 0]]))
    motion = FormulaMotion(lambda t: np.array([[t - 2.25, 0, 0.6]]), np.array([0.1]))
    (contact,) = scanned(motion, range(6), triangle, clearance=2.0).contacts
    # Above the triangle for a while: 0.6 to its plane, less the radius.
    assert contact.depth == pytest.approx(-0.5, abs=1e-9)


@pytest.mark.parametrize("seed", range(times(6, 3, full=20)))
def test_depth_of_a_ball_whose_center_passes_a_plate_is_its_radius(seed):
    # It passes anywhere within a frame, at any constant speed.
    rng = np.random.default_rng(seed)
    plate = mesh_of(terrain(2, 0.0, rng))
    for _ in range(times(20, 5)):
        height, speed = rng.uniform(1, 4), rng.uniform(0.3, 4)
        motion = FormulaMotion(lambda t, z=height, v=speed: np.array([[0, 0.2, z - v * t]]), np.array([0.5]))
        frames = range(3 + int((height + 0.5) / speed))
        (contact,) = scanned(motion, frames, plate, motion="linear").contacts
        assert contact.depth == pytest.approx(0.5, abs=0.005 * 0.5), (height, speed)
        assert contact.deepest_frame == pytest.approx(height / speed, abs=0.005 * 0.5 / speed + 1e-9)


@pytest.mark.parametrize("seed", range(times(6, 3, full=20)))
def test_depth_of_a_ball_that_passes_above_the_rim_of_a_plate_is_that_of_its_nearest_place(seed):
    # The rim is a line in Y. The center is nearest to it, at a distance of 0.3, anywhere within a frame.
    rng = np.random.default_rng(seed)
    rim = mesh_of(np.array([[(0.0, -9, 0), (0.0, 9, 0), (0.0, 0, -9)]]))
    for _ in range(times(20, 5)):
        place, speed = rng.uniform(1, 4), rng.uniform(0.3, 4)
        motion = FormulaMotion(lambda t, x=place, v=speed: np.array([[x - v * t, 0.2, 0.3]]), np.array([0.5]))
        frames = range(3 + int((place + 0.5) / speed))
        (contact,) = scanned(motion, frames, rim, motion="linear").contacts
        assert contact.depth == pytest.approx(0.2, abs=0.005 * 0.5), (place, speed)


def test_ball_that_is_nearest_outside_the_sphere_around_a_mesh_is_a_near_miss():
    # The sphere around the plate has radius 5. The ball is within it first, far above the plate.
    plate = mesh_of(box_corners(np.array([3.0, 4.0, 1e-3])))
    path = np.array([[0.0, 0.0, 4.0], [3.9, 5.2, 4.0], [3.9, 5.2, 0.0], [6.0, 8.0, 0.0]])
    motion = FormulaMotion(lambda t: path[int(t)][None], np.array([1.0]))
    report = scanned(motion, range(4), plate, motion="linear")
    (miss,) = report.clearances
    assert miss.frame == pytest.approx(2.0, abs=1e-3) and miss.gap == pytest.approx(0.5, abs=2e-3)
