"""Keys that are fast: full turns in a frame, strokes within one, jumps."""

from __future__ import annotations

import numpy as np

from tests.scene.mesh_truth.building import Pair, add, easing, key, place
from tests.scene.mesh_truth.solids import ball, box, joined


def propellers(rng: np.random.Generator) -> Pair:
    """Add a propeller of one to four blades, and a stone that comes near."""
    blades, turns = int(rng.integers(1, 5)), float(rng.uniform(0.5, 5.0))
    if rng.random() < 0.4:
        turns = float(rng.choice([0.5, 1.0, 2.0, 3.0, 5.0]))
    blade = box(0.5, 0.1, 0.04)
    parts = []
    for angle in 2 * np.pi * np.arange(blades) / blades:
        turn = np.array([(np.cos(angle), -np.sin(angle), 0), (np.sin(angle), np.cos(angle), 0), (0, 0, 1)])
        parts.append(((blade[0] + (0.6, 0, 0)) @ turn.T, blade[1]))
    a, b = add("A", joined(*parts)), add("B", box(0.1, 0.12, 0.14))
    key(a, "rotation_euler", [(1, rng.uniform(0, 6)), (9, 2 * np.pi * 8 * turns)], "LINEAR", 2)
    place_at = rng.uniform(0, 2 * np.pi)
    outward = np.array([np.cos(place_at), np.sin(place_at), 0])
    height = rng.uniform(-0.25, 0.25)
    end = outward * rng.uniform(0.6, 1.4) + (0, 0, height)
    key(b, "location", [(1, outward * 2 + (0, 0, height)), (9, end)], "LINEAR")
    b.rotation_euler = rng.uniform(-3, 3, 3)
    place(rng, a, b)
    return Pair(max(16, int(16 * turns)))


def needles(rng: np.random.Generator) -> Pair:
    """Add a needle that strokes once or twice in each frame."""
    a, b = add("A", box(1.0, 1.0, 0.03)), add("B", box(0.02, 0.02, 0.6))
    strokes = int(rng.choice([1, 1, 2]))
    count = 16 * strokes + 1
    low = 0.63 + rng.uniform(-0.3, 0.15) + np.linspace(rng.uniform(0, 0.3), 0, count)
    phase = int(rng.integers(2))
    heights = np.where((np.arange(count) + phase) % 2, low, 1.3)
    times = 1 + np.arange(count) / 2 / strokes
    key(b, "location", list(zip(times.tolist(), heights.tolist(), strict=True)), easing(rng), 2)
    b.location.x, b.location.y = rng.uniform(-1.1, 1.1, 2)
    place(rng, a, b)
    return Pair(64)


def out_and_back(rng: np.random.Generator) -> Pair:
    """Add a ball with keys out and back within a fraction of a frame, anywhere between two."""
    a, b = add("A", box(0.5, 0.5, 0.1)), add("B", ball(0.4))
    when, length = rng.uniform(2, 8), rng.uniform(0.05, 0.4)
    low = rng.choice([0.9, rng.uniform(-0.5, 0.6)])
    keys = [(1, 1.2), (when, 1.2), (when + length / 2, low), (when + length, 1.2), (9, 1.3)]
    key(b, "location", keys, easing(rng), 2)
    place(rng, a, b)
    return Pair(128)


def jumps_over_walls(rng: np.random.Generator) -> Pair:
    """Add a body whose constant keys jump over a wall or into it, and that may turn meanwhile."""
    a, b = add("A", box(0.1, 2.0, 2.0)), add("B", box(0.3, 0.4, 0.5))
    frames = [1, *sorted(rng.uniform(1.5, 8.5, 4).round(int(rng.integers(0, 3))).tolist())]
    sides = rng.choice([-1.0, 1.0], 5) * rng.uniform(0.7, 1.5, 5)
    if rng.random() < 0.6:
        sides[rng.integers(1, 5)] = rng.uniform(-0.3, 0.3)
    key(b, "location", list(zip(frames, sides.tolist(), strict=True)), "CONSTANT", 0)
    if rng.random() < 0.5:
        key(b, "rotation_euler", [(1, (0, 0, 0)), (9, rng.uniform(-2, 2, 3))])
    place(rng, a, b)
    return Pair(32, early=2e-4)


def half_frame_keys(rng: np.random.Generator) -> Pair:
    """Add a key at each half frame, in between at rest at whole frames."""
    a, b = add("A", box(1.0, 1.0, 0.1)), add("B", ball(0.4))
    times = 1 + np.arange(17) / 2
    low = 0.5 + rng.uniform(-0.2, 0.3) + rng.uniform(0, 0.5, 17)
    heights = np.where(np.arange(17) % 2, low, 1.4)
    key(b, "location", list(zip(times.tolist(), heights.tolist(), strict=True)), easing(rng), 2)
    a.rotation_euler = rng.uniform(-0.4, 0.4, 3)
    place(rng, a, b)
    return Pair(48)


FAMILIES = (propellers, needles, out_and_back, jumps_over_walls, half_frame_keys)
