"""First contacts of two moving meshes that a scan finds, compared with known times."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import pytest

from addon.core import Sample, ScanSettings, scan_contacts
from addon.core.distance.mesh_mesh import mesh_separation, meshes_overlap
from addon.core.mesh import mesh_bvh
from addon.core.mesh.mesh_bvh import MeshBvh
from addon.core.mesh.meshes import Meshes
from addon.core.mesh.triangle_mesh import TriangleMesh
from addon.core.shapes.primitives import triangles_from_corners
from tests.core import meshes
from tests.core.sweep.triangles.test_triangle_triangle import SLIDING
from tests.finished import finished
from tests.tiers import times

Pose: TypeAlias = "np.ndarray | DeformedMesh"
MeshPose: TypeAlias = Callable[[float], tuple[Pose, Pose]]


class DeformedMesh(NamedTuple):
    """Vertices (v, 3) in world space, and triangles (t, 3) of their indices."""

    vertices: np.ndarray
    triangles: np.ndarray


class FirstTouch(NamedTuple):
    """The first contact of two meshes; NaN for never."""

    time: float
    uncertainty: float
    point: np.ndarray
    normal: np.ndarray
    is_proven: bool


class PosedMeshes:
    """A sampler of two meshes, of which each may be known. Implements `core.Sampler`, and `core.Motion`."""

    def __init__(self, pose: MeshPose, meshes: tuple[TriangleMesh, TriangleMesh], known: tuple) -> None:
        self._pose, self._known = pose, known
        self._first: list[dict[bytes, MeshBvh]] = [{}, {}]
        self._rest = [mesh.nodes for mesh in meshes]
        self.refinable = np.ones(2, dtype=bool)
        self.is_certain = np.array([each is not None for each in known])
        self.costs, self.grain = np.ones(2), np.full(2, 2.0**-24)
        self.certain = self if self.is_certain.any() else None

    def _posed(self, side: int, pose: Pose) -> tuple[MeshBvh, np.ndarray]:
        if isinstance(pose, DeformedMesh):
            triangles = np.asarray(pose.triangles)
            rows = np.unique(triangles)
            key, points = triangles.tobytes(), pose.vertices[rows]
            known = self._first[side].get(key)
            if known is None:
                known = self._first[side][key] = MeshBvh(points, np.searchsorted(rows, triangles), True)
            return known.moved(points), np.eye(4)
        if pose.ndim == 3:
            return self._rest[side].moved(pose.reshape(-1, 3)), np.eye(4)
        return self._rest[side], pose

    def _meshes(self, posed: list[tuple[MeshBvh, np.ndarray]]) -> Meshes:
        nodes = np.empty(len(posed), dtype=object)
        nodes[:] = [mesh for mesh, _ in posed]
        matrices = np.array([matrix for _, matrix in posed]).reshape(-1, 4, 4)
        return Meshes.unchecked(nodes, matrices, np.zeros(len(posed)))

    def sample(self, time: float) -> Sample:
        return Sample(self._meshes([self._posed(side, pose) for side, pose in enumerate(self._pose(time))]))

    def sample_between(self, time: float, subjects: np.ndarray) -> Sample:
        return Sample(self.sample(time).shapes[subjects])

    def at(self, shapes, times, is_before=False):
        posed = []
        for side, time in zip(shapes.tolist(), times.tolist(), strict=True):
            pose = self._known[side].before(time) if is_before else self._pose(time)[side]
            posed.append(self._posed(side, pose))
        return self._meshes(posed)

    def are_present(self, shapes, times):
        return np.ones(len(shapes), dtype=bool)

    def bound(self, shapes, begin, end):
        found = [self._known[side].deviation(*span) for side, *span in zip(shapes, begin, end, strict=True)]
        return (np.array(found, dtype=float), np.zeros(len(shapes), dtype=bool))

    def breaks(self, shapes, begin, end):
        jumps = np.array(
            [self._known[side].next_jump(float(time)) for side, time in zip(shapes, begin, strict=True)]
        )
        return np.where(jumps < end, jumps, np.inf)


def mesh_of(corners: np.ndarray) -> TriangleMesh:
    return TriangleMesh(triangles_from_corners(np.asarray(corners, float)))


def ball(rings: int, radius: float) -> np.ndarray:
    """Ball that touches the planes x, y, z = ±radius with its corners, for even numbers."""

    def point(u, v):
        around, down = 2 * np.pi * u, np.pi * v
        return (
            radius * np.sin(down) * np.cos(around),
            radius * np.sin(down) * np.sin(around),
            radius * np.cos(down),
        )

    return meshes.grid_surface(2 * rings, rings, point)


CUBE = mesh_of(meshes.cube())
STILL = np.eye(4)


def placed(x: float = 0.0, y: float = 0.0, z: float = 0.0, about_z: float = 0.0) -> np.ndarray:
    cos, sin = math.cos(about_z), math.sin(about_z)
    return np.array([[cos, -sin, 0, x], [sin, cos, 0, y], [0, 0, 1, z], [0, 0, 0, 1.0]])


def run(
    pose: MeshPose,
    meshes: tuple,
    span: tuple[float, float],
    clearance: float = 0.0,
    step: float = 1.0,
    known: tuple = (None, None),
) -> FirstTouch:
    """Return the first contact in a span."""
    frames = np.unique(np.append(np.arange(span[0], span[1], step), span[1]))
    sampler = PosedMeshes(pose, meshes, known)
    motion = sampler if not sampler.is_certain.all() else Certain(sampler)
    report = finished(scan_contacts(motion, frames, ScanSettings(clearance=clearance, static_pairs=True)))
    is_proven = bool(sampler.is_certain.all())
    if not report.contacts:
        nothing = np.full(3, np.nan)
        return FirstTouch(math.nan, math.nan, nothing, nothing, is_proven)
    first = report.contacts[0].first
    assert first.uncertainty >= 0
    np.testing.assert_allclose(np.linalg.norm(first.normal), 1)
    return FirstTouch(first.frame, first.uncertainty, first.point, first.normal, first.motion == "proven")


class Certain:
    """A motion without samples: `core.Motion` alone."""

    def __init__(self, motion: PosedMeshes) -> None:
        self.is_certain, self.costs, self.grain = motion.is_certain, motion.costs, motion.grain
        self.at, self.are_present, self.bound, self.breaks = (
            motion.at,
            motion.are_present,
            motion.bound,
            motion.breaks,
        )


def assert_never(contact: FirstTouch) -> None:
    assert math.isnan(contact.time)
    assert math.isnan(contact.uncertainty)
    assert np.isnan(contact.point).all()


# --- straight motion -------------------------------------------------------------------------------------


def test_cubes_in_linear_motion_touch_when_their_faces_do():
    # Faces at 1 and 4 - t.
    contact = run(lambda t: (STILL, placed(5 - t, 0.3, 0.2)), (CUBE, CUBE), (0, 10))
    assert contact.time == pytest.approx(3, abs=1e-14)
    assert contact.uncertainty == 0
    assert contact.point[0] == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(contact.normal, [1, 0, 0], atol=1e-7)


@pytest.mark.parametrize("turned", range(4))
def test_1_cm_ball_at_400_m_per_s_hits_2_mm_plate(turned):
    # 16.67 m per frame, along no coordinate axis. Its lowest corner is 8 m - 5 mm above the middle plane.
    speed, radius, half = 16.67, 0.005, 0.001
    shot, plate = mesh_of(ball(12, radius)), mesh_of(meshes.cube() * [0.5, 0.5, half])
    turn = meshes.random_poses(1, 3.0, turned)[0]

    def pose(t: float) -> tuple:
        return turn @ placed(-0.1 + 0.3 * t, 0.1 - 0.2 * t, 8 - speed * t), turn

    contact = run(pose, (shot, plate), (0, 1))
    assert contact.time == pytest.approx((8 - radius - half) / speed, abs=1e-12)
    assert contact.uncertainty < 1e-9
    np.testing.assert_allclose(contact.normal, -turn[:3, 2], atol=1e-6)
    touching_side = placed(0.51 + 2 * radius)
    assert_never(run(lambda t: (pose(t)[0], turn @ touching_side @ placed(0.5)), (shot, plate), (0, 1)))


@pytest.mark.smoke
def test_first_contact_over_several_steps_with_both_moving():
    # Both fly upwards at the same speed; the gap of 9 closes at 2 per unit of time.
    contact = run(
        lambda t: (placed(0, 0, 100 * t), placed(11 - 2 * t, 0, 100 * t)), (CUBE, CUBE), (0, 6), step=0.5
    )
    assert contact.time == pytest.approx(4.5, abs=1e-12)
    np.testing.assert_allclose(contact.normal, [1, 0, 0], atol=1e-6)


def test_touching_at_end_of_span_counts_and_stopping_short_does_not():
    def closing(t: float) -> tuple:
        return STILL, placed(5 - t)

    assert run(closing, (CUBE, CUBE), (0, 3)).time == 3
    assert_never(run(closing, (CUBE, CUBE), (0, 2.999999)))
    # Meshes that slide past each other with coplanar faces touch; with a small gap they do not.
    assert run(lambda t: (STILL, placed(5 - t, 2)), (CUBE, CUBE), (0, 10)).time == pytest.approx(3)
    assert_never(run(lambda t: (STILL, placed(5 - t, 2 + 1e-9)), (CUBE, CUBE), (0, 10)))


def test_contact_at_start():
    inside = (mesh_of(meshes.cube() * 0.1), CUBE)
    for pose, pair in (
        (lambda t: (placed(t - 4), STILL), (CUBE, CUBE)),
        (lambda t: (placed(-2), STILL), (CUBE, CUBE)),
        (lambda t: (placed(0.2 + t), STILL), inside),
    ):
        span = (4, 9) if pair is not inside else (0, 5)
        contact = run(pose, pair, span)
        assert contact.time == span[0]
        assert contact.uncertainty == 0
    assert run(lambda t: (STILL, STILL), (CUBE, CUBE), (2, 2)).time == 2
    assert_never(run(lambda t: (STILL, placed(5)), (CUBE, CUBE), (2, 2)))
    # Inside the cavity of a shell until it touches the wall at 0.5: 0.1 + 0.2 t = 0.5.
    shell = mesh_of(np.concatenate([meshes.cube(), (meshes.cube() * 0.5)[:, ::-1]]))
    contact = run(lambda t: (placed(0.2 * t), STILL), (inside[0], shell), (0, 5))
    assert contact.time == pytest.approx(2, abs=1e-12)


def test_clearance_counts_as_contact():
    def closing(t: float) -> tuple:
        return STILL, placed(5 - t, 0.3)

    assert run(closing, (CUBE, CUBE), (0, 10), clearance=0.75).time == pytest.approx(2.25, abs=1e-12)
    assert run(closing, (CUBE, CUBE), (0, 10), clearance=3.5).time == 0
    # From edge to edge, at 3 across and 4 - t along: 5 away at t = 0, and at t = 1 the square root of 18.
    contact = run(lambda t: (STILL, placed(6 - t, 5)), (CUBE, CUBE), (0, 3), clearance=math.sqrt(18))
    assert contact.time == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(contact.normal, [math.sqrt(0.5), math.sqrt(0.5), 0], atol=1e-7)


def test_deforming_meshes_are_posed_by_corners():
    rest = meshes.cube()
    # Growing from 1 by 0.1 per unit of time towards a side at 1.55.
    contact = run(lambda t: (rest * (1 + 0.1 * t), placed(2.55)), (CUBE, CUBE), (0, 9))
    assert contact.time == pytest.approx(5.5, abs=1e-12)
    np.testing.assert_allclose(contact.normal, [1, 0, 0], atol=1e-6)
    # A sheet of which one corner rises to a ball's lowest corner at 1 - 0.25: z = t / 4 there.
    sheet, hanging = mesh_of(meshes.plate(8, 2.0)), mesh_of(ball(6, 0.25))

    def rising(t: float) -> tuple:
        corners = meshes.plate(8, 2.0)
        corners[..., 2] = np.maximum(1 - np.abs(corners[..., :2] - 1).sum(axis=-1), 0) * t / 4
        return corners, placed(1, 1, 1)

    contact = run(rising, (sheet, hanging), (0, 5))
    assert contact.time == pytest.approx(3, abs=1e-12)
    np.testing.assert_allclose(contact.point, [1, 1, 0.75], atol=1e-12)


# --- triangles that change -------------------------------------------------------------------------------

SHEET = np.array([(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (4, 0, 0), (4, 2, 0)], float)
"""Two quads in a row along x."""
LEFT, RIGHT = np.array([(0, 1, 2), (0, 2, 3)]), np.array([(1, 4, 5), (1, 5, 2)])


def test_contact_begins_when_triangles_appear_around_it():
    # The cube is around (3, 1, 0) always, and the right quad is there from 6.3 on.
    def pose(t: float) -> tuple:
        return DeformedMesh(SHEET, LEFT if t < 6.3 else RIGHT), placed(3, 1, 0) @ np.diag([0.1, 0.1, 0.1, 1])

    contact = run(pose, (mesh_of(SHEET[LEFT]), CUBE), (0, 10))
    assert abs(contact.time - 6.3) <= contact.uncertainty + 1e-12
    assert contact.uncertainty <= 2e-4


def test_triangles_that_are_gone_are_not_hit():
    # The cube falls through the plane of the left quad at 7.5, when only the right quad is there.
    def pose(t: float) -> tuple:
        small = np.diag([0.1, 0.1, 0.1, 1])
        return DeformedMesh(SHEET, LEFT if t < 6.3 else RIGHT), placed(1, 1, 7.5 - t) @ small

    contact = run(pose, (mesh_of(SHEET[LEFT]), CUBE), (0, 10))
    assert_never(contact)


def test_more_triangles_are_hit_once_they_are_there():
    # The cube's lower side is at 7.4 - t. The right quad comes at 3.5, long before.
    def pose(t: float) -> tuple:
        faces = LEFT if t < 3.5 else np.concatenate([LEFT, RIGHT])
        return DeformedMesh(SHEET, faces), placed(3, 1, 7.5 - t) @ np.diag([0.1, 0.1, 0.1, 1])

    contact = run(pose, (mesh_of(SHEET[LEFT]), CUBE), (0, 10))
    assert contact.time == pytest.approx(7.4, abs=1e-12)


def test_mesh_that_closes_around_another_is_in_contact_from_then_on():
    vertices, rows = np.unique(meshes.cube().reshape(-1, 3), axis=0, return_inverse=True)
    closed = rows.reshape(-1, 3)

    def pose(t: float) -> tuple:
        return DeformedMesh(5 * vertices, closed[2:] if t < 4.4 else closed), placed(0.1 * t)

    contact = run(pose, (CUBE, CUBE), (0, 10))
    assert abs(contact.time - 4.4) <= contact.uncertainty + 1e-12
    assert contact.uncertainty <= 2e-4


def test_quad_that_is_cut_along_its_other_diagonal_keeps_its_hierarchy(monkeypatch):
    # One cell of a plate rises. Its other diagonal, at z = (t - 1) / 2 in the middle, is there from 3 on.
    n = 6
    x, y = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    grid = np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3).astype(float)
    corner = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).reshape(-1)
    a, b, c, d = corner, corner + n + 1, corner + n + 2, corner + 1
    flat = np.stack([np.stack([a, b, c], 1), np.stack([a, c, d], 1)], axis=1).reshape(-1, 3)
    cell = 3 * n + 3  # from (3, 3) to (4, 4)
    folded = flat.copy()
    folded[2 * cell : 2 * cell + 2] = [(a[cell], b[cell], d[cell]), (b[cell], c[cell], d[cell])]
    sheet, cube = mesh_of(grid[flat]), mesh_of(meshes.cube())
    build, built = mesh_bvh.partition_triangles, []
    monkeypatch.setattr(mesh_bvh, "partition_triangles", lambda *args: built.append(args) or build(*args))

    def pose(t: float) -> tuple:
        points = grid.copy()
        points[[b[cell], d[cell]], 2] = (t - 1) / 2
        post = placed(3.5, 3.5, 3.01) @ np.diag([0.01, 0.01, 0.01, 1])
        return DeformedMesh(points, flat if t < 3 else folded), post

    # With the first diagonal, the middle would stay at 0.
    contact = run(pose, (sheet, cube), (1, 10))
    assert contact.time == pytest.approx(7, abs=1e-9)
    # One tree of the sheet for each of its triangulations, and one of the cube.
    assert sum(triangles.shape[0] > 1 for triangles, _ in built) == 3


# --- other motion ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.1, 0.5, 2.0])
def test_rotating_cube_hits_wall_with_corner(rate):
    # The corner at 45 degrees and the square root of 2 reaches x = 1.2 at 45 - acos(1.2 / sqrt(2)) degrees.
    truth = (math.pi / 4 - math.acos(1.2 / math.sqrt(2))) / rate
    contact = run(lambda t: (placed(about_z=rate * t), placed(2.2)), (CUBE, CUBE), (0, truth * 4))
    assert abs(contact.time - truth) <= contact.uncertainty
    assert abs(contact.time - truth) < 2e-4
    assert contact.uncertainty <= 2e-4
    height = math.sqrt(2 - 1.2**2)
    np.testing.assert_allclose(contact.point[:2], [1.2, -height], atol=1e-3)
    np.testing.assert_allclose(contact.normal, [1, 0, 0], atol=1e-3)


def test_eased_motion_is_sampled_more_near_contact():
    def eased(t: float) -> tuple:
        part = t / 10
        return placed(6 * (3 * part**2 - 2 * part**3)), placed(5, 0.3)

    # Faces at 1 and 4: halfway, at half the time.
    contact = run(eased, (CUBE, CUBE), (0, 10))
    assert abs(contact.time - 5) <= 2e-4
    assert contact.uncertainty <= 2e-4


def test_rotating_cube_next_to_wall_never_touches():
    # The corner reaches 1.4142, and the wall is at 1.45.
    assert_never(run(lambda t: (placed(about_z=1.5 * t), placed(2.45)), (CUBE, CUBE), (0, times(2, 1))))


@pytest.mark.parametrize("seed", range(times(2, full=6)))
def test_tumbling_meshes_match_dense_samples(seed):
    rng = np.random.default_rng(seed)
    a, b = mesh_of(meshes.torus(12, 6) * 0.3), mesh_of(meshes.ball_with_limbs()[::4] * 0.3)
    spin, axes = rng.uniform(-1, 1, 2), meshes.random_poses(2, 0.0, seed)
    velocity = rng.normal(size=3) * 0.3

    def pose(t: float) -> tuple:
        first = axes[0] @ placed(about_z=spin[0] * t) @ axes[1]
        second = axes[1] @ placed(about_z=spin[1] * t) @ axes[0]
        second[:3, 3] += velocity * t + [4 - 1.5 * t + 0.1 * t * t, 0, 0]
        return first, second

    contact = run(pose, (a, b), (0, 4))
    until = 4 if math.isnan(contact.time) else contact.time - contact.uncertainty
    for t in np.linspace(0, until, times(20, full=40), endpoint=math.isnan(contact.time)):
        assert mesh_separation(a, b, *pose(float(t))).distance > 0, t
    if not math.isnan(contact.time):
        assert contact.uncertainty <= 2e-4
        # Soon after that time they overlap, and at that time they nearly touch.
        assert mesh_separation(a, b, *pose(contact.time)).distance < 2e-3
        assert any(meshes_overlap(a, b, *pose(contact.time + late)) for late in (1e-4, 1e-3, 1e-2))


# --- motion that is known ---------------------------------------------------------------------------------


class Turning:
    """A mesh that turns about z at a constant rate. Its farthest vertex is at 2."""

    reach = 2.0

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def next_jump(self, begin: float) -> float:
        return math.inf

    def before(self, time: float) -> np.ndarray:
        return placed(about_z=self.rate * time)

    def deviation(self, begin: float, end: float) -> float:
        return self.reach * min((self.rate * (end - begin)) ** 2 / 8, 2.0)


class Sliding:
    """A mesh that moves along x between keys (k, 2) of time and place, and jumps where two have one time."""

    def __init__(self, keys: list[tuple[float, float]]) -> None:
        self.times, self.places = np.array(keys, float).T

    def at(self, time: float, side: str = "right") -> np.ndarray:
        k = min(max(int(np.searchsorted(self.times, time, side)), 1), len(self.times) - 1)
        (t, u), (x, y) = self.times[k - 1 : k + 1], self.places[k - 1 : k + 1]
        return placed(x + (y - x) * min(max((time - t) / max(u - t, 1e-300), 0.0), 1.0))

    def next_jump(self, begin: float) -> float:
        jumps = self.times[1:][np.diff(self.times) == 0]
        return float(min(jumps[jumps > begin], default=math.inf))

    def before(self, time: float) -> np.ndarray:
        return self.at(time, "left")

    def deviation(self, begin: float, end: float) -> float:
        inside = (self.times > begin) & (self.times < end)
        ends = self.at(begin)[0, 3], self.before(end)[0, 3]
        chord = np.interp(self.times[inside], (begin, end), ends)
        return float(np.abs(self.places[inside] - chord).max(initial=0.0))


class Resting(Sliding):
    """A mesh at rest."""

    def __init__(self) -> None:
        super().__init__([(0, 0), (1, 0)])


BLADE = mesh_of(meshes.cube() * [0.5, 0.02, 0.2] + [1.4, 0, 0])
POST = mesh_of(meshes.cube() * 0.1)


@pytest.mark.parametrize("turns", [0.5, *(pytest.param(n, marks=pytest.mark.long) for n in (1.0, 2.0, 5.0))])
def test_blade_that_turns_fully_between_samples_hits_what_comes_near_when_known(turns):
    # The post comes along x from 3 to 1.9 + 0.1 at 5; the blade is there in whole turns only.
    def post(t: float) -> np.ndarray:
        return placed(3.3 - 0.26 * t)

    def pose(t: float) -> tuple:
        return placed(about_z=math.pi / 2 + math.tau * turns * t), post(t)

    blade = Turning(math.tau * turns)
    blade.before = lambda time: pose(time)[0]
    coming = Sliding([(0, 3.3), (10, 0.7)])
    contact = run(pose, (BLADE, POST), (0, 10), known=(blade, coming))
    assert contact.is_proven
    dense = np.arange(0, contact.time, 1 / (200 * turns))
    assert not any(meshes_overlap(BLADE, POST, *pose(float(t))) for t in dense[dense > 4])
    shown = contact.time + contact.uncertainty
    assert meshes_overlap(BLADE, POST, *pose(shown)) or contact.uncertainty == 0
    assert contact.uncertainty <= 2e-4


def test_move_out_and_back_between_samples_is_found_where_it_is_known():
    keys = [(0, 5), (3.3, 5), (3.4, 0), (3.5, 5), (9, 5)]
    mesh = Sliding(keys)
    contact = run(lambda t: (STILL, mesh.at(t)), (CUBE, CUBE), (0, 9), known=(Resting(), mesh))
    # The faces touch at a distance of 2 between the centers: after 3/5 of the way.
    assert contact.time <= 3.36 <= contact.time + contact.uncertainty
    assert contact.uncertainty <= 2e-4
    assert contact.is_proven
    assert_never(run(lambda t: (STILL, mesh.at(t)), (CUBE, CUBE), (3.5, 9), known=(Resting(), mesh)))


@pytest.mark.parametrize("is_known", [True, False])
def test_mesh_that_jumps_over_another_does_not_touch_it(is_known):
    mesh = Sliding([(0, 5), (4.3, 5), (4.3, -5), (9, -5)])
    known = (Resting(), mesh) if is_known else (None, None)
    contact = run(lambda t: (STILL, mesh.at(t)), (CUBE, CUBE), (0, 9), known=known)
    assert_never(contact)
    assert contact.is_proven == is_known


def test_gap_of_a_mesh_that_jumps_over_another_is_the_least_of_all_sides():
    # The sides are 0.7 apart between the first jump and the second one. Linear motion between other jumps, of
    # which an interval has two, goes through the other mesh.
    keys = [(0, 4), (2.5, 4), (2.5, -2.7), (5.2, -2.7), (5.2, -4), (5.6, -4), (5.6, 4), (9, 4)]
    mesh = Sliding(keys)
    sampler = PosedMeshes(lambda t: (STILL, mesh.at(t)), (CUBE, CUBE), (Resting(), mesh))
    report = finished(scan_contacts(Certain(sampler), range(10)))
    assert not report.contacts
    (clearance,) = report.clearances
    assert clearance.gap == pytest.approx(0.7, abs=1e-12)
    assert 2.5 <= clearance.frame <= 5.2


@pytest.mark.parametrize("is_known", [True, False])
def test_mesh_that_jumps_into_another_touches_it_from_the_jump_on(is_known):
    mesh = Sliding([(0, 5), (4.3, 5), (4.3, 0.2), (9, 0.2)])
    known = (Resting(), mesh) if is_known else (None, None)
    contact = run(lambda t: (STILL, mesh.at(t)), (CUBE, CUBE), (0, 9), known=known)
    if is_known:
        assert (contact.time, contact.uncertainty, contact.is_proven) == (4.3, 0, True)
    else:
        assert contact.time - contact.uncertainty <= 4.3 <= contact.time + contact.uncertainty
        assert contact.uncertainty <= 2e-4


def test_edges_that_slide_past_each_other_are_not_in_contact_before_they_are_close():
    start, end = SLIDING
    thin = [mesh_of(edge[[0, 1, 1]][None]) for edge in start]

    def pose(t: float) -> tuple:
        return tuple(
            (first[[0, 1, 1]] * (1 - t) + last[[0, 1, 1]] * t)[None]
            for first, last in zip(start, end, strict=True)
        )

    contact = run(pose, tuple(thin), (0, 1))
    # Ends pass each other at 0.590, closer than 1e-10 of the size: a touch, or none.
    assert math.isnan(contact.time) or abs(contact.time - 0.59) < 1e-3


@pytest.mark.parametrize("start", [0.0, pytest.param(0.4, marks=pytest.mark.long)])
def test_steps_at_whole_times_are_no_linear_motion(start):
    # At whole times the faces are at 1 and 4 - 0.7 t: linear motion would touch at 4.29, the step at 5 does.
    contact = run(lambda t: (STILL, placed(5 - 0.7 * math.floor(t))), (CUBE, CUBE), (start, 9 + start))
    assert contact.time - contact.uncertainty <= 5 <= contact.time + contact.uncertainty
    assert contact.uncertainty <= 2e-4


def test_plate_that_passes_another_in_an_instant_touches_it():
    sheet = mesh_of(meshes.plate(2, 2.0))
    contact = run(lambda t: (placed(z=3.3 - t), placed(0.1, 0.1)), (sheet, sheet), (0, 9))
    assert contact.time == pytest.approx(3.3, abs=1e-9)
