# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of the chapter on two shapes at rest."""

from __future__ import annotations

import numpy as np

from addon.core import Triangle, minimum_translation, overlaps, separation, witness_points
from addon.core.distance.separating_axis import BoxPair, separating_axis
from addon.core.shapes.primitives import closest_on_triangle

from .common import DEEP, ball, draw_pair, draw_translated, scattered, signed, slanted, upright
from .svg_drawing import BLUE, GREEN, INK, ORANGE, RED, VIOLET, Page, View


def spheres_at_rest() -> Page:
    page = Page(760, 250)
    a, b = ball(0, 0, 0.9), ball(2.55, 0.7, 0.75)
    view = View(page, (90, 155), 72)
    draw_pair(view, a, b)
    witness = witness_points(a, b)
    view.line(witness.on_a, witness.on_b, color=GREEN, width=3)
    view.dots([witness.on_a, witness.on_b], GREEN, 4)
    gap = float(separation(a, b))
    page.text(180, 240, f"separation {gap:.2f}", GREEN, 13, "middle")
    below = a.center - np.array([0, 0.3, 0])
    view.arrow(below, below + 0.8 * witness.normal, VIOLET)
    view.label(below, "normal", VIOLET, -8, 20)
    page.text(180, 26, "apart", INK, 14, "middle", bold=True)

    a, b = ball(0, 0, 1.0), ball(1.25, 0.45, 0.8)
    view = View(page, (520, 145), 62)
    draw_pair(view, a, b)
    draw_translated(view, a, b)
    page.text(545, 26, "overlapping", INK, 14, "middle", bold=True)
    page.text(545, 240, f"separation {signed(separation(a, b))}", RED, 13, "middle")
    return page


def sphere_and_box() -> Page:
    page = Page(760, 250)
    box = upright(0, 0, 0.95, 0.7)
    cases = [
        ("outside", ball(1.6, 1.25, 0.55)),
        ("overlapping", ball(1.25, 0.35, 0.55)),
        ("inside", ball(0.5, 0.42, 0.4)),
    ]
    for k, (name, sphere) in enumerate(cases):
        view = View(page, (100 + 250 * k, 160), 62)
        view.box(box, ORANGE)
        view.ball(sphere, BLUE)
        view.dots(sphere.center, BLUE)
        gap = float(separation(sphere, box))
        if gap > 0:
            witness = witness_points(sphere, box)
            view.line(witness.on_a, witness.on_b, color=GREEN, width=3)
            view.dots([witness.on_a, witness.on_b], GREEN, 4)
        else:
            draw_translated(view, sphere, box)
        page.text(125 + 250 * k, 26, name, INK, 14, "middle", bold=True)
        page.text(125 + 250 * k, 238, f"separation {signed(gap)}", GREEN if gap > 0 else RED, 13, "middle")
    return page


def closest_on_triangles() -> Page:
    page = Page(760, 300)
    view = View(page, (80, 235), 74)
    triangle = Triangle([0, 0, 0], [2.6, 0.25, 0], [0.9, 1.9, 0])
    corners = np.stack([triangle.a, triangle.b, triangle.c])
    view.area(corners, ORANGE)
    for x, y in (scattered(90) * [4.2, 3.5] - [0.8, 0.75]).tolist():
        point = np.array([x, y, 0.0])
        closest = closest_on_triangle(point, triangle)
        away = float(np.hypot(*(closest - point)[:2]))
        is_corner = bool((np.abs(corners - closest).max(axis=1) < 1e-12).any())
        color = GREEN if away < 1e-12 else (VIOLET if is_corner else BLUE)
        if away > 1e-12:
            view.line(point, closest, color=color, width=0.8)
        view.dots(point, color, 2.5)
    page.text(190, 26, "closest point of a triangle", INK, 14, "middle", bold=True)
    page.text(355, 90, "over the face", GREEN, 12)
    page.text(355, 108, "on an edge", BLUE, 12)
    page.text(355, 126, "at a corner", VIOLET, 12)

    view = View(page, (470, 175), 120)
    sphere = ball(1.35, 0.3, 0.6)
    edge = 1.65
    top = Triangle([edge, 0, -DEEP], [-DEEP, 0, 0], [edge, 0, DEEP])
    side = Triangle([edge, 0, DEEP], [edge, -DEEP, 0], [edge, 0, -DEEP])
    one_sided = [Triangle(t.a, t.b, t.c, one_sided=True) for t in (top, side)]
    assert top.normal[1] == 1 and side.normal[0] == 1
    assert overlaps(sphere, side) and not overlaps(sphere, one_sided[1])
    view.area([(0, 0), (edge, 0), (edge, -0.85), (0, -0.85)], ORANGE, width=0)
    view.line((0, 0), (edge, 0), (edge, -0.85), color=ORANGE, width=2)
    view.ball(sphere, BLUE)
    view.dots(sphere.center, BLUE)
    view.arrow(sphere.center, sphere.center + minimum_translation(sphere, one_sided[0]), GREEN, 2.5)
    view.arrow(sphere.center, sphere.center + minimum_translation(sphere, side), RED, 2.5)
    page.text(585, 26, "on a box near its edge", INK, 14, "middle", bold=True)
    view.label((0.08, -0.25), "top face: pushes up", GREEN, size=12)
    view.label((0.08, -0.42), "side face, two-sided: shoves", RED, size=12)
    view.label((0.08, -0.55), "the sphere across the top", RED, size=12)
    view.label((0.08, -0.72), "side face, one-sided: nothing", INK, size=12)
    return page


def separating_axes() -> Page:
    page = Page(760, 340)
    cases = [
        ("apart", slanted(0, 0, 1.15, 0.5, 12), slanted(2.55, 1.15, 0.9, 0.45, -20)),
        ("overlapping", slanted(0.2, 0, 1.2, 0.6, 20), slanted(1.6, 0.75, 0.95, 0.5, -48)),
    ]
    for k, (name, a, b) in enumerate(cases):
        view = View(page, (100 + 375 * k, 158), 66)
        draw_pair(view, a, b)
        pair = BoxPair.of(a.reshaped((1,)), b.reshaped((1,)))
        gap, axis, _ = separating_axis(pair)
        n = (a.to_world(axis[:, 0]) - a.center)[:2]
        across = np.array([n[1], -n[0]])
        # The projections of both boxes on the axis, drawn below them.
        foot = across * 2.05
        ends = []
        for box, color, shift in ((a, BLUE, 0.0), (b, ORANGE, 0.1)):
            corners = box.corners()[:, :2]
            heights = corners @ n
            for index in (heights.argmin(), heights.argmax()):
                drop = foot + heights[index] * n
                view.line(corners[index], drop, color=color, width=0.8, dash="3 3")
            low, high = (foot + h * n + shift * across for h in (heights.min(), heights.max()))
            view.line(low, high, color=color, width=4)
            ends.append((heights.min(), heights.max()))
        low, high = ends[0][1], ends[1][0]
        view.line(foot + low * n, foot + high * n, color=GREEN if gap[0] > 0 else RED, width=4)
        page.text(160 + 375 * k, 26, name, INK, 14, "middle", bold=True)
        if gap[0] > 0:
            witness = witness_points(a, b)
            view.line(witness.on_a, witness.on_b, color=GREEN, width=2)
            view.dots([witness.on_a, witness.on_b], GREEN, 3.5)
            words = f"gap along the axis {gap[0]:.3f}, separation {float(separation(a, b)):.3f}"
            page.text(190, 326, words, GREEN, 13, "middle")
        else:
            draw_translated(view, a, b)
            page.text(565, 326, f"least overlap {-gap[0]:.3f}: minimum translation", RED, 13, "middle")
    return page
