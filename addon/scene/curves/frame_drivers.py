"""Drivers whose results follow from the frame number alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.curves.expressions import Expression, Expressions, expression_of
from ...core.curves.segments import BEZIER, EXTRAPOLATED, LINEAR
from .curve_keys import CurveKeys, joined_curves

_ENDS = np.array([[0, 0], [1, 1]], dtype=np.float32)
"""Keys of the map from a driver's result to the value of the property, as Blender adds them."""


class FrameDriver(NamedTuple):
    """Expression of a driver, and the keys through which its result goes, if there are any."""

    expression: Expression
    map: CurveKeys | None


def frame_driver(curve: bpy.types.FCurve, keys: CurveKeys | None) -> FrameDriver | None:
    """Read a driver that is not muted; None unless it is known how its result follows from the frame.

    keys : keys of its curve, as far as `known_keys` knows them
    """
    driver: Any = curve.driver
    is_readable = driver.type == "SCRIPTED" and not len(driver.variables) and not driver.use_self
    # Anything but a simple expression is evaluated by Python, and may be refused.
    if not (is_readable and driver.is_valid and driver.is_simple_expression):
        return None
    expression = expression_of(driver.expression)
    if expression is None:
        return None
    if not len(curve.keyframe_points):
        return FrameDriver(expression, None) if all(map(_is_identity, curve.modifiers)) else None
    if len(curve.modifiers) or keys is None or not _is_diagonal(keys):
        return None
    return FrameDriver(expression, keys)


def _is_diagonal(curve: CurveKeys) -> bool:
    """Return whether a driver's curve is the one that Blender adds, or the same with other handles on it."""
    keys = curve.keys
    if not (
        np.array_equal(keys.points, _ENDS) and all((side[:, 0] == side[:, 1]).all() for side in keys[1:3])
    ):
        return False
    segments = joined_curves([curve]).segments
    outside = slice(0, 3, 2)
    # Keys and handles on the diagonal are not enough: it may bounce between keys, or be constant.
    return bool(
        segments.kind[1] in (LINEAR, BEZIER)
        and (segments.kind[outside] == EXTRAPOLATED).all()
        and (segments.slope[outside] == 1).all()
    )


def _is_identity(modifier: Any) -> bool:
    """Return whether a modifier of a driver is the one that Blender adds, which changes nothing."""
    return bool(
        modifier.type == "GENERATOR"
        and modifier.mode == "POLYNOMIAL"
        and tuple(modifier.coefficients) == (0, 1)
        and not (modifier.use_additive or modifier.use_influence or modifier.use_restricted_range)
    )


def joined_expressions(drivers: Sequence[FrameDriver]) -> Expressions:
    """Join the expressions of drivers."""
    maps = [driver.map for driver in drivers if driver.map is not None]
    is_mapped = np.array([driver.map is not None for driver in drivers], dtype=bool)
    map_of = np.where(is_mapped, np.cumsum(is_mapped) - 1, -1)
    return Expressions([driver.expression for driver in drivers], map_of, joined_curves(maps))
