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
from addon.core.encounters import PairMotion
from tests.core import meshes, scenes
from tests.tiers import times

pytestmark = pytest.mark.filterwarnings("error")


def mesh_of(corners: np.ndarray, one_sided: bool = False) -> TriangleMesh:
    return TriangleMesh(Triangle(corners[:, 0], corners[:, 1], corners[:, 2], one_sided))


def flying(count: int, spread: float, seed: int = 0, largest: float = 0.5) -> tuple[Sphere, Sphere]:
    """Spheres that fly about, half of them through the middle; radii change."""
    rng = np.random.default_rng(seed)
    start, end = rng.normal(size=(2, count, 3)) * spread
    end[::2] = -start[::2] * rng.uniform(0, 1, (len(start[::2]), 1))
    return tuple(Sphere(p, rng.uniform(0, largest, count)) for p in (start, end))


def first_of(table: np.ndarray) -> np.ndarray:
    """The least of each row, NaN for none."""
    least = np.where(np.isnan(table), np.inf, table).min(axis=-1)
    return np.where(np.isinf(least), np.nan, least)


# --- a projectile and a thin plate -----------------------------------------------------------------------


def plate(turn: np.ndarray, one_sided: bool) -> TriangleMesh:
    """Two millimetres thick, one metre wide: twelve triangles around the origin."""
    return mesh_of(meshes.box() * [0.5, 0.5, 0.001] @ turn.T, one_sided)


@pytest.mark.parametrize("one_sided", [False, True])
def test_projectile_of_a_centimetre_at_400_metres_a_second_does_not_tunnel(one_sided):
    # 16.67 m in a frame of 1 / 24 s, straight on from anywhere in the frame: the centre is 5 mm above the
    # upper face, which is at 1 mm. No sample of a whole frame is near it.
    radius, step = 0.005, 400 / 24
    rng = np.random.default_rng(0)
    for turn in [np.eye(3), *scenes.rotations(rng, 5)]:
        height = rng.uniform(0.1, step - 0.1, 200)
        beside = np.concatenate([rng.uniform(-0.45, 0.45, (200, 2)), np.zeros((200, 1))], axis=1)
        ends = [Sphere((beside + [0, 0, 1] * h[:, None]) @ turn.T, radius) for h in (height, height - step)]
        mesh = plate(turn, one_sided)
        assert not overlaps(ends[0], mesh).any()
        assert not overlaps(ends[1], mesh).any()
        enter, leave = overlap_span(*ends, mesh, mesh)
        np.testing.assert_allclose(enter, (height - 0.006) / step, rtol=0, atol=1e-13)
        # The last face that it touches is the lower one, from the front too.
        np.testing.assert_allclose(leave, (height + 0.006) / step, rtol=0, atol=1e-13)
        impact = first_impact(*ends, mesh, mesh)
        np.testing.assert_array_equal(impact.time, enter)
        np.testing.assert_allclose(impact.normal, np.broadcast_to(-turn[:, 2], (200, 3)), atol=1e-9)
        np.testing.assert_allclose(impact.point, (beside + np.array([0, 0, 0.001])) @ turn.T, atol=1e-12)


def test_projectile_that_passes_beside_the_plate_misses_it_by_what_is_between():
    mesh, step = plate(np.eye(3), False), 400 / 24
    for beside, hits in ((0.5049, True), (0.5051, False)):
        ends = [Sphere([beside, 0.1, z], 0.005) for z in (step / 3, -step * 2 / 3)]
        assert np.isnan(time_of_impact(*ends, mesh, mesh)) == (not hits)
        time = closest_time(*ends, mesh, mesh)
        # The edge is a millimetre long in this direction.
        assert separation(at(*ends, time), mesh) == pytest.approx(beside - 0.505, abs=1e-13)


@pytest.mark.smoke
def test_projectile_from_a_million_radii_away():
    # The plate's upper face at 1 mm, the way 2e6 radii long.
    mesh = plate(np.eye(3), False)
    ends = [Sphere([0.1, 0.2, z], 0.005) for z in (5000.0, -5000.0)]
    assert time_of_impact(*ends, mesh, mesh) == pytest.approx((5000 - 0.006) / 10_000, abs=1e-15)


# --- against every triangle ------------------------------------------------------------------------------

MESHES = {
    "torus": (meshes.torus(), 3.0),
    "plate": (meshes.plate(), 6.0),
    "box": (meshes.box(), 1.5),
    "loose triangles": (meshes.soup(400, size=1.0), 4.0),
    "doubled triangles": (np.repeat(meshes.soup(3, size=2.0), 100, axis=0), 3.0),
    "flat triangles": (meshes.soup(300) * [1, 1, 0], 4.0),
}


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("kind", MESHES)
def test_the_answer_is_that_of_the_best_of_all_triangles(kind, one_sided):
    corners, spread = MESHES[kind]
    count = times(60, 12)
    mesh = mesh_of(corners, one_sided)
    start, end = (spheres[-count:] for spheres in flying(60, spread))
    each = [start[:, None], end[:, None], mesh.triangles, mesh.triangles]
    table = time_of_impact(*each)
    found = time_of_impact(start, end, mesh, mesh)
    np.testing.assert_array_equal(found, first_of(table))
    assert count / 30 < np.isnan(found).sum() < count
    for clearance in (0.0, 0.2):
        begins, ceases = overlap_span(*each, clearance=clearance)
        enter, leave = overlap_span(start, end, mesh, mesh, clearance=clearance)
        np.testing.assert_array_equal(enter, first_of(begins))
        np.testing.assert_allclose(leave, -first_of(-ceases), rtol=0, atol=1e-15)
    time = closest_time(start, end, mesh, mesh)
    values = separation(at(*each[:2], closest_time(*each)), mesh.triangles)
    np.testing.assert_allclose(separation(at(start, end, time), mesh), values.min(axis=1), atol=1e-12)


def test_a_sphere_that_grows_on_its_way_is_closest_to_what_is_far_from_its_start():
    # Two clouds of tiny triangles, within 0.01 of their middles. The first is 1 away from the point at the
    # start; the other 3 away from a sphere of radius 5 at the end.
    rng = np.random.default_rng(2)
    cloud = rng.uniform(-0.005, 0.005, (200, 3, 3))
    mesh = mesh_of(np.concatenate([cloud + np.array([0, 1, 0]), cloud + np.array([20, 3, 0])]))
    start, end = Sphere([0, 0, 0], 0.0), Sphere([20, 0, 0], 5.0)
    time = closest_time(start, end, mesh, mesh)
    assert time > 0.9
    assert separation(at(start, end, time), mesh) == pytest.approx(-2, abs=0.5)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=times(15, 8))
def test_meshes_of_whole_numbers_with_triangles_that_coincide_or_have_no_area(seed, one_sided):
    rng = np.random.default_rng(seed)
    mesh = mesh_of(rng.integers(-3, 4, (100, 3, 3)), one_sided)
    start, end = (Sphere(rng.integers(-6, 7, (30, 3)), rng.integers(0, 4, 30) / 4) for _ in range(2))
    table = time_of_impact(start[:, None], end[:, None], mesh.triangles, mesh.triangles)
    np.testing.assert_array_equal(time_of_impact(start, end, mesh, mesh), first_of(table))


@pytest.mark.parametrize("one_sided", [False, True])
def test_first_contacts_and_spans_agree_with_dense_sampling(one_sided):
    count = times(100, 30)
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
    # What no sample shows is shorter than the time between two.
    assert (leave - enter < 1 / 200)[~hit & ~np.isnan(enter)].all()
    assert np.array_equal(enter == 0, touches[0])
    assert np.array_equal(leave == 1, touches[-1])
    time = closest_time(start, end, mesh, mesh)
    values = separation(at(start, end, samples[::5, None]), mesh)
    assert (separation(at(start, end, time), mesh) <= values.min(axis=0) + 1e-12).all()


@pytest.mark.parametrize("scale", [1e-140, 1e-6, 1e6, 1e140])
def test_scenes_of_extreme_size(scale):
    start, end = flying(times(100, 30), 3.0, seed=6)
    mesh, larger = mesh_of(meshes.torus()), mesh_of(meshes.torus() * scale)
    motion = scenes.scaled(start, scale), scenes.scaled(end, scale)
    for query in (time_of_impact, closest_time):
        expected = query(start, end, mesh, mesh)
        np.testing.assert_allclose(query(*motion, larger, larger), expected, rtol=0, atol=1e-9)


def test_many_spheres_and_few_find_their_triangles_in_two_ways_with_the_same_answers():
    # More than 4096 boxes are sorted together with those of the triangles, fewer are looked up.
    torus = meshes.torus(times(24, 8), times(12, 4))
    mesh, (start, end) = mesh_of(torus), flying(5000, 3.0, seed=7)
    found = time_of_impact(start, end, mesh, mesh)
    some = slice(0, 5000, 7)
    np.testing.assert_array_equal(found[some], time_of_impact(start[some], end[some], mesh, mesh))


def test_inside_a_closed_one_sided_mesh_nothing_is_hit_until_the_centre_is_outside():
    # A ball of many triangles, inscribed in the unit ball and around one of 0.98.
    def point(u, v):
        around, down = 2 * np.pi * u, np.pi * v
        return np.sin(down) * np.sin(around), np.sin(down) * np.cos(around), np.cos(down)

    shell = meshes.surface(40, 20, point)
    # At the poles there are triangles without area, which have no back.
    area = np.linalg.norm(np.cross(shell[:, 1] - shell[:, 0], shell[:, 2] - shell[:, 0]), axis=1)
    mesh = mesh_of(shell[area > 1e-9], one_sided=True)
    way = scenes.directions(np.random.default_rng(1), times(200, 40))
    inside, stays, leaves = Sphere(way * -0.9, 0.5), Sphere(way * 0.9, 1.5), Sphere(way * 3.1, 0.5)
    assert np.isnan(time_of_impact(inside, stays, mesh, mesh)).all()
    assert (closest_time(inside, stays, mesh, mesh) == 0).all()
    # From -0.9 to 3.1: the centre is through at 0.98 to 1, the sphere is out at 0.5 more.
    enter, leave = overlap_span(inside, leaves, mesh, mesh)
    assert ((enter > 1.88 / 4) & (enter < 1.9 / 4 + 1e-9)).all()
    assert ((leave > 2.37 / 4) & (leave < 2.4 / 4 + 1e-9)).all()


# --- where -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("one_sided", [False, True])
def test_first_contacts_are_on_the_sphere_and_on_the_mesh(one_sided):
    count = times(300, 100)
    mesh, (start, end) = mesh_of(meshes.torus(), one_sided), flying(count, 5.0, seed=8)
    found = first_impact(start, end, mesh, mesh)
    np.testing.assert_array_equal(found.time, time_of_impact(start, end, mesh, mesh))
    assert (found.status == ImpactStatus.EXACT).all()
    # What begins behind a one-sided triangle is in the middle of it when it first counts.
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
def test_overlap_from_the_start_is_shown_where_it_is_deepest(moving):
    # In a corner between a wall and a floor, deeper in the wall, which comes last.
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


def test_meshes_are_taken_in_either_order():
    mesh, (start, end) = mesh_of(meshes.torus(), one_sided=True), flying(times(100, 25), 4.0, seed=9)
    one, other = first_impact(start, end, mesh, mesh), first_impact(mesh, mesh, start, end)
    np.testing.assert_array_equal(one.time, other.time)
    np.testing.assert_array_equal(one.point, other.point)
    np.testing.assert_array_equal(one.normal, -other.normal)
    for query in (time_of_impact, overlap_span, closest_time):
        np.testing.assert_array_equal(query(start, end, mesh, mesh), query(mesh, mesh, start, end))


# --- trees, batches, what is refused ---------------------------------------------------------------------


def moving_tree(count: int) -> tuple[SphereTree, SphereTree]:
    tree = sphere_tree_from_triangles(meshes.uneven() * 0.2, 3)
    start, end = meshes.poses(count, 4.0), meshes.poses(count, 4.0, seed=1)
    end[::2, :3, 3] = -start[::2, :3, 3]
    return tree.transformed(start), tree.transformed(end)


@pytest.mark.parametrize("one_sided", [False, True])
def test_a_tree_meets_a_mesh_when_its_first_leaf_does(one_sided):
    count = times(40, 8)
    mesh, (start, end) = mesh_of(meshes.torus(), one_sided), moving_tree(count)
    leaves = start.leaf_spheres, end.leaf_spheres
    table = time_of_impact(*leaves, mesh, mesh)
    assert table.shape == (count, 8)
    found = first_impact(start, end, mesh, mesh)
    np.testing.assert_array_equal(found.time, first_of(table))
    np.testing.assert_array_equal(time_of_impact(mesh, mesh, start, end), found.time)
    assert (found.time > 0).any()
    assert np.isnan(found.time).any()
    # The tree touches then, at the point, and not before.
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


def test_single_spheres_and_batches_of_any_shape():
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
def test_a_mesh_that_moves_or_changes_is_refused(query):
    start, end = flying(3, 2.0)
    mesh = mesh_of(meshes.box())
    changed = [meshes.box() + 1, meshes.box()[:5]]
    for other in [*map(mesh_of, changed), mesh_of(meshes.box(), one_sided=True)]:
        with pytest.raises(InvalidShapeError, match="meshes: the two samples differ"):
            query(start, end, mesh, other)
        with pytest.raises(InvalidShapeError, match="meshes: the two samples differ"):
            query(other, mesh, start, end)
    # Equal ones are one and the same at rest.
    query(start, end, mesh, mesh_of(meshes.box()))


@pytest.mark.parametrize("query", [time_of_impact, first_impact, overlap_span, closest_time])
def test_pairs_without_a_method_are_refused_by_name(query):
    mesh, (start, _) = mesh_of(meshes.box()), flying(3, 2.0)
    with pytest.raises(InvalidShapeError, match="of TriangleMesh and TriangleMesh"):
        query(mesh, mesh, mesh, mesh)
    with pytest.raises(InvalidShapeError, match="of Aabb and TriangleMesh"):
        query(start.aabb(), start.aabb(), mesh, mesh)
    with pytest.raises(InvalidShapeError, match="motion of TriangleMesh and Sphere"):
        query(start, start, mesh, start)
    one, other = sphere_tree_from_triangles(meshes.box(), 1), sphere_tree_from_triangles(meshes.box(), 2)
    with pytest.raises(InvalidShapeError):
        query(one, other, mesh, mesh)


def test_a_mesh_is_itself_at_any_time_of_its_rest():
    mesh, (start, end) = mesh_of(meshes.torus()), flying(50, 3.0)
    time = np.linspace(0, 1, 50)
    assert at(mesh, mesh, 0.3) is mesh
    assert at(mesh, mesh, time) is mesh
    with pytest.raises(InvalidShapeError, match="meshes: the two samples differ"):
        at(mesh, mesh_of(meshes.box()), 0.5)
    with pytest.raises(InvalidShapeError, match="no motion from TriangleMesh to Sphere"):
        at(mesh, start, 0.5)
    pairs = PairMotion(start, end, mesh, mesh)
    np.testing.assert_array_equal(pairs.separation_at(time), separation(at(start, end, time), mesh))
    table = pairs.separation_at(np.stack([time, 1 - time]))
    assert table.shape == (2, 50)
    np.testing.assert_array_equal(table[0], pairs.separation_at(time))
    assert witness_points(*pairs.at(time)).normal.shape == (50, 3)
