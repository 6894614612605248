"""Surfaces that scale and deform, balls that grow, and closed surfaces: expected values by formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.core import Contact, Meshes, ScanSettings, Sphere, scan_contacts
from addon.core.numeric.batch import concatenated
from tests.core import meshes
from tests.core.scan.evaluated.test_steps import Sampled
from tests.core.scan.meshes.test_balls_and_surfaces import box_corners
from tests.core.scan.scans import run, two_crossing
from tests.core.scan.surfaces import balls_and_surfaces, mesh_of, pose_at
from tests.finished import finished
from tests.tiers import times

Array = np.ndarray

WALL = mesh_of(np.array([[(1.0, -3, -3), (1, 3, -3), (1, 0, 3)]]))
"""A triangle in the plane x = 1."""
PLANE = mesh_of(np.array([[(-50.0, -50, 0), (50, -50, 0), (0, 80, 0)]]))


def contact_of(shapes, frames, motion: str = "adaptive") -> Contact:
    report = finished(scan_contacts(Sampled(shapes, 2), frames, ScanSettings(motion=motion)))
    (contact,) = report.contacts
    return contact


def check_begin(contact: Contact, begin: float) -> None:
    assert contact.first.uncertainty <= 1e-3
    assert abs(contact.first.frame - begin) <= contact.first.uncertainty + 1e-9


# --- surfaces that scale ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [(1, 1, 1), (1, 0.2, 3), (1, 0, 0.5)])
@pytest.mark.parametrize("motion", ["linear", "adaptive"])
def test_surface_that_scales_linearly_touches_when_its_plane_is_near(scale, motion):
    # The plane is at 1 + 0.1 t, and the ball ends at 2.5: they touch at 15.
    def shapes(t: float) -> Meshes:
        matrix = np.diag([*(1 + 0.1 * t * np.array(scale)), 1])
        return balls_and_surfaces(Sphere([(3.0, 0, 0)], 0.5), [WALL], matrix[None])

    contact = contact_of(shapes, range(18), motion)
    assert contact.first.frame == pytest.approx(15, abs=1e-6)
    check_begin(contact, 15)
    np.testing.assert_allclose(contact.first.point, (2.5, 0, 0), atol=1e-6)
    np.testing.assert_allclose(contact.first.normal, (-1, 0, 0), atol=1e-9)
    np.testing.assert_allclose(contact.details[0].velocity, (0.1, 0, 0), atol=1e-6)
    # At the last frame, 17, the plane is at 2.7.
    assert contact.depth == pytest.approx(0.2, abs=0.0025)


def test_surface_that_scales_faster_and_faster_touches_when_its_plane_is_near():
    def shapes(t: float) -> Meshes:
        return balls_and_surfaces(Sphere([(3.0, 0, 0)], 0.5), [WALL], np.diag([1.1**t] * 3 + [1])[None])

    contact = contact_of(shapes, range(12))
    check_begin(contact, math.log(2.5) / math.log(1.1))
    assert contact.first.motion == "sampled"
    assert contact.depth == pytest.approx(1.1**11 - 2.5, abs=0.0025)


@pytest.mark.parametrize("seed", range(times(8, 3, full=40)))
def test_surface_that_scales_and_shrinks_about_any_center_touches_when_its_plane_is_near(seed):
    # Of a plane n x = d that is scaled by s about c, the points are those with n x = n c + s (d - n c).
    rng = np.random.default_rng(seed)
    about, pace = rng.uniform(-0.3, 0.3, 3), rng.uniform(0.2, 0.4)
    center, radius = np.array([3.0, 0.1, 0.2]), rng.uniform(0.2, 0.6)

    def scale(t: float) -> float:
        return 1 + 2.5 * math.sin(pace * t) ** 2

    def shapes(t: float) -> Meshes:
        matrix = np.diag([scale(t)] * 3 + [1.0])
        matrix[:3, 3] = about * (1 - scale(t))
        return balls_and_surfaces(Sphere([center], radius), [WALL], matrix[None])

    contact = contact_of(shapes, range(9))
    needed = (center[0] - radius - about[0]) / (1 - about[0])
    check_begin(contact, math.asin(math.sqrt((needed - 1) / 2.5)) / pace)


class KnownScale:
    """A ball at rest, and a surface whose scale at a time, and second derivative up to one, are known."""

    is_certain, costs, grain = np.ones(2, dtype=bool), np.ones(2), np.full(2, 2.0**-24)

    def __init__(self, scale, curvature):
        self.scale, self.curvature = scale, curvature

    def at(self, shapes, times, is_before=False):
        every = [
            balls_and_surfaces(Sphere([(3.0, 0, 0)], 0.5), [WALL], np.diag([self.scale(t)] * 3 + [1])[None])[
                [shape]
            ]
            for shape, t in zip(shapes.tolist(), times.tolist(), strict=True)
        ]
        return concatenated(*every)

    def are_present(self, shapes, times):
        return np.ones(len(shapes), dtype=bool)

    def bound(self, shapes, begin, end):
        # The farthest corner is at a distance of the square root of 19.
        curvatures = np.array([self.curvature(t) for t in end.tolist()])
        deviation = math.sqrt(19) * curvatures * (end - begin) ** 2 / 8 * (1 + 1e-9)
        return np.where(shapes == 1, deviation, 0.0), np.zeros(len(shapes), dtype=bool)

    def breaks(self, shapes, begin, end):
        return np.full(len(shapes), np.inf)


@pytest.mark.parametrize(
    ("scale", "curvature", "begin"),
    [
        (lambda t: 1 + 0.1 * t, lambda end: 0.0, 15.0),
        (lambda t: 1.1**t, lambda end: math.log(1.1) ** 2 * 1.1**end, math.log(2.5) / math.log(1.1)),
    ],
    ids=["linear", "exponential"],
)
def test_surface_whose_scale_is_known_has_a_proven_contact(scale, curvature, begin):
    (contact,) = finished(scan_contacts(KnownScale(scale, curvature), range(18))).contacts
    assert contact.first.motion == "proven"
    check_begin(contact, begin)


# --- surfaces that deform --------------------------------------------------------------------------------


def tent(height: float) -> Array:
    """Triangles (4, 3, 3) of a roof with its ridge along Y, and its eaves at x = -2 and 2 on the ground."""
    ridge, sides = [(0.0, y, height) for y in (-5, 5)], [[(x, y, 0.0) for y in (-5, 5)] for x in (-2.0, 2.0)]
    return np.array(
        [
            triangle
            for side in sides
            for triangle in ([side[0], side[1], ridge[0]], [side[1], ridge[1], ridge[0]])
        ]
    )


RISES = {
    "linear": (lambda t: 0.15 * t, lambda height: height / 0.15),
    "faster": (lambda t: 0.02 * t * t, lambda height: math.sqrt(height / 0.02)),
    "wave": (lambda t: 2.2 * math.sin(0.13 * t), lambda height: math.asin(height / 2.2) / 0.13),
}


@pytest.mark.parametrize("rise", RISES)
def test_surface_that_deforms_touches_when_its_slope_is_near(rise):
    # The distance of (1, 0, 1.2) from the slope is (2.4 - h) / sqrt(h^2 + 4), and 0.3 at this height h.
    height, time_of = RISES[rise]
    first = mesh_of(tent(height(0)))

    def shapes(t: float) -> Meshes:
        return balls_and_surfaces(Sphere([(1.0, 0, 1.2)], 0.3), [first.moved(tent(height(t)))])

    contact = contact_of(shapes, range(12))
    needed = (4.8 - math.sqrt(4.8**2 - 4 * 0.91 * 5.4)) / 1.82
    check_begin(contact, time_of(needed))
    across = math.hypot(needed, 2)
    np.testing.assert_allclose(contact.first.normal, (-needed / across, 0, -2 / across), atol=1e-3)


def test_surface_that_deforms_away_is_a_near_miss_of_its_least_gap():
    # The slope is nearest at frame 6, at a height of 1.2: a gap of 1.2 / sqrt(1.44 + 4) - 0.3.
    first = mesh_of(tent(0.2))

    def shapes(t: float) -> Meshes:
        moved = first.moved(tent(1.2 - 0.03 * (t - 6) ** 2))
        return balls_and_surfaces(Sphere([(1.0, 0, 1.2)], 0.3), [moved])

    report = finished(scan_contacts(Sampled(shapes, 2), range(12)))
    (near,) = report.clearances
    assert report.contacts == ()
    assert near.gap == pytest.approx(1.2 / math.sqrt(1.2**2 + 4) - 0.3, abs=0.005 * 0.3)
    assert near.frame == pytest.approx(6, abs=0.5)


# --- balls that grow -------------------------------------------------------------------------------------


GROWING = pytest.mark.parametrize(
    ("one_sided", "motion"), [(side, motion) for side in (False, True) for motion in ("linear", "adaptive")]
)
FULL_GROWN = 0.8 / 0.13
"""When a radius of 0.2 + 0.13 t is 1."""


def contact_of_growing_ball(one_sided: bool, motion: str) -> Contact:
    """Return the contact of a ball that grows at a height of 1 above a plane."""
    plane = mesh_of(np.array([[(-50.0, -50, 0), (50, -50, 0), (0, 80, 0)]]), one_sided)
    return contact_of(
        lambda t: balls_and_surfaces(Sphere([(0.3, 0.2, 1.0)], 0.2 + 0.13 * t), [plane]), range(10), motion
    )


@GROWING
def test_ball_that_grows_touches_a_plane_within_the_uncertainty(one_sided, motion):
    first = contact_of_growing_ball(one_sided, motion).first
    assert first.frame <= FULL_GROWN + 1e-9
    assert abs(first.frame - FULL_GROWN) <= first.uncertainty + 1e-9
    np.testing.assert_allclose(first.normal, (0, 0, -1), atol=1e-6)


@pytest.mark.parametrize("one_sided", [False, True])
def test_ball_that_grows_touches_a_plane_within_a_thousandth_of_a_frame(one_sided):
    first = contact_of_growing_ball(one_sided, "adaptive").first
    assert first.frame == pytest.approx(FULL_GROWN, abs=1e-3) and first.uncertainty <= 1e-3


@pytest.mark.parametrize("one_sided", [False, True])
def test_ball_that_grows_linearly_touches_a_plane_exactly_in_linear_motion(one_sided):
    first = contact_of_growing_ball(one_sided, "linear").first
    assert first.frame == pytest.approx(FULL_GROWN, abs=1e-9)
    np.testing.assert_allclose(first.point, (0.3, 0.2, 0), atol=1e-6)


@GROWING
def test_ball_that_grows_into_a_plane_has_its_growth_as_closing_speed_and_its_depth(one_sided, motion):
    contact = contact_of_growing_ball(one_sided, motion)
    assert contact.depth == pytest.approx(0.2 + 0.13 * 9 - 1, abs=0.005 * 0.2)
    assert contact.details[0].closing_speed == pytest.approx(0.13, abs=1e-6)


@pytest.mark.parametrize("seed", range(times(8, 3, full=40)))
def test_ball_that_grows_or_shrinks_while_a_plane_rises_touches_when_both_meet(seed):
    # The ball falls with speed v and acceleration g, grows by r a frame, and the plane rises by w.
    rng = np.random.default_rng(seed)
    height, v, w, r = rng.uniform(2, 4), *rng.uniform(0, 0.2, 2), rng.uniform(-0.03, 0.2)
    g = rng.choice([0.0, 0.06])

    def shapes(t: float) -> Meshes:
        ball = Sphere([(0.3, 0.2, height - v * t - g * t * t)], 0.5 + r * t)
        matrix = np.eye(4)
        matrix[2, 3] = w * t
        return balls_and_surfaces(ball, [PLANE], matrix[None])

    # Of g t^2 + (v + w + r) t = height - 0.5.
    speed, path = v + w + r, height - 0.5
    begin = path / speed if g == 0 else (math.sqrt(speed**2 + 4 * g * path) - speed) / (2 * g)
    report = finished(scan_contacts(Sampled(shapes, 2), range(13)))
    assert len(report.contacts) == (0 < begin <= 12)
    for contact in report.contacts:
        check_begin(contact, begin)


# --- closed surfaces -------------------------------------------------------------------------------------


@pytest.mark.parametrize("motion", ["linear", "adaptive"])
def test_closed_surface_holds_a_ball_without_contact_and_a_solid_touches_it_throughout(motion):
    # The ball is in the middle of a box of 4 x 4 x 4, 0.4 to each side at most.
    box, radius = mesh_of(box_corners(np.full(3, 2.0))), 0.5

    def shapes(t: float, is_solid: bool) -> Meshes:
        ball = Meshes.balls(Sphere([(0.4 * math.sin(t), 0.1, 0.0)], radius))
        solid = Meshes([box], np.eye(4)[None], is_solid=is_solid)
        return concatenated(ball, solid)

    settings = ScanSettings(motion=motion)
    assert run(lambda t: shapes(t, False), range(8), settings).contacts == ()
    assert finished(scan_contacts(Sampled(lambda t: shapes(t, False), 2), range(8), settings)).contacts == ()
    contact = contact_of(lambda t: shapes(t, True), range(8), motion)
    assert contact.first.at_start
    assert [tuple(span) for span in contact.intervals] == [(0, 7)]
    # The center is at least 1.6 from the nearest side, and nowhere 2 from it: at 0, it is 1.9.
    assert contact.depth == pytest.approx(1.9 + radius, abs=0.005 * radius)


@pytest.mark.parametrize("seed", range(times(6, 2, full=20)))
def test_depth_of_a_cube_that_passes_through_a_slab_is_half_the_thickness(seed):
    # Its corners are deepest in the middle plane of the slab, which they pass anywhere within a frame.
    rng = np.random.default_rng(seed)
    solids = [mesh_of(box_corners(np.full(3, 0.3))), mesh_of(box_corners(np.array([9.0, 9, 1])))]
    for _ in range(10):
        height, speed = rng.uniform(2, 4), rng.uniform(0.5, 5)

        def shapes(t: float, height=height, speed=speed) -> Meshes:
            return Meshes(solids, np.stack([pose_at(0.13, 0.21, height - speed * t), np.eye(4)]))

        (contact,) = run(shapes, range(3 + int(6 / speed)), ScanSettings(motion="linear")).contacts
        assert contact.depth == pytest.approx(1, abs=0.01 * 0.3 * math.sqrt(3)), (height, speed)


def test_ball_in_a_closed_surface_touches_it_from_inside():
    box = mesh_of(box_corners(np.full(3, 2.0)))

    def shapes(t: float) -> Meshes:
        return balls_and_surfaces(Sphere([(0.2 * t, 0.1, 0.0)], 0.5), [box])

    contact = contact_of(shapes, range(20))
    (span,) = contact.intervals
    # From 1.5 to 2.5: through the wall.
    assert span.start == pytest.approx(7.5, abs=1e-6) and span.end == pytest.approx(12.5, abs=1e-6)
    assert contact.depth == pytest.approx(0.5, abs=0.0025)


@pytest.mark.parametrize("one_sided", [False, True])
def test_one_sided_closed_surface_ignores_a_ball_inside_until_its_center_is_outside(one_sided):
    # The front of the box is outside.
    box = mesh_of(box_corners(np.full(3, 2.0)), one_sided)

    def shapes(t: float) -> Meshes:
        return balls_and_surfaces(Sphere([(0.2 * t, 0.1, 0.0)], 0.5), [box])

    (span,) = contact_of(shapes, range(20)).intervals
    assert span.start == pytest.approx(10 if one_sided else 7.5, abs=1e-6)
    assert span.end == pytest.approx(12.5, abs=1e-6)


# --- kinds of overlaps -----------------------------------------------------------------------------------

CUBE, SMALL = (mesh_of(box_corners(np.full(3, half))) for half in (0.5, 0.1))
SHEET = mesh_of(meshes.plate(2, 2.0) - [1, 1, 0])


def moving(mesh, path) -> Contact:
    """Contact of a mesh whose center follows a path with a cube of side 1 at the origin."""

    def shapes(t: float) -> Meshes:
        matrices = np.tile(np.eye(4), (2, 1, 1))
        matrices[1, :3, 3] = path(t)
        return Meshes([CUBE, mesh], matrices)

    return contact_of(shapes, range(11))


@pytest.mark.parametrize(
    ("scenario", "mesh", "path", "expected"),
    [
        ("a cube that dips in", CUBE, lambda t: (0.1, 0.2, 0.8 + 0.02 * (t - 5) ** 2), "crosses"),
        ("a cube that is inside throughout", SMALL, lambda t: (0.03 * t - 0.1, 0, 0), "inside"),
        ("a cube that goes through, deepest when it is inside", SMALL, lambda t: (t - 5.3, 0, 0), "inside"),
        ("a cube that slides along a face", CUBE, lambda t: (0.05 * t, 0.1, 1.0), "touches"),
        ("a sheet that dips in", SHEET, lambda t: (0.1, 0.2, 0.45 + 0.02 * (t - 5) ** 2), "crosses"),
    ],
)
def test_contact_of_meshes_has_the_kind_of_its_deepest_overlap(scenario, mesh, path, expected):
    contact = moving(mesh, path)
    assert contact.overlap == expected, scenario
    assert contact.details[0].overlap == expected
    assert not math.isnan(contact.depth)


def test_open_meshes_that_cross_have_no_depth():
    def shapes(t: float) -> Meshes:
        matrices = np.tile(np.eye(4), (2, 1, 1))
        # The second one stands upright, and its lower edge is at 0.5 - 0.1 t.
        matrices[1, :3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
        matrices[1, :3, 3] = 0.1, 0.2, 1.5 - 0.1 * t
        return Meshes([SHEET, SHEET], matrices)

    contact = contact_of(shapes, range(11))
    assert contact.first.frame == pytest.approx(5, abs=1e-3)
    assert contact.overlap == "crosses" and math.isnan(contact.depth)
    assert [math.isnan(each.depth) for each in contact.details] == [True]


def test_bounds_have_no_kind_of_overlap():
    report = run(two_crossing, range(11))
    assert [contact.overlap for contact in report.contacts] == [None]
