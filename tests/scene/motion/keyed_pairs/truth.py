"""Contacts of pairs by sampling Blender, and what a scan says about them.

No code of the product takes part: Blender evaluates the scene at every 1024th of a frame, and closer where a
pair may touch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import bpy
import numpy as np

from tests.scene.motion.keyed_pairs.building import Pair
from tests.scene.sampling import (
    NEAR_KEY,
    Gaps,
    Trajectory,
    compute_gaps,
    go_to,
    is_near_key,
    matrices_at,
    refined_times,
)

Array = np.ndarray

PARTS = 1024
ROUNDING = 1e-4
"""Length within which gaps count as touching, because Blender rounds matrices and times."""


@dataclass
class Sampled:
    """Gaps (p, t) of pairs at increasing times (t,).

    gaps_at : function that computes the gaps (p, t) at times (t,)
    """

    names: list[str]
    gaps_at: Callable[[Array], Array]
    times: Array = field(default_factory=lambda: np.empty(0))
    gaps: Array = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def of(
        cls, pairs: list[Pair], gaps_at: Callable[[Array], Array], span: tuple[int, int], rounds: int = 3
    ) -> Sampled:
        """Sample the scene over all frames, and closer near minima and first touches."""
        result = cls([pair.names[0].split()[0] for pair in pairs], gaps_at, gaps=np.empty((len(pairs), 0)))
        first, last = span
        result.add(np.arange(first * PARTS, last * PARTS + 1) / PARTS)
        for _ in range(rounds):
            result.add(np.concatenate([refined_times(result.times, row) for row in result.gaps]))
        return result

    def add(self, times: Array) -> None:
        """Sample at more times."""
        times = np.setdiff1d(times, self.times)
        if not len(times):
            return
        order = np.argsort(np.concatenate([self.times, times]))
        self.times = np.concatenate([self.times, times])[order]
        self.gaps = np.concatenate([self.gaps, self.gaps_at(times)], axis=1)[:, order]


def gaps_of_boxes(pairs: list[Pair], shape: str, times: Array) -> Array:
    """Compute the gaps (p, t) of boxes that follow their objects."""
    return gaps_of_matrices(pairs, shape, matrices_at(times))


def gaps_of_matrices(pairs: list[Pair], shape: str, matrices: dict[str, Array]) -> Array:
    """Compute the gaps (p, t) of boxes by the matrices (t, 4, 4) of their objects."""
    return np.array([_gaps(shape, pair, matrices).largest() for pair in pairs])


def gaps_of_vertices(pairs: list[Pair], times: Array) -> Array:
    """Compute the gaps (p, t) of boxes along the axes around the evaluated vertices."""
    corners = np.empty((2, len(pairs), len(times), 2, 3))
    flat = np.empty(24, dtype=np.float32)
    for row, time in enumerate(times):
        go_to(time)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for side in range(2):
            for index, pair in enumerate(pairs):
                item = bpy.data.objects[pair.names[side]].evaluated_get(depsgraph)
                item.data.vertices.foreach_get("co", flat)
                matrix = np.array(item.matrix_world)
                points = flat.reshape(8, 3) @ matrix[:3, :3].T + matrix[:3, 3]
                corners[side, index, row] = points.min(axis=0), points.max(axis=0)
    a, b = corners
    return np.maximum(a[..., 0, :] - b[..., 1, :], b[..., 0, :] - a[..., 1, :]).max(axis=-1)


def _gaps(shape: str, pair: Pair, matrices: dict[str, Array]) -> Gaps:
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return compute_gaps(
        shape,
        *(
            Trajectory(matrices[name], corners * half)
            for name, half in zip(pair.names, pair.halves, strict=True)
        ),
    )


@dataclass
class Verdict:
    """Errors of the contacts of a scan, and its figures."""

    pairs: int = 0
    contacts: int = 0
    motions: Counter[str] = field(default_factory=Counter)
    within_frames: int = 0
    grazing: int = 0
    missed: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    largest_uncertainty: float = 0.0
    largest_error: float = 0.0


def check(pairs: list[Pair], claims: list[object], sampled: Sampled, least: int = 8) -> Verdict:
    """Assert that no first contact is missed, invented or off, and that one in `least` pairs has one."""
    verdict = judge(sampled, claims)
    assert (verdict.missed, verdict.invented, verdict.late, verdict.early) == ([], [], [], [])
    assert verdict.contacts > len(pairs) / least
    assert verdict.grazing <= len(pairs) / 10
    assert verdict.largest_uncertainty < 1e-3
    return verdict


def judge(sampled: Sampled, claims: list[object]) -> Verdict:
    """Compare the first contacts that a scan has found, or None, with samples of the pairs.

    A proven contact is never late, and at most +/- early. A sampled one is off by at most +/- either way.
    """
    # Whether there is a contact is decided where the scan says so too.
    windows = [
        np.linspace(claim.first.frame - 1e-6, claim.first.frame + claim.first.uncertainty + 1e-6, 33)
        for claim in claims
        if claim is not None
    ]
    if windows:
        sampled.add(np.clip(np.concatenate(windows), sampled.times[0], sampled.times[-1]))
    verdict = Verdict(pairs=len(claims))
    for name, gaps, claim in zip(sampled.names, sampled.gaps, claims, strict=True):
        _judge_pair(verdict, name, sampled.times, gaps, claim)
    return verdict


def _judge_pair(verdict: Verdict, name: str, times: Array, gaps: Array, claim: object) -> None:
    deep, touching = times[gaps < -ROUNDING], times[gaps <= ROUNDING]
    if claim is None:
        if len(deep):
            verdict.missed.append(f"{name}: at {deep[0]}, gap {gaps.min():.3g}")
        elif len(touching):
            verdict.grazing += 1
        return
    frame, uncertainty = claim.first.frame, claim.first.uncertainty
    verdict.contacts += 1
    verdict.motions[claim.first.motion] += 1
    verdict.within_frames += claim.first.tunnelling
    verdict.largest_uncertainty = max(verdict.largest_uncertainty, uncertainty)
    if not len(touching) and is_near_key(frame, frame + uncertainty):
        verdict.grazing += 1
        return
    if not len(touching):
        verdict.invented.append(f"{name}: at {frame}, +/- {uncertainty:.3g}, gap {gaps.min():.3g}")
        return
    slack = NEAR_KEY if claim.first.motion == "proven" else NEAR_KEY + uncertainty
    if len(deep) and deep[0] < frame - slack:
        verdict.late.append(
            f"{name}: at {frame}, +/- {uncertainty:.3g}, touches at {deep[0]}, {claim.first.motion}"
        )
    later = touching[touching >= frame - slack]
    error = later[0] - frame if len(later) else np.inf
    verdict.largest_error = max(verdict.largest_error, error)
    if error > uncertainty + NEAR_KEY:
        verdict.early.append(
            f"{name}: at {frame}, +/- {uncertainty:.3g}, touches {error:.3g} later, {claim.first.motion}"
        )
