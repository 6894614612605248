"""Queries for two shapes at rest: separation, overlap, minimum translation and witness points.

Space: results are in the space and unit of the shapes. All functions broadcast the batches of their
arguments and take the shapes in either order.

Sign: separation is positive for the gap between the surfaces, negative for the depth of the overlap.
Touching (0) counts as overlap.

Guarantee: exact up to float64 rounding of the largest coordinate or length of a pair, for lengths from
1e-150 to 1e150. Where two shapes touch up to that rounding, the functions may disagree about the side of 0.

Errors: a pair of types without a method raises UnsupportedPairError. Batches that do not broadcast raise
InvalidShapeError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..errors import UnsupportedPairError
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Bools, Floats
from ..numeric.batch import common_batch
from ..shapes import Aabb, Capsule, Cylinder, Obb, Segment, Shape, Sphere, Triangle
from ..trees.sphere_tree import SphereTree
from . import aabb, obb
from . import capsule as capsules
from . import sphere as spheres
from . import sphere_mesh as meshes
from . import sphere_tree as trees
from .witness import WitnessPoints

Solid: TypeAlias = Shape | SphereTree | TriangleMesh
"""A shape, a sphere tree or a triangle mesh: everything that queries accept."""

_SOLIDS = (Sphere, Aabb, Obb, Capsule, Cylinder, Segment, Triangle, SphereTree, TriangleMesh)


def separation(a: Solid, b: Solid) -> Floats:
    """Signed distance between the surfaces of two shapes.

    Exact up to float64 rounding of their size and distance. Oriented boxes use separating axes (Gottschalk
    1996); see docs/math.md.

    Parameters
    ----------
    a, b : Shape, SphereTree or TriangleMesh
        Batches broadcast.

    Returns
    -------
    separation : (...) float64
        In the unit of the shapes; <= 0 where they overlap. For a sphere tree the minimum over its leaves,
        for a mesh over its triangles. Infinite for a sphere with its center behind a one-sided triangle.

    Raises
    ------
    UnsupportedPairError
        For types without a method.
    InvalidShapeError
        For batches that do not broadcast.
    """
    methods, is_swapped = _find_methods("separation", a, b)
    result: Floats = methods.separation(b, a) if is_swapped else methods.separation(a, b)
    return result


def overlaps(a: Solid, b: Solid) -> Bools:
    """Decide which shapes share a point; touching counts. Needs no square root.

    Exact except that gaps within float64 rounding of the shapes' size may count as touching.

    Parameters
    ----------
    a, b : Shape, SphereTree or TriangleMesh
        Batches broadcast.

    Returns
    -------
    overlaps : (...) bool

    Raises
    ------
    UnsupportedPairError, InvalidShapeError
        As `separation`.
    """
    methods, is_swapped = _find_methods("overlap", a, b)
    result: Bools = methods.overlaps(b, a) if is_swapped else methods.overlaps(a, b)
    return result


def minimum_translation(a: Solid, b: Solid) -> Floats:
    """Shortest translation of the first shape that ends the overlap.

    Afterwards the shapes touch, to rounding; exact like `separation`. Where several translations are equally
    short, the method of the pair documents its choice. A sphere tree or a mesh is separated at its deepest
    leaf or triangle. Others may still overlap, as in a corner, and then need another translation.

    Parameters
    ----------
    a, b : Shape, SphereTree or TriangleMesh
        Batches broadcast.

    Returns
    -------
    translation : (..., 3) float64
        In the space and unit of the shapes; zero where they do not overlap.

    Raises
    ------
    UnsupportedPairError, InvalidShapeError
        As `separation`.
    """
    methods, is_swapped = _find_methods("minimum translation", a, b)
    if methods.translation:
        return -methods.translation(b, a) + 0.0 if is_swapped else methods.translation(a, b)
    depth = np.minimum(separation(a, b), 0.0)
    move: Floats = witness_points(a, b).normal * depth[..., None] + 0.0
    return move


def witness_points(a: Solid, b: Solid) -> WitnessPoints:
    """Closest points of two shapes, and the normal from `a` to `b`.

    Exact like `separation`. Where the direction is undefined, as between concentric spheres, the method of
    the pair documents its choice; it is never NaN. Behind a one-sided triangle the points are those of the
    two-sided one.

    Parameters
    ----------
    a, b : Shape, SphereTree or TriangleMesh
        Batches broadcast.

    Returns
    -------
    witness : WitnessPoints
        In the space of the shapes, (..., 3) each.

    Raises
    ------
    UnsupportedPairError, InvalidShapeError
        As `separation`.
    """
    methods, is_swapped = _find_methods("witness points", a, b)
    result: WitnessPoints = methods.witness(b, a).swapped() if is_swapped else methods.witness(a, b)
    return result


class _PairMethods(NamedTuple):
    """The functions for one pair of types; without `translation` it follows from the witness points."""

    separation: Callable[[Any, Any], Floats]
    overlaps: Callable[[Any, Any], Bools]
    witness: Callable[[Any, Any], WitnessPoints]
    translation: Callable[[Any, Any], Floats] | None = None


_OBB_OBB = _PairMethods(obb.separation_obb_obb, obb.overlaps_obb_obb, obb.witness_points_obb_obb)
_CAPSULE_SHAPE = _PairMethods(
    capsules.separation_capsule_shape,
    capsules.overlaps_capsule_shape,
    capsules.witness_points_capsule_shape,
)
_TREE_SHAPE = _PairMethods(
    trees.separation_tree_shape, trees.overlaps_tree_shape, trees.witness_points_tree_shape
)

_PAIRS: dict[tuple[type, type], _PairMethods] = {
    (Sphere, Sphere): _PairMethods(
        spheres.separation_sphere_sphere,
        spheres.overlaps_sphere_sphere,
        spheres.witness_points_sphere_sphere,
    ),
    (Sphere, Segment): _PairMethods(
        spheres.separation_sphere_segment,
        spheres.overlaps_sphere_segment,
        spheres.witness_points_sphere_segment,
    ),
    (Sphere, Triangle): _PairMethods(
        spheres.separation_sphere_triangle,
        spheres.overlaps_sphere_triangle,
        spheres.witness_points_sphere_triangle,
    ),
    (Sphere, Aabb): _PairMethods(
        spheres.separation_sphere_aabb, spheres.overlaps_sphere_aabb, spheres.witness_points_sphere_aabb
    ),
    (Sphere, Obb): _PairMethods(
        spheres.separation_sphere_obb, spheres.overlaps_sphere_obb, spheres.witness_points_sphere_obb
    ),
    (Aabb, Aabb): _PairMethods(
        aabb.separation_aabb_aabb, aabb.overlaps_aabb_aabb, aabb.witness_points_aabb_aabb
    ),
    (Aabb, Obb): _OBB_OBB,
    (Obb, Aabb): _OBB_OBB,
    (Obb, Obb): _OBB_OBB,
    **{(Capsule, kind): _CAPSULE_SHAPE for kind in (Capsule, Sphere, Aabb, Obb)},
    **{(SphereTree, kind): _TREE_SHAPE for kind in trees.SPHERE_PAIRS},
    (SphereTree, SphereTree): _PairMethods(
        trees.separation_tree_tree, trees.overlaps_tree_tree, trees.witness_points_tree_tree
    ),
    (Sphere, TriangleMesh): _PairMethods(
        meshes.separation_sphere_mesh,
        meshes.overlaps_sphere_mesh,
        meshes.witness_points_sphere_mesh,
        meshes.minimum_translation_sphere_mesh,
    ),
    (SphereTree, TriangleMesh): _PairMethods(
        meshes.separation_tree_mesh,
        meshes.overlaps_tree_mesh,
        meshes.witness_points_tree_mesh,
        meshes.minimum_translation_tree_mesh,
    ),
}


def _find_methods(query: str, a: Solid, b: Solid) -> tuple[_PairMethods, bool]:
    """Find the methods for a pair, and whether their order is swapped; errors name the query."""
    for types, is_swapped in (((type(a), type(b)), False), ((type(b), type(a)), True)):
        if types in _PAIRS:
            require_common_batch(a, b)
            return _PAIRS[types], is_swapped
    raise unsupported_pair(query, a, b)


def require_common_batch(*shapes: Solid) -> tuple[int, ...]:
    """Return the batch to which shapes broadcast. Exact.

    Parameters
    ----------
    *shapes : shapes, trees or meshes
        One or more, of any batches.

    Returns
    -------
    batch : tuple of int

    Raises
    ------
    InvalidShapeError
        If the batches do not broadcast.
    """
    return common_batch("shapes", *(shape.shape for shape in shapes))


def unsupported_pair(
    query: str, a: object, b: object, names: tuple[str, str] = ("a", "b")
) -> UnsupportedPairError:
    """Make the error for two types of shapes without a method, or for an argument that is no shape.

    Parameters
    ----------
    query : str
        Name of the query, for the message.
    a, b : object
        The two shapes.
    names : two str
        Names of the arguments, for the message.

    Returns
    -------
    error : UnsupportedPairError
    """
    kinds = f"no {query} of {type(a).__name__} and {type(b).__name__}"
    for name, shape in zip(names, (a, b), strict=True):
        if not isinstance(shape, _SOLIDS):
            return UnsupportedPairError(f"{name}: is not a shape, a sphere tree or a mesh, so {kinds}")
    return UnsupportedPairError(kinds)
