"""Sweeps of spheres and meshes at rest, compared with all triangles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core import (
    ImpactStatus,
    InvalidShapeError,
    Sphere,
    SphereTree,
    Triangle,
    TriangleMesh,
    at,
    closest_time,
    first_impact,
    overlap_span,
    overlaps,
    separation,
    sphere_tree_from_triangles,
    time_of_impact,
    witness_points,
)
from addon.core.distance import sphere_mesh
from addon.core.interval.dispatch import PairMotion
from tests.core import meshes, scenes
from tests.tiers import times

pytestmark = pytest.mark.filterwarnings("error")


def mesh_of(corners: np.ndarray, one_sided: bool = False) -> TriangleMesh:
    return TriangleMesh(Triangle(corners[:, 0], corners[:, 1], corners[:, 2], one_sided))


def flying(count: int, spread: float, seed: int = 0, largest: float = 0.5) -> tuple[Sphere, Sphere]:
    """Random moving spheres, half of them through the origin; radii change."""
    rng = np.random.default_rng(seed)
    start, end = rng.normal(size=(2, count, 3)) * spread
    end[::2] = -start[::2] * rng.uniform(0, 1, (len(start[::2]), 1))
    return tuple(Sphere(p, rng.uniform(0, largest, count)) for p in (start, end))


def earliest_or_nan(table: np.ndarray) -> np.ndarray:
    """Minimum of each row; NaN for a row of NaN."""
    least = np.where(np.isnan(table), np.inf, table).min(axis=-1)
    return np.where(np.isinf(least), np.nan, least)


# --- a projectile and a thin plate -----------------------------------------------------------------------


def plate(turn: np.ndarray, one_sided: bool) -> TriangleMesh:
    """Plate 2 mm thick and 1 m wide around the origin: twelve triangles."""
    return mesh_of(meshes.cube() * [0.5, 0.5, 0.001] @ turn.T, one_sided)


@pytest.mark.parametrize("one_sided", [False, True])
def test_projectile_of_one_centimeter_at_400_meters_per_second_does_not_tunnel(one_sided):
    # 16.67 m in a frame of 1 / 24 s, along the normal, at any time of the frame. At contact the center is 5
    # mm above the upper face, which is at 1 mm. No sample of a whole frame is near it.
    radius, step = 0.005, 400 / 24
    rng = np.random.default_rng(0)
    for turn in [np.eye(3), *scenes.random_rotations(rng, 5)]:
        height = rng.uniform(0.1, step - 0.1, 200)
        lateral = np.concatenate([rng.uniform(-0.45, 0.45, (200, 2)), np.zeros((200, 1))], axis=1)
        ends = [Sphere((lateral + [0, 0, 1] * h[:, None]) @ turn.T, radius) for h in (height, height - step)]
        mesh = plate(turn, one_sided)
        assert not overlaps(ends[0], mesh).any()
        assert not overlaps(ends[1], mesh).any()
        enter, leave = overlap_span(*ends, mesh, mesh)
        np.testing.assert_allclose(enter, (height - 0.006) / step, rtol=0, atol=1e-13)
        # The last contact is with the lower face; it counts for one-sided triangles too.
        np.testing.assert_allclose(leave, (height + 0.006) / step, rtol=0, atol=1e-13)
        impact = first_impact(*ends, mesh, mesh)
        np.testing.assert_array_equal(impact.time, enter)
        np.testing.assert_allclose(impact.normal, np.broadcast_to(-turn[:, 2], (200, 3)), atol=1e-9)
        np.testing.assert_allclose(impact.point, (lateral + np.array([0, 0, 0.001])) @ turn.T, atol=1e-12)


def test_projectile_past_plate_misses_by_gap_to_edge():
    mesh, step = plate(np.eye(3), False), 400 / 24
    for lateral, hits in ((0.5049, True), (0.5051, False)):
        ends = [Sphere([lateral, 0.1, z], 0.005) for z in (step / 3, -step * 2 / 3)]
        assert np.isnan(time_of_impact(*ends, mesh, mesh)) == (not hits)
        time = closest_time(*ends, mesh, mesh)
        # The edge is one millimeter long in this direction.
        assert separation(at(*ends, time), mesh) == pytest.approx(lateral - 0.505, abs=1e-13)


@pytest.mark.smoke
def test_projectile_from_million_radii_is_exact():
    # The plate's upper face at 1 mm, the path is 2e6 radii long.
    mesh = plate(np.eye(3), False)
    ends = [Sphere([0.1, 0.2, z], 0.005) for z in (5000.0, -5000.0)]
    assert time_of_impact(*ends, mesh, mesh) == pytest.approx((5000 - 0.006) / 10_000, abs=1e-15)


# --- against every triangle ------------------------------------------------------------------------------

MESHES = {
    "torus": (meshes.torus(), 3.0),
    "plate": (meshes.plate(), 6.0),
    "box": (meshes.cube(), 1.5),
    "loose triangles": (meshes.triangle_soup(400, size=1.0), 4.0),
    "doubled triangles": (np.repeat(meshes.triangle_soup(3, size=2.0), 100, axis=0), 3.0),
    "flat triangles": (meshes.triangle_soup(300) * [1, 1, 0], 4.0),
}


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("kind", MESHES)
def test_mesh_queries_match_best_of_all_triangles(kind, one_sided):
    corners, spread = MESHES[kind]
    count = times(16, 12, full=60)
    mesh = mesh_of(corners, one_sided)
    start, end = (spheres[-count:] for spheres in flying(60, spread))
    each = [start[:, None], end[:, None], mesh.triangles, mesh.triangles]
    table = time_of_impact(*each)
    found = time_of_impact(start, end, mesh, mesh)
    np.testing.assert_array_equal(found, earliest_or_nan(table))
    assert count / 30 < np.isnan(found).sum() < count
    for clearance in (0.0, 0.2):
        begins, ceases = overlap_span(*each, clearance=clearance)
        enter, leave = overlap_span(start, end, mesh, mesh, clearance=clearance)
        np.testing.assert_array_equal(enter, earliest_or_nan(begins))
        np.testing.assert_allclose(leave, -earliest_or_nan(-ceases), rtol=0, atol=1e-15)
    time = closest_time(start, end, mesh, mesh)
    values = separation(at(*each[:2], closest_time(*each)), mesh.triangles)
    np.testing.assert_allclose(separation(at(start, end, time), mesh), values.min(axis=1), atol=1e-12)


def test_growing_sphere_is_closest_to_distant_triangles():
    # Two clouds of tiny triangles, within 0.01 of their centers. The first is 1 away from the point at the
    # start; the second is 3 away from the center of a sphere of radius 5 at the end.
    rng = np.random.default_rng(2)
    cloud = rng.uniform(-0.005, 0.005, (200, 3, 3))
    mesh = mesh_of(np.concatenate([cloud + np.array([0, 1, 0]), cloud + np.array([20, 3, 0])]))
    start, end = Sphere([0, 0, 0], 0.0), Sphere([20, 0, 0], 5.0)
    time = closest_time(start, end, mesh, mesh)
    assert time > 0.9
    assert separation(at(start, end, time), mesh) == pytest.approx(-2, abs=0.5)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=times(8, full=15))
def test_integer_meshes_with_coincident_and_degenerate_triangles(seed, one_sided):
    rng = np.random.default_rng(seed)
    mesh = mesh_of(rng.integers(-3, 4, (100, 3, 3)), one_sided)
    start, end = (Sphere(rng.integers(-6, 7, (30, 3)), rng.integers(0, 4, 30) / 4) for _ in range(2))
    table = time_of_impact(start[:, None], end[:, None], mesh.triangles, mesh.triangles)
    np.testing.assert_array_equal(time_of_impact(start, end, mesh, mesh), earliest_or_nan(table))


@pytest.mark.parametrize("one_sided", [False, True])
def test_first_impacts_and_spans_match_dense_sampling(one_sided):
    count = times(50, 30, full=100)
    mesh, (start, end) = mesh_of(meshes.torus(), one_sided), flying(count, 3.0, seed=5)
    samples = np.linspace(0, 1, 201)
    touches = overlaps(at(start, end, samples[:, None]), mesh)
    enter, leave = overlap_span(start, end, mesh, mesh)
    hit = touches.any(axis=0)
    assert 0.2 * count < hit.sum() < 0.95 * count
    first, last = samples[touches.argmax(axis=0)], samples[200 - touches[::-1].argmax(axis=0)]
    for time, sampled in ((enter - first, -1), (leave - last, 1)):
        assert (time * sampled >= -1e-12)[hit].all()
        assert (np.abs(time) <= 1 / 200)[hit].all()
    # Contacts between two samples are shorter than the time between them.
    assert (leave - enter < 1 / 200)[~hit & ~np.isnan(enter)].all()
    assert np.array_equal(enter == 0, touches[0])
    assert np.array_equal(leave == 1, touches[-1])
    time = closest_time(start, end, mesh, mesh)
    values = separation(at(start, end, samples[::5, None]), mesh)
    assert (separation(at(start, end, time), mesh) <= values.min(axis=0) + 1e-12).all()


@pytest.mark.parametrize("scale", [1e-140, 1e-6, 1e6, 1e140])
def test_times_do_not_depend_on_extreme_scale(scale):
    start, end = flying(times(50, 30, full=100), 3.0, seed=6)
    mesh, larger = mesh_of(meshes.torus()), mesh_of(meshes.torus() * scale)
    motion = scenes.scaled(start, scale), scenes.scaled(end, scale)
    for query in (time_of_impact, closest_time):
        expected = query(start, end, mesh, mesh)
        np.testing.assert_allclose(query(*motion, larger, larger), expected, rtol=0, atol=1e-9)


def test_large_batches_give_the_times_of_small_ones(monkeypatch):
    # Fewer nodes of each sphere are visited at once if there are many, and very many are cut into parts.
    monkeypatch.setattr(sphere_mesh, "_SPHERES_AT_ONCE", 1500)
    torus = meshes.torus(times(12, 8, full=24), times(6, 4, full=12))
    mesh, (start, end) = mesh_of(torus), flying(5000, 3.0, seed=7)
    found = time_of_impact(start, end, mesh, mesh)
    subset = slice(0, 5000, 7)
    np.testing.assert_array_equal(found[subset], time_of_impact(start[subset], end[subset], mesh, mesh))


def test_sphere_inside_closed_one_sided_mesh_hits_when_center_leaves():
    # A ball of many triangles between spheres of radius 0.98 and 1.
    def point(u, v):
        around, down = 2 * np.pi * u, np.pi * v
        return np.sin(down) * np.sin(around), np.sin(down) * np.cos(around), np.cos(down)

    shell = meshes.grid_surface(40, 20, point)
    # Without the degenerate triangles at the poles, because they have no back side.
    area = np.linalg.norm(np.cross(shell[:, 1] - shell[:, 0], shell[:, 2] - shell[:, 0]), axis=1)
    mesh = mesh_of(shell[area > 1e-9], one_sided=True)
    direction = scenes.random_directions(np.random.default_rng(1), times(200, 40))
    inside, stays, leaves = (
        Sphere(direction * -0.9, 0.5),
        Sphere(direction * 0.9, 1.5),
        Sphere(direction * 3.1, 0.5),
    )
    assert np.isnan(time_of_impact(inside, stays, mesh, mesh)).all()
    assert (closest_time(inside, stays, mesh, mesh) == 0).all()
    # From -0.9 to 3.1: the center passes the shell at 0.98 to 1, the sphere leaves it 0.5 later.
    enter, leave = overlap_span(inside, leaves, mesh, mesh)
    assert ((enter > 1.88 / 4) & (enter < 1.9 / 4 + 1e-9)).all()
    assert ((leave > 2.37 / 4) & (leave < 2.4 / 4 + 1e-9)).all()


# --- where -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("one_sided", [False, True])
def test_first_impacts_are_on_sphere_and_mesh(one_sided):
    count = times(150, 100, full=300)
    mesh, (start, end) = mesh_of(meshes.torus(), one_sided), flying(count, 5.0, seed=8)
    found = first_impact(start, end, mesh, mesh)
    np.testing.assert_array_equal(found.time, time_of_impact(start, end, mesh, mesh))
    assert (found.status == ImpactStatus.EXACT).all()
    # Without spheres from behind a one-sided triangle: they overlap it deeply when contact begins to count.
    two_sided = time_of_impact(start, end, *[mesh_of(meshes.torus())] * 2)
    moving = np.flatnonzero((found.time > 0) & (found.time == two_sided))
    assert len(moving) > count / 10
    ball = at(start[moving], end[moving], found.time[moving])
    point, normal = found.point[moving], found.normal[moving]
    np.testing.assert_allclose(point + normal * -ball.radius[:, None], ball.center, atol=1e-12)
    on_mesh = separation(Sphere(point, 0.0), mesh_of(meshes.torus()))
    np.testing.assert_allclose(on_mesh, 0, atol=1e-12)
    missed = np.isnan(found.time)
    assert np.isnan(found.point[missed]).all()
    assert np.isnan(found.normal[missed]).all()


@pytest.mark.smoke
@pytest.mark.parametrize("moving", ["sphere", "tree"])
def test_overlap_at_start_has_deepest_point(moving):
    # In a corner between a wall and a floor, deeper in the wall, whose triangles come last.
    floor, wall = meshes.plate(4), meshes.plate(4)[:, :, [2, 0, 1]]
    mesh = mesh_of(np.concatenate([floor, wall]))
    small, large = ([5, 5, 0.9], 1.0), ([0.3, 5, 0.6], 1.0)
    tree = SphereTree([[2, 5, 0], small[0], large[0]], [9, 1, 1], [[1, 2], [-1, -1], [-1, -1]])
    solid = Sphere(*large) if moving == "sphere" else tree
    found = first_impact(solid, solid, mesh, mesh)
    assert found.time == 0
    assert found.normal.tolist() == [-1, 0, 0]
    np.testing.assert_allclose(found.point, witness_points(Sphere(*large), mesh).middle, atol=1e-15)
    np.testing.assert_allclose(found.point[0], (0 - 0.7) / 2, atol=1e-15)


def test_mesh_queries_are_symmetric_in_shapes():
    mesh, (start, end) = mesh_of(meshes.torus(), one_sided=True), flying(times(50, 25, full=100), 4.0, seed=9)
    one, other = first_impact(start, end, mesh, mesh), first_impact(mesh, mesh, start, end)
    np.testing.assert_array_equal(one.time, other.time)
    np.testing.assert_array_equal(one.point, other.point)
    np.testing.assert_array_equal(one.normal, -other.normal)
    for query in (time_of_impact, overlap_span, closest_time):
        np.testing.assert_array_equal(query(start, end, mesh, mesh), query(mesh, mesh, start, end))


# --- trees, batches, invalid input -----------------------------------------------------------------------


def moving_tree(count: int) -> tuple[SphereTree, SphereTree]:
    tree = sphere_tree_from_triangles(meshes.ball_with_limbs() * 0.2, 3)
    start, end = meshes.random_poses(count, 4.0), meshes.random_poses(count, 4.0, seed=1)
    end[::2, :3, 3] = -start[::2, :3, 3]
    return tree.transformed(start), tree.transformed(end)


@pytest.mark.parametrize("one_sided", [False, True])
def test_tree_hits_mesh_with_first_leaf(one_sided):
    count = times(16, 8, full=40)
    mesh, (start, end) = mesh_of(meshes.torus(), one_sided), moving_tree(count)
    leaves = start.leaf_spheres, end.leaf_spheres
    table = time_of_impact(*leaves, mesh, mesh)
    assert table.shape == (count, 8)
    found = first_impact(start, end, mesh, mesh)
    np.testing.assert_array_equal(found.time, earliest_or_nan(table))
    np.testing.assert_array_equal(time_of_impact(mesh, mesh, start, end), found.time)
    assert (found.time > 0).any()
    assert np.isnan(found.time).any()
    # The tree touches the mesh at that time and point, and not before.
    hit = np.flatnonzero(found.time > 0)
    a0, a1, time = start[hit], end[hit], found.time[hit]
    gaps = separation(at(a0, a1, time), mesh)
    assert (gaps < 1e-12).all()
    for part in (0.5, 0.9, 0.999):
        assert (separation(at(a0, a1, part * time), mesh) > 0).all()
    if not one_sided:
        np.testing.assert_allclose(gaps, 0, atol=1e-12)
        np.testing.assert_allclose(separation(Sphere(found.point[hit], 0.0), mesh), 0, atol=1e-12)
    single = first_impact(start[3], end[3], mesh, mesh)
    assert single.time.shape == ()
    np.testing.assert_array_equal(single.time, found.time[3])


def test_single_spheres_and_batches_broadcast():
    mesh, (start, end) = mesh_of(meshes.torus()), flying(12, 3.0)
    table = time_of_impact(start[0], end.reshaped((3, 4)), mesh, mesh)
    assert table.shape == (3, 4)
    for query in (time_of_impact, closest_time):
        one = query(start[0], end[5], mesh, mesh)
        assert one.shape == ()
        np.testing.assert_array_equal(one, query(start[0], end.reshaped((3, 4)), mesh, mesh)[1, 1])
    found = first_impact(start[:, None], end[None, :4], mesh, mesh)
    assert found.time.shape == found.status.shape == (12, 4)
    assert found.point.shape == found.normal.shape == (12, 4, 3)
    enter, leave = overlap_span(start[:3], end[7], mesh, mesh, clearance=0.1)
    assert enter.shape == leave.shape == (3,)
    for batch in ((0,), (0, 3)):
        none = start[:0].reshaped(batch)
        assert time_of_impact(none, none, mesh, mesh).shape == batch
        assert closest_time(none, none, mesh, mesh).shape == batch
        assert [t.shape for t in overlap_span(none, none, mesh, mesh)] == [batch, batch]
        assert first_impact(none, none, mesh, mesh).point.shape == (*batch, 3)
    trees = [tree[:0] for tree in moving_tree(2)]
    assert first_impact(*trees, mesh, mesh).point.shape == (0, 3)


@pytest.mark.parametrize("query", [time_of_impact, first_impact, overlap_span, closest_time])
def test_moving_or_changing_mesh_is_rejected(query):
    start, end = flying(3, 2.0)
    mesh = mesh_of(meshes.cube())
    changed = [meshes.cube() + 1, meshes.cube()[:5]]
    for other in [*map(mesh_of, changed), mesh_of(meshes.cube(), one_sided=True)]:
        with pytest.raises(InvalidShapeError, match="meshes: the two samples differ"):
            query(start, end, mesh, other)
        with pytest.raises(InvalidShapeError, match="meshes: the two samples differ"):
            query(other, mesh, start, end)
    # Equal meshes are accepted as two samples.
    query(start, end, mesh, mesh_of(meshes.cube()))


@pytest.mark.parametrize("query", [time_of_impact, first_impact, overlap_span, closest_time])
def test_unsupported_mesh_pair_is_rejected_with_kinds_in_message(query):
    mesh, (start, _) = mesh_of(meshes.cube()), flying(3, 2.0)
    with pytest.raises(InvalidShapeError, match="of TriangleMesh and TriangleMesh"):
        query(mesh, mesh, mesh, mesh)
    with pytest.raises(InvalidShapeError, match="of Aabb and TriangleMesh"):
        query(start.aabb(), start.aabb(), mesh, mesh)
    with pytest.raises(InvalidShapeError, match="motion of TriangleMesh and Sphere"):
        query(start, start, mesh, start)
    one, other = sphere_tree_from_triangles(meshes.cube(), 1), sphere_tree_from_triangles(meshes.cube(), 2)
    with pytest.raises(InvalidShapeError):
        query(one, other, mesh, mesh)


def test_mesh_at_rest_is_returned_unchanged_at_any_time():
    mesh, (start, end) = mesh_of(meshes.torus()), flying(50, 3.0)
    time = np.linspace(0, 1, 50)
    assert at(mesh, mesh, 0.3) is mesh
    assert at(mesh, mesh, time) is mesh
    with pytest.raises(InvalidShapeError, match="meshes: the two samples differ"):
        at(mesh, mesh_of(meshes.cube()), 0.5)
    with pytest.raises(InvalidShapeError, match="no motion from TriangleMesh to Sphere"):
        at(mesh, start, 0.5)
    pairs = PairMotion(start, end, mesh, mesh)
    np.testing.assert_array_equal(pairs.separation_at(time), separation(at(start, end, time), mesh))
    table = pairs.separation_at(np.stack([time, 1 - time]))
    assert table.shape == (2, 50)
    np.testing.assert_array_equal(table[0], pairs.separation_at(time))
    assert witness_points(*pairs.at(time)).normal.shape == (50, 3)


@pytest.mark.parametrize("one_sided", [False, True])
def test_mesh_of_one_triangle(one_sided):
    mesh = mesh_of(np.array([[[-1.0, -1, 0], [2, -1, 0], [-1, 2, 0]]]), one_sided)
    for z, x, touch, closest in ((1.0, 0, 0.375, 0.5), (0.75, 9, np.nan, 0.5), (0.125, 0, 0.0, 0.5)):
        start, end = Sphere([x, 0, z], 0.25), Sphere([x, 0, -z], 0.25)
        np.testing.assert_equal(time_of_impact(start, end, mesh, mesh), touch)
        # Behind a one-sided triangle there is no distance.
        assert closest_time(start, end, mesh, mesh) == pytest.approx(closest, abs=1e-12)
    still = Sphere([0, 0, 1], 0.25)
    assert closest_time(still, still, mesh, mesh) == 0
    assert np.isnan(time_of_impact(still, still, mesh, mesh))


def test_sphere_that_touches_within_rounding_at_the_start_has_time_zero():
    rng = np.random.default_rng(3)
    mesh = mesh_of(meshes.triangle_soup(40, size=1.0))
    center = rng.normal(size=(400, 3)) * 2
    start = Sphere(center, separation(Sphere(center, 0.0), mesh))
    touches = overlaps(start, mesh)
    found = time_of_impact(start, Sphere(center + 1, start.radius), mesh, mesh)
    assert touches.sum() > 100
    np.testing.assert_array_equal(found[touches], 0)
