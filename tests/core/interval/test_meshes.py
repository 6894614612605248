"""Meshes whose corners move in straight lines: contacts and bounds must hold at many sampled times."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Sphere
from addon.core.interval.dispatch import with_minimum_separation
from addon.core.interval.meshes import interval_contacts_of_meshes
from addon.core.interval.pair_motion import IntervalContacts, PairMotion
from addon.core.mesh import mesh_bvh
from addon.core.mesh.mesh_bvh import MeshBvh
from addon.core.mesh.meshes import Meshes
from addon.core.shapes.primitives import closest_on_triangle, triangles_from_corners
from tests.core import scenes
from tests.core.distance.test_mesh_depth import brute_force as depth_by_vertices
from tests.core.mesh.solids import FAMILIES, Body, bodies_overlap, box, distances, octahedron, shell, straight
from tests.core.motions import rotation_about
from tests.tiers import times

MOMENTS = np.linspace(0, 1, 65)
NEAR = 1e-8
"""Distance of surfaces at the begin and end of a contact, for sizes of about 1: 2**-26, for edges that are
nearly parallel.
"""

FAMILY_PAIRS = [
    ("ball", "egg"),
    ("torus", "box"),
    ("plank", "sheet"),
    ("triangle", "pieces"),
    ("large box", "pieces"),
    ("box", "plank"),
    ("sheet", "triangle"),
]


def random_motion(rng: np.random.Generator, count: int, spread: float) -> list[np.ndarray]:
    """Matrices (count, 4, 4) of two bodies at both ends: turned, sheared a little, and moved about."""
    axis, angle = scenes.random_directions(rng, 2 * count), rng.uniform(0, 1, 2 * count)
    start = np.tile(np.eye(4), (2 * count, 1, 1))
    start[:, :3, :3] = scenes.random_rotations(rng, 2 * count)
    start[:, :3, :3] += rng.normal(size=(2 * count, 3, 3)) * 0.1
    start[:, :3, 3] = rng.normal(size=(2 * count, 3)) * spread
    end = start.copy()
    end[:, :3, :3] = rotation_about(axis, angle) @ start[:, :3, :3]
    end[:, :3, 3] += rng.normal(size=(2 * count, 3)) * spread
    return [start[:count], end[:count], start[count:], end[count:]]


def shapes_of(a: Body, b: Body, motion) -> PairMotion:
    """Two bodies at both ends of their motion: with the same nodes, as of one mesh."""
    first, second = (Meshes(body.mesh, np.stack(ends)) for body, ends in ((a, motion[:2]), (b, motion[2:])))
    return PairMotion(first[0], first[1], second[0], second[1])


def contacts_of(a: Body, b: Body, motion, clearance: float = 0.0, deviation=0.0) -> IntervalContacts:
    deviations = np.full(len(motion[0]), float(deviation))
    return interval_contacts_of_meshes(shapes_of(a, b, motion), clearance, deviations)


class Sampled:
    """One pair in motion at many times."""

    def __init__(self, a: Body, b: Body, motion, row: int) -> None:
        """Keep both bodies, and row `row` of the motion of all pairs."""
        self._a, self._b, self._motion = a, b, [each[row] for each in motion]

    def poses(self, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a0, a1, b0, b1 = self._motion
        return straight(a0, a1, moments), straight(b0, b1, moments)

    def overlap(self, moments, shift=(0.0, 0.0, 0.0)) -> np.ndarray:
        """Decide at which moments (k,) bodies overlap, the second of which is shifted by (3,) or (k, 3)."""
        first, second = self.poses(np.asarray(moments, dtype=float))
        second[:, :3, 3] += shift
        return bodies_overlap(self._a, first, self._b, second)

    def distance(self, moments) -> np.ndarray:
        """Distances (k,) of the surfaces."""
        first, second = self.poses(np.asarray(moments, dtype=float))
        return distances(self._a.posed(first), self._b.posed(second))


def random_pairs(names: tuple[str, str], seed: int, count: int):
    """Two bodies, their motion, and each pair by itself."""
    a, b = (FAMILIES[name] for name in names)
    motion = random_motion(np.random.default_rng(seed), count, 1.2)
    return a, b, motion, [Sampled(a, b, motion, row) for row in range(count)]


@pytest.mark.parametrize("names", FAMILY_PAIRS, ids=" and ".join)
def test_contacts_begin_and_end_where_surfaces_do(names):
    a, b, motion, samples = random_pairs(names, 1, times(60, 20, full=300))
    contacts = contacts_of(a, b, motion)
    found = 0
    for row, pair in enumerate(samples):
        touching = pair.overlap(MOMENTS)
        enter, leave = contacts.enter[row], contacts.leave[row]
        if np.isnan(enter):
            assert np.isnan(leave) and not touching.any()
            continue
        assert 0 <= enter <= leave <= 1
        assert not touching[(enter - 1e-12 > MOMENTS) | (leave + 1e-12 < MOMENTS)].any()
        inside = pair.overlap(np.array([enter, leave]))
        gaps = pair.distance(np.array([enter, leave]))
        assert (inside | (gaps <= NEAR)).all(), (enter, leave, gaps)
        # A contact that begins later does not begin with an overlap.
        if enter > 0:
            assert gaps[0] <= NEAR
        if leave < 1:
            assert gaps[1] <= NEAR
        found += 1
    assert 0 < found < len(samples) or "large box" in names


@pytest.mark.parametrize("names", FAMILY_PAIRS, ids=" and ".join)
def test_separation_is_never_below_the_lower_bound(names):
    a, b, motion, samples = random_pairs(names, 2, times(30, 5, full=100))
    for clearance, deviation in ((0.0, 0.0), (0.1, 0.0), (0.0, 0.2), (0.05, 0.3)):
        contacts = contacts_of(a, b, motion, clearance, deviation)
        for row, pair in enumerate(samples):
            if np.isnan(contacts.enter[row]):
                nearest = pair.distance(MOMENTS[::16]).min()
                assert contacts.low[row] <= nearest * (1 + 1e-12)
                # What is apart by more than both is apart for certain.
                assert contacts.low[row] >= clearance
            else:
                assert contacts.low[row] == np.inf, "the depth is not searched"


@pytest.mark.parametrize("names", FAMILY_PAIRS, ids=" and ".join)
def test_pairs_apart_for_certain_stay_apart_when_one_is_displaced_by_the_deviation(names):
    rng = np.random.default_rng(3)
    a, b, motion, samples = random_pairs(names, 3, times(60, 20, full=200))
    deviation, proven = 0.4, 0
    contacts = contacts_of(a, b, motion, 0.0, deviation)
    for row, pair in enumerate(samples):
        if np.isnan(contacts.enter[row]) and contacts.low[row] >= deviation:
            shifts = scenes.random_directions(rng, len(MOMENTS)) * deviation * 0.999
            assert not pair.overlap(MOMENTS, shifts).any()
            proven += 1
        elif np.isnan(contacts.enter[row]):
            # The sweep has found the surfaces within the deviation.
            assert pair.distance(np.linspace(0, 1, 33)).min() <= deviation + 0.1
    assert proven > 0 or "large box" in names


@pytest.mark.parametrize("names", FAMILY_PAIRS, ids=" and ".join)
def test_proven_contacts_last_when_one_is_displaced_by_less_than_the_upper_bound(names):
    rng = np.random.default_rng(4)
    a, b = (FAMILIES[name] for name in names)
    count = times(60, 12, full=300)
    motion = random_motion(rng, count, 0.3)
    # Half of them move little, so that single triangles cross throughout.
    motion[1::2] = [
        straight(s, e, np.where(np.arange(count) % 2, 1, 0.05)) for s, e in (motion[:2], motion[2:])
    ]
    contacts = contacts_of(a, b, motion, deviation=0.05)
    proven = np.flatnonzero(contacts.high < 0)
    for row in proven:
        assert (contacts.enter[row], contacts.leave[row]) == (0, 1)
        shifts = scenes.random_directions(rng, len(MOMENTS)) * -contacts.high[row] * 0.999
        pair = Sampled(a, b, motion, row)
        assert pair.overlap(MOMENTS).all()
        assert pair.overlap(MOMENTS, shifts).all()
    assert len(proven) > 0
    # A bound that is not negative does not prove a contact, but how far surfaces are apart at most.
    for row in np.flatnonzero((contacts.high >= 0) & (contacts.high < np.inf)):
        pair = Sampled(a, b, motion, row)
        assert ((pair.distance(MOMENTS) <= contacts.high[row] + 1e-12) | pair.overlap(MOMENTS)).all()


@pytest.mark.parametrize(
    "names", [("ball", "egg"), ("torus", "box"), ("sheet", "triangle")], ids=" and ".join
)
@pytest.mark.parametrize("by", ["clearance", "margin"])
def test_clearances_and_margins_count_as_distances_of_surfaces(names, by):
    a, b, motion, samples = random_pairs(names, 5, times(40, 6, full=200))
    near = 0.3
    if by == "clearance":
        contacts = contacts_of(a, b, motion, near)
    else:
        shapes = zip(shapes_of(a, b, motion), (0.1, 0.1, 0.2, 0.2), strict=True)
        pairs = PairMotion(*(each.padded(margin) for each, margin in shapes))
        contacts = interval_contacts_of_meshes(pairs, 0.0, np.zeros(len(samples)))
    begun = 0
    for row, pair in enumerate(samples):
        enter, leave = contacts.enter[row], contacts.leave[row]
        moments = np.linspace(0, 1, 17)
        within = (pair.distance(moments) < near) | pair.overlap(moments)
        if np.isnan(enter):
            assert not within.any()
            continue
        assert not within[(enter - 1e-12 > moments) | (leave + 1e-12 < moments)].any()
        for time, is_cut in ((enter, enter == 0), (leave, leave == 1)):
            if not is_cut:
                assert pair.distance([time])[0] == pytest.approx(near, abs=NEAR)
                begun += 1
    assert begun > 0


@pytest.mark.parametrize("few", [1 << 15, 0])
def test_least_separation_is_that_of_the_nearest_samples(few, monkeypatch):
    monkeypatch.setattr(mesh_bvh, "_FEW_TRIANGLES", few)
    a, b, motion, samples = random_pairs(("ball", "plank"), 6, times(40, 12, full=200))
    pairs = shapes_of(a, b, motion)
    count, cutoff = len(samples), 0.5
    contacts = interval_contacts_of_meshes(pairs, 0.0, np.zeros(count))
    rows = np.flatnonzero(np.isnan(contacts.enter))
    found = with_minimum_separation(pairs, contacts, rows, np.full(count, cutoff), np.arange(count))
    near = 0
    for row in rows:
        moments = np.linspace(0, 1, 33)
        sampled = samples[row].distance(moments).min()
        least, time = found.least[row], found.least_time[row]
        # Of large meshes, less than half a hundredth of the size below the cutoff does not count.
        if sampled < cutoff - (0.0 if few else 0.006):
            # A hundredth of the smaller size, which is that of the ball.
            assert least <= sampled + 0.01
            near += 1
        if np.isfinite(least):
            assert samples[row].distance([time])[0] <= least + 0.01
            assert (
                least >= samples[row].distance(np.clip(time + np.linspace(-0.01, 0.01, 9), 0, 1)).min() - 1e-9
            )
    assert near > 0


@pytest.mark.parametrize("few", [1 << 15, 0])
@pytest.mark.parametrize("names", [("ball", "plank"), ("sheet", "egg")], ids=" and ".join)
def test_least_separation_of_a_pair_is_that_of_its_nearest_interval(names, few, monkeypatch):
    monkeypatch.setattr(mesh_bvh, "_FEW_TRIANGLES", few)
    a, b, motion, samples = random_pairs(names, 8, times(120, 90, full=400))
    pairs, cutoff = shapes_of(a, b, motion), 2.0
    contacts = interval_contacts_of_meshes(pairs, 0.0, np.zeros(len(samples)))
    rows = np.flatnonzero(np.isnan(contacts.enter))
    keys = np.arange(len(samples)) % 2
    found = with_minimum_separation(pairs, contacts, rows, np.full(len(samples), cutoff), keys)
    for key in (0, 1):
        of_pair = rows[keys[rows] == key]
        sampled = [samples[row].distance(np.linspace(0, 1, 33)).min() for row in of_pair]
        nearest = of_pair[found.least[of_pair].argmin()]
        assert min(sampled) < cutoff
        # In fast motion, the separation may have several minima.
        assert found.least[nearest] <= min(sampled) + 0.02
        at = samples[nearest].distance(found.least_time[[nearest]])[0]
        assert at <= found.least[nearest] + 0.01


@pytest.mark.parametrize("speed", [0.1, 0.4])
@pytest.mark.parametrize("names", [("ball", "box"), ("box", "plank"), ("pieces", "egg")], ids=" and ".join)
def test_depth_of_contacts_is_that_of_many_samples(names, speed):
    a, b = (FAMILIES[name] for name in names)
    count, size = times(16, 6, full=60), min(a.reach, b.reach)
    motion = random_motion(np.random.default_rng(8), count, 0.5)
    for begin in (0, 2):
        motion[begin + 1] = motion[begin] + (motion[begin + 1] - motion[begin]) * speed
    pairs, samples = shapes_of(a, b, motion), [Sampled(a, b, motion, row) for row in range(count)]
    contacts = interval_contacts_of_meshes(pairs, 0.0, np.zeros(count))
    rows = np.flatnonzero(~np.isnan(contacts.enter))
    found = with_minimum_separation(pairs, contacts, rows, np.full(count, np.inf), np.arange(count))
    deepest = 0.0
    for row in rows:
        moments = np.linspace(contacts.enter[row], contacts.leave[row], 17)
        poses = samples[row].poses(np.append(moments, found.least_time[row]))
        depths = [depth_by_vertices(*each) for each in zip(a.posed(poses[0]), b.posed(poses[1]), strict=True)]
        # At its time it is as deep, and at others not much deeper.
        assert -found.least[row] == pytest.approx(depths[-1], abs=2e-3 * size)
        assert -found.least[row] >= max(depths) - 0.03 * size
        deepest = max(deepest, *depths)
    assert deepest > 0.02 * size


@pytest.mark.parametrize(("turn", "speed"), [(0.3, 0.3), (0.0, 3.0)])
@pytest.mark.parametrize("name", ["ball", "box", "pieces", "sheet"])
def test_depth_of_balls_in_surfaces_is_that_of_many_samples(name, turn, speed):
    body, rng, count = FAMILIES[name], np.random.default_rng(9), times(20, 8, full=80)
    motion = random_motion(rng, count, 0.7)
    for begin in (0, 2):
        change = motion[begin + 1] - motion[begin]
        change[:, :3, :3] *= turn
        change[:, :3, 3] *= speed
        motion[begin + 1] = motion[begin] + change
    centers, radius = [each[:, :3, 3] for each in motion[:2]], rng.uniform(0.2, 1.2, count)
    balls = [Meshes.balls(Sphere(center, radius)) for center in centers]
    surfaces = Meshes(body.mesh, np.stack(motion[2:]), is_solid=False)
    pairs = PairMotion(*balls, surfaces[0], surfaces[1])
    contacts = interval_contacts_of_meshes(pairs, 0.0, np.zeros(count))
    rows = np.flatnonzero(~np.isnan(contacts.enter))
    found = with_minimum_separation(pairs, contacts, rows, np.full(count, np.inf), np.arange(count))
    for row in rows:
        moments = np.append(np.linspace(contacts.enter[row], contacts.leave[row], 65), found.least_time[row])
        corners = body.posed(straight(motion[2][row], motion[3][row], moments))
        points = centers[0][row] + (centers[1] - centers[0])[row] * moments[:, None]
        gaps = [
            np.linalg.norm(closest_on_triangle(point, triangles_from_corners(each)) - point, axis=-1).min()
            for point, each in zip(points, corners, strict=True)
        ]
        assert found.least[row] + radius[row] == pytest.approx(gaps[-1], abs=1e-9)
        assert found.least[row] + radius[row] <= min(gaps) + 0.01 * min(radius[row], body.reach)
    assert len(rows) >= count // 8


# --- known times -----------------------------------------------------------------------------------------


def moved(x: float, y: float = 0.0, z: float = 0.0, scale: float = 1.0) -> np.ndarray:
    return scenes.affine(np.eye(3) * scale, (x, y, z))[None]


def test_ball_inside_a_solid_is_in_contact_throughout_and_in_a_cavity_never():
    ball, motion = Body(octahedron() * 0.3), [moved(0), moved(0), moved(-0.5, 0.1), moved(0.6, 0.2)]
    solid, hollow = Body(shell(3, 2)[:32]), Body(shell(3, 2))
    for first, second, poses in ((solid, ball, motion), (ball, solid, [*motion[2:], *motion[:2]])):
        contacts = contacts_of(first, second, poses, deviation=0.1)
        assert (contacts.enter[0], contacts.leave[0]) == (0, 1)
        assert contacts.high[0] <= -0.1
    contacts = contacts_of(hollow, ball, motion, deviation=0.1)
    assert np.isnan(contacts.enter[0])
    assert contacts.low[0] >= 0.1
    # Within the solid part of the shell, which no ball about its center shows.
    contacts = contacts_of(hollow, Body(octahedron() * 0.1), [moved(0), moved(0), moved(2.2), moved(2.3)])
    assert (contacts.enter[0], contacts.leave[0]) == (0, 1)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_ball_that_leaves_a_box_is_in_contact_until_its_last_tip_passes_the_face(scale):
    # From within the box, whose face is at 1, its tip at 0.3 behind the center leaves at x = 1.3.
    large, ball = Body(box(1, 1, 1) * scale), Body(octahedron() * 0.3 * scale)
    motion = [moved(0), moved(0), moved(0.1 * scale, 0.05 * scale), moved(2.6 * scale, 0.05 * scale)]
    leaving = (1.3 - 0.1) / 2.5
    contacts = contacts_of(large, ball, motion)
    assert contacts.enter[0] == 0
    assert contacts.leave[0] == pytest.approx(leaving, abs=1e-9)
    contacts = contacts_of(large, ball, [motion[0], motion[1], motion[3], motion[2]])
    assert contacts.enter[0] == pytest.approx(1 - leaving, abs=1e-9)
    assert contacts.enter[0] <= 1 - leaving + 1e-15
    assert contacts.leave[0] == 1


def test_ball_that_flies_through_a_wall_touches_while_it_is_as_near_as_its_radius():
    wall, ball = Body(box(0.01, 2, 2)), Body(octahedron() * 0.5)
    contacts = contacts_of(wall, ball, [moved(0), moved(0), moved(-4, 0.3), moved(6, 0.3)])
    assert contacts.enter[0] == pytest.approx((4 - 0.51) / 10, abs=1e-12)
    assert contacts.leave[0] == pytest.approx((4 + 0.51) / 10, abs=1e-12)
    assert contacts.high[0] == np.inf


@pytest.mark.parametrize("x", [0.5, 1.5, 2.3])
def test_cubes_with_margins_are_proven_to_be_in_contact_up_to_the_shift_that_parts_them(x):
    # Their faces are at 1 and at x - 1, with 0.3 around each.
    cube = Body(box(1, 1, 1))
    plain = shapes_of(cube, cube, [moved(0), moved(0), moved(x), moved(x)])
    contacts = interval_contacts_of_meshes(
        PairMotion(*(each.padded(0.3) for each in plain)), 0.0, np.zeros(1)
    )
    assert (contacts.enter[0], contacts.leave[0]) == (0, 1)
    parting = 2.6 - x
    assert -parting - 1e-12 <= contacts.high[0]


def grown(start: np.ndarray, end: np.ndarray) -> list[Meshes]:
    """One mesh at two times, between which its corners move from some places to others."""
    first = Body(start).mesh.nodes
    shapes = []
    for nodes in (first, first.moved(end.reshape(-1, 3))):
        objects = np.empty(1, dtype=object)
        objects[0] = nodes
        shapes.append(Meshes.unchecked(objects, np.eye(4)[None], np.zeros(1)))
    return shapes


def test_mesh_that_deforms_touches_where_its_corners_arrive():
    # The tip of the octahedron moves from 1 to 2 along X, and the face of the box is at 1.6.
    growing = grown(octahedron(), octahedron() * [2, 1, 1])
    still = Meshes(Body(box(1, 3, 3)).mesh, moved(2.6))
    contacts = interval_contacts_of_meshes(PairMotion(*growing, still, still), 0.0, np.zeros(1))
    assert contacts.enter[0] == pytest.approx(0.6, abs=1e-12)
    assert contacts.enter[0] <= 0.6 + 1e-15
    assert contacts.leave[0] == 1
    shrinking = PairMotion(still, still, *reversed(growing))
    contacts = interval_contacts_of_meshes(shrinking, 0.0, np.zeros(1))
    assert contacts.enter[0] == 0
    assert contacts.leave[0] == pytest.approx(0.4, abs=1e-12)


def test_shell_that_closes_around_a_ball_is_in_contact_when_it_arrives():
    # Both are octahedrons with parallel faces: the outer one shrinks to a quarter, and the other has a third.
    closing = grown(octahedron(), octahedron() * 0.25)
    ball = Meshes(Body(octahedron() / 3).mesh, moved(0))
    open_shell = grown(octahedron()[1:], octahedron()[1:] * 0.25)
    # A solid holds the ball from the start; in an open surface there is contact once they are as large.
    contacts = interval_contacts_of_meshes(PairMotion(*closing, ball, ball), 0.0, np.zeros(1))
    assert (contacts.enter[0], contacts.leave[0]) == (0, 1)
    contacts = interval_contacts_of_meshes(PairMotion(*open_shell, ball, ball), 0.0, np.zeros(1))
    assert contacts.enter[0] == pytest.approx((1 - 1 / 3) / 0.75, abs=1e-12)


def test_pairs_of_a_batch_are_solved_as_each_by_itself():
    rng = np.random.default_rng(7)
    names = rng.choice(sorted(FAMILIES), (times(60, 10), 2))
    motion = random_motion(rng, len(names), 1.0)
    bodies = [[FAMILIES[name] for name in column] for column in names.T]
    shapes = [
        Meshes([body.mesh for body in bodies[side]], motion[2 * side + k])
        for side in range(2)
        for k in range(2)
    ]
    # Both ends have the nodes of the start.
    for k in (1, 3):
        shapes[k] = Meshes.unchecked(shapes[k - 1].nodes, shapes[k].matrix, shapes[k].margin)
    pairs = PairMotion(*shapes)
    together = interval_contacts_of_meshes(pairs, 0.01, np.full(len(names), 0.02))
    for row in range(len(names)):
        alone = interval_contacts_of_meshes(pairs.take([row]), 0.01, np.full(1, 0.02))
        # Upper bounds are those of any triangles that touch, which are found in another order.
        for name, other in vars(together.take([row])).items():
            if name != "high":
                np.testing.assert_allclose(getattr(alone, name), other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("clearance", [0.0, 0.05])
def test_speeds_at_both_ends_of_contacts_are_those_at_which_separations_change(clearance):
    rng = np.random.default_rng(11)
    names = rng.choice(sorted(FAMILIES), (times(400, 60), 2))
    motion = random_motion(rng, len(names), 1.0)
    shapes = [
        Meshes([FAMILIES[name].mesh for name in names[:, side]], motion[2 * side + k])
        for side in range(2)
        for k in range(2)
    ]
    for k in (1, 3):
        shapes[k] = Meshes.unchecked(shapes[k - 1].nodes, shapes[k].matrix, shapes[k].margin)
    pairs = PairMotion(*shapes)
    contacts = interval_contacts_of_meshes(pairs, clearance, np.zeros(len(names)))
    step = 1e-6
    for time, speed, before in (
        (contacts.enter, contacts.closing, -step),
        (contacts.leave, contacts.parting, step),
    ):
        rows = np.flatnonzero((time > 0.01) & (time < 0.99))
        found = pairs.take(rows)
        measured = (found.separation_at(time[rows] + before) - found.separation_at(time[rows])) / step
        assert len(rows) > 5
        np.testing.assert_allclose(speed[rows], measured, rtol=1e-3, atol=1e-3)


def test_no_pairs_have_no_contacts():
    none = Meshes(FAMILIES["ball"].mesh, np.zeros((0, 4, 4)))
    contacts = interval_contacts_of_meshes(PairMotion(none, none, none, none), 0.0, np.zeros(0))
    assert all(len(column) == 0 for column in contacts)


def vertices_of(points: np.ndarray, triangles: list[list[int]]) -> Meshes:
    """Return a mesh of vertices and triangles, in a batch of one."""
    nodes = np.empty(1, dtype=object)
    nodes[0] = MeshBvh(points, np.array(triangles), deforms=True)
    return Meshes.unchecked(nodes, np.eye(4)[None], np.zeros(1))


def test_vertices_at_the_end_have_the_triangles_of_the_start():
    # A quad that is bent along its other diagonal at the end: with that of the start it rises to 1 in the
    # middle, and touches what is above it; with the other one it would stay at 0 there.
    corners = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    start = vertices_of(corners, [[0, 1, 2], [0, 2, 3]])
    end = vertices_of(corners + np.array([[0], [0], [1]]).T * [[1], [0], [1], [0]], [[0, 1, 3], [1, 2, 3]])
    above = Meshes(Body(box(0.1, 0.1, 0.1)).mesh, moved(0, 0, 0.85))
    contacts = interval_contacts_of_meshes(PairMotion(start, end, above, above), 0.0, np.zeros(1))
    assert contacts.enter[0] == pytest.approx(0.75, abs=1e-12)


def test_mesh_stays_as_it_is_until_its_vertices_are_replaced():
    ball, cube = Meshes(FAMILIES["ball"].mesh, moved(0)), Meshes(FAMILIES["box"].mesh, moved(1))
    far = Meshes(FAMILIES["box"].mesh, moved(2.3))
    contacts = interval_contacts_of_meshes(PairMotion(ball, cube, far, far), 0.0, np.zeros(1))
    assert np.isnan(contacts.enter[0])
