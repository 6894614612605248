"""Scans of balls and triangles against one-sided surfaces: formulas, and dense samples of time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from addon.core import (
    Contact,
    ContactReport,
    Meshes,
    Sample,
    ScanSettings,
    Sphere,
    TriangleMesh,
    scan_contacts,
)
from addon.core.distance.triangle_triangle import separation_triangle_triangle
from tests.core import scenes
from tests.core.motions import rotation_about
from tests.core.scan.evaluated.test_steps import Sampled
from tests.core.scan.meshes.test_balls_and_surfaces import terrain
from tests.core.scan.surfaces import balls_and_surfaces, mesh_of
from tests.finished import finished
from tests.tiers import times

Array = np.ndarray

FLOOR = mesh_of(terrain(5, 0.0, np.random.default_rng(0)), one_sided=True)
"""Triangles of a flat square of 2 x 2 around the origin, whose front is up."""
RADIUS = 0.4


def report_of(shapes: Callable[[float], Meshes], frames: object, **settings: object) -> ContactReport:
    return finished(scan_contacts(Sampled(shapes, 2), frames, ScanSettings(**settings)))


def ball_over_floor(height: Callable[[float], float]) -> Callable[[float], Meshes]:
    """Return a ball with its center at a height above the floor."""
    return lambda t: balls_and_surfaces(Sphere([(0.11, 0.07, height(t))], RADIUS), [FLOOR])


def contact_at_constant_speed(speed: float, motion: str) -> Contact:
    """Return the contact of a ball from behind, whose center passes the plane at 3.3."""
    (contact,) = report_of(ball_over_floor(lambda t: speed * (t - 3.3)), range(8), motion=motion).contacts
    return contact


CONSTANT = pytest.mark.parametrize(
    ("speed", "motion"), [(speed, motion) for speed in (0.3, 1.7, 9.0) for motion in ("linear", "adaptive")]
)


@CONSTANT
def test_ball_from_behind_touches_from_when_its_center_passes_the_plane(speed, motion):
    contact = contact_at_constant_speed(speed, motion)
    (span,) = contact.intervals
    assert span.start == pytest.approx(3.3, abs=1e-9)
    assert span.end == pytest.approx(3.3 + RADIUS / speed, abs=1e-6)


@CONSTANT
def test_begin_of_a_contact_from_behind_has_an_uncertainty_of_rounding(speed, motion):
    assert 0 <= contact_at_constant_speed(speed, motion).first.uncertainty < 1e-6


@CONSTANT
def test_normal_of_a_contact_from_behind_is_that_of_the_surface(speed, motion):
    first = contact_at_constant_speed(speed, motion).first
    np.testing.assert_allclose(np.abs(first.normal), (0, 0, 1), atol=1e-6)
    assert first.point[:2] == pytest.approx((0.11, 0.07), abs=1e-6) and abs(first.point[2]) <= RADIUS


@CONSTANT
def test_depth_of_a_ball_from_behind_is_its_radius(speed, motion):
    contact = contact_at_constant_speed(speed, motion)
    assert contact.depth == pytest.approx(RADIUS, abs=0.005 * RADIUS)
    assert contact.deepest_frame == pytest.approx(3.3, abs=0.005 * RADIUS / speed + 1e-9)


def test_accelerated_ball_from_behind_touches_from_when_its_center_passes_the_plane():
    (contact,) = report_of(ball_over_floor(lambda t: 0.06 * t * t - 1.1), range(9)).contacts
    (span,) = contact.intervals
    assert contact.first.frame == pytest.approx(math.sqrt(1.1 / 0.06), abs=1e-3)
    assert contact.first.uncertainty < 1e-3
    assert span.end == pytest.approx(math.sqrt((1.1 + RADIUS) / 0.06), abs=5e-3)


def test_uncertainty_of_an_accelerated_ball_from_behind_covers_its_error():
    (contact,) = report_of(ball_over_floor(lambda t: 0.06 * t * t - 1.1), range(9)).contacts
    assert abs(contact.first.frame - math.sqrt(1.1 / 0.06)) <= contact.first.uncertainty + 1e-9


def test_ball_from_behind_that_returns_before_its_center_passes_the_plane_has_no_contact():
    assert report_of(ball_over_floor(lambda t: -0.001 - 0.2 * (t - 4.4) ** 2), range(9)).contacts == ()


@pytest.mark.parametrize("height", [pytest.param(-0.3, marks=pytest.mark.long), 0.3])
def test_plate_that_turns_around_touches_a_ball_while_its_front_faces_it(height):
    # The floor turns about the X axis through its middle, half a turn: the height of the ball above the plane
    # is that above the middle, times the cosine of the angle. Sideways it stays within reach.
    rate, axis = math.pi / 9, np.array([(1.0, 0, 0)])

    def shapes(t: float) -> Meshes:
        pose = np.eye(4)
        pose[:3, :3] = rotation_about(axis, np.array([rate * t]))[0]
        return balls_and_surfaces(Sphere([(0.1, 0.0, height)], RADIUS), [FLOOR], pose[None])

    (contact,) = report_of(shapes, range(10)).contacts
    (span,) = contact.intervals
    begin, end = (0.0, 4.5) if height > 0 else (4.5, 9.0)
    assert span.start == pytest.approx(begin, abs=1e-3) and span.end == pytest.approx(end, abs=5e-3)
    assert abs(contact.first.frame - begin) <= contact.first.uncertainty + 1e-9


class Path:
    """A motion that sways, and turns unless it is steady, at times (k,)."""

    def __init__(self, rng: np.random.Generator, steady: bool) -> None:
        self.home, self.sway = rng.uniform(-0.4, 0.4, 3), rng.normal(size=3) * 0.8
        self.pace, self.phase = rng.uniform(0.3, 0.8), rng.uniform(0, 6)
        self.rate = 0.0 if steady else rng.uniform(-0.6, 0.6)
        self.axis, self.turn = scenes.random_directions(rng, 1), scenes.random_rotations(rng, 1)[0]

    def at(self, time: Array) -> Array:
        """Matrices (k, 4, 4)."""
        pose = np.tile(np.eye(4), (len(time), 1, 1))
        axis = np.repeat(self.axis, len(time), axis=0)
        pose[:, :3, :3] = rotation_about(axis, self.rate * time) @ self.turn
        pose[:, :3, 3] = self.home + self.sway * np.sin(self.pace * time + self.phase)[:, None]
        return pose

    def points(self, time: Array, points: Array) -> Array:
        """Points (k, p, 3) that move along."""
        pose = self.at(time)
        return points @ pose[:, :3, :3].swapaxes(1, 2) + pose[:, None, :3, 3]


def first_time(value: Callable[[Array], Array], last: float) -> float | None:
    """First time from 0 on at which a value is not positive, by dense samples and bisection."""
    dense = np.linspace(0, last, times(8000, 4000, full=60_000))
    inside = np.flatnonzero(value(dense) <= 0)
    if not len(inside):
        return None
    low, high = dense[max(inside[0] - 1, 0)], dense[inside[0]]
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if value(np.array([middle]))[0] <= 0 else (middle, high)
    return float(high)


def check_first_contact(value: Callable[[Array], Array], report: ContactReport, last: float) -> bool:
    """Compare the first contact with when a value is not positive; return whether there is any."""
    truth = first_time(value, last)
    if truth is None:
        # A contact that is shorter than the samples.
        for contact in report.contacts:
            near = np.linspace(-1, 1, 2001) * max(contact.first.uncertainty, 1e-6) + contact.first.frame
            assert value(near).min() < 1e-6
        return False
    (contact,) = report.contacts
    assert contact.first.frame == pytest.approx(truth, abs=1e-3)
    assert contact.first.uncertainty < 1e-3
    assert abs(contact.first.frame - truth) <= contact.first.uncertainty + 1e-8
    return True


@pytest.mark.parametrize("steady", [True, False])
@pytest.mark.parametrize("seed", range(times(6, 3, full=100)))
def test_ball_and_moving_one_sided_plate_touch_first_when_samples_do(seed, steady):
    rng, last = np.random.default_rng(seed), 9
    plate, ball, radius = Path(rng, steady), Path(rng, True), rng.uniform(0.1, 0.5)

    def shapes(t: float) -> Meshes:
        time = np.array([t])
        return balls_and_surfaces(Sphere(ball.at(time)[:, :3, 3], radius), [FLOOR], plate.at(time))

    def value(time: Array) -> Array:
        center, pose = ball.at(time)[:, :3, 3], plate.at(time)
        local = ((center - pose[:, :3, 3])[:, None] @ pose[:, :3, :3])[:, 0]
        beyond = np.maximum(np.abs(local) - (1, 1, 0), 0)
        return np.maximum(np.linalg.norm(beyond, axis=1) - radius, -local[:, 2])

    check_first_contact(value, report_of(shapes, range(last + 1)), last)


def heights_above(corners: Array, points: Array) -> Array:
    """Heights (k,) of points (k, 3) above the planes of triangles (k, 3, 3)."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return ((points - corners[:, 0]) * normal).sum(axis=1) / np.linalg.norm(normal, axis=1)


@pytest.mark.parametrize("steady", [True, False])
@pytest.mark.parametrize("are_both", [False, True])
@pytest.mark.parametrize("seed", range(times(4, 2, full=60)))
def test_triangles_of_which_one_or_both_are_one_sided_touch_first_when_samples_do(seed, are_both, steady):
    rng, last = np.random.default_rng(seed), 9
    corners, paths = rng.uniform(-0.8, 0.8, (2, 3, 3)), [Path(rng, steady) for _ in "ab"]
    surfaces = [mesh_of(corners[:1], one_sided=True), mesh_of(corners[1:], one_sided=are_both)]

    def shapes(t: float) -> Meshes:
        return Meshes(surfaces, np.concatenate([path.at(np.array([t])) for path in paths]), is_solid=False)

    def value(time: Array) -> Array:
        a, b = (path.points(time, each) for path, each in zip(paths, corners, strict=True))
        behind = -heights_above(a, b.mean(axis=1))
        if are_both:
            behind = np.maximum(behind, -heights_above(b, a.mean(axis=1)))
        return np.maximum(separation_triangle_triangle(a, b), behind)

    check_first_contact(value, report_of(shapes, range(last + 1)), last)


@pytest.mark.parametrize("seed", range(times(20, 5, full=200)))
def test_linear_motion_of_triangles_that_turn_and_flip_touches_first_when_samples_do(seed):
    # Corners move in straight lines, so a half turn between two frames turns a triangle inside out.
    rng = np.random.default_rng(seed)
    corners, paths = rng.uniform(-0.8, 0.8, (2, 3, 3)), [Path(rng, False) for _ in "ab"]
    for path in paths:
        path.rate = rng.uniform(-2, 2)
    ends = [path.points(np.arange(2.0), each) for path, each in zip(paths, corners, strict=True)]
    surfaces: list[TriangleMesh] = [mesh_of(each[None], one_sided=True) for each in corners]

    class Linear:
        def sample(self, time: float) -> Sample:
            matrices = np.concatenate([path.at(np.array([time])) for path in paths])
            return Sample(Meshes(surfaces, matrices, is_solid=False))

    def value(time: Array) -> Array:
        a, b = (each[0] * (1 - time)[:, None, None] + each[1] * time[:, None, None] for each in ends)
        behind = -np.minimum(heights_above(a, b.mean(axis=1)), heights_above(b, a.mean(axis=1)))
        return np.maximum(separation_triangle_triangle(a, b), behind)

    report = finished(scan_contacts(Linear(), range(2), ScanSettings(motion="linear")))
    truth = first_time(value, 1)
    assert len(report.contacts) == (truth is not None)
    if truth is not None:
        assert report.contacts[0].first.frame == pytest.approx(truth, abs=1e-6)


@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, 1, -1), (-1, -1, -1), (-1, -1, 1), (-2, 0.5, 3)])
def test_front_of_a_mirrored_plate_is_the_image_of_its_front(scale):
    # A ball comes from the back of the plate, whose center passes the plane at 3.3.
    front = math.copysign(1, scale[2])

    def shapes(t: float) -> Meshes:
        ball = Sphere([(0.11, 0.07, front * 0.4 * (t - 3.3))], 0.3)
        return balls_and_surfaces(ball, [FLOOR], np.diag([*scale, 1.0])[None])

    (contact,) = report_of(shapes, range(8), motion="linear").contacts
    (span,) = contact.intervals
    assert span.start == pytest.approx(3.3, abs=1e-9)
    assert span.end == pytest.approx(3.3 + 0.3 / 0.4, abs=1e-6)
