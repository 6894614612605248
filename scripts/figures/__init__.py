# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of docs/math.md, drawn from results of addon.core.

One file for each chapter; `conservative_advancement` has one figure of the chapter of `in_motion`. `common`
has the shapes that several figures share, `svg_drawing` draws.
"""

from __future__ import annotations

from collections.abc import Callable

from . import at_rest, bounds, conservative_advancement, in_motion, many_shapes
from .svg_drawing import Page

FIGURES: dict[str, Callable[[], Page]] = {
    "shapes/sphere-methods": bounds.four_spheres,
    "shapes/pivots": bounds.pivots,
    "shapes/boxes": bounds.three_boxes,
    "shapes/transformed": bounds.transformed_bounds,
    "shapes/sphere-tree": bounds.sphere_tree,
    "rest/spheres-at-rest": at_rest.spheres_at_rest,
    "rest/sphere-box": at_rest.sphere_and_box,
    "rest/sphere-triangle": at_rest.closest_on_triangles,
    "rest/separating-axis": at_rest.separating_axes,
    "motion/interpolation": in_motion.turning_between_samples,
    "motion/swept-spheres": in_motion.swept_spheres,
    "motion/discriminant": in_motion.discriminants,
    "motion/slabs": in_motion.slabs,
    "motion/rounded-box": in_motion.rounded_boxes,
    "motion/overlap-span": in_motion.spans,
    "motion/turning-rod": conservative_advancement.turning_rod,
    "motion/columns": many_shapes.columns,
    "motion/interval-bounds": many_shapes.interval_bounds,
    "motion/adaptive": many_shapes.between_samples,
    "motion/known": many_shapes.known_curve,
}
"""A function for each figure, by the name of its file in docs/images/math."""
