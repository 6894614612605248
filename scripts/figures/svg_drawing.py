# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawings of shapes as small SVG files: a page, and views that map coordinates to its pixels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

INK, GREY, PALE = "#24292f", "#6e7781", "#d0d7de"
BLUE, ORANGE, RED, GREEN, VIOLET = "#0969da", "#bc4c00", "#cf222e", "#1a7f37", "#8250df"

_IS_AT_MAX = [(0, 0), (1, 0), (1, 1), (0, 1)]


class Page:
    """An SVG image of a size in pixels, on a light background, so that it is legible in dark mode too."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._items: list[str] = []

    def path(
        self,
        points: ArrayLike,
        color: str = INK,
        width: float = 1.5,
        dash: str = "",
        fill: str = "none",
        fill_opacity: float = 0.12,
        closed: bool = False,
    ) -> None:
        """Draw a line through pixels (n, 2)."""
        corners = " ".join(f"{_number(x)},{_number(y)}" for x, y in np.asarray(points).tolist())
        style = _style(color, width, dash, fill, fill_opacity)
        self._items.append(f'<path d="M{corners}{"z" if closed else ""}" {style}/>')

    def circle(
        self,
        center: Sequence[float] | NDArray[Any],
        radius: float,
        color: str = INK,
        width: float = 1.5,
        dash: str = "",
        fill: str = "none",
        fill_opacity: float = 0.12,
    ) -> None:
        """Draw a circle around a pixel."""
        style = _style(color, width, dash, fill, fill_opacity)
        x, y, r = (_number(value) for value in (center[0], center[1], radius))
        self._items.append(f'<circle cx="{x}" cy="{y}" r="{r}" {style}/>')

    def text(
        self,
        x: float,
        y: float,
        words: str,
        color: str = INK,
        size: int = 13,
        anchor: str = "start",
        bold: bool = False,
    ) -> None:
        """Draw one line of text; `anchor` is start, middle or end."""
        where = f'x="{_number(x)}" y="{_number(y)}"'
        how = "" if anchor == "start" else f' text-anchor="{anchor}"'
        how += "" if size == 13 else f' font-size="{size}"'
        how += ' font-weight="bold"' if bold else ""
        # Outline the letters in white, so that they are legible on lines.
        halo = 'stroke="#fff" stroke-width="4" stroke-linejoin="round"'
        self._items.append(f'<text {where}{how} fill="#fff" {halo}>{escape(words)}</text>')
        self._items.append(f'<text {where}{how} fill="{color}">{escape(words)}</text>')

    def save(self, file: Path) -> None:
        """Write the image. The same drawing gives the same bytes."""
        size = f'width="{_number(self.width)}" height="{_number(self.height)}"'
        box = f'viewBox="0 0 {_number(self.width)} {_number(self.height)}"'
        font = 'font-family="sans-serif" font-size="13"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} {font}>'
        ground = f'<rect width="100%" height="100%" rx="6" fill="#fff" stroke="{PALE}"/>'
        lines = [head, ground, *self._items, "</svg>", ""]
        file.write_text("\n".join(lines), encoding="utf-8", newline="\n")


class View:
    """A part of a page that shows the plane z = 0, x to the right and y up.

    Parameters
    ----------
    page : Page
    origin : two float
        The pixel of (0, 0).
    scale : float, or two float
        Pixels per unit; of each axis for a plot.
    """

    def __init__(self, page: Page, origin: tuple[float, float], scale: float | tuple[float, float]) -> None:
        self.page = page
        self._origin = np.array(origin)
        self._scale = np.array(scale if isinstance(scale, tuple) else (scale, scale)) * (1, -1)

    def pixels(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return the pixels (..., 2) of points (..., 2) or (..., 3)."""
        result: NDArray[np.float64] = self._origin + np.asarray(points, dtype=float)[..., :2] * self._scale
        return result

    def line(self, *points: ArrayLike, **style: Any) -> None:
        """Draw a line through points (2,) or (3,)."""
        self.page.path(self.pixels(np.stack([np.asarray(p, dtype=float)[:2] for p in points])), **style)

    def curve(self, points: ArrayLike, **style: Any) -> None:
        """Draw a line through points (n, 2) or (n, 3)."""
        self.page.path(self.pixels(points), **style)

    def area(self, points: ArrayLike, color: str = INK, **style: Any) -> None:
        """Draw a polygon, lightly filled."""
        self.page.path(self.pixels(points), color, closed=True, **{"fill": color, **style})

    def ball(self, sphere: Any, color: str = INK, **style: Any) -> None:
        """Draw a sphere."""
        radius = float(sphere.radius) * self._scale[0]
        self.page.circle(self.pixels(sphere.center), radius, color, **{"fill": color, **style})

    def box(self, box: Any, color: str = INK, **style: Any) -> None:
        """Draw an Aabb, or an Obb whose third axis is z."""
        oriented = box.oriented()
        signs = 2.0 * np.array(_IS_AT_MAX) - 1
        local = np.column_stack([signs * oriented.half_extents[:2], np.zeros(4)])
        self.area(oriented.to_world(local), color, **style)

    def dots(self, points: ArrayLike, color: str = INK, radius: float = 2.5) -> None:
        """Draw a dot for each point."""
        for pixel in self.pixels(points).reshape(-1, 2):
            self.page.circle(pixel, radius, color, width=0, fill=color, fill_opacity=1)

    def arrow(self, start: ArrayLike, end: ArrayLike, color: str = INK, width: float = 2.0) -> None:
        """Draw an arrow from `start` to `end`."""
        tail, tip = self.pixels(start), self.pixels(end)
        along = (tip - tail) / max(float(np.hypot(*(tip - tail))), 1e-9)
        across = np.array([-along[1], along[0]])
        head = tip - 8 * along
        self.page.path([tail, head], color, width)
        corners = [tip, head + 4 * across, head - 4 * across]
        self.page.path(corners, color, 0, closed=True, fill=color, fill_opacity=1)

    def label(
        self, point: ArrayLike, words: str, color: str = INK, dx: float = 0, dy: float = 0, **style: Any
    ) -> None:
        """Draw text near a point, offset by pixels to the right and down."""
        x, y = self.pixels(point)
        self.page.text(float(x) + dx, float(y) + dy, words, color, **style)


class Plot(View):
    """A view with axes: ranges of x and y, in a frame of pixels (left, top, right, bottom)."""

    def __init__(
        self,
        page: Page,
        frame: tuple[float, float, float, float],
        x: tuple[float, float],
        y: tuple[float, float],
    ) -> None:
        left, top, right, bottom = frame
        scale = (right - left) / (x[1] - x[0]), (bottom - top) / (y[1] - y[0])
        super().__init__(page, (left - x[0] * scale[0], bottom + y[0] * scale[1]), scale)
        self._frame = frame
        page.path([(left, top), (left, bottom), (right, bottom)], GREY, 1)

    def ticks_x(self, marks: Iterable[tuple[float, str]], title: str) -> None:
        """Draw labels below the x axis, and its title."""
        left, _, right, bottom = self._frame
        for value, words in marks:
            x = float(self.pixels((value, 0))[0])
            self.page.path([(x, bottom), (x, bottom + 4)], GREY, 1)
            self.page.text(x, bottom + 17, words, GREY, 11, "middle")
        self.page.text((left + right) / 2, bottom + 34, title, GREY, 12, "middle")

    def ticks_y(self, marks: Iterable[tuple[float, str]], title: str) -> None:
        """Draw labels to the left of the y axis, and its title above them."""
        left, top, *_ = self._frame
        for value, words in marks:
            y = float(self.pixels((0, value))[1])
            self.page.path([(left - 4, y), (left, y)], GREY, 1)
            self.page.text(left - 7, y + 4, words, GREY, 11, "end")
        self.page.text(left - 4, top - 9, title, GREY, 12)


def _style(color: str, width: float, dash: str, fill: str, fill_opacity: float) -> str:
    parts = [f'fill="{fill}"']
    if fill != "none" and fill_opacity != 1:
        parts.append(f'fill-opacity="{_number(fill_opacity)}"')
    if width:
        parts.append(f'stroke="{color}"')
        parts.append(f'stroke-width="{_number(width)}"')
    if dash:
        parts.append(f'stroke-dasharray="{dash}"')
    return " ".join(parts)


def _number(value: float) -> str:
    """Return a number of pixels as text, rounded to tenths, without -0."""
    return f"{round(float(value), 1) + 0.0:g}"
