"""Weights of vertex groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ....core.numeric.arrays import Ints
from ...settings import Modifiers
from ..mesh_data import read_mesh
from .loose_parts import rows_by_label


class GroupWeights(NamedTuple):
    """Weights of the vertices of a group that are not 0.

    rows : (n,) int64. Indices of the vertices, increasing.
    weights : (n,) float32
    """

    rows: Ints
    weights: NDArray[np.float32]


def group_weights(
    evaluated: bpy.types.Object, modifiers: Modifiers, groups: Sequence[int]
) -> tuple[int, list[GroupWeights]]:
    """Copy the weights of vertex groups of an evaluated object.

    evaluated : Evaluated mesh-like object.
    modifiers : Mesh to read. Modifiers can change weights, too.
    groups : Indices of different groups.
    Returns vertices : Number of vertices of the mesh.
    Returns weights : One for each of the groups.
    """
    return read_mesh(evaluated, modifiers, lambda mesh: _read_in_loop(mesh, groups))


def _read_in_loop(mesh: bpy.types.Mesh | None, groups: Sequence[int]) -> tuple[int, list[GroupWeights]]:
    """Copy weights of vertex after vertex: Blender has no block copy of the weights of a mesh."""
    vertices: Any = mesh.vertices if mesh else []
    of_vertex = [vertex.groups for vertex in vertices]
    counts = np.fromiter(map(len, of_vertex), np.int64, len(of_vertex))
    ends = np.cumsum(counts)
    numbers = np.empty(counts.sum(), dtype=np.int32)
    weights = np.empty(len(numbers), dtype=np.float32)
    for weighted, begin, end in zip(of_vertex, (ends - counts).tolist(), ends.tolist(), strict=True):
        weighted.foreach_get("group", numbers[begin:end])
        weighted.foreach_get("weight", weights[begin:end])
    rows = np.repeat(np.arange(len(counts)), counts)
    by_group = rows_by_label(numbers.astype(np.int16), max(groups, default=0) + 1)
    found = []
    for group in groups:
        is_of_group = by_group[group][weights[by_group[group]] > 0]
        found.append(GroupWeights(rows[is_of_group], weights[is_of_group]))
    return len(vertices), found
