"""Shapes that are fitted to each subject by itself, in local axes with its scale, and in world space.

Each holds every vertex of its subject, padding included. `_FITS` is the dispatch by kind of shape. The shapes
that a scan has tested are in its document as they are, see `ScannedShapes`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from ...core import (
    ConvexHull,
    InvalidShapeError,
    Obb,
    Sphere,
    SphereTree,
    obb_from_points,
    sphere_from_points,
)
from ...core.compound.convex_parts import Compound, CompoundPart
from ...core.fitting.convex_hull import HullRequest, hull_steps
from ...core.fitting.enclosing import enclosing_radii, spheres_from_groups
from ...core.fitting.hull_surface import moved_hull
from ...core.numeric.arrays import Floats, Ints, concatenated_ranges, rotation_matrix, transform_vectors
from ...core.numeric.geodesic import geodesic_directions
from ...core.shapes import BoundingVolume, concatenated
from ...formats.document.model import ShapeColumn
from ..fitting.fit import grown_by_point_radii, inflated_points, padded, padding_error
from ..fitting.parts import TreeVertices, convex_pieces, cut_rounding, inner_spheres, node_vertices
from ..fitting.searches import fit_axial, fit_axial_to_points, points_for_search, smallest_box_axes
from ..settings import AXIAL_SHAPES, SCANNED_SHAPES, SHAPE_KINDS, BoundShape, DrawnShape, PartShape, ShapeName
from ..subjects.reader import SubjectGeometry, in_bone_space

DetailedShape: TypeAlias = ConvexHull | SphereTree | BoundingVolume | Compound

DetailedShapes: TypeAlias = tuple[tuple[DetailedShape, ...], tuple[DetailedShape, ...]]
"""Shapes of a subject in its local axes and in world space."""

_MAX_VERTICES = 255
"""The limit of PhysX, and so of Unity and Unreal."""

_Shape = TypeVar("_Shape", bound=BoundingVolume)
_Steps: TypeAlias = Generator[HullRequest, "Ints | None", tuple[DetailedShape, DetailedShape]]
"""Steps to a shape in local axes and in world space; hulls of many subjects are built at the same time."""


class _Solid(NamedTuple):
    """A subject, or a convex part of it, that gets a shape.

    piece : SubjectGeometry
    turn, offset : (3, 3), (3,) float64. Rotation and translation from the subject's own frame to the world.
    local, world : (n, 3) float64. Vertices in local axes and in world space.
    margin : Growth of the shape by the rounding of cuts.
    """

    piece: SubjectGeometry
    turn: Floats
    offset: Floats
    local: Floats
    world: Floats
    margin: float

    @classmethod
    def of(cls, piece: SubjectGeometry, turn: Floats, offset: Floats, margin: float = 0.0) -> _Solid:
        matrix = piece.geometry.matrix
        world = transform_vectors(matrix[:3, :3], piece.points.astype(np.float64)) + matrix[:3, 3]
        local = transform_vectors(turn.T, world - offset)
        return cls(piece, turn, offset, local, world, margin)

    @property
    def linear(self) -> Floats:
        """Linear part (3, 3) of the world matrix."""
        return self.piece.geometry.matrix[:3, :3]

    def grown(self, local: _Shape, world: _Shape) -> tuple[_Shape, _Shape]:
        """Grow shapes by balls around the vertices, by the padding and by the margin."""
        balls = self.piece.radius * float(np.linalg.norm(self.linear, 2))
        return self.padded(local, world, balls + self.piece.fit.padding + self.margin)

    def padded(self, local: _Shape, world: _Shape, growth: float) -> tuple[_Shape, _Shape]:
        """Grow shapes by a length. Raises InvalidShapeError where nothing is left."""
        try:
            return (local.padded(growth), world.padded(growth)) if growth else (local, world)
        except InvalidShapeError:
            raise padding_error(self.piece.fit.padding) from None


def _hull(solid: _Solid) -> Generator[HullRequest, Ints | None, tuple[ConvexHull, ConvexHull]]:
    """Fit the convex hull; a flat mesh gets one of minimum thickness. No vertex is within the margin."""
    local, turn, geometry = solid.local, solid.turn, solid.piece.geometry
    if geometry.radius:
        globe = geodesic_directions(4)
        around = globe.vectors * (geometry.radius / globe.covering_cosine)
        local = (local[:, None] + transform_vectors(turn.T @ solid.linear, around)).reshape(-1, 3)
    inflated = inflated_points(local, np.eye(3), np.ones(3), solid.piece.fit.padding)
    hull = yield from hull_steps(inflated, _MAX_VERTICES, margin=solid.margin)
    turned = ConvexHull(transform_vectors(turn, hull.vertices), hull.faces)
    return hull, moved_hull(turned, solid.offset)


def _tree(solid: _Solid) -> tuple[SphereTree, SphereTree]:
    """Fit a sphere tree; the first leaf has the vertices without triangles, too."""
    piece = solid.piece
    # As scans search: those of a bone in its space.
    seen = in_bone_space(piece).geometry
    split = points_for_search(seen.points, seen.matrix[:3, :3])
    children, parts = node_vertices(split, piece.triangles, piece.fit.depth)
    ball = spheres_from_groups(solid.local[parts.rows], parts.offsets)
    center = transform_vectors(solid.turn, ball.center) + solid.offset
    world_ball = Sphere(center, enclosing_radii(solid.world[parts.rows], parts.offsets, center))
    linear = np.broadcast_to(solid.linear, (len(children), 3, 3))
    radii = np.full(len(children), piece.radius)
    grown = (grown_by_point_radii(sphere, linear, radii) for sphere in (ball, world_ball))
    local, world = (padded(sphere, piece.fit.padding) for sphere in grown)
    return SphereTree(local.center, local.radius, children), SphereTree(world.center, world.radius, children)


def _axial(shape: DrawnShape, solid: _Solid) -> tuple[Any, Any]:
    """Fit the smallest shape of a kind along any axis; along a bone to the vertices of that."""
    piece, turn, geometry = solid.piece, solid.turn, solid.piece.geometry
    if piece.frame is not None:  # its points are not in the frame of the object, in which scans search
        fitted = fit_axial_to_points(shape, solid.local, turn.T @ piece.frame[:3, 1])
    else:
        fitted = fit_axial(shape, geometry.points, solid.linear, solid.local, None)
    center = turn @ fitted.center + solid.offset
    moved = replace(fitted, center=center, axis=turn @ fitted.axis)
    return solid.grown(fitted, moved._around(solid.world))


def _compound(solid: _Solid) -> _Steps:
    """Fit a shape to each convex part; each triangle is in their union."""
    piece = in_bone_space(solid.piece)  # as scans search
    fit = piece.fit
    parts = convex_pieces(piece, fit)
    linear = piece.geometry.matrix[:3, :3]
    margin = cut_rounding(piece.points, linear) if len(parts) > 1 else 0.0
    shapes: list[tuple[CompoundPart, CompoundPart]] = []
    for part in parts:
        placed = _Solid.of(part, solid.turn, solid.offset, margin)
        shapes.append((yield from _steps(_FITS_OF_PARTS[fit.part_shape], placed)))
    return Compound(tuple(local for local, _ in shapes)), Compound(tuple(world for _, world in shapes))


def _box(solid: _Solid) -> tuple[Obb, Obb]:
    """Fit the smallest box of any direction to a part."""
    geometry, turn, linear = solid.piece.geometry, solid.turn, solid.linear
    axes = smallest_box_axes(geometry.points, linear)
    local, world = (
        grown_by_point_radii(obb_from_points(points, frame)[None], map_[None], np.array([geometry.radius]))[0]
        for points, frame, map_ in ((solid.local, axes, turn.T @ linear), (solid.world, turn @ axes, linear))
    )
    return solid.padded(local, world, solid.piece.fit.padding + solid.margin)


def _sphere(solid: _Solid) -> tuple[Sphere, Sphere]:
    """Fit a sphere to a part."""
    sphere = sphere_from_points(solid.local)
    center = solid.turn @ sphere.center + solid.offset
    radius = enclosing_radii(solid.world, [0, len(solid.world)], center[None])[0]
    return solid.grown(sphere, Sphere(center, radius))


def _steps(fit: Callable[[_Solid], Any], solid: _Solid) -> Generator[HullRequest, Ints | None, Any]:
    """Fit a shape in steps, or at once if it needs no hulls."""
    found = fit(solid)
    return (yield from found) if isinstance(found, Generator) else found


_FITS_OF_PARTS: dict[PartShape, Callable[[_Solid], Any]] = {
    "hull": _hull,
    "box": _box,
    "sphere": _sphere,
    "capsule": partial(_axial, "capsule"),
}

_FITS: dict[BoundShape, Callable[[_Solid], Any]] = {
    "hull": _hull,
    "spheres": _tree,
    **{name: partial(_axial, name) for name in AXIAL_SHAPES},
    "compound": _compound,
}
"""Fits by kind of shape, in the order in which a subject's shapes are listed."""


def detailed_shapes(
    piece: SubjectGeometry, shapes: Container[BoundShape]
) -> Generator[HullRequest, Ints | None, DetailedShapes]:
    """Fit all detailed shapes of a subject.

    piece : Geometry and fit settings of the subject, with its placement.
    shapes : Those to fit.
    request : As `hull_steps`.
    Returns local, world : tuple of DetailedShape. In local axes with the scale baked in, and in world
        space, in the order in which shapes are listed.
    Raises CollisionBoundsError: for geometry that has no such shape, or a negative padding that is larger
        than it.
    """
    placed = piece.placements
    solid = _Solid.of(piece, rotation_matrix(placed.rotation)[0], placed.translation[0])
    both: list[tuple[DetailedShape, DetailedShape]] = []
    for name, fit in _FITS.items():
        if name in shapes:
            both.append((yield from _steps(fit, solid)))
    return tuple(local for local, _ in both), tuple(world for _, world in both)


SHAPES_OF_SCANS = frozenset(name for name in SCANNED_SHAPES if not SHAPE_KINDS[name].is_plain) - {"mesh"}
"""Shapes that objects have in documents of scans by `ScannedShapes`: of the others, some are their bounds."""

_ROUNDING = 4 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class ScannedShapes:
    """Shapes of n subjects in world space, as they were when they were read.

    key : Their kind, one of SHAPES_OF_SCANS, also in documents.
    parts : Shape, batch (N,)
    owners : (N,) int. Subject that each is part of; the parts of a subject are adjacent. Subjects that are
        not tested, or as triangle meshes, have none.
    offsets : (n, 3) float64. Where the origins of the subjects are.
    trees : By the index of each subject, if the parts are the leaves of sphere trees.
    """

    key: ShapeName
    parts: Any
    owners: Ints
    offsets: Floats
    trees: Mapping[int, TreeVertices]

    def columns(
        self, subjects: Ints, translations: Floats, rotations: Floats
    ) -> tuple[ShapeColumn, ShapeColumn]:
        """Shapes of subjects (m,) in their own frames, and in world space.

        translations, rotations : of the frames, (m, 3), and (m, 4) with w first
        """
        starts, ends = np.searchsorted(self.owners, [subjects, subjects + 1])
        rows = np.flatnonzero(ends > starts)
        members, counts = subjects[rows], (ends - starts)[rows]
        world = self.parts[concatenated_ranges(starts[rows], counts)]
        if self.key == "spheres":
            world, counts = self._nodes(members, world)
        stops = np.cumsum(counts)
        # Moving a shape rounds its center.
        world = world.padded(_ROUNDING * np.abs(world.center).max(axis=1))
        turns = rotation_matrix(rotations[rows]).swapaxes(1, 2)
        to_local = np.tile(np.eye(4), (len(rows), 1, 1))
        to_local[:, :3, :3] = turns
        to_local[:, :3, 3] = -transform_vectors(turns, translations[rows])
        local = world.transformed(to_local.repeat(counts, axis=0))
        slices = list(map(slice, stops - counts, stops))
        in_own, in_world = (self._grouped(parts, slices, members) for parts in (local, world))
        return ShapeColumn(rows, in_own), ShapeColumn(rows, in_world)

    def _nodes(self, subjects: Ints, leaves: Sphere) -> tuple[Sphere, Ints]:
        """Spheres (M,) of all nodes of the trees of subjects (m,), and numbers (m,) of nodes."""
        trees = [self.trees[subject] for subject in subjects.tolist()]
        counts = np.array([len(tree.children) for tree in trees], dtype=np.int64)
        is_leaf = np.concatenate([np.zeros(0, dtype=bool), *(tree.children[:, 0] < 0 for tree in trees)])
        offsets = self.offsets[subjects].repeat(counts, axis=0)[~is_leaf]
        inner = inner_spheres(trees)
        inner = Sphere.unchecked(inner.center + offsets, inner.radius)
        order = np.argsort(np.concatenate([np.flatnonzero(is_leaf), np.flatnonzero(~is_leaf)]))
        return concatenated(leaves, inner)[order], counts

    def _grouped(self, parts: Any, slices: Sequence[slice], subjects: Ints) -> Any:
        """Shapes of subjects (m,), whose parts are at `slices`, as columns have them."""
        if self.key in AXIAL_SHAPES:
            return parts
        if self.key == "compound":
            return [Compound(tuple(parts[part].to_list())) for part in slices]
        children = (self.trees[subject].children for subject in subjects.tolist())
        both = zip(slices, children, strict=True)
        return [SphereTree(parts.center[nodes], parts.radius[nodes], below) for nodes, below in both]
