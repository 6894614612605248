"""Shapes that a scan tests, as shapes of the objects of its document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core import Sphere, SphereTree
from ....core.compound.convex_parts import Compound
from ....core.numeric.arrays import Floats, Ints, rotation_matrix, transform_vectors
from ....core.shapes import concatenated
from ....formats.document.model import ShapeColumn
from ...fitting.parts import inner_spheres
from ...motion.scene_motion import FittedShapes
from ...settings import AXIAL_SHAPES, SCANNED_SHAPES, SHAPE_KINDS, ShapeName

SHAPES_OF_SCANS = frozenset(name for name in SCANNED_SHAPES if not SHAPE_KINDS[name].is_plain)
"""Shapes that objects have in documents of scans by `ScannedShapes`; the others are among their bounds."""

_ROUNDING = 4 * np.finfo(np.float64).eps


class ScannedShapes:
    """Shapes of n subjects at the frame at which they were read.

    key : The kind of shape, also in documents.
    """

    def __init__(self, shape: ShapeName, fitted: FittedShapes, count: int) -> None:
        """Keep the shapes of `count` subjects, of a kind that is one of SHAPES_OF_SCANS."""
        self.key = shape
        self._fitted = fitted
        self._starts = np.searchsorted(fitted.owners, np.arange(count + 1))

    def columns(
        self, subjects: Ints, translations: Floats, rotations: Floats
    ) -> tuple[ShapeColumn, ShapeColumn]:
        """Shapes of subjects (m,) in their own frames, and in world space.

        translations, rotations : of the frames, (m, 3), and (m, 4) with w first
        """
        rows = np.flatnonzero(self._starts[subjects + 1] > self._starts[subjects])
        members = subjects[rows]
        counts = self._starts[members + 1] - self._starts[members]
        stops = np.cumsum(counts)
        places = np.repeat(self._starts[members] - stops + counts, counts) + np.arange(counts.sum())
        world = self._fitted.parts[places]
        if self.key == "spheres":
            world, counts = self._nodes(members, world)
            stops = np.cumsum(counts)
        # Moving a shape rounds its center.
        world = world.padded(_ROUNDING * np.abs(world.center).max(axis=1))
        turns = rotation_matrix(rotations[rows]).swapaxes(1, 2)
        to_local = np.tile(np.eye(4), (len(rows), 1, 1))
        to_local[:, :3, :3] = turns
        to_local[:, :3, 3] = -transform_vectors(turns, translations[rows])
        local = world.transformed(to_local.repeat(counts, axis=0))
        slices = list(map(slice, stops - counts, stops))
        in_own, in_world = (self._grouped(parts, slices, members) for parts in (local, world))
        return ShapeColumn(rows, in_own), ShapeColumn(rows, in_world)

    def _nodes(self, subjects: Ints, leaves: Sphere) -> tuple[Sphere, Ints]:
        """Spheres (M,) of all nodes of the trees of subjects (m,), and numbers (m,) of nodes."""
        trees = [self._fitted.trees[subject] for subject in subjects.tolist()]
        counts = np.array([len(tree.children) for tree in trees], dtype=np.int64)
        is_leaf = np.concatenate([np.zeros(0, dtype=bool), *(tree.children[:, 0] < 0 for tree in trees)])
        offsets = self._fitted.offsets[subjects].repeat(counts, axis=0)[~is_leaf]
        inner = inner_spheres(trees)
        inner = Sphere.unchecked(inner.center + offsets, inner.radius)
        order = np.empty(len(is_leaf), dtype=np.int64)
        order[np.concatenate([np.flatnonzero(is_leaf), np.flatnonzero(~is_leaf)])] = np.arange(len(is_leaf))
        return concatenated(leaves, inner)[order], counts

    def _grouped(self, parts: Any, slices: Sequence[slice], subjects: Ints) -> Any:
        """Shapes of subjects (m,), whose parts are at `slices`, as columns have them."""
        if self.key in AXIAL_SHAPES:
            return parts
        if self.key == "compound":
            return [Compound(tuple(parts[part].to_list())) for part in slices]
        children = (self._fitted.trees[subject].children for subject in subjects.tolist())
        return [
            SphereTree(parts.center[nodes], parts.radius[nodes], below)
            for nodes, below in zip(slices, children, strict=True)
        ]
