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
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..errors import UnsupportedPairError
from ..mesh.meshes import Meshes
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Bools, Floats
from ..numeric.batch import Batched, common_batch
from ..shapes import Aabb, Capsule, Obb, Segment, Shape, Sphere, Triangle
from ..trees.sphere_tree import SphereTree
from . import meshes, obb, separating_axis
from . import sphere as spheres
from .separating_axis import WitnessPoints
from .sphere import nearest_leaf_pairs, nearest_leaves
from .sphere_mesh import nearest_triangles, overlaps_sphere_mesh

Solid: TypeAlias = Shape | SphereTree | TriangleMesh | Meshes
"""A shape, a sphere tree, a triangle mesh or a batch of meshes: everything that queries accept."""


def separation(a: Solid, b: Solid) -> Floats:
    """Signed distance between the surfaces of two shapes.

    Exact up to float64 rounding of their size and distance. Oriented boxes use separating axes (Gottschalk
    1996); see docs/math.md.

    Parameters
    ----------
    a, b : Shape, SphereTree, TriangleMesh or Meshes
        Batches broadcast.

    Returns
    -------
    separation : (...) float64
        In the unit of the shapes; <= 0 where they overlap. For a sphere tree the minimum over its leaves,
        for a mesh over its triangles. Infinite for a sphere with its center behind a one-sided triangle.
        Of two `Meshes` that overlap, it is no depth: see `overlap_depth`.

    Raises
    ------
    UnsupportedPairError
        For types without a method.
    InvalidShapeError
        For batches that do not broadcast.
    """
    methods, first, second, _ = _find_methods("separation", a, b)
    return methods.separation(first, second)


def overlaps(a: Solid, b: Solid) -> Bools:
    """Decide which shapes share a point; touching counts. Needs no square root.

    Exact except that gaps within float64 rounding of the shapes' size may count as touching.

    Parameters
    ----------
    a, b : Shape, SphereTree, TriangleMesh or Meshes
        Batches broadcast.

    Returns
    -------
    overlaps : (...) bool

    Raises
    ------
    UnsupportedPairError, InvalidShapeError
        As `separation`.
    """
    methods, first, second, _ = _find_methods("overlap", a, b)
    return methods.overlaps(first, second)


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
    methods, first, second, is_swapped = _find_methods("minimum translation", a, b)
    if isinstance(first, Meshes):
        # Their separation is no depth where they overlap.
        raise unsupported_pair("minimum translation", a, b)
    depth = np.minimum(methods.separation(first, second), 0.0)[..., None]
    # Closest points of boxes take long, and those that are apart are not needed.
    move = methods.witness(first, second).normal * depth if depth.any() else np.zeros((*depth.shape[:-1], 3))
    return np.asarray((-move if is_swapped else move) + 0.0)


def witness_points(a: Solid, b: Solid) -> WitnessPoints:
    """Closest points of two shapes, and the normal from `a` to `b`.

    Exact like `separation`. Where the direction is undefined, as between concentric spheres, the method of
    the pair documents its choice; it is never NaN. Behind a one-sided triangle the points are those of the
    two-sided one.

    Parameters
    ----------
    a, b : Shape, SphereTree, TriangleMesh or Meshes
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
    methods, first, second, is_swapped = _find_methods("witness points", a, b)
    witness = methods.witness(first, second)
    return witness.swapped() if is_swapped else witness


class PairMethods(NamedTuple):
    """The functions for one pair of types."""

    separation: Callable[[Any, Any], Floats]
    overlaps: Callable[[Any, Any], Bools]
    witness: Callable[[Any, Any], WitnessPoints]


def _methods(module: ModuleType, pair: str) -> PairMethods:
    """Find the functions of a module by the names of a pair, such as `separation_sphere_aabb`.

    Without a function for overlaps, the sign of the separation decides.
    """
    separation, witness = (getattr(module, f"{query}_{pair}") for query in ("separation", "witness_points"))

    def by_sign(a: Any, b: Any) -> Bools:
        return np.asarray(separation(a, b) <= 0)

    return PairMethods(separation, getattr(module, f"overlaps_{pair}", by_sign), witness)


PAIRS: dict[tuple[type, type], PairMethods] = {
    (Sphere, Sphere): _methods(spheres, "sphere_sphere"),
    (Sphere, Segment): _methods(spheres, "sphere_segment"),
    (Sphere, Triangle): _methods(spheres, "sphere_triangle"),
    (Sphere, Aabb): _methods(spheres, "sphere_aabb"),
    (Sphere, Obb): _methods(spheres, "sphere_obb"),
    # The mesh counts as its triangle of minimum separation, but for overlaps.
    (Sphere, TriangleMesh): PairMethods(
        spheres.separation_sphere_triangle,
        overlaps_sphere_mesh,
        spheres.witness_points_sphere_triangle,
    ),
    (Meshes, Meshes): _methods(meshes, "meshes"),
    (Aabb, Aabb): _methods(separating_axis, "aabb_aabb"),
    **{pair: _methods(obb, "obb_obb") for pair in ((Aabb, Obb), (Obb, Aabb), (Obb, Obb))},
    **{(Capsule, kind): _methods(obb, "capsule_shape") for kind in (Capsule, Sphere, Aabb, Obb)},
}


def _find_methods(query: str, a: Any, b: Any) -> tuple[PairMethods, Any, Any, bool]:
    """Find the methods for a pair, both shapes in their order, and whether that is swapped.

    A sphere tree counts as its leaf of minimum separation, and a mesh as such a triangle, but for "overlap",
    which needs no triangle of spheres that are apart. Errors name the query.
    """
    kinds = tuple(Sphere if isinstance(shape, SphereTree) else type(shape) for shape in (a, b))
    is_swapped = kinds not in PAIRS
    methods = PAIRS.get(kinds[::-1] if is_swapped else kinds)  # type: ignore[arg-type]
    if methods is None:
        raise unsupported_pair(query, a, b)
    common_batch("shapes", a.shape, b.shape)
    if isinstance(a, SphereTree) and isinstance(b, SphereTree):
        a, b = nearest_leaf_pairs(a, b)
    elif isinstance(a, SphereTree):
        a = nearest_leaves(a, b, separation)
    elif isinstance(b, SphereTree):
        b = nearest_leaves(b, a, separation)
    first, second = (b, a) if is_swapped else (a, b)
    if isinstance(second, TriangleMesh) and query != "overlap":
        second = second.triangles[nearest_triangles(first.reshaped((-1,)), second)].reshaped(first.shape)
    return methods, first, second, is_swapped


def unsupported_pair(
    query: str, a: object, b: object, names: tuple[str, str] = ("a", "b")
) -> UnsupportedPairError:
    """Make the error for two types of shapes without a method, or for an argument that is no shape.

    query : Name of the query, for the message.
    a, b : The two shapes.
    names : Names of the arguments, for the message.
    """
    kinds = f"no {query} of {type(a).__name__} and {type(b).__name__}"
    for name, shape in zip(names, (a, b), strict=True):
        if not isinstance(shape, Batched | SphereTree | TriangleMesh):
            return UnsupportedPairError(f"{name}: is not a shape, a sphere tree or a mesh, so {kinds}")
    return UnsupportedPairError(kinds)
