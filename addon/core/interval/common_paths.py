"""Bounds of the motion of two meshes relative to each other where both are.

Gears that mesh move far in an interval, but nearly together where their teeth are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..mesh.meshes import Meshes, interpolated_meshes
from ..numeric.arrays import Bools, Floats, Table, length, normalized, transform_vectors
from .pair_motion import PairMotion

_SMALL, _MORE = 0.25, 1.1
"""Change of a matrix, relative to that, up to which the velocities in the middle of an interval are those at
other times, and the factor by which they may be larger.
"""
_LOST = 1e-6
"""Part of the change of a matrix that may be lost by rounding."""


def paths_where_both_are(pairs: PairMotion, begin: Floats, end: Floats) -> Floats:
    """Bound how far (m,) vertices of one mesh move relative to the other, within the spheres around both.

    This bounds changes of depths: motion in which a vertex keeps its place in the other mesh does not count.
    Infinite for meshes that deform, and for rotations that are large or turn them inside out.

    pairs : PairMotion, batch (m,). Of meshes, whose corners move in straight lines.
    begin, end : (m,) float64. Times in [0, 1] between which they move.
    """
    time = (begin + end) / 2
    a, b = (_Moving.of(*ends, time) for ends in ((pairs.a_start, pairs.a_end), (pairs.b_start, pairs.b_end)))
    offset, move, turn = b.center - a.center, a.move - b.move, a.turn - b.turn
    # Around the spheres at all times, as they are in the middle.
    wider = length(move)
    first, last, around = _lenses(length(offset), a.radius + wider, b.radius + wider)
    along = normalized(offset)
    place = ((first + last) / 2)[:, None] * along
    path = length(move + transform_vectors(a.turn, place) - transform_vectors(b.turn, place - offset))
    path += length(transform_vectors(turn, along)) * np.maximum(last - first, 0.0) / 2
    path += np.linalg.norm(turn, axis=(1, 2), ord=2) * around
    # What is not a rotation moves surfaces to the vertices within.
    path += (a.stretch + b.stretch) * np.minimum(a.radius, b.radius) + a.growth + b.growth
    return np.where(a.is_slow & b.is_slow, _MORE * (end - begin) * path, np.inf)


class _Moving(Table):
    """Meshes (m,) in the middle of their motion.

    center : (m, 3) float64. Centers of the spheres around them, and radius : (m,) float64.
    move : (m, 3) float64. Paths of the centers.
    turn : (m, 3, 3) float64. Paths of points around the center, linear in their offsets from it.
    stretch, growth : (m,) float64. The part of these that is not a rotation, and the change of the margin.
    is_slow : (m,) bool. Meshes whose paths these are about, at all times.
    """

    center: Floats
    radius: Floats
    move: Floats
    turn: Floats
    stretch: Floats
    growth: Floats
    is_slow: Bools

    @classmethod
    def of(cls, start: Any, end: Any, time: Floats) -> _Moving:
        """Compute this for meshes from both ends of an interval."""
        assert isinstance(start, Meshes) and isinstance(end, Meshes), "other shapes have other methods"
        now = interpolated_meshes(start, end, time)
        # In the middle of a rotation, straight paths come closer to the center.
        radius = np.max([each.around()[1] for each in (start, now, end)], axis=0)
        change = (end.matrix - start.matrix)[:, :3, :3]
        turn = np.asarray(change @ np.linalg.pinv(now.matrix[:, :3, :3]), np.float64)
        stretch = np.linalg.norm(turn + np.swapaxes(turn, 1, 2), axis=(1, 2)) / 2
        # A matrix without an inverse in the middle, as of half a turn, shows nothing of other times.
        lost = np.abs(turn @ now.matrix[:, :3, :3] - change).max(axis=(1, 2))
        is_known = lost <= _LOST * np.abs(change).max(axis=(1, 2))
        is_slow = (
            is_known & (np.abs(turn) < _SMALL).all(axis=(1, 2)) & ~start.deforms & (start.nodes == end.nodes)
        )
        growth = np.abs(end.margin - start.margin)
        return cls(now.around()[0], radius, end.center - start.center, turn, stretch, growth, is_slow)


def _lenses(apart: Floats, radius_a: Floats, radius_b: Floats) -> tuple[Floats, Floats, Floats]:
    """Find where two spheres overlap whose centers are some distance apart (m,): a lens.

    Returns first, last : (m,) float64. Its ends along the line from the first center to the second one.
    Returns around : (m,) float64. Its radius around this line.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        plane = (apart + (radius_a**2 - radius_b**2) / apart) / 2
        around = np.sqrt(np.maximum(radius_a**2 - plane**2, 0.0))
    is_between = (plane >= 0) & (plane <= apart)
    around = np.where(is_between, around, np.minimum(radius_a, radius_b))
    return np.maximum(-radius_a, apart - radius_b), np.minimum(radius_a, apart + radius_b), around
