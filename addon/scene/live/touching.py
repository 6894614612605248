"""Pairs of subjects that overlap now, with the depth of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...core import overlapping_pairs, overlaps, separation
from ...core.numeric.arrays import Floats, Ints
from ...core.scan.pair_filter import PairFilter
from ..settings import PairSettings
from ..subjects.scan_settings import make_scan_settings
from ..subjects.subject import Subject
from .contact_state import OwnedShapes


class TouchingPairs(NamedTuple):
    """Pairs of subjects whose shapes share a point, the deepest first.

    Attributes
    ----------
    pairs : (m, 2) int64
        Indices of subjects.
    depths : (m,) float64
        Length of the smallest translation that separates them, in world space; 0 if they only touch.
    """

    pairs: Ints
    depths: Floats


def make_pair_filter(
    scene: bpy.types.Scene,
    subjects: Sequence[Subject],
    parents: Sequence[str | None],
    settings: PairSettings,
) -> PairFilter:
    """Make the filter of the pairs that a scan with these settings tests; see `make_scan_settings`."""
    scan = make_scan_settings(scene, subjects, parents, settings)
    return PairFilter(len(subjects), scan.group_a, scan.group_b, scan.ignored, scan.separate)


def find_touching_pairs(owned: OwnedShapes, pair_filter: PairFilter) -> TouchingPairs:
    """Find the pairs of subjects, of those that the filter includes, with overlapping shapes.

    Parameters
    ----------
    owned : OwnedShapes
        Shapes of one kind.
    pair_filter : PairFilter
        For all subjects.
    """
    pairs = overlapping_pairs(owned.shape.aabb())
    pairs = pairs[pair_filter.includes(*owned.owners[pairs].T)]
    a, b = owned.shape[pairs[:, 0]], owned.shape[pairs[:, 1]]
    is_touching = overlaps(a, b)
    pairs = pairs[is_touching]
    gaps = separation(a[is_touching], b[is_touching])
    # A subject may have several shapes: the deepest pair of them counts.
    subjects = np.sort(owned.owners[pairs], axis=1)
    found, index = np.unique(pair_filter.keys(*subjects.T), return_inverse=True)
    depths = np.zeros(len(found))
    np.maximum.at(depths, index.ravel(), -gaps)
    order = np.argsort(-depths, kind="stable")
    count = max(pair_filter.count, 1)
    return TouchingPairs(np.stack([found // count, found % count], axis=1)[order], depths[order])
