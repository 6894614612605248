"""Bounds as the text of a USD stage with colliders of UsdPhysics: a prim for each object, below its parent.

Numbers are in double precision, except for the vertices of meshes and for extents, which USD has in single
precision only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....core import Capsule, Cylinder, Obb, Sphere
from ....core.numeric.arrays import Floats
from ....core.numeric.floating_point import float32_at_least, float32_at_most
from ...document.model import SHAPE_TYPES
from ...spaces import matrix_from_quaternion
from .link_frames import NO_ROTATION, roll_pitch_yaw
from .link_names import identifier_from
from .link_shapes import LinkFormat, LinkHull, LinkShape, shape_pose
from .links import Link, link_children, links_from_document
from .text import decimals_text, generator_text, indented

USD_SHAPES = frozenset(SHAPE_TYPES)

_COLLIDER = "collision"
"""Name of the prim of a link's shape, which no link has."""


def usd_physics(document: dict[str, Any]) -> Iterator[str]:
    """Convert the bounds of a document to the text of a USD stage.

    Parameters
    ----------
    document : dict
        In ROBOTICS_SPACE.

    Yields
    ------
    part : str
        Text of the file, in order. A part for each prim.

    Raises
    ------
    RoboticsError
        See `links_from_document`; before the first part.
    """
    links = links_from_document(document, LinkFormat("USD Physics", USD_SHAPES))
    return _parts(document, links)


def _parts(document: dict[str, Any], links: list[Link]) -> Iterator[str]:
    root = identifier_from(document["source"]["scene"])
    yield f"#usda 1.0\n# {generator_text(document)}\n(\n"
    yield f'  defaultPrim = "{root}"\n  kilogramsPerUnit = 1\n  metersPerUnit = 1\n  upAxis = "Z"\n)\n\n'
    yield f'def Xform "{root}"\n{{\n'
    children = link_children(links)
    waiting: list[int | str] = list(reversed(children.get(None, [])))
    while waiting:  # without recursion, which deep hierarchies would end
        row = waiting.pop()
        if isinstance(row, str):
            yield row
            continue
        levels = links[row].frame.level + 1
        yield indented(_link_lines(links[row]), levels)
        waiting.append(indented(["}"], levels))
        waiting.extend(reversed(children.get(row, [])))
    yield "}\n"


def _link_lines(link: Link) -> Iterator[str]:
    """Lines of a prim, without the prims below it and its closing brace."""
    yield f'def Xform "{link.name}" ('
    yield f"  customData = {{ string collisionBoundsId = {string_text(link.id)} }}"
    yield f"  displayName = {string_text(link.object_name)}"
    yield ")"
    yield "{"
    for line in _transform_lines(link.frame.offset, link.frame.quaternion):
        yield f"  {line}"
    if len(link.shapes) == 1:
        for line in _collider_lines(_COLLIDER, link.shapes[0]):
            yield f"  {line}"
    elif link.shapes:
        yield f'  def Xform "{_COLLIDER}"'
        yield "  {"
        for number, shape in enumerate(link.shapes):
            for line in _collider_lines(f"{_COLLIDER}_{number}", shape):
                yield f"    {line}"
        yield "  }"


def _collider_lines(name: str, shape: LinkShape) -> Iterator[str]:
    kind, *lines = _geometry_lines(shape)
    schemas = ["PhysicsCollisionAPI", *(["PhysicsMeshCollisionAPI"] if isinstance(shape, LinkHull) else [])]
    yield f'def {kind} "{name}" ('
    yield "  prepend apiSchemas = [" + ", ".join(f'"{schema}"' for schema in schemas) + "]"
    yield ")"
    yield "{"
    for line in lines:
        yield f"  {line}"
    # Colliders are not rendered, like those of other programs.
    yield '  uniform token purpose = "guide"'
    scale = shape.half_extents if isinstance(shape, Obb) else None
    for line in _transform_lines(*shape_pose(shape), scale):
        yield f"  {line}"
    yield "}"


def _geometry_lines(shape: LinkShape) -> Iterator[str]:
    """Type of the prim of a shape, then its attributes."""
    if isinstance(shape, Obb):
        # USD has a cube only; its scale makes it a box.
        yield from ("Cube", _extent(np.ones(3)), "double size = 2")
    elif isinstance(shape, Sphere):
        radius = float(shape.radius)
        yield from ("Sphere", _extent(np.full(3, radius)), f"double radius = {decimals_text([radius])}")
    elif isinstance(shape, Capsule | Cylinder):
        radius, half = float(shape.radius), float(shape.half_length)
        is_capsule = isinstance(shape, Capsule)
        yield "Capsule" if is_capsule else "Cylinder"
        yield 'uniform token axis = "Z"'
        yield _extent(np.array([radius, radius, half + radius if is_capsule else half]))
        yield f"double height = {decimals_text([2 * half])}"
        yield f"double radius = {decimals_text([radius])}"
    else:
        vertices, faces = shape.hull
        yield "Mesh"
        yield f"float3[] extent = {_tuples(np.array([vertices.min(axis=0), vertices.max(axis=0)]))}"
        yield f"int[] faceVertexCounts = {[3] * len(faces)}"
        yield f"int[] faceVertexIndices = {faces.reshape(-1).tolist()}"
        yield f"point3f[] points = {_tuples(vertices)}"
        yield 'uniform token physics:approximation = "convexHull"'
        yield 'uniform token subdivisionScheme = "none"'


def _transform_lines(center: Floats, quaternion: Floats, scale: Floats | None = None) -> Iterator[str]:
    """Attributes of a transform, without those of the identity."""
    order = []
    if center.any():
        order.append("xformOp:translate")
        yield f"double3 xformOp:translate = ({decimals_text(center, ', ')})"
    if not np.array_equal(quaternion, NO_ROTATION):
        order.append("xformOp:rotateXYZ")
        # No quaternion: USD takes the angle from its w, which loses angles of less than 1e-8.
        angles = np.degrees(roll_pitch_yaw(matrix_from_quaternion(quaternion)))
        yield f"double3 xformOp:rotateXYZ = ({decimals_text(angles, ', ')})"
    if scale is not None:
        order.append("xformOp:scale")
        yield f"double3 xformOp:scale = ({decimals_text(scale, ', ')})"
    if order:
        yield "uniform token[] xformOpOrder = [" + ", ".join(f'"{name}"' for name in order) + "]"


def _extent(half: Floats) -> str:
    """Attribute of the box around a shape that is centered at its origin."""
    return f"float3[] extent = {_tuples(np.array([float32_at_most(-half), float32_at_least(half)]))}"


def _tuples(rows: Floats) -> str:
    return "[" + ", ".join(f"({decimals_text(row, ', ')})" for row in rows) + "]"


def string_text(text: str) -> str:
    r"""Return a text as a string of USD, in quotes, with escapes such as \x1b for control characters."""
    marks = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    escaped = (
        marks.get(character) or (f"\\x{ord(character):02x}" if ord(character) < 32 else character)
        for character in text
    )
    return '"' + "".join(escaped) + '"'
