"""Scans of spheres that bump into meshes: truth by formulas, or by brute force over time and triangles."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from addon.core import (
    ContactReport,
    InvalidShapeError,
    Obstacle,
    Sample,
    ScanSettings,
    Sphere,
    Triangle,
    TriangleMesh,
    scan_contacts,
)
from tests.finished import finished
from tests.tiers import times

Array = np.ndarray


@dataclass(frozen=True)
class Told:
    """Spheres whose centres (n, 3) a function of time tells, and the places (k, 4, 4) of obstacles."""

    centers: Callable[[float], Array]
    radii: Array
    places: Callable[[float], Array] | None = None
    obstacles: int = 1
    asked: list[float] = field(default_factory=list)

    @property
    def refinable(self) -> Array:
        return np.ones(len(self.radii) + self.obstacles, dtype=bool)

    def sample(self, time: float) -> Sample:
        places = None if self.places is None else self.places(time)
        return Sample(Sphere(self.centers(time), self.radii), places=places)

    def sample_between(self, time: float, subjects: Array) -> Sample:
        self.asked.append(time)
        spheres = subjects[subjects < len(self.radii)]
        whole = self.sample(time)
        return Sample(whole.shapes[spheres], places=whole.places)


def scanned(motion: Told, frames: object, *obstacles: Obstacle, **settings: object) -> ContactReport:
    return finished(scan_contacts(motion, frames, ScanSettings(obstacles=obstacles, **settings)))


def mesh_of(corners: Array, one_sided: bool = False) -> TriangleMesh:
    """Triangles (t, 3, 3)."""
    return TriangleMesh(Triangle(corners[:, 0], corners[:, 1], corners[:, 2], one_sided=one_sided))


def box_corners(half: Array) -> Array:
    """(12, 3, 3) of a box around the origin, seen from outside."""
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
    """(t, 3, 3) a square of 2 x 2 with random heights, seen from above."""
    line = np.linspace(-1, 1, size)
    x, y = np.meshgrid(line, line, indexing="ij")
    grid = np.stack([x, y, rng.uniform(-height, height, x.shape)], axis=-1)
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    return np.concatenate([np.stack(t, axis=-2).reshape(-1, 3, 3) for t in ((a, b, c), (a, c, d))])


def distance(point: Array, corners: Array) -> float:
    """From one point to the nearest of triangles (t, 3, 3), each compared; the tests' own."""
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
    """The first time at which f is not above zero, by dense samples and halving."""
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
def test_a_projectile_through_a_thin_plate_between_two_frames_is_found(one_sided):
    speed = 400 / 24
    motion = Told(lambda t: np.array([[(t - 3.3) * speed, 0.01, 0.02]]), np.array([0.005]))
    plate = mesh_of(box_corners(np.array([0.001, 1.0, 1.0])), one_sided)
    (contact,) = scanned(motion, range(1, 8), Obstacle(1, plate)).contacts
    assert (contact.a, contact.b) == (0, 1)
    assert contact.first.frame == pytest.approx(3.3 - 0.006 / speed, abs=1e-9)
    assert contact.first.tunnelling and not contact.first.at_start
    assert contact.first.point == pytest.approx([-0.001, 0.01, 0.02], abs=1e-6)
    assert contact.first.normal == pytest.approx([1, 0, 0])
    assert contact.intervals[0].end == pytest.approx(3.3 + 0.006 / speed, abs=1e-7)


def test_the_normal_goes_from_group_a_to_group_b_also_when_the_obstacle_is_a():
    motion = Told(lambda t: np.array([[0.0, 0.0, 5.0 - t]]), np.array([0.5]))
    floor = Obstacle(1, mesh_of(box_corners(np.array([2.0, 2.0, 0.5]))))
    is_floor = np.array([False, True])
    (contact,) = scanned(motion, range(1, 8), floor, group_a=is_floor, group_b=~is_floor).contacts
    assert (contact.a, contact.b) == (1, 0)
    assert contact.first.normal == pytest.approx([0, 0, 1])


@pytest.mark.parametrize("seed", range(times(4, 2)))
def test_balls_that_fall_along_parabolas_onto_a_terrain(seed):
    rng = np.random.default_rng(seed)
    corners = terrain(7, 0.15, rng)
    count = 5
    start = np.column_stack([rng.uniform(-0.8, 0.8, (count, 2)), rng.uniform(0.6, 1.4, count)])
    velocity = np.column_stack([rng.uniform(-0.15, 0.15, (count, 2)), rng.uniform(-0.1, 0.2, count)])
    radii = rng.uniform(0.03, 0.15, count)

    def centers(t: float) -> Array:
        return start + velocity * t - np.array([0, 0, 0.04]) * t * t

    report = scanned(Told(centers, radii), range(9), Obstacle(count, mesh_of(corners)))
    found = {c.a: c.first for c in report.contacts if c.b == count}
    for index in range(count):
        steps = times(400, 60)
        truth = first_below(lambda t, i=index: distance(centers(t)[i], corners) - radii[i], 0, 8, steps)
        assert (truth is None) == (index not in found), index
        if truth is not None:
            told = found[index]
            assert told.motion == "adaptive"
            assert abs(told.frame - truth) < 1e-3
            assert told.frame <= truth + told.uncertainty + 1e-9


def test_a_paddle_that_turns_strikes_a_ball_at_the_angle_of_the_formula():
    # A blade of length 3 along x turns about z by 0.2 a frame; the ball lies at distance 2, at a right angle.
    radius, thick, rate = 0.25, 0.05, 0.2

    def places(t: float) -> Array:
        place = np.eye(4)
        c, s = math.cos(rate * t), math.sin(rate * t)
        place[:2, :2] = [[c, -s], [s, c]]
        place[2, 3] = 0.0
        return place[None]

    blade = box_corners(np.array([1.5, thick, 0.5])) + np.array([1.5, 0, 0])
    motion = Told(lambda t: np.array([[0.0, 2.0, 0.0]]), np.array([radius]), places)
    (contact,) = scanned(motion, range(12), Obstacle(1, mesh_of(blade))).contacts
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


def test_a_lift_that_carries_its_ball_stays_in_contact_all_the_way():
    def places(t: float) -> Array:
        place = np.eye(4)
        place[2, 3] = 0.3 * math.sin(0.4 * t)
        return place[None]

    motion = Told(
        lambda t: np.array([[0, 0, 0.5 + 0.249 + 0.3 * math.sin(0.4 * t)]]), np.array([0.25]), places
    )
    (contact,) = scanned(motion, range(12), Obstacle(1, mesh_of(box_corners(np.array([1, 1, 0.5]))))).contacts
    assert contact.first.at_start
    assert [(i.start, i.end) for i in contact.intervals] == [(0, 11)]
    assert contact.depth == pytest.approx(0.001)


def test_a_ball_that_rolls_over_the_seams_of_a_floor_is_one_contact():
    rng, frames = np.random.default_rng(3), times(20, 10)
    floor = mesh_of(terrain(30, 0.0, rng))
    motion = Told(
        lambda t: np.array([[0.7 * math.cos(t / 5), 0.7 * math.sin(t / 5), 0.098]]), np.array([0.1])
    )
    (contact,) = scanned(motion, range(frames), Obstacle(1, floor)).contacts
    assert [(i.start, i.end) for i in contact.intervals] == [(0, frames - 1)]
    assert contact.depth == pytest.approx(2e-3, rel=1e-6)
    # As soon as it is sure to overlap all the way there is nothing more to ask.
    assert len(motion.asked) < 5 * frames


def test_behind_a_one_sided_mesh_nothing_is_struck():
    motion = Told(lambda t: np.array([[0.0, 0.0, -2.0 + 0.3 * t]]), np.array([0.4]))
    ground = terrain(3, 0.0, np.random.default_rng(0))
    assert len(scanned(motion, range(7), Obstacle(1, mesh_of(ground))).contacts) == 1
    assert scanned(motion, range(7), Obstacle(1, mesh_of(ground, one_sided=True))).contacts == ()


def test_a_near_miss_of_a_mesh_has_its_gap_and_frame():
    motion = Told(lambda t: np.array([[t - 5.25, 0.0, 0.9]]), np.array([0.3]))
    post = mesh_of(box_corners(np.array([0.01, 0.01, 0.5])))
    report = scanned(motion, range(12), Obstacle(1, post))
    assert report.contacts == ()
    (near,) = report.clearances
    assert (near.a, near.b) == (0, 1)
    assert near.gap == pytest.approx(0.1, abs=1e-6)
    # Over the flat top it is as near all the while.
    assert abs(near.frame - 5.25) <= 0.011


def test_a_clearance_counts_as_contact_with_a_mesh():
    motion = Told(lambda t: np.array([[t - 5.25, 0.0, 0.9]]), np.array([0.3]))
    post = mesh_of(box_corners(np.array([0.01, 0.01, 0.5])))
    (contact,) = scanned(motion, range(12), Obstacle(1, post), clearance=0.2).contacts
    # The upper edge of the post, 0.4 below the middle of the ball, from 0.5 away.
    assert contact.first.frame == pytest.approx(5.25 - 0.01 - 0.3, abs=1e-6)
    assert contact.depth == pytest.approx(-0.1)


def test_bodies_meet_each_other_too_and_obstacles_do_not():
    # Two balls meet above two plates that overlap one another.
    motion = Told(
        lambda t: np.array([[t - 4.0, 0, 1.0], [4.0 - t, 0, 1.0]]), np.array([0.5, 0.5]), obstacles=2
    )
    plate = mesh_of(box_corners(np.array([9, 1, 0.1])))
    report = scanned(motion, range(9), Obstacle(2, plate), Obstacle(3, plate))
    assert [(c.a, c.b, c.first.frame) for c in report.contacts] == [(0, 1, 3.5)]
    assert {(n.a, n.b) for n in report.clearances} == {(0, 2), (0, 3), (1, 2), (1, 3)}
    ignored = scanned(motion, range(9), Obstacle(2, plate), Obstacle(3, plate), ignored=[(2, 0), (1, 3)])
    assert {(n.a, n.b) for n in ignored.clearances} == {(0, 3), (1, 2)}


def test_a_subject_of_several_parts_strikes_with_the_first_of_them():
    motion = Told(
        lambda t: np.array([[0.0, 0.0, 5 - t], [0.0, 1.0, 4.5 - t], [7.0, 0.0, 4 - t]]), np.full(3, 0.5)
    )
    floor = Obstacle(1, mesh_of(box_corners(np.array([9.0, 9.0, 1.0]))))
    report = scanned(motion, range(9), floor, owners=np.array([0, 0, 2]), ignored=[(0, 2)])
    assert [(c.a, c.b) for c in report.contacts] == [(1, 2), (0, 1)]
    assert [c.first.frame for c in report.contacts] == [2.5, 3.0]


def test_what_rests_on_a_resting_mesh_is_a_contact_only_if_asked_for():
    motion = Told(lambda t: np.array([[0.0, 0.0, 0.9]]), np.array([0.5]))
    floor = Obstacle(1, mesh_of(box_corners(np.array([1.0, 1.0, 0.5]))))
    assert scanned(motion, range(5), floor).contacts == ()
    (contact,) = scanned(motion, range(5), floor, static_pairs=True).contacts
    assert contact.first.at_start and contact.depth == pytest.approx(0.1)


def test_a_crowd_over_a_terrain_agrees_with_brute_force():
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
    report = scanned(Told(centers, radii), range(5), Obstacle(count, mesh_of(corners)), ignored=pairs)
    found = {c.a: c.first.frame for c in report.contacts}
    assert 5 < len(found) < count
    for index in range(count)[::3][: times(14, 4)]:
        truth = first_below(lambda t, i=index: distance(centers(t)[i], corners) - radii[i], 0, 4, 120)
        if truth is None:
            assert index not in found or distance(centers(found[index])[index], corners) < radii[index] + 1e-9
        else:
            assert found[index] <= truth + 1e-6
            assert (
                distance(centers(found[index])[index], corners) == pytest.approx(radii[index]) or truth == 0
            )


def test_only_spheres_bump_into_meshes():
    class Boxes(Told):
        def sample(self, time: float) -> Sample:
            return Sample(super().sample(time).shapes.aabb())

    motion = Boxes(lambda t: np.zeros((1, 3)), np.ones(1))
    with pytest.raises(InvalidShapeError, match="only spheres bump into meshes, not Aabb"):
        scanned(motion, range(3), Obstacle(1, mesh_of(box_corners(np.ones(3)))))


def test_an_obstacle_that_grows_is_refused():
    motion = Told(lambda t: np.zeros((1, 3)), np.ones(1), lambda t: np.diag([1 + t, 1 + t, 1 + t, 1])[None])
    with pytest.raises(InvalidShapeError, match="obstacle 0: its place is not a turn and a move"):
        scanned(motion, range(3), Obstacle(1, mesh_of(box_corners(np.ones(3)))))


@pytest.mark.parametrize("subjects", [(0,), (1, 1), (-1,)])
def test_obstacles_that_are_no_subjects_of_their_own_are_refused(subjects):
    motion = Told(lambda t: np.zeros((1, 3)), np.ones(1))
    plate = mesh_of(box_corners(np.ones(3)))
    with pytest.raises(InvalidShapeError, match="obstacles must be subjects of their own"):
        scanned(motion, range(3), *(Obstacle(k, plate) for k in subjects), owners=np.array([0]))


def test_depth_is_known_where_the_clearance_is_larger_than_the_ball():
    triangle = TriangleMesh(Triangle([[-1, -1, 0]], [[1, -1, 0]], [[0, 1, 0]]))
    motion = Told(lambda t: np.array([[t - 2.25, 0, 0.6]]), np.array([0.1]))
    (contact,) = scanned(motion, range(6), Obstacle(1, triangle), clearance=2.0).contacts
    # Above the triangle for a while: 0.6 to its plane, less the radius.
    assert contact.depth == pytest.approx(-0.5, abs=1e-9)
