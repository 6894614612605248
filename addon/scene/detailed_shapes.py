"""Shapes that follow a mesh closely: its convex hull, and a tree of spheres."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ..core import ConvexHull, Sphere, SphereTree, hull_from_points
from ..core.arrays import Floats, rotation_matrix, transform_vectors
from ..core.directions import geodesic
from ..core.fitting import enclosing_radii, spheres_from_groups
from .collider_shapes import swollen
from .composition import Piece
from .extraction import Placement
from .fitting import padded, with_balls
from .tree_leaves import node_groups

Detailed: TypeAlias = ConvexHull | SphereTree

_MOST_CORNERS = 255
"""What PhysX takes, and with it Unity and Unreal."""


def hulls(piece: Piece, placed: Placement) -> tuple[ConvexHull, ConvexHull]:
    """The convex hull of a thing in its own turned and moved axes, and the same in world space.

    Conservative, padding included; what is flat gets a little thickness. Raises CollisionBoundsError.
    """
    local, _, turn = _points(piece, placed)
    geometry = piece.geometry
    if geometry.radius:
        globe = geodesic(4)
        around = globe.vectors * (geometry.radius / globe.nearness)
        linear = turn.T @ geometry.matrix[:3, :3]
        local = (local[:, None] + transform_vectors(linear, around)).reshape(-1, 3)
    hull = hull_from_points(swollen(local, np.eye(3), np.ones(3), piece.fit.padding), _MOST_CORNERS)
    return hull, ConvexHull(transform_vectors(turn, hull.vertices) + placed.translation, hull.faces)


def trees(piece: Piece, placed: Placement) -> tuple[SphereTree, SphereTree]:
    """A sphere tree of a thing in its own turned and moved axes, and the same in world space.

    The sphere of each node holds the vertices of its part; the first of its leaves those of no triangle, too.
    Raises CollisionBoundsError.
    """
    local, world, turn = _points(piece, placed)
    children, (order, offsets) = node_groups(local, piece.triangles, piece.fit.depth)
    ball = spheres_from_groups(local[order], offsets)
    center = transform_vectors(turn, ball.center) + placed.translation
    there = Sphere(center, enclosing_radii(world[order], offsets, center))
    count = len(children)
    linear = np.broadcast_to(piece.geometry.matrix[:3, :3], (count, 3, 3))
    radii = np.full(count, piece.geometry.radius)
    made = []
    for sphere in (ball, there):
        grown = padded(with_balls(sphere, linear, radii), piece.fit.padding)
        assert isinstance(grown, Sphere), "as it was"
        made.append(SphereTree(grown.center, grown.radius, children))
    return made[0], made[1]


def _points(piece: Piece, placed: Placement) -> tuple[Floats, Floats, Floats]:
    """The vertices (n, 3) in a thing's own turned and moved axes, and in the world; how those are turned."""
    turn = rotation_matrix(placed.rotation)
    matrix = piece.geometry.matrix
    world = transform_vectors(matrix[:3, :3], piece.geometry.points.astype(np.float64)) + matrix[:3, 3]
    return transform_vectors(turn.T, world - placed.translation), world, turn
