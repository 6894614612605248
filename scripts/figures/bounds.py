# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of the chapter on bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from addon.core import (
    SPHERE_METHODS,
    Sphere,
    aabb_from_points,
    obb_from_points,
    sphere_from_points,
    sphere_tree_from_triangles,
)
from addon.core.fitting import minimal_sphere

from .common import ball, flat, rotation, scattered, upright
from .svg_drawing import BLUE, GREEN, INK, RED, Page, View

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
    """Draw the iterations of farthest-point pivoting, recorded at its queries for the farthest point."""
    points = flat(WEDGE)
    queries: list[tuple[Sequence[float], float, list[float]]] = []

    def farthest(center: Sequence[float]) -> tuple[float, list[float]]:
        squares = ((points - np.array(center)) ** 2).sum(axis=1)
        found = points[squares.argmax()].tolist()
        queries.append((center, float(squares.max()), found))
        return queries[-1][1:]

    ends = [points[12].tolist(), points[15].tolist()]
    start = minimal_sphere.widest_span([ends[0]] * 3 + [ends[1]] * 3)
    final = minimal_sphere.pivot_to_smallest(farthest, start)
    radii = [math.sqrt(start.squared)]
    radii += [math.dist(now[0], before[2]) for before, now in pairwise(queries)]

    page = Page(760, 262)
    shown = [0, 1, len(queries) - 2, len(queries) - 1]
    for k, index in enumerate(shown):
        center, squared, far = queries[index]
        last = index == len(queries) - 1
        view = View(page, (34 + 187 * k, 178), 47)
        view.ball(Sphere(center, radii[index]), GREEN if last else BLUE)
        view.dots(points)
        held = [far] if last else []
        held = final.points if last else (ends if index == 0 else [queries[index - 1][2]])
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
    body = flat(np.concatenate([outline, inner])) @ rotation(33).T
    boxes: list[tuple[str, Any, str]] = [
        ("axis-aligned", aabb_from_points(body), BLUE),
        ("with given axes", obb_from_points(body, rotation=rotation(18)), BLUE),
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
    turn[:3, :3] = rotation(35)
    box = upright(0, 0, 1.5, 0.7)
    angles = np.linspace(0, 2 * math.pi, 25)[:-1]
    body = flat(np.column_stack([1.5 * np.cos(angles), 0.7 * np.sin(angles)]))
    moved = body @ rotation(35).T
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
        # A leaf of a higher level represents its part on the levels below.
        nodes = np.flatnonzero((level == depth) | (is_leaf & (level < depth)))
        for node in nodes:
            view.ball(tree.spheres[int(node)], GREEN if depth == 4 else BLUE, fill_opacity=0.08)
        count = f"{len(nodes)} sphere" + ("s" if len(nodes) > 1 else "")
        page.text(132 + 248 * k, 26, f"level {depth}", INK, 14, "middle", bold=True)
        page.text(132 + 248 * k, 262, count, GREEN if depth == 4 else BLUE, 13, "middle")
    return page
