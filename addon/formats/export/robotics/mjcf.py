"""Bounds as MJCF, the XML of MuJoCo: a body with geoms for each object, below the body of its parent."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ....core import Sphere
from ....core.messages import message
from ....core.numeric.arrays import Floats
from ...document.model import read_armature_roots
from ...shape_members import EXPORTED_SHAPES
from .link_shapes import NO_ROTATION, LinkFormat, LinkHull, LinkShape, geometry_of
from .links import Link, RoboticsError, groups_that_meet, nested_text
from .text import comment_text, decimals_text, generator_text, identifier_from

_SAME_FRAME = 1e-6
"""If all numbers of a geom's position and quaternion differ from those of its body by less than this, MuJoCo
uses the frame of the body instead."""
MJCF = LinkFormat("MJCF", frozenset(EXPORTED_SHAPES), 2 * _SAME_FRAME, 5 * _SAME_FRAME)
"""MuJoCo moves and rotates the frames of meshes, to frames that can be those of their bodies but for that
difference: by at most 1.8e-6 m, and by a rotation of 3.5e-6. It rotates vertices in single precision, too."""

_BONE = re.compile(r"/(bone\..*|no bone)$", re.DOTALL)
"""End of the name of a part of an object that is split by bones."""

_LEAST_VOLUME = 1e-9
"""In cubic meters. MuJoCo refuses meshes of less than about 1e-15, except with the inertia of a shell."""
_SMALL_BODY = 1e-3
"""In meters. Products of inertia of smaller bodies are below what MuJoCo computes with."""
_DENSITY = 1000.0
"""MuJoCo's default density."""

_LEAST_INERTIA = 'boundmass="1e-9" boundinertia="1e-12"'
"""Least mass and inertia of bodies that move, which MuJoCo requires to be larger than 1e-15."""


def mjcf(document: dict[str, Any], links: list[Link], free_joints: bool) -> Iterator[str]:
    """Return the text of an MJCF, a part for each mesh and each body.

    free_joints : Whether bodies of objects without a parent can move freely. Otherwise all bodies are
        fixed.
    Raises RoboticsError: with `free_joints`, for an object whose bones would fall apart; before the first
        part.
    """
    for name, a, b in _separate_roots(document) if free_joints else ():
        text = "object {name!r}: would fall apart with free joints, because {a!r} and {b!r} have no parent"
        raise RoboticsError(message(text, name=name, a=a, b=b))
    return _parts(document, links, free_joints)


def _separate_roots(document: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each object that several free bodies hold, and the ids of two of them.

    These are objects that are split by bones, and armatures with several objects.
    """
    roots: dict[tuple[str, str], str] = {}
    for entry in document["objects"]:
        if "bone" not in entry or entry["parent"] is not None:
            continue
        # Ids of objects of one name end with different numbers.
        name, id = _BONE.sub("", entry["name"]), entry["id"]
        other = roots.setdefault((name, id.removeprefix(entry["name"])), id)
        if other != id:
            yield name, other, id
    for name, ids in read_armature_roots(document["extras"].get("armatureRoots")).items():
        if len(ids) > 1:
            yield name, ids[0], ids[1]


def _parts(document: dict[str, Any], links: list[Link], free_joints: bool) -> Iterator[str]:
    model = identifier_from(document["source"]["scene"])
    yield f"<!-- {generator_text(document)} -->\n<mujoco model={quoteattr(model)}>\n"
    yield f'  <compiler angle="radian"{f" {_LEAST_INERTIA}" if free_joints else ""}/>\n'
    geoms = (each for link in links for each in zip(_geom_names(link), link.shapes, strict=True))
    meshes = [(name, shape) for name, shape in geoms if isinstance(shape, LinkHull)]
    if meshes:
        yield "  <asset>\n"
        for name, shape in meshes:
            yield f"    {_mesh(name, shape)}\n"
        yield "  </asset>\n"
    yield "  <worldbody>\n"
    lines = partial(_body_lines, free_joints=free_joints, meeting=groups_that_meet(links))
    yield from nested_text(links, lines, "</body>", 2)
    yield "  </worldbody>\n</mujoco>\n"


def _body_lines(link: Link, free_joints: bool, meeting: dict[int, int]) -> Iterator[str]:
    if link.object_name != link.name:
        yield f"<!-- {comment_text(link.object_name)} -->"
    yield f"<body name={quoteattr(link.name)}{_pose(link.frame.offset, link.frame.quaternion)}>"
    if free_joints and link.parent is None:
        yield f"  <freejoint name={quoteattr(link.name)}/>"
    yield from _inertia_of_small_spheres(link.shapes)
    contact_bits, response = "", link.response
    if response.response == "trigger":
        contact_bits = ' contype="0" conaffinity="0"'
    elif meeting:
        # Two geoms of MuJoCo collide if one of them has the group of the other in its mask, so the mask of a
        # geom has only groups that collide with its group, too. The default is group 1, with itself alone.
        mask = response.mask & meeting.get(response.group, 0)
        contact_bits = f' contype="{1 << response.group - 1}" conaffinity="{mask}"'
    for name, shape in zip(_geom_names(link), map(_without_small_offset, link.shapes), strict=True):
        kind, center, quaternion, sizes = geometry_of(shape)
        size = f"mesh={quoteattr(name)}" if kind == "mesh" else f'size="{decimals_text(sizes)}"'
        attributes = f'type="{kind}" {size}{_pose(center, quaternion)}{contact_bits}'
        yield f"  <geom name={quoteattr(name)} {attributes}/>"


def _inertia_of_small_spheres(shapes: Sequence[LinkShape]) -> Iterator[str]:
    """Inertia of a body of several spheres that is so small that MuJoCo cannot find its principal axes.

    The mass is that of all spheres, as MuJoCo computes it, and the inertia that of a ball around them.
    """
    spheres = [shape for shape in shapes if isinstance(shape, Sphere)]
    reach = max((math.hypot(*s.center) + float(s.radius) for s in spheres), default=math.inf)
    if len(spheres) < max(2, len(shapes)) or reach > _SMALL_BODY:
        return
    mass = _DENSITY * sum(4 / 3 * math.pi * float(sphere.radius) ** 3 for sphere in spheres)
    inertia = " ".join([f"{0.4 * mass * reach**2:.9g}"] * 3)
    yield f'  <inertial pos="0 0 0" mass="{mass:.9g}" diaginertia="{inertia}"/>'


def _geom_names(link: Link) -> list[str]:
    if len(link.shapes) == 1:
        return [link.name]
    # The names of links have no points, so these are unique.
    return [f"{link.name}.{number}" for number in range(len(link.shapes))]


def _without_small_offset(shape: LinkShape) -> LinkShape:
    """Move a shape to the origin of its body, and enlarge it, if MuJoCo would move it there."""
    offset = math.hypot(*shape.center)
    if isinstance(shape, LinkHull) or not 0 < offset < 2 * _SAME_FRAME:
        return shape
    grown = shape.padded(offset)
    _, *sizes = (getattr(grown, name) for name in grown.field_shapes)
    return type(grown).unchecked(np.zeros(3), *sizes)


def _mesh(name: str, shape: LinkHull) -> str:
    vertices, faces = shape.hull
    a, b, c = vertices[faces.T] - vertices[faces[0, 0]]
    volume = abs(float((a * np.cross(b, c)).sum())) / 6
    inertia = ' inertia="shell"' if volume < _LEAST_VOLUME else ""
    return f'<mesh name={quoteattr(name)}{inertia} vertex="{decimals_text(vertices.reshape(-1))}"/>'


def _pose(center: Floats, quaternion: Floats) -> str:
    """Attributes of a translation and rotation, without those of the identity."""
    x, y, z, w = quaternion.tolist()
    position = f' pos="{decimals_text(center)}"' if center.any() else ""
    is_turned = not np.array_equal(quaternion, NO_ROTATION)
    return position + (f' quat="{decimals_text([w, x, y, z])}"' if is_turned else "")
