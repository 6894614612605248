"""Bounds as URDF: a link for each object, fixed to the link of its parent, or else to the link "world".

URDF has no capsules: a capsule is a cylinder and two spheres. A convex hull would need a mesh file next to
the URDF, so hulls are not written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import quoteattr

from ....core import Capsule
from ....core.numeric.arrays import Floats
from ...shape_members import EXPORTED_SHAPES
from ...spaces import matrix_from_quaternion
from .link_shapes import NO_ROTATION, LinkFormat, LinkShape, geometry_of, roll_pitch_yaw
from .links import Link
from .text import comment_text, decimals_text, generator_text, identifier_from, indented

URDF = LinkFormat("URDF", frozenset(EXPORTED_SHAPES) - {"hull"})

_ROOT = "world"


def urdf(document: dict[str, Any], links: list[Link]) -> Iterator[str]:
    """Yield the text of a URDF, a part for each link."""
    robot = identifier_from(document["source"]["scene"])
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield f"<!-- {generator_text(document)} -->\n<robot name={quoteattr(robot)}>\n"
    yield f"  <link name={quoteattr(_ROOT)}/>\n"
    for link in links:
        yield indented(_link_lines(link), 1)
        above = _ROOT if link.parent is None else links[link.parent].name
        yield indented(_joint_lines(link, above), 1)
    yield "</robot>\n"


def _link_lines(link: Link) -> Iterator[str]:
    if link.object_name != link.name:
        yield f"<!-- {comment_text(link.object_name)} -->"
    if not link.shapes or link.response.response == "trigger":  # URDF has no triggers
        yield f"<link name={quoteattr(link.name)}/>"
        return
    yield f"<link name={quoteattr(link.name)}>"
    for shape in link.shapes:
        for geometry, center, quaternion in _geometries(shape):
            yield "  <collision>"
            yield f"    {_origin(center, quaternion)}"
            yield f"    <geometry>{geometry}</geometry>"
            yield "  </collision>"
    yield "</link>"


def _joint_lines(link: Link, above: str) -> Iterator[str]:
    yield f'<joint name={quoteattr(f"{link.name}_joint")} type="fixed">'
    yield f"  <parent link={quoteattr(above)}/>"
    yield f"  <child link={quoteattr(link.name)}/>"
    yield f"  {_origin(link.frame.offset, link.frame.quaternion)}"
    yield "</joint>"


def _geometries(shape: LinkShape) -> Iterator[tuple[str, Floats, Floats]]:
    """Element, center (3,) and quaternion (4,) of each geometry of a shape."""
    kind, center, quaternion, sizes = geometry_of(shape)
    if kind == "box":
        yield f'<box size="{decimals_text(2 * sizes)}"/>', center, quaternion
    elif kind == "sphere":
        yield f'<sphere radius="{decimals_text(sizes)}"/>', center, quaternion
    elif kind in ("capsule", "cylinder"):
        radius = f'radius="{decimals_text(sizes[:1])}"'
        yield f'<cylinder length="{decimals_text(2 * sizes[1:])}" {radius}/>', center, quaternion
        if isinstance(shape, Capsule):
            for end in (shape.start, shape.end):
                yield f"<sphere {radius}/>", end, NO_ROTATION
    else:
        raise TypeError(f"no geometry of {type(shape).__name__}")


def _origin(center: Floats, quaternion: Floats) -> str:
    angles = roll_pitch_yaw(matrix_from_quaternion(quaternion))
    return f'<origin xyz="{decimals_text(center)}" rpy="{decimals_text(angles)}"/>'
