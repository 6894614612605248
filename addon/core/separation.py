"""Two shapes at rest: how far apart, whether they overlap, the way out, where they are closest.

Separation is signed: positive is the gap between the surfaces, negative the depth of the overlap. Touching
(0) counts as overlap. Lengths are in the caller's unit. All functions broadcast the batches of their
arguments and take the shapes in either order. A pair of kinds without a method, and batches that do not
broadcast, are an InvalidShapeError.

Exact up to float64 rounding of the largest coordinate or length of a pair, for lengths from 1e-150 to 1e150.
Where two shapes touch but for that rounding, the answers may differ on which side of 0 they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from . import separation_boxes as boxes
from . import separation_spheres as spheres
from . import separation_trees as trees
from . import triangle_mesh as meshes
from .arrays import Bools, Floats
from .batch import common_batch
from .errors import InvalidShapeError
from .shapes import Aabb, Obb, Segment, Shape, Sphere, Triangle
from .sphere_tree import SphereTree
from .triangle_mesh import TriangleMesh
from .witness import WitnessPoints

Solid: TypeAlias = Shape | SphereTree | TriangleMesh
"""Anything that can be near something else."""


def separation(a: Solid, b: Solid) -> Floats:
    """Signed distance between the surfaces; (...) float64, <= 0 where the shapes overlap.

    A sphere whose centre is behind a one-sided triangle is inf away from it. Of a sphere tree it is the least
    of its leaves, of a mesh the least of its triangles. In the unit of the shapes; exact up to float64
    rounding of their size and distance. Raises InvalidShapeError for kinds without a method and for batches
    that do not broadcast. Oriented boxes: separating axes (Gottschalk 1996); see docs/math.md.
    """
    method, swapped = _method("separation", a, b)
    result: Floats = method.separation(b, a) if swapped else method.separation(a, b)
    return result


def overlaps(a: Solid, b: Solid) -> Bools:
    """Whether the shapes share a point, (...) bool; touching counts. Decided without a square root.

    Exact but for gaps within float64 rounding of the shapes' size, which may count as touching. Raises as
    `separation` does.
    """
    method, swapped = _method("overlap", a, b)
    result: Bools = method.overlaps(b, a) if swapped else method.overlaps(a, b)
    return result


def minimum_translation(a: Solid, b: Solid) -> Floats:
    """The shortest move of the first shape that ends the overlap, (..., 3); zero where there is none.

    Afterwards the shapes touch, to rounding. Where several moves are equally short a stated one is taken. A
    sphere tree or a mesh is freed where it is deepest; other leaves or triangles may still overlap, as in a
    corner, and it takes another move then. In the unit and directions of the shapes, exact like `separation`,
    and raises as that does.
    """
    method, swapped = _method("minimum translation", a, b)
    if method.translation:
        return -method.translation(b, a) + 0.0 if swapped else method.translation(a, b)
    depth = np.minimum(separation(a, b), 0.0)
    move: Floats = witness_points(a, b).normal * depth[..., None] + 0.0
    return move


def witness_points(a: Solid, b: Solid) -> WitnessPoints:
    """Closest points and the normal from `a` to `b`, (..., 3) each.

    Where there is no direction, as between concentric spheres, a stated one is taken, never NaN: see the
    method of the pair. Behind a one-sided triangle the points are those of a two-sided one. In the space of
    the shapes, exact like `separation`, and raises as that does.
    """
    method, swapped = _method("witness points", a, b)
    result: WitnessPoints = method.witness(b, a).swapped() if swapped else method.witness(a, b)
    return result


class _Pair(NamedTuple):
    separation: Callable[[Any, Any], Floats]
    overlaps: Callable[[Any, Any], Bools]
    witness: Callable[[Any, Any], WitnessPoints]
    translation: Callable[[Any, Any], Floats] | None = None


_OBB_OBB = _Pair(boxes.separation_obb_obb, boxes.overlaps_obb_obb, boxes.witness_points_obb_obb)
_TREE_SHAPE = _Pair(trees.separation_tree_shape, trees.overlaps_tree_shape, trees.witness_points_tree_shape)

_PAIRS: dict[tuple[type, type], _Pair] = {
    (Sphere, Sphere): _Pair(
        spheres.separation_sphere_sphere,
        spheres.overlaps_sphere_sphere,
        spheres.witness_points_sphere_sphere,
    ),
    (Sphere, Segment): _Pair(
        spheres.separation_sphere_segment,
        spheres.overlaps_sphere_segment,
        spheres.witness_points_sphere_segment,
    ),
    (Sphere, Triangle): _Pair(
        spheres.separation_sphere_triangle,
        spheres.overlaps_sphere_triangle,
        spheres.witness_points_sphere_triangle,
    ),
    (Sphere, Aabb): _Pair(
        spheres.separation_sphere_aabb, spheres.overlaps_sphere_aabb, spheres.witness_points_sphere_aabb
    ),
    (Sphere, Obb): _Pair(
        spheres.separation_sphere_obb, spheres.overlaps_sphere_obb, spheres.witness_points_sphere_obb
    ),
    (Aabb, Aabb): _Pair(boxes.separation_aabb_aabb, boxes.overlaps_aabb_aabb, boxes.witness_points_aabb_aabb),
    (Aabb, Obb): _OBB_OBB,
    (Obb, Aabb): _OBB_OBB,
    (Obb, Obb): _OBB_OBB,
    **{(SphereTree, kind): _TREE_SHAPE for kind in trees.SPHERE_PAIRS},
    (SphereTree, SphereTree): _Pair(
        trees.separation_tree_tree, trees.overlaps_tree_tree, trees.witness_points_tree_tree
    ),
    (Sphere, TriangleMesh): _Pair(
        meshes.separation_sphere_mesh,
        meshes.overlaps_sphere_mesh,
        meshes.witness_points_sphere_mesh,
        meshes.minimum_translation_sphere_mesh,
    ),
    (SphereTree, TriangleMesh): _Pair(
        meshes.separation_tree_mesh,
        meshes.overlaps_tree_mesh,
        meshes.witness_points_tree_mesh,
        meshes.minimum_translation_tree_mesh,
    ),
}


def _method(what: str, a: Solid, b: Solid) -> tuple[_Pair, bool]:
    """The method for a pair, and whether it takes the two in the other order."""
    for kinds, swapped in (((type(a), type(b)), False), ((type(b), type(a)), True)):
        if kinds in _PAIRS:
            require_common_batch(a, b)
            return _PAIRS[kinds], swapped
    raise unsupported_pair(what, a, b)


def require_common_batch(*shapes: Solid) -> tuple[int, ...]:
    """The batch that shapes broadcast to; InvalidShapeError when they do not."""
    return common_batch("shapes", *(shape.shape for shape in shapes))


def unsupported_pair(what: str, a: object, b: object) -> InvalidShapeError:
    """The error for two kinds of shapes that no method pairs."""
    return InvalidShapeError(f"no {what} of {type(a).__name__} and {type(b).__name__}")
