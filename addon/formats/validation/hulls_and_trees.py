"""Consistency of hulls (closed, convex, counter-clockwise), trees (one parent a node) and unit vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.fitting.hull_surface import hull_defect
from .contacts import is_unit

_UNIT_MEMBERS = {
    "obb": ("rotation", "is not a unit quaternion", 1e-5),
    "capsule": ("axis", "is not of length 1", 1e-6),
    "cylinder": ("axis", "is not of length 1", 1e-6),
}
"""Members of shapes that have unit length, their problem otherwise, and the tolerance."""


def detailed_problems(shapes: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the problems of each shape by itself, of a group of shapes that is correct by the schema."""
    if hull := shapes.get("hull"):
        vertices = np.array(hull["vertices"], dtype=np.float64)
        faces = np.array(hull["faces"], dtype=np.float64)  # because JSON allows 1e30 and 1.0 as integers
        if faces.max() >= len(vertices):
            yield f"{path}.hull.faces: refer to vertex {faces.max():.15g} of {len(vertices)}"
        elif defect := hull_defect(vertices, faces.astype(np.int64)):
            yield f"{path}.hull.{defect}"
    if tree := shapes.get("spheres"):
        yield from _tree_problems(tree, f"{path}.spheres")
    box = shapes.get("aabb")
    if box and any(low > high for low, high in zip(box["min"], box["max"], strict=True)):
        yield f"{path}.aabb: min > max"
    for key, (member, problem, tolerance) in _UNIT_MEMBERS.items():
        if key in shapes and not is_unit(shapes[key][member], tolerance):
            yield f"{path}.{key}.{member}: {problem}"
    for index, part in enumerate(shapes.get("compound", ())):
        yield from detailed_problems(part, f"{path}.compound[{index}]")


def _tree_problems(tree: list[dict[str, Any]], path: str) -> Iterator[str]:
    parents = [0] * len(tree)
    listed: list[int] = []
    for index, node in enumerate(tree):
        if len(node["children"]) == 1:
            yield f"{path}[{index}].children: must be two, or none"
        for child in node["children"]:
            if not index < child < len(tree):
                yield f"{path}[{index}].children: {child} is not the index of a later node"
            else:
                parents[int(child)] += 1
                listed.append(int(child))
    if any(count != 1 for count in parents[1:]):
        yield f"{path}: each node except the root must be the child of exactly one node"
    elif listed != list(range(1, len(tree))):
        yield f"{path}: nodes are not breadth-first, level by level and in the order of their parents"
