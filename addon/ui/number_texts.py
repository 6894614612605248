"""Numbers as text: lengths in the units of the scene, frames in as many decimals as are certain."""

from __future__ import annotations

import math
from typing import Any

import bpy

_MOST_DECIMALS = 4


def length_text(value: float, units: Any, digits: int = 4) -> str:
    """Return a length in Blender units as text in the units of a scene's settings, with so many digits.

    Without units of its own, the scene's numbers stand alone.
    """
    if units.system == "NONE":
        return f"{value:.{digits}g}"
    meters = value * units.scale_length
    return bpy.utils.units.to_string(units.system, "LENGTH", meters, precision=digits)


def playhead_text(frame: float, most: int = _MOST_DECIMALS) -> str:
    """Return the frame of the playhead, in as many decimals as it has, up to `most`, at least one."""
    return f"{frame:.{most}f}".rstrip("0").rstrip(".")


def frame_text(frame: float, uncertainty: float = 0.0, decimals: int = _MOST_DECIMALS) -> str:
    """Return a frame, rounded to the first digit of its uncertainty, which follows if it is not zero.

    The uncertainty is rounded up. Without one, and at most, the frame has `decimals` decimals. An uncertainty
    below the last of them is not shown.
    """
    if not uncertainty or not math.isfinite(uncertainty):
        return f"{frame:.{decimals}f}"
    exponent = math.floor(math.log10(uncertainty))
    shown = math.ceil(round(uncertainty / 10.0**exponent, 6)) * 10.0**exponent
    if shown >= 10.0 ** (exponent + 1):
        exponent += 1
    if -exponent > decimals:
        # No digit of the uncertainty is among those of the frame.
        return f"{frame:.{decimals}f}"
    digits = max(-exponent, 0)
    return f"{frame:.{digits}f} ± {shown:.{max(-exponent, 0)}f}"
