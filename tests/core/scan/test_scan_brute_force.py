"""Scans compared with brute force at many times."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Capsule,
    Contact,
    ScanSettings,
    Shape,
    Sphere,
    overlaps,
    separation,
)
from tests.core.scan.scans import run, spans, zigzags
from tests.tiers import times

COUNT = 110


def brute_force(shapes_at: Callable[[float], Shape], frames: int, steps: int, clearance: float):
    """Gaps of all pairs at `steps` moments per frame: moments (k,), and gaps (k, n, n) less the clearance.

    Each pair is computed once; the gaps are NaN where the first index is not less than the second.
    """
    moments = np.arange((frames - 1) * steps + 1) / steps
    first, second = np.triu_indices(COUNT, 1)
    gaps = np.full((len(moments), COUNT, COUNT), np.nan)
    for row, time in enumerate(moments):
        batch = shapes_at(time)
        gaps[row, first, second] = separation(batch[first], batch[second]) - clearance
    return moments, gaps


def assert_contact_matches(
    contact: Contact,
    shapes_at: Callable[[float], Shape],
    moments: np.ndarray,
    gap: np.ndarray,
    clearance: float,
    tolerance: float,
) -> None:
    """Compare one contact with the gaps (k,) at moments (k,) of its pair, less the clearance.

    tolerance : by which the depth may be less than that of a sample
    """
    inside = np.zeros(len(moments), dtype=bool)
    for start, end in spans(contact):
        inside |= (start <= moments) & (moments <= end)
    is_certain = np.abs(gap) > 1e-9
    assert np.array_equal(inside[is_certain], gap[is_certain] <= 0)
    # The depth is at least that of any sample, and is reached.
    assert -contact.depth <= gap.min() + clearance + tolerance
    batch = shapes_at(contact.deepest_frame)
    assert separation(batch[contact.a], batch[contact.b]) == pytest.approx(-contact.depth, abs=1e-9)
    whole_frames = range(int(moments[-1]) + 1)
    assert contact.first.tunnelling == (
        not any(start <= f <= end for start, end in spans(contact)[:1] for f in whole_frames)
    )
    # The witness point is as far from both surfaces as they are from each other.
    at_first = shapes_at(contact.first.frame)
    reach = clearance / 2 + 1e-6
    for shape in (at_first[contact.a], at_first[contact.b]):
        probe = (
            Sphere(contact.first.point, reach)
            if isinstance(shape, Sphere | Capsule)
            else Aabb(contact.first.point - reach, contact.first.point + reach)
        )
        assert overlaps(probe, shape)
    assert np.linalg.norm(contact.first.normal) == pytest.approx(1)


def turned(start: np.ndarray, end: np.ndarray, t: float) -> np.ndarray:
    """Return unit vectors (n, 3) on the arcs from `start` to `end`, by the formula of slerp."""
    angle = np.arccos(np.clip((start * end).sum(axis=1), -1, 1))[:, None]
    return (np.sin((1 - t) * angle) * start + np.sin(t * angle) * end) / np.sin(angle)


@pytest.mark.parametrize("kind", ["spheres", "boxes", pytest.param("capsules", marks=pytest.mark.long)])
@pytest.mark.parametrize("clearance", [0.0, 0.4])
@pytest.mark.parametrize("seed", (1, 2)[: times(1, full=2)])
def test_scan_matches_brute_force(kind, clearance, seed):
    rng = np.random.default_rng(seed)
    count, frames, steps = COUNT, 7, times(12, 24, full=24)
    path, sizes = zigzags(rng, count, frames), rng.random((count, 3)) + 0.2
    # Capsules turn by about a tenth of a radian per frame.
    axes = rng.normal(size=(1, count, 3))
    axes = axes + np.cumsum(0.05 * rng.normal(size=(frames, count, 3)), axis=0)
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)

    def shapes_at(time: float) -> Shape:
        whole = min(int(time), frames - 2)
        t = time - whole
        middle = path[whole] * (1 - t) + path[whole + 1] * t
        if kind == "capsules":
            along = np.where(at_rest[:, None], axes[0], turned(axes[whole], axes[whole + 1], t))
            return Capsule(middle, along, sizes[:, 1], sizes[:, 0])
        return Sphere(middle, sizes[:, 0]) if kind == "spheres" else Aabb(middle - sizes, middle + sizes)

    at_rest = (path == path[0]).all(axis=(0, 2))
    if kind == "capsules":
        at_rest &= np.arange(count) % 2 == 0  # the others turn
    report = run(shapes_at, range(frames), ScanSettings(clearance=clearance))
    # The least separation of shapes that rotate, of sizes from 0.3 to 2.4, comes from a few samples.
    tolerance = 0.03 if kind == "capsules" else 1e-9
    moments, gaps = brute_force(shapes_at, frames, steps, clearance)
    found = {(c.a, c.b): c for c in report.contacts}
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    for i, j in pairs:
        if (i, j) in found:
            assert_contact_matches(found[i, j], shapes_at, moments, gaps[:, i, j], clearance, tolerance)
        else:
            assert gaps[:, i, j].min() > -1e-9
    assert len(found) > 40
    assert sum(contact.first.tunnelling for contact in found.values()) > 5

    # Near misses: every pair that moves, never touches, and comes within the smaller size; gaps are reached.
    half = np.abs(axes[0]) * sizes[:, 1:2] + sizes[:, :1] if kind == "capsules" else sizes
    size = sizes[:, 0] if kind == "spheres" else np.sqrt((half**2).sum(axis=1))
    near = {(n.a, n.b): n for n in report.clearances}
    for i, j in pairs:
        least = gaps[:, i, j].min() + clearance
        if (i, j) in near:
            entry = near[i, j]
            assert (i, j) not in found
            assert not (at_rest[i] and at_rest[j])
            assert entry.gap <= least + tolerance * min(size[i], size[j], 1 / tolerance)
            batch = shapes_at(entry.frame)
            assert separation(batch[i], batch[j]) == pytest.approx(entry.gap, abs=1e-9)
        elif (i, j) not in found and not (at_rest[i] and at_rest[j]):
            assert least > min(size[i], size[j]) * (1 - tolerance)
    assert len(set(near) & set(pairs)) > 10
