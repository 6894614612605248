# SPDX-License-Identifier: GPL-3.0-or-later
"""Figure of conservative advancement, in the chapter on two shapes in motion."""

from __future__ import annotations

import math
from typing import Any
from unittest.mock import patch

import numpy as np

from addon.core import at, first_impact, separation
from addon.core.sweep import gap_advancement
from addon.core.sweep import obb as sweep_obb

from .common import Floats, slanted
from .svg_drawing import BLUE, INK, ORANGE, RED, Page, Plot, View


def turning_rod() -> Page:
    """Draw a rod that rotates into a box, and the recorded steps of conservative advancement."""
    rod0, rod1 = slanted(0, 0, 2.2, 0.12, 0), slanted(0, 0, 2.2, 0.12, 90)
    box = slanted(0.75, 2.25, 0.4, 0.55, 0)
    steps: list[tuple[float, Floats, Floats]] = []
    compute_step, compute_bound = gap_advancement.safe_step, gap_advancement.gap_curvature_bound
    curvature_bounds: list[float] = []

    def recorded_bound(*given: Any) -> Floats:
        bound = compute_bound(*given)
        curvature_bounds.append(float(bound[0]))
        return bound

    def recorded_step(motion: Any, time: Floats, axis: Any, trial: Floats) -> Any:
        step, crosses = compute_step(motion, time, axis, trial)
        if axis.gap[0] > 1e-6:
            unit = float(rod0.half_extents[0] / motion.half[0, 0, 0])
            bound = lower_bound(motion, axis, time, trial, curvature_bounds[-1], float(step[0]), unit)
            steps.append((float(time[0]), *bound))
        return step, crosses

    with (
        patch.object(sweep_obb, "safe_step", recorded_step),
        patch.object(gap_advancement, "gap_curvature_bound", recorded_bound),
    ):
        impact = first_impact(rod0, rod1, box, box)
    t = float(impact.time)
    page = Page(760, 330)
    view = View(page, (150, 192), 52)
    view.box(box, ORANGE, fill_opacity=0.25)
    view.box(rod0, INK, fill="none")
    view.box(rod1, INK, fill="none", dash="4 3", width=1)
    for time, *_ in steps:
        if 0 < time < t - 1e-3:
            view.box(at(rod0, rod1, time), BLUE, fill_opacity=0.05, width=1)
    view.box(at(rod0, rod1, t), RED, fill_opacity=0.15)
    view.dots(impact.point, RED, 4)
    page.text(165, 26, "a rod turns by 90° into a box", INK, 14, "middle", bold=True)
    view.label((1.3, 2.3), f"touches at {t:.4f}", RED)

    plot = Plot(page, (430, 60, 735, 275), (0, 1), (0, 1.75))
    plot.ticks_x([(0, "0"), (0.5, "0.5"), (1, "1")], "time in the interval")
    plot.ticks_y([(0, "0"), (0.5, "0.5"), (1, "1"), (1.5, "1.5")], "gap")
    times = np.linspace(0, t, 181)
    plot.curve(np.column_stack([times, separation(at(rod0, rod1, times), box)]), color=INK, width=2)
    for time, ahead, bound in steps:
        if ahead[-1] > 1e-3:
            plot.curve(np.column_stack([time + ahead, bound]), color=BLUE, width=1.3)
            last = time + ahead[-1]
            plot.line((last, 0), (last, float(bound[-1])), color=BLUE, width=0.8, dash="3 3")
    plot.dots((t, 0), RED, 4)
    page.text(590, 26, "each step as far as is safe", INK, 14, "middle", bold=True)
    plot.label((0.62, 1.25), "separation", INK, size=12)
    plot.label((0.62, 1.1), "lower bounds", BLUE, size=12)
    return page


def lower_bound(
    motion: Any, axis: Any, time: Floats, trial: Floats, curvature: float, step: float, unit: float
) -> tuple[Floats, Floats]:
    """Sample the parabola below the gap that limits a step of conservative advancement.

    `curvature` bounds the second derivative of the gap. `unit` is the unit of length of the sweep. Returns
    times after `time`, and the lower bounds of the gap.
    """
    start = max(float(axis.gap[0]), 0.0)
    stretch = float(trial[0])
    for _ in range(2):
        offset, half, rotation, _ = motion.at(time + stretch)
        n = axis.at(rotation)
        end = float((n * offset).sum()) - float((half * np.abs((n[:, None] * rotation).sum(axis=1))).sum())
        slope = (end - start) / stretch - 0.5 * curvature * stretch
        inside = slope * slope - 2 * curvature * start
        root = 2 * start / (math.sqrt(inside) - slope) if inside >= 0 > slope else math.inf
        if math.isclose(min(root, stretch), step, rel_tol=1e-9):
            break
        stretch = min(stretch, 2 * root)
    else:
        raise AssertionError("the step does not end where the bound does")
    ahead = np.linspace(0, step, 25)
    return ahead, (start + slope * ahead + 0.5 * curvature * ahead * ahead) * unit
