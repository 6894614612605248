"""Colliders as users make them, and the problems that a check finds in the active scene."""

from __future__ import annotations

from itertools import pairwise

import bpy
import numpy as np

from addon.scene.colliders.check import ColliderCheck, ColliderFinding, check_colliders
from addon.scene.settings import ColliderCheckSettings
from tests.scene.building import CUBE, add_vertices
from tests.scene.enclosing import cube_faces

TETRAHEDRON = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
TETRAHEDRON_FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]


def add_cube(name: str, half: float = 1.0, **attributes: object) -> bpy.types.Object:
    """Add a cube with faces around the origin of its object."""
    return add_vertices(name, CUBE * half, cube_faces(), **attributes)


def add_tetrahedron(name: str, **attributes: object) -> bpy.types.Object:
    return add_vertices(name, TETRAHEDRON, TETRAHEDRON_FACES, **attributes)


def add_round(name: str, length: float = 0.0, radius: float = 1.0, **attributes: object) -> bpy.types.Object:
    """Add a sphere of rings and segments, or a capsule: its upper half is moved up by a length."""
    rings, segments = 8, 16
    angles = np.linspace(0, 2 * np.pi, segments, endpoint=False)
    points, faces = [(0.0, 0.0, -radius)], []
    for ring in range(1, rings):
        height = -np.cos(np.pi * ring / rings) * radius
        across = np.sin(np.pi * ring / rings) * radius
        up = length if ring > rings / 2 else 0.0
        points += [(across * np.cos(angle), across * np.sin(angle), height + up) for angle in angles]
        if ring == rings / 2 and length:
            points += [(across * np.cos(angle), across * np.sin(angle), length) for angle in angles]
    points.append((0.0, 0.0, radius + length))
    circles = [range(start, start + segments) for start in range(1, len(points) - 1, segments)]
    for lower, upper in pairwise(circles):
        faces += [
            (lower[k], lower[(k + 1) % segments], upper[(k + 1) % segments], upper[k])
            for k in range(segments)
        ]
    faces += [(0, circles[0][(k + 1) % segments], circles[0][k]) for k in range(segments)]
    top = len(points) - 1
    faces += [(circles[-1][k], circles[-1][(k + 1) % segments], top) for k in range(segments)]
    return add_vertices(name, points, faces, **attributes)


def check(**settings: object) -> ColliderCheck:
    bpy.context.view_layer.update()
    return check_colliders(bpy.context.scene, ColliderCheckSettings(**settings))


def problems(**settings: object) -> list[tuple[str, str]]:
    """Return the names of objects with problems, and the kinds of these."""
    return [(entry.name, entry.kind) for entry in check(**settings).problems]


def only_problem(kind: str) -> ColliderFinding:
    """Return the only problem of the scene, which must be of this kind."""
    (found,) = check().problems
    assert found.kind == kind, found
    return found
