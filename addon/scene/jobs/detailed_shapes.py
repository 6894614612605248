"""Shapes that are fitted to each subject by itself, in local axes and in world space."""

from __future__ import annotations

from collections.abc import Callable, Container, Generator
from typing import TypeAlias, TypeVar

import numpy as np

from ...core import (
    Capsule,
    ConvexHull,
    Cylinder,
    InvalidShapeError,
    Obb,
    Sphere,
    SphereTree,
    capsule_from_points,
    cylinder_from_points,
    obb_from_points,
    sphere_from_points,
)
from ...core.compound.convex_parts import Compound, CompoundPart
from ...core.fitting.axial import capsule_around, cylinder_around
from ...core.fitting.convex_hull import HullRequest, hull_steps
from ...core.fitting.enclosing import enclosing_radii, spheres_from_groups
from ...core.fitting.hull_surface import moved_hull
from ...core.numeric.arrays import Floats, Ints, rotation_matrix, transform_vectors
from ...core.numeric.geodesic import geodesic_directions
from ..blender.mesh_data import Placement
from ..fitting.axial import fit_axial
from ..fitting.columns import grown_by_point_radii
from ..fitting.convex_pieces import convex_pieces
from ..fitting.fit import (
    cut_rounding,
    padded,
    padding_error,
    points_for_search,
    smallest_box_axes,
)
from ..fitting.inflation import inflated_points
from ..fitting.tree_parts import node_vertices
from ..settings import BoundShape, DetailedShapeName, PartShape
from ..subjects.geometry import SubjectGeometry, in_bone_space

DetailedShape: TypeAlias = ConvexHull | SphereTree | Capsule | Cylinder | Compound

DetailedShapes: TypeAlias = tuple[tuple[DetailedShape, ...], tuple[DetailedShape, ...]]
"""Shapes of a subject in its local axes and in world space."""

_MAX_VERTICES = 255
"""The limit of PhysX, and so of Unity and Unreal."""


_Shape = TypeVar("_Shape")
_Steps: TypeAlias = Generator[HullRequest, "Ints | None", tuple[_Shape, _Shape]]
"""Steps to a shape in local axes and in world space, as `hull_steps`."""


def hulls(piece: SubjectGeometry, placed: Placement, margin: float = 0.0) -> _Steps[ConvexHull]:
    """Fit the convex hull of a subject.

    Conservative, padding included. A flat mesh gets a hull of minimum thickness.

    Parameters
    ----------
    piece : SubjectGeometry
        Geometry and fit settings of the subject.
    placed : Placement
        Its decomposed world matrix.
    margin : float
        Least distance of the vertices below all faces.

    Yields
    ------
    request : HullRequest
        As `hull_steps`, so that hulls of many subjects are built at the same time.

    Returns
    -------
    local, world : ConvexHull
        The hull in the subject's local axes with its scale baked in, and in world space.

    Raises
    ------
    CollisionBoundsError
        For geometry that has no hull, or a negative padding that is larger than it.
    """
    local, _, turn = _points(piece, placed)
    geometry = piece.geometry
    if geometry.radius:
        globe = geodesic_directions(4)
        around = globe.vectors * (geometry.radius / globe.covering_cosine)
        linear = turn.T @ geometry.matrix[:3, :3]
        local = (local[:, None] + transform_vectors(linear, around)).reshape(-1, 3)
    inflated = inflated_points(local, np.eye(3), np.ones(3), piece.fit.padding)
    hull = yield from hull_steps(inflated, _MAX_VERTICES, margin=margin)
    turned = ConvexHull(transform_vectors(turn, hull.vertices), hull.faces)
    return hull, moved_hull(turned, placed.translation)


def trees(piece: SubjectGeometry, placed: Placement) -> tuple[SphereTree, SphereTree]:
    """Fit a sphere tree to a subject.

    The sphere of each node encloses the vertices of the node's part of the mesh. Vertices without a triangle
    belong to the first leaf.

    Parameters
    ----------
    piece : SubjectGeometry
        Geometry with triangles, and fit settings of the subject.
    placed : Placement
        Its decomposed world matrix.

    Returns
    -------
    local, world : SphereTree
        The tree in the subject's local axes with its scale baked in, and in world space.

    Raises
    ------
    CollisionBoundsError
        For geometry that has no spheres, or a padding that leaves nothing of them.
    """
    local, world, turn = _points(piece, placed)
    seen = _seen_by_scans(piece).geometry
    split = points_for_search(seen.points, seen.matrix[:3, :3])
    children, parts = node_vertices(split, piece.triangles, piece.fit.depth)
    order, offsets = parts.rows, parts.offsets
    ball = spheres_from_groups(local[order], offsets)
    center = transform_vectors(turn, ball.center) + placed.translation
    world_ball = Sphere(center, enclosing_radii(world[order], offsets, center))
    count = len(children)
    linear = np.broadcast_to(piece.geometry.matrix[:3, :3], (count, 3, 3))
    radii = np.full(count, piece.geometry.radius)
    both = []
    for sphere in (ball, world_ball):
        grown = padded(grown_by_point_radii(sphere, linear, radii), piece.fit.padding)
        assert isinstance(grown, Sphere), "growing keeps the kind of shape"
        both.append(SphereTree(grown.center, grown.radius, children))
    return both[0], both[1]


def capsules(piece: SubjectGeometry, placed: Placement) -> tuple[Capsule, Capsule]:
    """Fit the smallest capsule to a subject, along any axis; along a bone to the vertices of that.

    The capsule encloses every vertex, padding included.

    Parameters
    ----------
    piece : SubjectGeometry
        Geometry and fit settings of the subject.
    placed : Placement
        Its decomposed world matrix.

    Returns
    -------
    local, world : Capsule
        The capsule in the subject's local axes with its scale baked in, and in world space.

    Raises
    ------
    CollisionBoundsError
        For geometry that has no capsule, or a negative padding that is larger than it.
    """
    return _capsules(piece, placed, _growth(piece))


def _capsules(piece: SubjectGeometry, placed: Placement, growth: float) -> tuple[Capsule, Capsule]:
    """Fit the smallest capsule to a subject, and let it grow; see `capsules`."""
    local, world, turn = _points(piece, placed)
    fitted = _axial(capsule_from_points, piece, turn, local)
    assert isinstance(fitted, Capsule)
    center = turn @ fitted.center + placed.translation
    moved = capsule_around(center, turn @ fitted.axis, float(fitted.half_length), world)
    return _padded(fitted, growth, piece), _padded(moved, growth, piece)


def _axial(
    fit_points: Callable[[Floats, Floats | None], Capsule | Cylinder],
    piece: SubjectGeometry,
    turn: Floats,
    local: Floats,
) -> Capsule | Cylinder:
    """Fit a capsule or cylinder to a subject's points (n, 3) in its frame, or in that of its bone."""
    axis = _axis_of(piece, turn)
    if piece.frame is not None:  # its points are not in the frame of the object, in which scans search
        return fit_points(local, axis)
    geometry = piece.geometry
    return fit_axial(fit_points, geometry.points, geometry.matrix[:3, :3], local, axis)


def cylinders(piece: SubjectGeometry, placed: Placement) -> tuple[Cylinder, Cylinder]:
    """Fit the smallest cylinder to a subject, along any axis; along a bone to the vertices of that.

    As `capsules`, with a cylinder. That of a flat subject has no length, or no radius.

    Parameters
    ----------
    piece : SubjectGeometry
        Geometry and fit settings of the subject.
    placed : Placement
        Its decomposed world matrix.

    Returns
    -------
    local, world : Cylinder

    Raises
    ------
    CollisionBoundsError
    """
    local, world, turn = _points(piece, placed)
    fitted = _axial(cylinder_from_points, piece, turn, local)
    assert isinstance(fitted, Cylinder)
    moved = cylinder_around(turn @ fitted.center + placed.translation, turn @ fitted.axis, world)
    growth = _growth(piece)
    return _padded(fitted, growth, piece), _padded(moved, growth, piece)


def _axis_of(piece: SubjectGeometry, turn: Floats) -> Floats | None:
    """Return the direction (3,) of a bone in its local axes; None where any axis will do."""
    return None if piece.frame is None else turn.T @ piece.frame[:3, 1]


def _growth(piece: SubjectGeometry) -> float:
    """Return the growth of a shape by the balls around the vertices, and by the padding."""
    geometry = piece.geometry
    return geometry.radius * float(np.linalg.norm(geometry.matrix[:3, :3], 2)) + piece.fit.padding


_Padded = TypeVar("_Padded", Capsule, Cylinder, Obb, Sphere)


def _padded(shape: _Padded, growth: float, piece: SubjectGeometry) -> _Padded:
    """Shapes grown by a length. Raises InvalidShapeError where nothing is left."""
    try:
        return shape.padded(growth) if growth else shape
    except InvalidShapeError:
        raise padding_error(piece.fit.padding) from None


def _points(piece: SubjectGeometry, placed: Placement) -> tuple[Floats, Floats, Floats]:
    """Vertices (n, 3) in local axes and in world space, and the rotation (3, 3) of the local axes."""
    turn = rotation_matrix(placed.rotation)
    matrix = piece.geometry.matrix
    world = transform_vectors(matrix[:3, :3], piece.geometry.points.astype(np.float64)) + matrix[:3, 3]
    return transform_vectors(turn.T, world - placed.translation), world, turn


def compounds(piece: SubjectGeometry, placed: Placement) -> _Steps[Compound]:
    """Fit a shape to each convex part of a subject.

    Conservative: each triangle is in the union of the shapes, padding included.

    Parameters
    ----------
    piece : SubjectGeometry
        Geometry with triangles, and fit settings of the subject.
    placed : Placement
        Its decomposed world matrix.

    Returns
    -------
    local, world : Compound
        The shapes in the subject's local axes with its scale baked in, and in world space.

    Raises
    ------
    CollisionBoundsError
        For geometry that has no such shape, or a negative padding that is larger than a part.
    """
    piece = _seen_by_scans(piece)
    fit, linear = piece.fit, piece.geometry.matrix[:3, :3]
    parts = convex_pieces(piece, fit.parts, fit.parts_tolerance)
    margin = cut_rounding(piece.geometry.points, linear) if len(parts) > 1 else 0.0
    shapes: list[tuple[CompoundPart, CompoundPart]] = []
    for part in parts:
        if fit.part_shape == "hull":
            shapes.append((yield from hulls(part, placed, margin)))
        else:
            shapes.append(_FITS_OF_PARTS[fit.part_shape](part, placed, margin))
    return Compound(tuple(local for local, _ in shapes)), Compound(tuple(world for _, world in shapes))


def _seen_by_scans(piece: SubjectGeometry) -> SubjectGeometry:
    """Return a subject with the vertices in which scans search its fit: those of a bone in its space."""
    return piece if piece.frame is None else in_bone_space(piece)


def _boxes(piece: SubjectGeometry, placed: Placement, margin: float) -> tuple[Obb, Obb]:
    """Fit the smallest box of any direction to a part."""
    local, world, turn = _points(piece, placed)
    geometry, growth = piece.geometry, piece.fit.padding + margin
    linear, radius = geometry.matrix[:3, :3], np.array([geometry.radius])
    axes = smallest_box_axes(geometry.points, linear)
    both = []
    for points, frame, map_ in ((local, axes, turn.T @ linear), (world, turn @ axes, linear)):
        box = grown_by_point_radii(obb_from_points(points, frame)[None], map_[None], radius)[0]
        assert isinstance(box, Obb), "growing keeps the kind of shape"
        both.append(_padded(box, growth, piece))
    return both[0], both[1]


def _spheres(piece: SubjectGeometry, placed: Placement, margin: float) -> tuple[Sphere, Sphere]:
    """Fit a sphere to a part."""
    local, world, turn = _points(piece, placed)
    sphere = sphere_from_points(local)
    center = turn @ sphere.center + placed.translation
    radius = enclosing_radii(world, [0, len(world)], center[None])[0]
    growth = _growth(piece) + margin
    return _padded(sphere, growth, piece), _padded(Sphere(center, radius), growth, piece)


_FITS_OF_PARTS: dict[
    PartShape, Callable[[SubjectGeometry, Placement, float], tuple[CompoundPart, CompoundPart]]
] = {
    "box": _boxes,
    "sphere": _spheres,
    "capsule": lambda piece, placed, margin: _capsules(piece, placed, _growth(piece) + margin),
}

_FITS: dict[
    DetailedShapeName, Callable[[SubjectGeometry, Placement], tuple[DetailedShape, DetailedShape]]
] = {"spheres": trees, "capsule": capsules, "cylinder": cylinders}
"""Fits by kind of shape, but those that need hulls."""


def detailed_shapes(
    piece: SubjectGeometry, placed: Placement, shapes: Container[BoundShape]
) -> Generator[HullRequest, Ints | None, DetailedShapes]:
    """Fit all detailed shapes of a subject.

    Parameters
    ----------
    piece : SubjectGeometry
        Geometry and fit settings of the subject.
    placed : Placement
        Its decomposed world matrix.
    shapes : container of BoundShape
        Those to fit.

    Yields
    ------
    request : HullRequest
        As `hull_steps`.

    Returns
    -------
    local, world : tuple of DetailedShape
        In local axes and in world space, in the order in which a subject's shapes are listed.

    Raises
    ------
    CollisionBoundsError
    """
    both: list[tuple[DetailedShape, DetailedShape]] = []
    if "hull" in shapes:
        both.append((yield from hulls(piece, placed)))
    both += [fit(piece, placed) for name, fit in _FITS.items() if name in shapes]
    if "compound" in shapes:
        both.append((yield from compounds(piece, placed)))
    return tuple(local for local, _ in both), tuple(world for _, world in both)
