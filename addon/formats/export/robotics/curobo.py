"""Spheres for motion planners, in the form of cuRobo's YAML: a list of spheres for each link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .link_shapes import LinkFormat, geometry_of
from .links import Link
from .text import comment_text, decimals_text, generator_text

CUROBO = LinkFormat("cuRobo", frozenset({"sphere", "spheres"}))

_YAML_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that YAML 1.1 reads as another type than text."""


def curobo_spheres(document: dict[str, Any], links: list[Link]) -> Iterator[str]:
    """Yield the text of the spheres of links, or the leaves of their sphere trees, as YAML.

    A part for each link that has spheres; centers are in its frame.
    """
    with_spheres = [link for link in links if link.shapes]
    yield f"# {generator_text(document)}\n"
    yield "collision_spheres:\n" if with_spheres else "collision_spheres: {}\n"
    for link in with_spheres:
        if link.object_name != link.name:
            yield f"  # {comment_text(link.object_name)}\n"
        yield f'  "{link.name}":\n' if link.name.lower() in _YAML_WORDS else f"  {link.name}:\n"
        for shape in link.shapes:
            _, center, _, radius = geometry_of(shape)
            yield f"    - center: [{decimals_text(center, ', ')}]\n"
            yield f"      radius: {decimals_text(radius)}\n"
