"""Bounds as the text of a USD stage with colliders of UsdPhysics: a prim for each object, below its parent.

Numbers are in double precision, except for the vertices of meshes and for extents, which USD has in single
precision only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ....core.numeric.arrays import Floats
from ....core.numeric.floating_point import float32_at_least, float32_at_most
from ...document.model import CollisionResponse
from ...shape_members import EXPORTED_SHAPES
from ...spaces import matrix_from_quaternion
from .link_shapes import NO_ROTATION, LinkFormat, LinkShape, geometry_of, roll_pitch_yaw
from .links import ROBOTICS_SPACE, Link, groups_that_meet, nested_text
from .text import decimals_text, generator_text, identifier_from, indented, link_names

USD = LinkFormat("USD Physics", frozenset(EXPORTED_SHAPES))

USD_SPACE = replace(ROBOTICS_SPACE, applies_unit_scale=False)
"""A Blender unit is a unit of the stage, as in stages of Blender's exporter, so that both fit together."""

_COLLIDER, _GROUPS, _MATERIALS = "collision", "collision_groups", "physics_materials"
"""Names of the prims of a link's shape, of all groups and of all materials, which no link has."""


def usd_physics(document: dict[str, Any], links: list[Link]) -> Iterator[str]:
    """Yield the text of a USD stage, a part for each prim."""
    root = identifier_from(document["source"]["scene"])
    yield f"#usda 1.0\n# {generator_text(document)}\n(\n"
    yield f'  defaultPrim = "{root}"\n  kilogramsPerUnit = 1\n  metersPerUnit = 1\n  upAxis = "Z"\n)\n\n'
    yield f'def Xform "{root}"\n{{\n'
    solid = [link.response.material for link in links if link.shapes and link.response.response == "solid"]
    unique = list(dict.fromkeys(name for name in solid if name is not None))
    prims = zip(unique, link_names(unique), strict=True)
    materials = {name: f"/{root}/{_MATERIALS}/{prim}" for name, prim in prims}
    for lines in (_material_lines(materials), _group_lines(links, root)):
        yield indented(lines, 1)
    yield from nested_text(links, partial(_link_lines, materials=materials), "}", 1)
    yield "}\n"


def _prim(
    kind: str, name: str, metadata: Iterable[str], content: Iterable[str], end: str = "}"
) -> Iterator[str]:
    """Lines of a prim: its type and name, metadata, then attributes and other prims."""
    metadata = [f"  {line}" for line in metadata]
    yield f'def {kind} "{name}"' + (" (" if metadata else "")
    yield from [*metadata, ")"] if metadata else ()
    yield "{"
    yield from (f"  {line}" for line in content)
    if end:
        yield end


def _scope(name: str, prims: Sequence[Iterable[str]]) -> Iterator[str]:
    """Lines of a scope of prims; none without any."""
    return _prim("Scope", name, [], chain.from_iterable(prims)) if prims else iter(())


def _material_lines(paths: dict[str, str]) -> Iterator[str]:
    """Lines of the materials. Their friction stays that of the reader, because Blender has none for them."""
    materials = [
        _prim(
            "Material",
            path.rpartition("/")[2],
            [f"displayName = {string_text(name)}", f"prepend apiSchemas = {_tokens(['PhysicsMaterialAPI'])}"],
            [],
        )
        for name, path in paths.items()
    ]
    return _scope(_MATERIALS, materials)


def _group_lines(links: list[Link], root: str) -> Iterator[str]:
    """Lines of the collision groups; none if all links have the default group and mask."""
    meeting = groups_that_meet(links)
    members: dict[int, list[str]] = {}
    for link in links if meeting else ():
        if link.shapes and link.response.response == "solid":
            path = "/".join(["", root, *(links[row].name for row in link.path), _COLLIDER])
            members.setdefault(link.response.group, []).append(f"<{path}>")
    groups = []
    for group in sorted(members):
        apart = [other for other in sorted(members) if not meeting[group] >> other - 1 & 1]
        filtered = ", ".join(f"</{root}/{_GROUPS}/Group_{other}>" for other in apart)
        relationships = [
            f"rel collection:colliders:includes = [{', '.join(members[group])}]",
            f"rel physics:filteredGroups = [{filtered}]",
        ]
        schemas = f"prepend apiSchemas = {_tokens(['CollectionAPI:colliders'])}"
        groups.append(_prim("PhysicsCollisionGroup", f"Group_{group}", [schemas], relationships))
    return _scope(_GROUPS, groups)


def _link_lines(link: Link, materials: dict[str, str]) -> Iterator[str]:
    """Lines of a prim, without the prims below it and its closing brace."""
    metadata = [
        f"customData = {{ string collisionBoundsId = {string_text(link.id)} }}",
        f"displayName = {string_text(link.object_name)}",
    ]
    is_one = len(link.shapes) == 1
    colliders: Iterable[str] = chain.from_iterable(
        _collider_lines(_COLLIDER if is_one else f"{_COLLIDER}_{number}", shape, link.response, materials)
        for number, shape in enumerate(link.shapes)
    )
    if len(link.shapes) > 1:
        colliders = _prim("Xform", _COLLIDER, [], colliders)
    transform = _transform_lines(link.frame.offset, link.frame.quaternion)
    yield from _prim("Xform", link.name, metadata, chain(transform, colliders), end="")


def _collider_lines(
    name: str, shape: LinkShape, response: CollisionResponse, materials: dict[str, str]
) -> Iterator[str]:
    kind, center, quaternion, sizes = geometry_of(shape)
    content = list(_geometry_lines(kind, sizes))
    schemas = ["PhysicsCollisionAPI", *(["PhysicsMeshCollisionAPI"] if kind == "mesh" else [])]
    metadata = []
    if response.response == "solid":
        if (material := materials.get(response.material or "")) is not None:
            schemas.append("MaterialBindingAPI")
            content.append(f"rel material:binding:physics = <{material}>")
    else:
        metadata.append(f'customData = {{ string collisionBoundsResponse = "{response.response}" }}')
        # UsdPhysics has no triggers, and a collider that stops objects would be wrong.
        content.append("bool physics:collisionEnabled = 0")
    metadata.append(f"prepend apiSchemas = {_tokens(schemas)}")
    # Colliders are not rendered, like those of other programs.
    content.append('uniform token purpose = "guide"')
    # USD has a cube only; its scale makes it a box.
    kind, scale = ("cube", sizes) if kind == "box" else (kind, None)
    transform = _transform_lines(center, quaternion, scale)
    yield from _prim(kind.capitalize(), name, metadata, chain(content, transform))


def _geometry_lines(kind: str, sizes: Any) -> Iterator[str]:
    """Attributes of the prim of a shape but its pose, see `geometry_of`."""
    if kind == "box":
        yield from (_extent(np.ones(3)), "double size = 2")
    elif kind == "sphere":
        yield from (_extent(np.repeat(sizes, 3)), f"double radius = {decimals_text(sizes)}")
    elif kind in ("capsule", "cylinder"):
        radius, half = sizes
        yield 'uniform token axis = "Z"'
        yield _extent(np.array([radius, radius, half + radius if kind == "capsule" else half]))
        yield f"double height = {decimals_text([2 * half])}"
        yield f"double radius = {decimals_text([radius])}"
    else:
        vertices, faces = sizes
        yield f"float3[] extent = {_tuples(np.array([vertices.min(axis=0), vertices.max(axis=0)]))}"
        yield f"int[] faceVertexCounts = {[3] * len(faces)}"
        yield f"int[] faceVertexIndices = {faces.reshape(-1).tolist()}"
        yield f"point3f[] points = {_tuples(vertices)}"
        yield 'uniform token physics:approximation = "convexHull"'
        yield 'uniform token subdivisionScheme = "none"'


def _transform_lines(center: Floats, quaternion: Floats, scale: Floats | None = None) -> Iterator[str]:
    """Attributes of a transform, without those of the identity."""
    operations = {"xformOp:translate": center} if center.any() else {}
    if not np.array_equal(quaternion, NO_ROTATION):
        # No quaternion: USD takes the angle from its w, which loses angles of less than 1e-8.
        operations["xformOp:rotateXYZ"] = np.degrees(roll_pitch_yaw(matrix_from_quaternion(quaternion)))
    if scale is not None:
        operations["xformOp:scale"] = scale
    for name, values in operations.items():
        yield f"double3 {name} = ({decimals_text(values, ', ')})"
    if operations:
        yield f"uniform token[] xformOpOrder = {_tokens(operations)}"


def _extent(half: Floats) -> str:
    """Attribute of the box around a shape that is centered at its origin."""
    return f"float3[] extent = {_tuples(np.array([float32_at_most(-half), float32_at_least(half)]))}"


def _tokens(names: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def _tuples(rows: Floats) -> str:
    return "[" + ", ".join(f"({decimals_text(row, ', ')})" for row in rows) + "]"


_ESCAPES = str.maketrans(
    {
        **{chr(code): f"\\x{code:02x}" for code in range(32)},
        **{"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"},
    }
)


def string_text(text: str) -> str:
    r"""Return a text as a string of USD, in quotes, with escapes such as \x1b for control characters."""
    return f'"{text.translate(_ESCAPES)}"'
