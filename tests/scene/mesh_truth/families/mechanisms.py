"""Parts of machines: closed meshes that are keyed, near each other for long, and hollow."""

from __future__ import annotations

import numpy as np

from tests.scene.mesh_truth.building import (
    FRAMES,
    Pair,
    add,
    direction,
    easing,
    key,
    path_through,
    place,
    turn_at_random,
)
from tests.scene.mesh_truth.solids import ball, bolt, box, gear, inverted, joined, moved, nut, torus


def gears(rng: np.random.Generator) -> Pair:
    """Add two gears that turn with the ratio of their teeth, or a little faster."""
    teeth = rng.integers(8, 16, 2)
    parts = []
    for name, count in zip("AB", teeth.tolist(), strict=True):
        parts.append(add(name, gear(count, count / 8 - 0.11, count / 8 + 0.09, 0.2)))
    a, b = parts
    b.location = (float(teeth.sum()) / 8 + rng.uniform(0.0, 0.03), 0, rng.uniform(-0.1, 0.1))
    turn, slip = rng.uniform(0.5, 2.5), rng.choice([0.0, rng.uniform(-0.3, 0.3)])
    start = np.pi * (1 + 1 / teeth[1])
    key(a, "rotation_euler", [(1, 0.0), (9, turn)], "LINEAR", 2)
    key(b, "rotation_euler", [(1, start), (9, start - turn * teeth[0] / teeth[1] + slip)], "LINEAR", 2)
    place(rng, a, b)
    return Pair(16)


def chain_links(rng: np.random.Generator) -> Pair:
    """Add two links of a chain, one of which moves in the other until they touch."""
    a, b = add("A", torus(1.0, 0.22, 18, 8)), add("B", torus(1.0, 0.2, 18, 8))
    b.rotation_euler = (rng.uniform(-0.2, 0.2), np.pi / 2, 0)
    home = np.array([0.0, 1.0 + rng.uniform(-0.2, 0.2), 0])
    key(b, "location", [(1, home), (9, home + rng.uniform(0.2, 1.0) * direction(rng))], easing(rng))
    place(rng, a, b)
    return Pair()


def hook_through_ring(rng: np.random.Generator) -> Pair:
    """Add a hook that goes through a ring and is drawn back."""
    a = add("A", joined(torus(0.8, 0.12, 12, 8, 1.4 * np.pi), moved(box(0.1, 0.1, 1.0), (0.8, 0, 1.0))))
    b = add("B", torus(0.9, 0.1, 16, 6))
    b.rotation_euler = (np.pi / 2, rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3))
    home = np.array([-0.9 + rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2)])
    key(
        b,
        "location",
        [(1, home), (5, home + 0.8 * rng.normal(size=3)), (9, home + rng.normal(size=3))],
        easing(rng),
    )
    turn_at_random(rng, a, 0.2)
    place(rng, a, b)
    return Pair()


def nut_on_bolt(rng: np.random.Generator) -> Pair:
    """Add a nut that turns on a bolt with the pitch of its thread, or nearly."""
    pitch = 0.5
    a, b = add("A", bolt(0.7, 0.2, pitch, 1.3, 14, 10)), add("B", nut(0.86, 0.2, pitch, 0.6, 7, 10))
    turns, slip = rng.uniform(0.1, 0.5), rng.choice([0.0, rng.uniform(-0.4, 0.4)])
    key(b, "rotation_euler", [(1, -np.pi * turns), (9, np.pi * turns)], "LINEAR", 2)
    key(b, "location", [(1, -pitch * turns / 2), (9, pitch * (turns / 2 + slip))], "LINEAR", 2)
    place(rng, a, b)
    return Pair()


def ball_in_shell(rng: np.random.Generator) -> Pair:
    """Add a ball within a hollow shell, whose inner wall it may reach, or within a solid one."""
    is_hollow = rng.random() < 0.8
    wall = joined(ball(2.0, 10, 14), inverted(ball(1.8, 10, 14))) if is_hollow else ball(2.0, 10, 14)
    a, b = add("A", wall), add("B", ball(0.5))
    key(
        b,
        "location",
        [(1, 0.6 * rng.uniform(-1, 1, 3)), (9, rng.uniform(0.8, 1.8) * direction(rng))],
        easing(rng),
    )
    turn_at_random(rng, a)
    place(rng, a, b)
    return Pair()


def torus_through_torus(rng: np.random.Generator) -> Pair:
    """Add two rings of different size, one of which passes the hole of the other."""
    a, b = add("A", torus(1.5, 0.3, 20, 8)), add("B", torus(0.6, 0.2, 14, 8))
    path_through(rng, b, 0.5 * rng.normal(size=3), 2.5)
    turn_at_random(rng, b)
    turn_at_random(rng, a, 0.5)
    place(rng, a, b)
    return Pair()


def on_and_off_ten_times(rng: np.random.Generator) -> Pair:
    """Add a ball that knocks on a plate ten times, harder and harder, or never hard enough."""
    a, b = add("A", box(1.5, 1.5, 0.1)), add("B", ball(0.5))
    times = np.linspace(*FRAMES, 21).tolist()
    lowest = 0.6 + rng.uniform(-0.1, 0.25) - rng.uniform(0, 0.02) * np.arange(21)
    heights = np.where(np.arange(21) % 2, lowest, rng.uniform(0.9, 1.5))
    key(b, "location", list(zip(times, heights.tolist(), strict=True)), easing(rng), 2)
    a.rotation_euler = rng.uniform(-0.3, 0.3, 3)
    place(rng, a, b)
    return Pair(24)


FAMILIES = (
    gears,
    chain_links,
    hook_through_ring,
    nut_on_bolt,
    ball_in_shell,
    torus_through_torus,
    on_and_off_ten_times,
)
