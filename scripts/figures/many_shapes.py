# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of the chapter on many shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from addon.core import Aabb, ScanSettings, Sphere, at, overlapping_pairs, scan_contacts
from addon.core.broad_phase import grid as grid_module
from addon.core.curves.keyframes import BEZIER, Curves, Keys

from .common import ball, flat, scattered
from .svg_drawing import BLUE, GREEN, GREY, INK, ORANGE, PALE, RED, Page, Plot, View


def columns() -> Page:
    page = Page(760, 330)
    positions = scattered(34) * [10.8, 3.6]
    sizes = 0.3 + 0.85 * scattered(34, start=40)
    low = np.column_stack([positions, np.zeros(34)])
    boxes = Aabb(low, low + np.column_stack([sizes, np.ones(34)]))
    width = 1.6
    grid = grid_module.Grid(sweep_axis=1, axes=(2, 0), scale=(0.0, 1 / width), bits=(0, 4))
    order = np.argsort(boxes.min[:, 1])
    along = grid_module.Boxes(order, boxes.min[order].T.copy(), boxes.max[order].T.copy())
    entered = grid_module.Columns.of(along, grid_module.Footprint.of(along, grid), grid)
    ends = np.searchsorted(entered.keys, entered.candidates_end(entered))
    names = order[entered.rank].tolist()
    candidates = {
        tuple(sorted((names[i], names[j]))) for i, end in enumerate(ends) for j in range(i + 1, end)
    }
    view = View(page, (25, 285), 60)
    for k in range(9):
        view.line((k * width, -0.15), (k * width, 4.65), color=PALE, width=1)
    pairs = overlapping_pairs(boxes)
    touching = set(pairs.ravel().tolist())
    for index in range(34):
        view.box(boxes[index], RED if index in touching else BLUE, fill_opacity=0.15)
    hits = {tuple(pair) for pair in pairs.tolist()}
    for i, j in sorted(candidates):
        color = RED if (i, j) in hits else GREY
        view.line(boxes.center[i], boxes.center[j], color=color, width=1.8 if (i, j) in hits else 0.9)
    words = f"34 boxes, 561 pairs: {len(candidates)} tested, {len(hits)} overlap"
    assert hits <= candidates
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
    """Draw a ball on a circle, sampled at four frames, and the sub-frame samples of adaptive motion."""
    times_between: list[float] = []
    centers = flat([[0.0, 0.0], [4.6, 1.9]])

    class Round:
        refinable = np.ones(2, dtype=bool)

        def sample(self, time: float) -> Sphere:
            angle = 2.6 - 0.85 * time
            moving = centers[0] + 3.6 * np.array([math.cos(angle), math.sin(angle), 0])
            return Sphere(np.stack([moving, centers[1]]), [0.35, 1.2])

        def sample_between(self, time: float, subjects: Any) -> Sphere:
            times_between.append(time)
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
    path = np.array([motion.sample(time).center[0] for time in np.linspace(0, 3, 90)])
    view.curve(path, color=INK, width=1.5)
    frames = [motion.sample(time) for time in range(4)]
    view.curve([frame.center[0] for frame in frames], color=GREY, width=1.2, dash="5 4")
    view.ball(frames[0][1], ORANGE)
    for k, frame in enumerate(frames):
        view.ball(frame[0], BLUE)
        view.label(frame.center[0], str(k), BLUE, -4, 5)
    for time in times_between:
        view.dots(motion.sample(time).center[0], GREEN, 3)
    view.ball(motion.sample(adaptive.first.frame)[0], RED, fill="none")
    straight = f"{found[0][0].first.frame:.3f}" if found[0] else "never"
    page.text(30, 216, "black: path; dashed: linear", INK, 13)
    page.text(30, 236, f"green: {len(times_between)} samples between frames", GREEN, 13)
    page.text(30, 256, f"red: contact at {adaptive.first.frame:.4f}", RED, 13)
    page.text(30, 276, f"with linear motion: {straight}", GREY, 13)
    return page


def known_curve() -> Page:
    """Draw a curve over one frame and over quarters, with its chords and the bands that hold it."""
    points = np.array([[0, 0], [0.45, 0.1], [0.6, 2.2], [1, 0.6]], dtype=np.float32)
    reach = np.array([0.12, 0], dtype=np.float32)
    keys = Keys(
        points, points - reach, points + reach, np.full(4, BEZIER), np.zeros((4, 3), dtype=np.float32)
    )
    curves = Curves(keys, np.array([0, 4]), np.array([False]))
    times = np.linspace(0, 1, 300)
    path = np.column_stack([times, curves.values_at(times)[0]])
    wall = 2.6
    page = Page(760, 290)
    for k, parts in enumerate((1, 4)):
        plot = Plot(page, (55 + 370 * k, 50, 345 + 370 * k, 235), (0, 1), (-3.2, 4.2))
        plot.ticks_x([(0, "0"), (0.5, "0.5"), (1, "1")], "frame")
        plot.ticks_y([(0, "0"), (wall, "wall")], "")
        plot.line((0, wall), (1, wall), color=ORANGE, width=2)
        begin = np.arange(parts) / parts
        chords = curves.chords(np.zeros(parts, dtype=np.int64), begin, begin + 1 / parts)
        for low, first, last, deviation in zip(begin, *chords, strict=True):
            high = low + 1 / parts
            corners = [(low, first - deviation), (high, last - deviation), (high, last + deviation)]
            may_touch = max(first, last) + deviation >= wall
            color = RED if may_touch else GREEN
            plot.area([*corners, (low, first + deviation)], color, fill_opacity=0.15, width=1)
            plot.line((low, first), (high, last), color=GREY, width=1.2, dash="5 4")
        plot.curve(path, color=BLUE, width=2)
        title = "one frame: the wall may be touched" if parts == 1 else "four parts: one is left to split"
        page.text(200 + 370 * k, 26, title, INK, 14, "middle", bold=True)
    return page
