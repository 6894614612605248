"""Fits that are moved by matrices enclose every vertex and are as tight as new fits."""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Obb,
    Sphere,
    capsule_from_points,
    cylinder_from_points,
    obb_from_points,
    sphere_from_points,
    sphere_tree_from_triangles,
)
from addon.core.fitting.axial import best_line
from addon.scene.blender.mesh_data import Geometry
from addon.scene.fitting import searches
from addon.scene.fitting.fit_cache import new_fits
from addon.scene.fitting.fit_columns import Line
from addon.scene.fitting.parts import PartVertices, leaf_vertices, part_vertices
from addon.scene.settings import SHAPES_OF_TRIANGLES, FitSettings
from addon.scene.subjects.reader import SubjectGeometry

SHAPES = ["sphere", "aabb", "obb", "spheres", "capsule", "cylinder", "compound"]
rng = np.random.default_rng(8)
CLOUD = rng.normal(size=(60, 3)).astype(np.float32)
TRIANGLES = rng.integers(0, 60, (90, 3)).astype(np.int32)


def random_rotation(seed: int) -> np.ndarray:
    """Random rotation matrix (3, 3)."""
    quotient, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return quotient * np.sign(np.linalg.det(quotient))


def world_matrix(linear, offset=(0.0, 0.0, 0.0)) -> np.ndarray:
    """World matrix (4, 4) with single-precision numbers, like those of Blender."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear, offset
    return matrix.astype(np.float32).astype(np.float64)


MOTIONS = {
    "moved": (np.eye(3), np.eye(3)),
    "rotated": (np.eye(3), random_rotation(1)),
    "rotated from a rotated non-uniform scale": (
        random_rotation(2) @ np.diag([3, 0.5, 1]),
        random_rotation(3) @ random_rotation(2) @ np.diag([3, 0.5, 1]),
    ),
    "scaled uniformly": (random_rotation(4), 2.5 * random_rotation(5)),
    "scaled non-uniformly": (np.eye(3), np.diag([2.0, 0.3, 1.0])),
    "sheared during motion": (np.eye(3), np.array([[1, 0.7, 0], [0, 1, 0], [0, 0.2, 1.0]])),
    "sheared at both ends": (random_rotation(6) @ np.array([[1, 0.7, 0], [0, 1, 0], [0, 0, 1.0]]),) * 2,
    "mirrored during motion": (np.eye(3), np.diag([-1.0, 1, 1])),
    "flattened during motion": (np.eye(3), np.diag([1.0, 1, 0])),
    "from scale zero": (np.zeros((3, 3)), random_rotation(7)),
}


def parts_of_cloud(shape: str, count: int) -> list[PartVertices] | None:
    """Parts of several equal subjects; None for a shape without parts. Those of a compound are cut."""
    if shape not in SHAPES_OF_TRIANGLES:
        return None
    source = SubjectGeometry.of(0, Geometry(CLOUD, np.eye(4)), FitSettings(), TRIANGLES)
    parts = part_vertices(shape, source)
    assert len(parts.offsets) > 2
    return [parts] * count


def move_fit(shape: str, start: np.ndarray, end: np.ndarray, padding: float = 0.0):
    """Fit three subjects, and move the second from `start` to `end`. Returns its shapes and its points."""
    groups = parts_of_cloud(shape, 3)
    fits = new_fits(3, shape, FitSettings(padding=padding), groups)
    static = world_matrix(random_rotation(9), (1, 2, 3))
    errors = fits.fit(range(3), [Geometry(CLOUD, matrix) for matrix in (static, start, static)])
    assert not errors
    shapes, errors = fits.shapes_at(np.arange(3), np.stack([static, end, static]))
    assert not errors
    points = CLOUD @ end[:3, :3].T + end[:3, 3]
    return shapes[fits.owners == 1], points


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_vertex_stays_inside(shape, motion):
    start, end = MOTIONS[motion]
    found, points = move_fit(shape, world_matrix(start, (5, 5, 5)), world_matrix(end, (-7, 100, 2)))
    grown = found.padded(1e-12)
    assert grown.contains(points[:, None]).any(axis=1).all()


@pytest.mark.parametrize("motion", [name for name in MOTIONS if name != "from scale zero"])
@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb"])
def test_moved_fit_is_as_tight_as_new_fit(shape, motion):
    start, end = (world_matrix(part, (1, 2, 3)) for part in MOTIONS[motion])
    shapes, points = move_fit(shape, start, end)
    found = shapes[0]
    if isinstance(found, Sphere):
        assert found.radius == pytest.approx(sphere_from_points(points).radius, rel=1e-5)
    elif isinstance(found, Aabb):
        np.testing.assert_allclose(found.min, points.min(axis=0), atol=1e-12)
        np.testing.assert_allclose(found.max, points.max(axis=0), atol=1e-12)
    else:
        # Along its axes no box is smaller.
        assert isinstance(found, Obb)
        local = found.to_local(points)
        np.testing.assert_allclose(local.max(axis=0), found.half_extents, atol=1e-5)
        np.testing.assert_allclose(local.min(axis=0), -found.half_extents, atol=1e-5)


def test_translated_boxes_are_bit_identical():
    start = world_matrix(random_rotation(3))
    found, points = move_fit("aabb", start, world_matrix(start[:3, :3], (0.1, 0.2, 0.3)))
    assert np.array_equal(found[0].min, points.min(axis=0))
    assert np.array_equal(found[0].max, points.max(axis=0))


def test_fit_of_sphere_tree_has_one_sphere_per_leaf():
    tree = sphere_tree_from_triangles(CLOUD[TRIANGLES])
    found, _ = move_fit("spheres", world_matrix(np.eye(3)), world_matrix(np.eye(3)))
    assert found.shape == (len(tree.leaves),)
    assert found.radius.max() <= obb_from_points(CLOUD).half_extents.sum()


def test_parts_that_are_fitted_alone_are_those_of_all():
    groups = parts_of_cloud("spheres", 2)
    first = [Geometry(CLOUD, world_matrix(random_rotation(seed))) for seed in (1, 2)]
    bent = CLOUD * np.float32(1.5)
    bent[:, 0] += bent[:, 1] ** 2
    later = [Geometry(bent, each.matrix) for each in first]
    whole, fits = (new_fits(2, "spheres", FitSettings(), groups) for _ in range(2))
    whole.fit([0, 1], later)
    fits.fit([0, 1], first)
    is_wanted = np.zeros(len(fits.owners), dtype=bool)
    is_wanted[[1, 2, len(fits.owners) - 2]] = True
    fits.fit([0, 1], later, is_wanted)
    matrices = np.stack([each.matrix for each in first])
    expected, found = (each.shapes_at(np.arange(2), matrices)[0] for each in (whole, fits))
    assert np.array_equal(found.center[is_wanted], expected.center[is_wanted])
    assert np.array_equal(found.radius[is_wanted], expected.radius[is_wanted])
    # The other parts are of other vertices, so nothing may rely on them.
    assert not np.isclose(found.radius[~is_wanted], expected.radius[~is_wanted]).all()
    assert not fits.is_fitted_to(0, bent)
    fits.fit([0, 1], later)
    assert fits.is_fitted_to(0, bent)
    assert np.array_equal(fits.shapes_at(np.arange(2), matrices)[0].radius, expected.radius)


def test_subject_with_other_vertices_has_the_same_sphere_in_all_its_parts():
    groups = parts_of_cloud("spheres", 1)
    fits = new_fits(1, "spheres", FitSettings(), groups)
    other = [Geometry(CLOUD[:20], np.eye(4))]
    is_wanted = np.arange(len(fits.owners)) % 3 == 1
    fits.fit([0], other)
    fits.fit([0], other, is_wanted)
    shapes, _ = fits.shapes_at(np.zeros(1, dtype=np.int64), np.eye(4)[None])
    assert shapes.radius == pytest.approx(float(sphere_from_points(CLOUD[:20]).radius))


def test_padding_is_added_after_scale():
    found, points = move_fit("sphere", world_matrix(np.eye(3)), world_matrix(4 * np.eye(3)), padding=0.25)
    assert found[0].radius == pytest.approx(sphere_from_points(points).radius + 0.25, rel=1e-6)


def test_only_subjects_that_cannot_be_fitted_report_errors():
    fits = new_fits(4, "sphere", FitSettings(), None)
    broken = CLOUD.copy()
    broken[3] = np.nan
    points = [CLOUD, broken, CLOUD[:0], CLOUD]
    errors = fits.fit(range(4), [Geometry(vertices, np.eye(4)) for vertices in points])
    assert {index: str(error) for index, error in errors.items()} == {
        1: "points: element (3, 0) is nan",
        2: "no points",
    }
    assert fits.is_fitted.tolist() == [True, False, False, True]


def test_subject_without_vertices_has_no_fit():
    fits = new_fits(1, "aabb", FitSettings(), None)
    assert not fits.fit([0], [Geometry(CLOUD, np.eye(4))])
    assert fits.is_fitted_to(0, CLOUD)
    assert fits.fit([0], [Geometry(CLOUD[:0], np.eye(4))])
    assert not fits.is_fitted[0]
    assert not fits.is_fitted_to(0, CLOUD)


def test_tree_encloses_additional_vertices():
    fits = new_fits(1, "spheres", FitSettings(), [leaf_vertices(CLOUD, TRIANGLES)])
    more_vertices = np.concatenate([CLOUD, CLOUD + np.float32([50, 0, 0])])
    assert not fits.fit([0], [Geometry(more_vertices, np.eye(4))])
    shapes, _ = fits.shapes_at(np.arange(1), np.eye(4)[None])
    assert shapes.padded(1e-12).contains(more_vertices[:, None]).any(axis=1).all()


@pytest.mark.parametrize(("before", "after"), [(90, 90), (3, 90), (90, 3), (90, 0), (0, 90)])
def test_tree_of_other_triangles_encloses_these_with_as_many_spheres(before, after):
    parts = leaf_vertices(CLOUD, TRIANGLES[:before])
    fits = new_fits(1, "spheres", FitSettings(), [parts])
    assert not fits.fit([0], [Geometry(CLOUD, np.eye(4))])
    other = np.random.default_rng(after).integers(0, 60, (after, 3)).astype(np.int32)
    fits.set_triangles(0, CLOUD, other, None)
    assert not fits.fit([0], [Geometry(CLOUD, np.eye(4))])
    spheres, _ = fits.shapes_at(np.arange(1), np.eye(4)[None])
    assert spheres.shape == (len(parts[1]) - 1,)
    grown = spheres.padded(1e-6)
    assert grown.contains(CLOUD[:, None]).any(axis=1).all()
    # A sphere encloses a triangle if it encloses its corners.
    assert grown.contains(CLOUD[other][:, :, None]).all(axis=1).any(axis=1).all()


def test_leaves_of_deforming_mesh_have_all_corners_of_their_faces():
    line = np.arange(9, dtype=np.float32)
    points = np.concatenate([np.stack([line, 0 * line + y, 0 * line], axis=1) for y in (0, 1)])
    quads = np.stack([np.arange(8), np.arange(1, 9), np.arange(10, 18), np.arange(9, 17)], axis=1)
    triangles = quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3).astype(np.int32)
    vertices, offsets, *_ = leaf_vertices(points, triangles, depth=4, faces=np.repeat(np.arange(8), 2))
    groups = [set(vertices[first:last]) for first, last in pairwise(offsets)]
    # So each quad is in one group with either diagonal.
    assert len(groups) == 16
    assert all(any(set(quad) <= group for group in groups) for quad in quads.tolist())


@pytest.mark.parametrize("shape", SHAPES)
def test_subject_without_fit_can_be_moved(shape):
    groups = parts_of_cloud(shape, 1)
    fits = new_fits(1, shape, FitSettings(), groups)
    assert not fits.fit([0], [Geometry(CLOUD, np.eye(4))])
    assert fits.fit([0], [Geometry(CLOUD[:0], np.eye(4))])
    shapes, errors = fits.shapes_at(np.arange(1), np.diag([1.0, 2, 3, 1])[None])
    assert not errors and not fits.is_fitted[0]
    assert all(np.isfinite(getattr(shapes, name)).all() for name in shapes.field_shapes)


@pytest.mark.parametrize("shape", SHAPES)
def test_negative_padding_larger_than_shrunk_shape_skips_only_that_subject(shape):
    groups = parts_of_cloud(shape, 2)
    fits = new_fits(2, shape, FitSettings(padding=-1e-3), groups)
    assert not fits.fit(range(2), [Geometry(CLOUD, np.eye(4))] * 2)
    small = np.diag([1e-5, 1e-5, 1e-5, 1])
    _, errors = fits.shapes_at(np.arange(2), np.stack([np.eye(4), small]))
    assert {index: str(error) for index, error in errors.items()} == {
        1: "a padding of -0.001 is larger than the shape"
    }


@pytest.mark.parametrize("size", [1e-40, 1e-20, 1.0, 1e6, 1e20, 1e36])
def test_box_of_many_vertices_is_exact(size):
    # Single precision alone would be off, and cannot hold the smallest and the largest of these.
    generator = np.random.default_rng(3)
    cloud = generator.normal(loc=(1e3, 0, 0), size=(4000, 3)).astype(np.float32)
    flat = (cloud * (1, 1, 0)).astype(np.float32)
    for motion in MOTIONS.values():
        matrix = np.eye(4)
        matrix[:3, :3] = size * motion[1]
        for points in (cloud, flat, np.tile(cloud[:1], (4000, 1))):
            fits = new_fits(1, "aabb", FitSettings(), None)
            assert not fits.fit([0], [Geometry(points, matrix)])
            box = fits.shapes_at(np.arange(1), matrix[None])[0]
            terms = points.astype(np.float64)[:, None] * matrix[:3, :3]
            world = terms[..., 0] + terms[..., 1] + terms[..., 2]
            assert (box.min[0] == world.min(axis=0)).all() and (box.max[0] == world.max(axis=0)).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_one_of_many_vertices_that_is_not_finite_is_an_error(value):
    points = np.ones((4000, 3), dtype=np.float32)
    points[17, 1] = value
    fits = new_fits(1, "aabb", FitSettings(), None)
    (error,) = fits.fit([0], [Geometry(points, np.eye(4))]).values()
    assert "not all are finite" in str(error)


@pytest.mark.parametrize(
    ("shape", "fit"), [("capsule", capsule_from_points), ("cylinder", cylinder_from_points)]
)
def test_objects_of_one_mesh_share_the_search_for_an_axis(shape, fit):
    matrices = [world_matrix(scale * random_rotation(seed)) for seed, scale in ((3, 1), (4, 2.5), (5, 0.1))]
    fits = new_fits(3, shape, FitSettings(), None)
    assert not fits.fit(range(3), [Geometry(CLOUD.copy(), matrix) for matrix in matrices])
    shapes, _ = fits.shapes_at(np.arange(3), np.stack(matrices))
    for found, matrix in zip(shapes, matrices, strict=True):
        points = CLOUD @ matrix[:3, :3].T
        assert found.padded(1e-12).contains(points).all()
        assert found.volume == pytest.approx(fit(points).volume, rel=0.02)


@pytest.mark.parametrize("shape", ["capsule", "cylinder"])
def test_axis_turns_with_a_subject_that_is_fitted_again(shape):
    fits = new_fits(1, shape, FitSettings(), None)
    long = CLOUD * np.float32([1, 1, 4])
    assert not fits.fit([0], [Geometry(long, np.eye(4))])
    before, _ = fits.shapes_at(np.array([0]), np.eye(4)[None])
    # Wider than long: a new search would find another axis.
    assert not fits.fit([0], [Geometry(CLOUD * np.float32([4, 1, 1]), np.eye(4))])
    turn = world_matrix(random_rotation(6))
    after, _ = fits.shapes_at(np.array([0]), turn[None])
    np.testing.assert_allclose(after.axis[0], turn[:3, :3] @ before.axis[0], atol=1e-6)


def test_line_of_a_capsule_is_searched_once_for_a_subject_that_deforms(monkeypatch):
    """The search takes about fifteen milliseconds, even along a known axis."""
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return best_line(*arguments)

    monkeypatch.setattr("addon.core.fitting.axial.best_line", counted)
    fits, rng = new_fits(1, "capsule", FitSettings(), None), np.random.default_rng(0)
    fits.lines[0] = Line(np.array([0.0, 0.0, 1.0]))
    for _ in range(20):
        bent = CLOUD * np.float32([1, 1, 4]) + rng.normal(size=CLOUD.shape).astype(np.float32) / 10
        assert not fits.fit([0], [Geometry(bent, np.eye(4))])
        shape, _ = fits.shapes_at(np.array([0]), np.eye(4)[None])
        assert shape.contains(bent[None].astype(float)).all()
    assert len(calls) == 1


def test_negative_padding_larger_than_a_capsule_is_an_error():
    for shape in ("capsule", "cylinder"):
        fits = new_fits(1, shape, FitSettings(padding=-100.0), None)
        assert not fits.fit([0], [Geometry(CLOUD, np.eye(4))])
        _, errors = fits.shapes_at(np.array([0]), np.eye(4)[None])
        assert str(errors[0]) == "a padding of -100 is larger than the shape"


def test_axes_of_parts_are_searched_once_for_equal_subjects(monkeypatch):
    """The search takes about a twentieth of a second for each part."""
    calls = []

    def counted(points):
        calls.append(len(points))
        return obb_from_points(points)

    monkeypatch.setattr("addon.scene.fitting.searches.obb_from_points", counted)
    groups = parts_of_cloud("compound", 3)
    monkeypatch.setattr(searches, "_known", OrderedDict())
    fits = new_fits(3, "compound", FitSettings(), groups)
    turned = [world_matrix(random_rotation(seed)) for seed in range(3)]
    assert not fits.fit(range(3), [Geometry(CLOUD, matrix) for matrix in turned])
    assert len(calls) == len(groups[0].offsets) - 1
