"""A mesh of triangles as an obstacle for spheres and sphere trees.

Exact like the method of a sphere and a triangle, taken over all of the mesh. What overlaps is found by boxes.
For spheres that are apart the nearest triangle is found by a sphere tree around the mesh, built when first
asked for: bounds from both sides on how far the triangles of a node are away leave few to be measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .arrays import CHUNK_ROWS, Bools, Floats, Ints, length
from .box_hierarchy import BoxHierarchy
from .broad_phase import overlapping_pairs_between
from .errors import EmptyGeometryError, InvalidShapeError
from .mesh_parts import MeshParts
from .separation_spheres import (
    overlaps_sphere_triangle,
    separation_sphere_triangle,
    witness_points_sphere_triangle,
)
from .shapes import Aabb, Sphere, Triangle
from .sphere_tree import SphereTree, ranges
from .tree_descent import NO_TREE, close_leaves
from .witness import WitnessPoints

_Numbers: TypeAlias = NDArray[Any]

_ALL_PAIRS = 16_384
"""So few pairs of a sphere and a triangle are all measured."""

_BOXES_FOR_HIERARCHY = 4096
"""More boxes are sorted into columns together with those of the triangles, sooner than asked one by one."""

_SPHERES_AT_ONCE = 2048
_ROUNDING = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """One obstacle made of a batch (t,) of triangles, t >= 1; one-sided if those are.

    A surface, not a solid: what is inside without touching a triangle does not overlap it. Raises
    EmptyGeometryError without triangles, InvalidShapeError for any other batch.
    """

    triangles: Triangle

    def __post_init__(self) -> None:
        if len(self.triangles.shape) != 1:
            raise InvalidShapeError(f"mesh: the batch must be (t,), not {self.triangles.shape}")
        if self.triangles.shape == (0,):
            raise EmptyGeometryError("a mesh without triangles")

    @property
    def shape(self) -> tuple[int, ...]:
        """(): a mesh is one obstacle."""
        return ()

    def require_same(self, other: TriangleMesh) -> None:
        """Raise InvalidShapeError where `other` is not the same mesh: between two samples one is at rest."""
        if self is other:
            return
        one, two = self.triangles, other.triangles
        alike = one.shape == two.shape and one.one_sided == two.one_sided
        if not (alike and all(np.array_equal(getattr(one, k), getattr(two, k)) for k in "abc")):
            raise InvalidShapeError(
                "meshes: the two samples differ; hold the mesh still and move the other shape"
            )

    def aabb(self) -> Aabb:
        """The box around the mesh. Exact."""
        boxes = self.triangles.aabb()
        return Aabb.trusted(boxes.min.min(axis=0), boxes.max.max(axis=0))

    @cached_property
    def normals(self) -> Floats:
        """(t, 3) of the triangles, see there."""
        return self.triangles.normal

    @cached_property
    def hierarchy(self) -> BoxHierarchy:
        """The boxes around the triangles, to be asked what overlaps them."""
        return BoxHierarchy(self.triangles.aabb())

    @cached_property
    def parts(self) -> MeshParts:
        """A sphere tree around the mesh, to be asked what is near."""
        return MeshParts.of(self.triangles)

    def pairs_of_boxes(self, boxes: Aabb) -> Iterator[tuple[Ints, Ints]]:
        """Boxes (n,) and triangles that may overlap but for rounding, a chunk of indices at a time."""
        # A centre plus a radius has been rounded, and so is the closest point of a triangle.
        slack = self._slack + _ROUNDING * np.maximum(np.abs(boxes.min), np.abs(boxes.max))
        loose = Aabb.trusted(boxes.min - slack, boxes.max + slack)
        if len(slack) > _BOXES_FOR_HIERARCHY:
            pairs = overlapping_pairs_between(loose, self.triangles.aabb())
        else:
            pairs = self.hierarchy.overlapping(loose)
        for start in range(0, len(pairs), CHUNK_ROWS):
            i, t = pairs[start : start + CHUNK_ROWS].T
            yield i, t

    @cached_property
    def _slack(self) -> float:
        around = self.aabb()
        return float(np.maximum(np.abs(around.min), np.abs(around.max)).max() * _ROUNDING)


def separation_sphere_mesh(sphere: Sphere, mesh: TriangleMesh) -> Floats:
    """The least separation from a triangle, (...); inf behind all of a one-sided mesh."""
    flat, nearest = _nearest(sphere, mesh)
    some = np.flatnonzero(nearest >= 0)
    result = np.full(flat.shape, np.inf)
    result[some] = separation_sphere_triangle(flat[some], mesh.triangles[nearest[some]])
    return result.reshape(sphere.shape)


def overlaps_sphere_mesh(sphere: Sphere, mesh: TriangleMesh) -> Bools:
    """Whether the sphere overlaps some triangle, (...)."""
    flat = sphere.reshaped((-1,))
    result = np.zeros(flat.shape, dtype=bool)
    for i, t in mesh.pairs_of_boxes(flat.aabb()):
        result[i[overlaps_sphere_triangle(flat[i], mesh.triangles[t])]] = True
    return result.reshape(sphere.shape)


def witness_points_sphere_mesh(sphere: Sphere, mesh: TriangleMesh) -> WitnessPoints:
    """Those of the triangle of least separation, of equals the first: the nearest, or the deepest.

    Behind all of a one-sided mesh, where nothing collides, those of its first triangle.
    """
    flat, nearest = _nearest(sphere, mesh)
    witness = witness_points_sphere_triangle(flat, mesh.triangles[np.maximum(nearest, 0)])
    return WitnessPoints(*(points.reshape(*sphere.shape, 3) for points in witness))


def minimum_translation_sphere_mesh(sphere: Sphere, mesh: TriangleMesh) -> Floats:
    """The shortest move that frees the sphere from the triangle it is deepest in, (..., 3); zero for none.

    Other triangles may still overlap, as in a corner: it takes another move then.
    """
    flat = sphere.reshaped((-1,))
    move = np.zeros((*flat.shape, 3))
    deepest, depth = _deepest(flat, mesh)
    some = np.flatnonzero(deepest >= 0)
    witness = witness_points_sphere_triangle(flat[some], mesh.triangles[deepest[some]])
    move[some] = witness.normal * depth[some, None] + 0.0
    return move.reshape(*sphere.shape, 3)


def separation_tree_mesh(tree: SphereTree, mesh: TriangleMesh) -> Floats:
    """The least separation of a leaf from a triangle, (...)."""
    result: Floats = separation_sphere_mesh(tree.leaf_spheres, mesh).min(axis=-1)
    return result


def overlaps_tree_mesh(tree: SphereTree, mesh: TriangleMesh) -> Bools:
    """Whether some leaf overlaps some triangle, (...)."""
    return np.asarray(overlaps_sphere_mesh(tree.leaf_spheres, mesh).any(axis=-1))


def witness_points_tree_mesh(tree: SphereTree, mesh: TriangleMesh) -> WitnessPoints:
    """Those of the leaf and the triangle of least separation; see `witness_points_sphere_mesh`."""
    leaves = tree.leaf_spheres
    leaf = separation_sphere_mesh(leaves, mesh).argmin(axis=-1)[..., None]
    center = np.take_along_axis(leaves.center, leaf[..., None], axis=-2)[..., 0, :]
    radius = np.take_along_axis(leaves.radius, leaf, axis=-1)[..., 0]
    return witness_points_sphere_mesh(Sphere.trusted(center, radius), mesh)


def minimum_translation_tree_mesh(tree: SphereTree, mesh: TriangleMesh) -> Floats:
    """The shortest move that frees the leaf that is deepest in a triangle, (..., 3); zero for none.

    Other leaves may still overlap: it takes another move then.
    """
    moves = minimum_translation_sphere_mesh(tree.leaf_spheres, mesh)
    deepest = length(moves).argmax(axis=-1)[..., None, None]
    result: Floats = np.take_along_axis(moves, deepest, axis=-2)[..., 0, :]
    return result


def _nearest(sphere: Sphere, mesh: TriangleMesh) -> tuple[Sphere, Ints]:
    """The spheres as a flat batch (n,), and their triangles of least separation; -1 where all are inf."""
    flat = sphere.reshaped((-1,))
    nearest, depth = _deepest(flat, mesh)
    for start in range(0, len(depth), _SPHERES_AT_ONCE):
        apart = start + np.flatnonzero(depth[start : start + _SPHERES_AT_ONCE] > 0)
        if len(apart):
            nearest[apart] = _nearest_of_parts(flat[apart], mesh)
    return flat, nearest


def _deepest(flat: Sphere, mesh: TriangleMesh) -> tuple[Ints, Floats]:
    """Of spheres (n,) the triangle in which they are deepest, and its separation; -1 and inf for none."""
    best, least = np.full(flat.shape, -1), np.full(flat.shape, np.inf)
    for i, t in mesh.pairs_of_boxes(flat.aabb()):
        value = separation_sphere_triangle(flat[i], mesh.triangles[t])
        keep_least(best, least, i, t, np.where(value <= 0, value, np.inf))
    return best, least


def _nearest_of_parts(apart: Sphere, mesh: TriangleMesh) -> Ints:
    """Of spheres (n,) the triangle of least separation, -1 where all are inf."""
    best, least = np.full(apart.shape, -1), np.full(apart.shape, np.inf)
    count = len(mesh.triangles.a)
    if len(best) * count <= _ALL_PAIRS:
        i, t = np.arange(len(best)).repeat(count), np.tile(np.arange(count), len(best))
    else:
        parts = mesh.parts
        rows, _ = close_leaves(np.arange(len(best)), NO_TREE, parts.tree.children, parts.bounds(apart))
        first, last = parts.tree.parts[rows.b].T
        i = rows.element.repeat(last - first)
        t = parts.tree.order[ranges(first, last - first)]
    for start in range(0, len(i), CHUNK_ROWS):
        some, others = i[start : start + CHUNK_ROWS], t[start : start + CHUNK_ROWS]
        value = separation_sphere_triangle(apart[some], mesh.triangles[others])
        keep_least(best, least, some, others, value)
    return best


def keep_least(best: _Numbers, least: Floats, i: Ints, t: _Numbers, value: Floats) -> None:
    """Note for each sphere `i` the triangle or time `t` of the least finite value, of equals the first."""
    better = np.flatnonzero((value < least[i]) | ((value == least[i]) & (t < best[i])))
    i, t, value = i[better], t[better], value[better]
    # Backwards, so that the best is written last.
    order = np.lexsort((t, value))[::-1]
    best[i[order]], least[i[order]] = t[order], value[order]
