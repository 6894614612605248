"""Consistency of hulls (closed, convex, counter-clockwise) and of sphere trees (each node has one parent)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.numeric.arrays import cross, dot, length

_BULGE = 1e-5
"""Largest height of a vertex above a face, relative to the hull's size, because vertices are rounded."""


def detailed_problems(shapes: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the problems of the hull and the tree of a group of shapes that is correct by the schema."""
    if hull := shapes.get("hull"):
        yield from _hull_problems(hull, f"{path}.hull")
    if tree := shapes.get("spheres"):
        yield from _tree_problems(tree, f"{path}.spheres")


def _hull_problems(hull: dict[str, Any], path: str) -> Iterator[str]:
    vertices = np.array(hull["vertices"], dtype=np.float64)
    faces = np.array(hull["faces"], dtype=np.int64)
    if faces.max() >= len(vertices):
        yield f"{path}.faces: refer to vertex {faces.max()} of {len(vertices)}"
        return
    edges = {tuple(edge) for face in hull["faces"] for edge in zip(face, (*face[1:], face[0]), strict=True)}
    if len(edges) != 3 * len(faces) or any((b, a) not in edges for a, b in edges):
        yield f"{path}.faces: are not a closed surface"
        return
    # Centered and scaled to unit size, so that no product overflows or underflows.
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    size = float((high / 2 - low / 2).max()) or 1.0
    points = (vertices - (low / 2 + high / 2)) / size
    a, b, c = (points[faces[:, corner]] for corner in range(3))
    normals = cross(b - a, c - a)
    volume = float(dot(a, cross(b, c)).sum())
    if volume <= 0:
        yield f"{path}.faces: are clockwise as seen from outside"
        return
    heights = normals @ points.T - dot(normals, a)[:, None]
    if (heights > _BULGE * np.maximum(length(normals), _BULGE)[:, None]).any():
        yield f"{path}: is not convex"


def _tree_problems(tree: list[dict[str, Any]], path: str) -> Iterator[str]:
    parents = [0] * len(tree)
    for index, node in enumerate(tree):
        if len(node["children"]) == 1:
            yield f"{path}[{index}].children: must be two, or none"
        for child in node["children"]:
            if not index < child < len(tree):
                yield f"{path}[{index}].children: {child} is not the index of a later node"
            else:
                parents[child] += 1
    if any(count != 1 for count in parents[1:]):
        yield f"{path}: each node except the root must be the child of exactly one node"
