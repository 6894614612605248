"""The parts that an object is split into: loose parts, the vertices of each bone, or several overrides."""

from __future__ import annotations

from typing import NamedTuple

import bpy

from ....core.numeric.arrays import Ints
from ....core.numeric.components import connected_components
from ...settings import Modifiers
from ..mesh_data import edge_indices, vertex_positions
from ..overrides import OverrideShape
from .bones import NO_BONE, bone_rows, deform_bones
from .known_rows import PartRows
from .weights import rows_by_label


class MeshPart(NamedTuple):
    """A part of a mesh.

    number : Place of its vertices in `part_rows`.
    name : Its name after that of the object and a slash.
    bone : Bone that deforms it; empty for the vertices that no bone deforms, None for a loose part.
    bone_weight : Least weight of its vertices, see `bones.bone_rows`; None for a loose part.
    override : Kind of the override that it is, one of several of an object; None for vertices.
    """

    number: int
    name: str
    bone: str | None = None
    bone_weight: float | None = None
    override: OverrideShape | None = None


def parts_of(
    evaluated: bpy.types.Object, modifiers: Modifiers, bone_weight: float | None
) -> list[MeshPart] | None:
    """Find the parts of an evaluated object that have vertices.

    None if it has no bones to split it by. A mesh without vertices is one loose part.

    bone_weight : least weight of the vertices of a bone, see `bones.bone_rows`; None for loose parts
    """
    if bone_weight is None:
        count = int(loose_part_labels(evaluated, modifiers).max(initial=0)) + 1
        return [MeshPart(number, f"part.{number}") for number in range(count)]
    bones = deform_bones(evaluated)
    rows = part_rows(evaluated, modifiers, bone_weight).rows if bones else []
    parts = [
        MeshPart(number, f"bone.{bones[number]}", bones[number], bone_weight)
        if number < len(bones)
        else MeshPart(number, NO_BONE, "", bone_weight)
        for number, each in enumerate(rows)
        if len(each)
    ]
    return parts or None


def part_rows(
    evaluated: bpy.types.Object, modifiers: Modifiers, bone_weight: float | None, count: int = 0
) -> PartRows:
    """Find the vertices of the parts of an evaluated object, see `parts_of`.

    count : least number of parts; those without vertices are empty
    """
    if bone_weight is None:
        labels = loose_part_labels(evaluated, modifiers)
        return PartRows(len(labels), rows_by_label(labels, count))
    return bone_rows(evaluated, modifiers, bone_weight)


def loose_part_labels(evaluated: bpy.types.Object, modifiers: Modifiers) -> Ints:
    """Label each vertex (n,) of an evaluated object with its loose part, numbered by first vertices."""
    return connected_components(
        len(vertex_positions(evaluated, modifiers)), edge_indices(evaluated, modifiers)
    )
