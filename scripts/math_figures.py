# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the figures of docs/math.md: what addon.core really answers, so that none drifts from the code.

    python scripts/math_figures.py            all of them, into docs/images/math
    python scripts/math_figures.py rod        those whose names contain a word

Any Python that has NumPy will do.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svg_drawing import BLUE, GREEN, GREY, INK, ORANGE, PALE, RED, VIOLET, Page, Plot, View

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP))

from addon.core import (  # noqa: E402
    SPHERE_METHODS,
    Aabb,
    Obb,
    ScanSettings,
    Sphere,
    Triangle,
    aabb_from_points,
    at,
    closest_time,
    first_impact,
    minimum_translation,
    obb_from_points,
    overlap_span,
    overlapping_pairs,
    overlaps,
    scan_contacts,
    separation,
    sphere_from_points,
    sphere_tree_from_triangles,
    time_of_impact,
    witness_points,
)
from addon.core.broad_phase import grid as box_columns  # noqa: E402
from addon.core.distance.separating_axis import BoxPair, separating_axis  # noqa: E402
from addon.core.fitting import minimal_sphere_few as sphere_support  # noqa: E402
from addon.core.shapes.primitives import closest_on_triangle  # noqa: E402
from addon.core.sweep import gap_advancement  # noqa: E402
from addon.core.sweep import obb as sweep_obb  # noqa: E402

FOLDER = TOP / "docs" / "images" / "math"

Floats = NDArray[np.float64]

DEEP = 9.0
"""Half the depth of boxes across the page: so deep that no answer leaves the plane of the page."""


def flat(points: ArrayLike) -> Floats:
    """(n, 3) points of (n, 2), in the plane of the page."""
    p = np.asarray(points, dtype=np.float64)
    return np.concatenate([p, np.zeros((*p.shape[:-1], 1))], axis=-1)


def turned(degrees: float) -> Floats:
    """The rotation about the axis that looks at the reader."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def ball(x: float, y: float, radius: float) -> Sphere:
    return Sphere([x, y, 0], radius)


def upright(x: float, y: float, half_x: float, half_y: float) -> Aabb:
    """A box by its centre and half its sides."""
    return Aabb([x - half_x, y - half_y, -DEEP], [x + half_x, y + half_y, DEEP])


def slanted(x: float, y: float, half_x: float, half_y: float, degrees: float) -> Obb:
    return Obb([x, y, 0], [half_x, half_y, DEEP], turned(degrees))


def scattered(count: int, start: int = 1) -> Floats:
    """(count, 2) points spread over the unit square (R2 sequence): the same on every machine."""
    g = 1.32471795724474602596
    steps = np.arange(start, start + count)[:, None]
    places: Floats = steps * np.array([1 / g, 1 / g**2]) % 1
    return places


# ---- bounds of points --------------------------------------------------------------------------------------

WEDGE = [
    (0.05, 0.3), (0.3, 0.75), (0.7, 1.15), (1.1, 1.5), (1.5, 1.95), (1.9, 2.3), (2.2, 2.05),
    (2.35, 1.5), (2.5, 0.9), (2.75, 0.35), (2.5, -0.1), (1.9, -0.2), (1.2, -0.1), (0.6, 0.0),
    (2.1, 1.0), (1.95, 1.45), (1.75, 0.5), (2.2, 0.4), (2.3, 0.1), (2.05, 1.8), (1.2, 0.7),
]  # fmt: skip


def four_spheres() -> Page:
    page = Page(760, 262)
    points = flat(WEDGE)
    for k, method in enumerate(SPHERE_METHODS):
        view = View(page, (34 + 187 * k, 178), 47)
        sphere = sphere_from_points(points, method)
        color = GREEN if method == "minimal" else BLUE
        view.ball(sphere, color)
        view.dots(points)
        far = np.hypot(*(points - sphere.center)[:, :2].T).argmax()
        view.line(sphere.center, points[far], color=color, width=1, dash="3 3")
        view.dots(sphere.center, color, 3.5)
        x = 100 + 187 * k
        page.text(x, 26, method, INK, 14, "middle", bold=True)
        page.text(x, 250, f"radius {float(sphere.radius):.3f}", color, 13, "middle")
    return page


def pivots() -> Page:
    """The spheres that farthest-point pivoting goes through, noted down as it asks for the farthest point."""
    points = flat(WEDGE)
    asked: list[tuple[Sequence[float], float, list[float]]] = []

    def farthest(center: Sequence[float]) -> tuple[float, list[float]]:
        squares = ((points - np.array(center)) ** 2).sum(axis=1)
        found = points[squares.argmax()].tolist()
        asked.append((center, float(squares.max()), found))
        return asked[-1][1:]

    ends = [points[12].tolist(), points[15].tolist()]
    start = sphere_support.widest_span([ends[0]] * 3 + [ends[1]] * 3)
    final = sphere_support.pivot_to_smallest(farthest, start)
    radii = [math.sqrt(start.squared)]
    radii += [math.dist(now[0], before[2]) for before, now in pairwise(asked)]

    page = Page(760, 262)
    shown = [0, 1, len(asked) - 2, len(asked) - 1]
    for k, index in enumerate(shown):
        center, squared, far = asked[index]
        last = index == len(asked) - 1
        view = View(page, (34 + 187 * k, 178), 47)
        view.ball(Sphere(center, radii[index]), GREEN if last else BLUE)
        view.dots(points)
        held = [far] if last else []
        held = final.points if last else (ends if index == 0 else [asked[index - 1][2]])
        view.dots(np.array(held), GREEN if last else BLUE, 4.5)
        view.dots(center, GREEN if last else BLUE, 3)
        x = 100 + 187 * k
        page.text(x, 26, "done" if last else f"sphere {index + 1}", INK, 14, "middle", bold=True)
        if not last:
            view.line(center, far, color=RED, width=1, dash="3 3")
            view.dots(far, RED, 4.5)
            page.text(x, 250, f"farthest: {math.sqrt(squared) - radii[index]:.2f} outside", RED, 13, "middle")
        else:
            page.text(x, 250, f"held by {len(final.points)} points", GREEN, 13, "middle")
    return page


def three_boxes() -> Page:
    page = Page(760, 250)
    outline = np.array([(-1.75, -0.35), (1.75, -0.35), (1.75, 0.25), (1.4, 0.42), (-0.9, 0.42), (-1.75, 0.1)])
    inner = (scattered(26) - 0.5) * [3.3, 0.6]
    body = flat(np.concatenate([outline, inner])) @ turned(33).T
    boxes: list[tuple[str, Any, str]] = [
        ("axis-aligned", aabb_from_points(body), BLUE),
        ("with given axes", obb_from_points(body, rotation=turned(18)), BLUE),
        ("smallest", obb_from_points(body), GREEN),
    ]
    for k, (name, box, color) in enumerate(boxes):
        view = View(page, (130 + 250 * k, 132), 56)
        view.box(box, color)
        view.dots(body)
        half = box.oriented().half_extents
        page.text(130 + 250 * k, 26, name, INK, 14, "middle", bold=True)
        page.text(130 + 250 * k, 238, f"area {4 * half[0] * half[1]:.2f}", color, 13, "middle")
    return page


def transformed_bounds() -> Page:
    page = Page(760, 300)
    view = View(page, (195, 158), 56)
    shear = np.eye(4)
    shear[0, 1] = 1.1
    angles = np.linspace(0, 2 * math.pi, 73)[:-1]
    circle = flat(np.column_stack([np.cos(angles), np.sin(angles)]))
    image = circle @ shear[:3, :3].T
    longest = float(np.sqrt((shear[:3, :3] ** 2).sum(axis=0)).max())
    sphere = ball(0, 0, 1).transformed(shear)
    view.area(image, INK)
    view.ball(ball(0, 0, longest), RED, dash="4 3", fill="none")
    view.ball(sphere, GREEN, fill="none")
    out = image[np.hypot(image[:, 0], image[:, 1]) > longest]
    view.dots(out[np.hypot(out[:, 0], out[:, 1]).argmax()], RED, 4)
    page.text(195, 26, "a sphere under shear", INK, 14, "middle", bold=True)
    page.text(22, 270, f"longest column: radius {longest:.3f}, too small", RED, 12)
    page.text(22, 287, f"largest singular value: radius {float(sphere.radius):.3f}", GREEN, 12)

    view = View(page, (555, 158), 56)
    turn = np.eye(4)
    turn[:3, :3] = turned(35)
    box = upright(0, 0, 1.5, 0.7)
    angles = np.linspace(0, 2 * math.pi, 25)[:-1]
    body = flat(np.column_stack([1.5 * np.cos(angles), 0.7 * np.sin(angles)]))
    moved = body @ turned(35).T
    view.box(box.oriented().transformed(turn), INK, fill="none")
    view.area(moved, INK)
    view.box(box.transformed(turn), BLUE, fill="none")
    view.box(aabb_from_points(moved), GREEN, fill="none")
    page.text(555, 26, "a box under a turn", INK, 14, "middle", bold=True)
    page.text(430, 270, "around the turned box: Aabb.transformed", BLUE, 12)
    page.text(430, 287, "around the turned points: aabb_from_points", GREEN, 12)
    return page


def sphere_tree() -> Page:
    page = Page(760, 275)
    # A horseshoe: rungs from the foot of one leg over the arch to the other foot.
    rungs = [((x, y), (1.35 * x, y)) for x, y in ((1.0, -0.9 + 0.18 * k) for k in range(5))]
    arch = [(math.cos(a), math.sin(a)) for a in np.linspace(0, math.pi, 21)]
    rungs += [((x, y), (1.35 * x, 1.35 * y)) for x, y in arch]
    rungs += [((-x, y), (-u, v)) for (x, y), (u, v) in rungs[4::-1]]
    quads = [(*first, *reversed(second)) for first, second in pairwise(rungs)]
    triangles = flat(np.array([[q[i] for i in corner] for q in quads for corner in ((0, 1, 2), (0, 2, 3))]))
    tree = sphere_tree_from_triangles(triangles, depth=4)
    level = np.zeros(len(tree.children), dtype=int)
    for node, below in enumerate(tree.children):
        level[below[below >= 0]] = level[node] + 1
    is_leaf = tree.children[:, 0] < 0
    for k, depth in enumerate((0, 2, 4)):
        view = View(page, (132 + 248 * k, 145), 60)
        for triangle in triangles:
            view.area(triangle, INK, width=0.5, fill_opacity=0.25)
        # A leaf that ends earlier stands for its part on the levels below.
        nodes = np.flatnonzero((level == depth) | (is_leaf & (level < depth)))
        for node in nodes:
            view.ball(tree.spheres[int(node)], GREEN if depth == 4 else BLUE, fill_opacity=0.08)
        count = f"{len(nodes)} sphere" + ("s" if len(nodes) > 1 else "")
        page.text(132 + 248 * k, 26, f"level {depth}", INK, 14, "middle", bold=True)
        page.text(132 + 248 * k, 262, count, GREEN if depth == 4 else BLUE, 13, "middle")
    return page


# ---- two shapes at rest ------------------------------------------------------------------------------------


def spheres_at_rest() -> Page:
    page = Page(760, 250)
    a, b = ball(0, 0, 0.9), ball(2.55, 0.7, 0.75)
    view = View(page, (90, 155), 72)
    _pair(view, a, b)
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
    _pair(view, a, b)
    _pushed(view, a, b)
    page.text(545, 26, "overlapping", INK, 14, "middle", bold=True)
    page.text(545, 240, f"separation {_signed(separation(a, b))}", RED, 13, "middle")
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
            _pushed(view, sphere, box)
        page.text(125 + 250 * k, 26, name, INK, 14, "middle", bold=True)
        page.text(125 + 250 * k, 238, f"separation {_signed(gap)}", GREEN if gap > 0 else RED, 13, "middle")
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
        _pair(view, a, b)
        pair = BoxPair.of(a.reshaped((1,)), b.reshaped((1,)))
        gap, axis, _ = separating_axis(pair)
        n = (a.to_world(axis[:, 0]) - a.center)[:2]
        across = np.array([n[1], -n[0]])
        # The shadows of both boxes on the axis, drawn below them.
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
            _pushed(view, a, b)
            page.text(565, 326, f"least overlap {-gap[0]:.3f}: the way out", RED, 13, "middle")
    return page


# ---- two shapes in motion ----------------------------------------------------------------------------------


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
        # What mixing corners would make of it: not what the code does.
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


def discriminants() -> Page:
    """Errors of two ways to solve the same quadratic, against exact fractions."""
    decades = np.arange(0, 8.01, 0.5)
    ours, textbook = [], []
    for decade in decades:
        distance = 10.0**decade
        count = 60
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
        exact = np.array([_exact_entry(p[k], end[k]) for k in range(count)])
        path = 2 * (distance + 1)
        ours.append(np.abs(found - exact).max() * path)
        wrong = np.where(np.isnan(usual), 1.0, np.abs(usual - exact) * path)
        textbook.append(wrong.max())
    page = Page(760, 290)
    plot = Plot(page, (90, 50, 560, 240), (0, 8), (-17, 1))
    powers = [(float(k), f"10{_raised(k)}") for k in range(-16, 9)]
    plot.ticks_x(powers[16::2], "distance from which the spheres approach, in radii")
    plot.ticks_y(powers[:17:4], "worst error of the place of impact, in radii")
    for errors, color in ((textbook, RED), (ours, GREEN)):
        logs = np.log10(np.clip(errors, 1e-17, 10))
        plot.curve(np.column_stack([decades, logs]), color=color, width=2)
        plot.dots(np.column_stack([decades, logs]), color, 3)
    limit = np.log10(2 * (10.0**decades + 1) * 2.0**-54)
    plot.curve(np.column_stack([decades, limit]), color=GREY, width=1.2, dash="4 3")
    plot.label((8, float(np.log10(textbook[-1]))), "textbook formula", RED, 12, 4)
    plot.label((8, float(np.log10(ours[-1]))), "time_of_impact", GREEN, 12, -4)
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
            # The same boxes where the other axes always overlap.
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
    """When the gap is least, by looking at many times: there is no formula for this pair."""
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


def turning_rod() -> Page:
    """A rod that turns into a box, and the steps of conservative advancement, recorded as they are made."""
    rod0, rod1 = slanted(0, 0, 2.2, 0.12, 0), slanted(0, 0, 2.2, 0.12, 90)
    box = slanted(0.75, 2.25, 0.4, 0.55, 0)
    steps: list[tuple[float, Floats, Floats]] = []
    plain, plain_bend = gap_advancement.safe_step, gap_advancement.gap_curvature_bound
    bends: list[float] = []

    def noted_bend(*given: Any) -> Floats:
        bend = plain_bend(*given)
        bends.append(float(bend[0]))
        return bend

    def noted(motion: Any, time: Floats, axis: Any, trial: Floats) -> Any:
        step, crosses = plain(motion, time, axis, trial)
        if axis.gap[0] > 1e-6:
            unit = float(rod0.half_extents[0] / motion.half[0, 0, 0])
            steps.append(
                (float(time[0]), *_lower_bound(motion, axis, time, trial, bends[-1], float(step[0]), unit))
            )
        return step, crosses

    with (
        patch.object(sweep_obb, "safe_step", noted),
        patch.object(gap_advancement, "gap_curvature_bound", noted_bend),
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


# ---- many shapes -------------------------------------------------------------------------------------------


def columns() -> Page:
    page = Page(760, 330)
    places = scattered(34) * [10.8, 3.6]
    sizes = 0.3 + 0.85 * scattered(34, start=40)
    low = np.column_stack([places, np.zeros(34)])
    boxes = Aabb(low, low + np.column_stack([sizes, np.ones(34)]))
    width = 1.6
    grid = box_columns.Grid(sweep_axis=1, axes=(2, 0), scale=(0.0, 1 / width), bits=(0, 4))
    order = np.argsort(boxes.min[:, 1])
    along = box_columns.Boxes(order, boxes.min[order].T.copy(), boxes.max[order].T.copy())
    entered = box_columns.Columns.of(along, box_columns.Footprint.of(along, grid), grid)
    ends = np.searchsorted(entered.keys, entered.candidates_end(entered))
    names = order[entered.rank].tolist()
    looked = {tuple(sorted((names[i], names[j]))) for i, end in enumerate(ends) for j in range(i + 1, end)}
    view = View(page, (25, 285), 60)
    for k in range(9):
        view.line((k * width, -0.15), (k * width, 4.65), color=PALE, width=1)
    pairs = overlapping_pairs(boxes)
    touching = set(pairs.ravel().tolist())
    for index in range(34):
        view.box(boxes[index], RED if index in touching else BLUE, fill_opacity=0.15)
    hits = {tuple(pair) for pair in pairs.tolist()}
    for i, j in sorted(looked):
        color = RED if (i, j) in hits else GREY
        view.line(boxes.center[i], boxes.center[j], color=color, width=1.8 if (i, j) in hits else 0.9)
    words = f"34 boxes, 561 pairs: {len(looked)} looked at, {len(hits)} overlap"
    assert hits <= looked
    page.text(380, 318, words, INK, 13, "middle")
    return page


def interval_bounds() -> Page:
    page = Page(760, 235)
    start, end = ball(0.4, 0.3, 0.32), ball(5.3, 1.9, 0.32)
    plate = Sphere([2.95, 1.35, 0], 0.42)

    class Shot:
        def sample(self, time: float) -> Sphere:
            moving = at(start, end, time)
            return Sphere(np.stack([moving.center, plate.center]), np.stack([moving.radius, plate.radius]))

    scan = scan_contacts(Shot(), [0.0, 1.0], ScanSettings())
    while True:
        try:
            next(scan)
        except StopIteration as stop:
            report = stop.value
            break
    (contact,) = report.contacts
    assert contact.first.tunnelling
    for k, name in enumerate(("at whole frames: nothing", "over the interval: a candidate")):
        view = View(page, (30 + 375 * k, 190), 58)
        view.ball(plate, ORANGE, fill_opacity=0.25)
        view.box(plate.aabb(), ORANGE, fill="none", width=1)
        for sphere in (start, end):
            view.ball(sphere, BLUE)
            if k == 0:
                view.box(sphere.aabb(), BLUE, fill="none", width=1)
        page.text(190 + 375 * k, 26, name, INK, 14, "middle", bold=True)
        if k == 1:
            view.box(start.aabb().merged(end.aabb()), BLUE, fill_opacity=0.05, width=1)
            view.arrow(start.center, end.center, BLUE, 1.2)
            view.ball(at(start, end, contact.first.frame), RED)
            view.dots(contact.first.point, RED, 4)
            page.text(565, 222, f"contact at frame {contact.first.frame:.3f}", RED, 13, "middle")
        else:
            page.text(190, 222, "frames 0 and 1", GREY, 13, "middle")
    return page


def between_samples() -> Page:
    """A ball on a circle, sampled at four frames, and where adaptive motion asks in between."""
    asked: list[float] = []
    centers = flat([[0.0, 0.0], [4.6, 1.9]])

    class Round:
        refinable = np.ones(2, dtype=bool)

        def sample(self, time: float) -> Sphere:
            angle = 2.6 - 0.85 * time
            moving = centers[0] + 3.6 * np.array([math.cos(angle), math.sin(angle), 0])
            return Sphere(np.stack([moving, centers[1]]), [0.35, 1.2])

        def sample_between(self, time: float, subjects: Any) -> Sphere:
            asked.append(time)
            return self.sample(time)[subjects]

    motion = Round()
    found = []
    for kind in ("linear", "adaptive"):
        scan = scan_contacts(motion, np.arange(4.0), ScanSettings(motion=kind))
        while True:
            try:
                next(scan)
            except StopIteration as stop:
                found.append(stop.value.contacts)
                break
    (adaptive,) = found[1]
    page = Page(760, 300)
    view = View(page, (260, 250), 52)
    way = np.array([motion.sample(time).center[0] for time in np.linspace(0, 3, 90)])
    view.curve(way, color=INK, width=1.5)
    frames = [motion.sample(time) for time in range(4)]
    view.curve([frame.center[0] for frame in frames], color=GREY, width=1.2, dash="5 4")
    view.ball(frames[0][1], ORANGE)
    for k, frame in enumerate(frames):
        view.ball(frame[0], BLUE)
        view.label(frame.center[0], str(k), BLUE, -4, 5)
    for time in asked:
        view.dots(motion.sample(time).center[0], GREEN, 3)
    view.ball(motion.sample(adaptive.first.frame)[0], RED, fill="none")
    straight = f"{found[0][0].first.frame:.3f}" if found[0] else "never"
    page.text(30, 216, "black: the way; dashed: straight", INK, 13)
    page.text(30, 236, f"green: {len(asked)} samples in between", GREEN, 13)
    page.text(30, 256, f"red: contact at {adaptive.first.frame:.4f}", RED, 13)
    page.text(30, 276, f"on the straight way: {straight}", GREY, 13)
    return page


# ---- common ground -----------------------------------------------------------------------------------------


def _pair(view: View, a: Any, b: Any) -> None:
    for shape, color, name in ((a, BLUE, "a"), (b, ORANGE, "b")):
        (view.ball if isinstance(shape, Sphere) else view.box)(shape, color)
        view.dots(shape.center, color)
        view.label(shape.center, name, color, -14, -6)


def _pushed(view: View, a: Any, b: Any) -> None:
    """The first shape where its minimum translation brings it, and that."""
    move = minimum_translation(a, b)
    if isinstance(a, Sphere):
        view.ball(Sphere(a.center + move, a.radius), BLUE, dash="4 3", fill="none", width=1)
    else:
        view.box(Obb(a.center + move, a.half_extents, a.rotation), BLUE, dash="4 3", fill="none", width=1)
    view.arrow(a.center, a.center + move, RED, 2.5)


def _exact_entry(p: Floats, end: Floats) -> float:
    """When |p + v t| first is 1, by fractions and a root of 60 digits."""
    p0 = [Fraction(x) for x in p.tolist()]
    v = [Fraction(x) - y for x, y in zip(end.tolist(), p0, strict=True)]
    a, b = sum(x * x for x in v), sum(x * y for x, y in zip(p0, v, strict=True))
    c = sum(x * x for x in p0) - 1
    d = b * b - a * c
    digits = 10**60
    root = Fraction(math.isqrt(d.numerator * digits**2 // d.denominator), digits)
    return float((-b - root) / a)


def _lower_bound(
    motion: Any, axis: Any, time: Floats, trial: Floats, bend: float, step: float, unit: float
) -> tuple[Floats, Floats]:
    """The parabola below the gap that limits a step of conservative advancement: times ahead, lower bounds.

    bend : what the second derivative of the gap is at most
    unit : length in which the sweep measures the pair
    """
    start = max(float(axis.gap[0]), 0.0)
    stretch = float(trial[0])
    for _ in range(2):
        offset, half, rotation, _ = motion.at(time + stretch)
        n = axis.at(rotation)
        end = float((n * offset).sum()) - float((half * np.abs((n[:, None] * rotation).sum(axis=1))).sum())
        slope = (end - start) / stretch - 0.5 * bend * stretch
        inside = slope * slope - 2 * bend * start
        root = 2 * start / (math.sqrt(inside) - slope) if inside >= 0 > slope else math.inf
        if math.isclose(min(root, stretch), step, rel_tol=1e-9):
            break
        stretch = min(stretch, 2 * root)
    else:
        raise AssertionError("the step does not end where the bound does")
    ahead = np.linspace(0, step, 25)
    return ahead, (start + slope * ahead + 0.5 * bend * ahead * ahead) * unit


def _signed(value: Any) -> str:
    return f"{float(value):.2f}".replace("-", "−")


def _raised(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


FIGURES: dict[str, Callable[[], Page]] = {
    "shapes/sphere-methods": four_spheres,
    "shapes/pivots": pivots,
    "shapes/boxes": three_boxes,
    "shapes/transformed": transformed_bounds,
    "shapes/sphere-tree": sphere_tree,
    "rest/spheres-at-rest": spheres_at_rest,
    "rest/sphere-box": sphere_and_box,
    "rest/sphere-triangle": closest_on_triangles,
    "rest/separating-axis": separating_axes,
    "motion/interpolation": turning_between_samples,
    "motion/swept-spheres": swept_spheres,
    "motion/discriminant": discriminants,
    "motion/slabs": slabs,
    "motion/rounded-box": rounded_boxes,
    "motion/overlap-span": spans,
    "motion/turning-rod": turning_rod,
    "motion/columns": columns,
    "motion/interval-bounds": interval_bounds,
    "motion/adaptive": between_samples,
}


def main(words: Sequence[str]) -> None:
    for name, draw in FIGURES.items():
        if not words or any(word in name for word in words):
            path = FOLDER / f"{name}.svg"
            path.parent.mkdir(parents=True, exist_ok=True)
            draw().save(path)


if __name__ == "__main__":
    main(sys.argv[1:])
