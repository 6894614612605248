"""The parts that an object is split into: its loose parts, or the vertices of each bone."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from ....core.numeric.arrays import Ints
from ...settings import Modifiers
from .bones import NO_BONE, bone_labels, deform_bones
from .loose_parts import loose_part_labels


class MeshPart(NamedTuple):
    """A part of a mesh.

    Attributes
    ----------
    number : int
        Label of its vertices.
    name : str
        Its name after that of the object and a slash.
    bone : str or None
        Bone that deforms it; empty for the vertices that no bone deforms, None for a loose part.
    """

    number: int
    name: str
    bone: str | None = None


def parts_of(evaluated: bpy.types.Object, modifiers: Modifiers, by_bones: bool) -> list[MeshPart] | None:
    """Find the parts of an evaluated object that have vertices.

    None if it has no bones to split it by. A mesh without vertices is one loose part.
    """
    if not by_bones:
        count = int(loose_part_labels(evaluated, modifiers).max(initial=0)) + 1
        return [MeshPart(number, f"part.{number}") for number in range(count)]
    bones = deform_bones(evaluated)
    labels = np.unique(bone_labels(evaluated, modifiers)).tolist() if bones else []
    if not labels:
        return None
    return [
        MeshPart(number, f"bone.{bones[number]}", bones[number])
        if number < len(bones)
        else MeshPart(number, NO_BONE, "")
        for number in labels
    ]


def part_labels(evaluated: bpy.types.Object, modifiers: Modifiers, by_bones: bool) -> Ints:
    """Label each vertex (n,) of an evaluated object with the number of its part."""
    if by_bones:
        return bone_labels(evaluated, modifiers)
    return loose_part_labels(evaluated, modifiers)
