# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of the chapter on two shapes in motion, without rotation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from addon.core import (
    Aabb,
    Sphere,
    at,
    closest_time,
    first_impact,
    overlap_span,
    separation,
    time_of_impact,
)

from .common import Floats, ball, scattered, slanted, upright
from .svg_drawing import BLUE, GREEN, GREY, INK, ORANGE, PALE, RED, VIOLET, Page, Plot, View


def turning_between_samples() -> Page:
    page = Page(760, 225)
    start, end = slanted(0, 0, 1.0, 0.16, 80), slanted(4.4, 0, 1.0, 0.16, -70)
    times = [0.0, 0.25, 0.5, 0.75, 1.0]
    view = View(page, (45, 125), 66)
    for t in times:
        view.box(at(start, end, t), BLUE if 0 < t < 1 else INK)
    page.text(190, 26, "a turn at a constant rate", INK, 14, "middle", bold=True)
    view = View(page, (425, 125), 66)
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    for t in times:
        # Linear interpolation of corners, for comparison: the code does not do this.
        corners = []
        for box in (start, end):
            local = np.column_stack([signs * box.half_extents[:2], np.zeros(4)])
            corners.append(box.to_world(local))
        view.area((1 - t) * corners[0] + t * corners[1], RED if 0 < t < 1 else INK)
    page.text(570, 26, "corners in straight lines: it shrinks", INK, 14, "middle", bold=True)
    for k, t in enumerate(times):
        for x in (45, 425):
            page.text(x + k * 1.1 * 66, 212, f"t = {t:g}", GREY, 11, "middle")
    return page


def swept_spheres() -> Page:
    page = Page(760, 300)
    a0, a1 = ball(0, 0.2, 0.42), ball(4.3, 1.4, 0.42)
    b0, b1 = ball(2.9, -0.7, 0.55), ball(2.3, 1.6, 0.55)
    t = float(time_of_impact(a0, a1, b0, b1))
    view = View(page, (50, 190), 62)
    for start, end, color in ((a0, a1, BLUE), (b0, b1, ORANGE)):
        view.arrow(start.center, end.center, color, 1.2)
        view.ball(start, color, fill="none")
        view.ball(end, color, fill="none", dash="4 3")
        view.ball(at(start, end, t), color, fill_opacity=0.25, width=2)
    impact = first_impact(a0, a1, b0, b1)
    view.dots(impact.point, RED, 4)
    page.text(185, 26, "both move", INK, 14, "middle", bold=True)
    page.text(185, 288, f"time of impact {t:.4f}", RED, 13, "middle")

    view = View(page, (575, 170), 62)
    p0, p1 = a0.center - b0.center, a1.center - b1.center
    v = p1 - p0
    nearest = -(p0 @ v) / (v @ v)
    q = p0 + nearest * v
    r = float(a0.radius + b0.radius)
    view.ball(ball(0, 0, r), ORANGE)
    view.dots([0, 0, 0], ORANGE, 3)
    view.arrow(p0, p1, BLUE, 1.5)
    hit = p0 + t * v
    view.line((0, 0), q, color=GREEN, width=2)
    view.line(q, hit, color=VIOLET, width=4)
    view.line((0, 0), hit, color=ORANGE, width=1.2, dash="4 3")
    view.dots(hit, RED, 4)
    view.label(p0, "p", BLUE, -14, 4)
    view.label(p1, "p + v", BLUE, 8, 5)
    view.label(q / 2, "q", GREEN, 8, 4)
    view.label(hit / 2, "r", ORANGE, -4, 16)
    page.text(632, 108, "√(r² − q·q)", VIOLET)
    page.text(585, 26, "the same, seen from the second", INK, 14, "middle", bold=True)
    page.text(585, 288, "one point against one larger sphere", GREY, 13, "middle")
    return page


def _worst_errors(distance: float, count: int = 60) -> tuple[float, float]:
    """Return the worst errors of the textbook formula and of `time_of_impact`, at a distance in radii."""
    heading = 2 * math.pi * scattered(count)[:, 0]
    miss = 0.9 + 0.0999 * scattered(count)[:, 1]
    along = np.column_stack([np.cos(heading), np.sin(heading), np.zeros(count)])
    across = np.column_stack([-along[:, 1], along[:, 0], np.zeros(count)])
    p = -(distance + 1) * along + miss[:, None] * across
    end = (distance + 1) * along + miss[:, None] * across
    found = time_of_impact(Sphere(p, 0.5), Sphere(end, 0.5), ball(0, 0, 0.5), ball(0, 0, 0.5))
    v = end - p
    a, b, c = (v * v).sum(1), (p * v).sum(1), (p * p).sum(1) - 1
    with np.errstate(invalid="ignore"):
        usual = (-b - np.sqrt(b * b - a * c)) / a
    exact = np.array([exact_entry_time(p[k], end[k]) for k in range(count)])
    path = 2 * (distance + 1)
    wrong = np.where(np.isnan(usual), 1.0, np.abs(usual - exact) * path)
    return float(wrong.max()), float(np.abs(found - exact).max() * path)


def discriminants() -> Page:
    """Draw the errors of two formulas for the same quadratic, compared with exact fractions."""
    decades = np.arange(0, 8.01, 0.5)
    textbook, computed = zip(*(_worst_errors(10.0**decade) for decade in decades.tolist()), strict=True)
    page = Page(760, 290)
    plot = Plot(page, (90, 50, 560, 240), (0, 8), (-17, 1))
    powers = [(float(k), f"10{superscript(k)}") for k in range(-16, 9)]
    plot.ticks_x(powers[16::2], "distance from which the spheres approach, in radii")
    plot.ticks_y(powers[:17:4], "worst error of the place of impact, in radii")
    for errors, color in ((textbook, RED), (computed, GREEN)):
        logs = np.log10(np.clip(errors, 1e-17, 10))
        plot.curve(np.column_stack([decades, logs]), color=color, width=2)
        plot.dots(np.column_stack([decades, logs]), color, 3)
    limit = np.log10(2 * (10.0**decades + 1) * 2.0**-54)
    plot.curve(np.column_stack([decades, limit]), color=GREY, width=1.2, dash="4 3")
    plot.label((8, float(np.log10(textbook[-1]))), "textbook formula", RED, 12, 4)
    plot.label((8, float(np.log10(computed[-1]))), "time_of_impact", GREEN, 12, -4)
    plot.label((8, float(limit[-1])), "rounding of the time itself", GREY, 12, 14)
    return page


def slabs() -> Page:
    page = Page(760, 290)
    a0 = Aabb([-0.45, -0.4, -0.4], [0.45, 0.4, 0.4])
    a1 = Aabb([4.1, 1.5, -0.1], [5.1, 2.5, 0.9])
    b0 = Aabb([2.0, 0.1, -0.3], [3.2, 1.1, 0.7])
    b1 = Aabb([1.8, 0.3, -0.3], [3.0, 1.3, 0.7])
    enter, leave = (float(t) for t in overlap_span(a0, a1, b0, b1))
    view = View(page, (60, 200), 58)
    view.arrow(a0.center, a1.center, BLUE, 1.2)
    for t in (0.0, enter, leave, 1.0):
        contact = t in (enter, leave)
        view.box(at(b0, b1, t), ORANGE, fill_opacity=0.1 if contact else 0, width=1.5 if contact else 0.7)
        view.box(at(a0, a1, t), BLUE, fill_opacity=0.2 if contact else 0, width=2 if contact else 1)
    page.text(190, 26, "two boxes, faces moving linearly", INK, 14, "middle", bold=True)

    plot = Plot(page, (470, 50, 720, 225), (0, 1), (0, 4))
    plot.ticks_x([(0, "0"), (0.5, "0.5"), (1, "1")], "time in the interval")
    wide = np.full(3, 100.0)
    for axis in range(3):
        alone = []
        for box in (a0, a1, b0, b1):
            # Only this axis: make the boxes overlap on the other two at all times.
            low, high = -wide, wide.copy()
            low[axis], high[axis] = box.min[axis], box.max[axis]
            alone.append(Aabb(low, high))
        first, last = (float(t) for t in overlap_span(alone[0], alone[1], alone[2], alone[3]))
        y = 3.5 - axis
        plot.line((first, y), (last, y), color=BLUE, width=9)
        page.text(455, float(plot.pixels((0, y))[1]) + 4, "XYZ"[axis], INK, 13, "end")
    plot.line((enter, 0.5), (leave, 0.5), color=RED, width=9)
    page.text(455, float(plot.pixels((0, 0.5))[1]) + 4, "all", RED, 13, "end")
    for t in (enter, leave):
        plot.line((t, 0), (t, 4), color=RED, width=1, dash="3 3")
    plot.label((enter, 4), f"{enter:.3f}", RED, 0, -6, anchor="middle", size=11)
    plot.label((leave, 4), f"{leave:.3f}", RED, 0, -6, anchor="middle", size=11)
    page.text(595, 26, "when they overlap on each axis", INK, 14, "middle", bold=True)
    return page


def rounded_boxes() -> Page:
    page = Page(760, 312)
    box = upright(0, 0, 1.3, 0.7)
    r = 0.6
    paths = [((0.9, 2.1), (2.75, 0.25)), ((0.65, 2.1), (2.6, 0.15))]
    for k, (start, end) in enumerate(paths):
        view = View(page, (155 + 365 * k, 182), 68)
        a0, a1 = ball(*start, r), ball(*end, r)
        arc = [np.radians(np.linspace(90 * c, 90 * c + 90, 19)) for c in range(4)]
        turns = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
        rim = [
            np.array([1.3, 0.7]) * turn + r * np.column_stack([np.cos(angle), np.sin(angle)])
            for turn, angle in zip(turns, arc, strict=True)
        ]
        view.box(box.padded(r), GREY, dash="4 3", fill="none", width=1)
        view.area(np.concatenate(rim), ORANGE, fill_opacity=0.06)
        view.box(box, ORANGE, fill_opacity=0.2)
        view.arrow(a0.center, a1.center, BLUE, 1.5)
        t = float(time_of_impact(a0, a1, box, box))
        corners = float(time_of_impact(ball(*start, 0), ball(*end, 0), box.padded(r), box.padded(r)))
        assert not math.isnan(corners)
        x = 190 + 365 * k
        if math.isnan(t):
            page.text(x, 26, "passes by the corner", INK, 14, "middle", bold=True)
            page.text(x, 300, f"never; the box grown by r says {corners:.3f}", GREEN, 13, "middle")
            near = (at(a0, a1, corners).center, closest_time_of(a0, a1, box))
            view.ball(at(a0, a1, near[1]), BLUE)
            view.dots(near[0], GREY, 3.5)
        else:
            impact = first_impact(a0, a1, box, box)
            view.ball(at(a0, a1, t), BLUE)
            view.dots(impact.point, RED, 4)
            view.dots(at(a0, a1, t).center, BLUE, 3.5)
            page.text(x, 26, "meets the corner", INK, 14, "middle", bold=True)
            page.text(x, 300, f"time of impact {t:.3f}; grown by r {corners:.3f}", RED, 13, "middle")
    return page


def closest_time_of(a0: Sphere, a1: Sphere, box: Aabb) -> float:
    """Time of closest approach, by dense sampling: there is no formula for this pair."""
    times = np.linspace(0, 1, 1001)
    return float(times[separation(at(a0, a1, times), box).argmin()])


def spans() -> Page:
    page = Page(760, 270)
    a0, a1 = ball(0, 0, 0.5), ball(5, 1.1, 0.7)
    cases = [("one that meets", ball(2.6, 1.2, 0.4)), ("one that passes by", ball(2.4, 2.3, 0.4))]
    times = np.linspace(0, 1, 61)
    for k, (name, b) in enumerate(cases):
        plot = Plot(page, (60 + 370 * k, 55, 350 + 370 * k, 215), (0, 1), (-1.1, 2.8))
        plot.ticks_x([(0, "0"), (0.5, "0.5"), (1, "1")], "time in the interval")
        plot.ticks_y([(0, "0"), (1, "1"), (2, "2")], "separation")
        plot.line((0, 0), (1, 0), color=PALE, width=1)
        plot.curve(np.column_stack([times, separation(at(a0, a1, times), b)]), color=BLUE, width=2)
        page.text(205 + 370 * k, 26, name, INK, 14, "middle", bold=True)
        low = float(closest_time(a0, a1, b, b))
        least = float(separation(at(a0, a1, low), b))
        plot.dots((low, least), GREEN, 4.5)
        if least <= 0:
            enter, leave = (float(t) for t in overlap_span(a0, a1, b, b))
            plot.dots([(enter, 0), (leave, 0)], RED, 4.5)
            plot.label((enter, 0), f"enter {enter:.3f}", RED, -8, 18, anchor="end", size=12)
            plot.label((leave, 0), f"leave {leave:.3f}", RED, 8, 18, size=12)
            plot.label((low, least), f"deepest {-least:.3f}", GREEN, 0, 19, anchor="middle", size=12)
        else:
            words = f"closest at {low:.3f}: gap {least:.3f}"
            plot.label((low, least), words, GREEN, 0, 22, anchor="middle", size=12)
    return page


def exact_entry_time(p: Floats, end: Floats) -> float:
    """First time at which |p + v t| is 1, by fractions and a root of 60 digits."""
    p0 = [Fraction(x) for x in p.tolist()]
    v = [Fraction(x) - y for x, y in zip(end.tolist(), p0, strict=True)]
    a, b = sum(x * x for x in v), sum(x * y for x, y in zip(p0, v, strict=True))
    c = sum(x * x for x in p0) - 1
    d = b * b - a * c
    digits = 10**60
    root = Fraction(math.isqrt(d.numerator * digits**2 // d.denominator), digits)
    return float((-b - root) / a)


def superscript(power: int) -> str:
    """Return a number in superscript digits."""
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
