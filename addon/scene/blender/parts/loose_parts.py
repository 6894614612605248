"""Loose parts of a mesh: sets of vertices that are connected by edges."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....core.mesh.components import connected_components
from ....core.numeric.arrays import Ints
from ...settings import Modifiers
from ..mesh_data import edge_indices, vertex_positions


def loose_part_labels(evaluated: bpy.types.Object, modifiers: Modifiers) -> Ints:
    """Label each vertex (n,) of an evaluated object with its loose part, numbered by first vertices."""
    return connected_components(
        len(vertex_positions(evaluated, modifiers)), edge_indices(evaluated, modifiers)
    )


def rows_by_label(labels: NDArray[np.signedinteger[Any]], count: int = 0) -> list[Ints]:
    """Group rows by their label.

    labels : (n,) int. Labels from 0.
    count : Least number of groups; those without rows are empty.
    Returns rows : list of (k,) int. Rows with each label, in increasing order.
    """
    sizes = np.bincount(labels, minlength=count)
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1]) if len(sizes) else []
