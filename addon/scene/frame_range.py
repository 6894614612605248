"""Which frames are looked at, and which Blender has."""

from __future__ import annotations

import math

from .errors import SceneError

_LAST_FRAME = 1_048_574

_LEAST_STEP = 0.001
"""Frames. Blender keeps times in single precision: finer steps would fall on one another."""


def sample_times(start: float, end: float, step: float) -> list[float]:
    """Every `step` frames from `start`, and `end` itself. Raises SceneError when there are none."""
    if not _LEAST_STEP <= step < math.inf:
        raise SceneError(f"frames {start:g}:{end:g}:{step:g}: the step must be {_LEAST_STEP} or more")
    if start > end:
        raise SceneError(f"frames {start:g}:{end:g}: the first frame is after the last")
    for frame in (start, end):
        require_frame(frame)
    # Rounded down, but 0.3 / 0.1, which comes out below 3, is 3 steps.
    steps = math.floor((end - start) / step + 1e-6)
    times = [float(start + index * step) for index in range(steps + 1)]
    if end - times[-1] < 1e-6 * step:
        times.pop()
    return [*times, float(end)]


def require_frame(frame: float) -> None:
    """Raise SceneError for a frame that Blender does not have."""
    if not abs(frame) <= _LAST_FRAME:
        raise SceneError(f"frame {frame:.15g}: Blender's frames go from {-_LAST_FRAME} to {_LAST_FRAME}")
