"""What operators say about a result."""

from __future__ import annotations

from ..scene.jobs import Result
from ..scene.subjects import HIDDEN, STANDS_FOR_ANOTHER
from .properties import SceneSettings


def nothing_to_do(result: Result, settings: SceneSettings) -> str | None:
    """Why a result is empty, in words that say what to do; None when it is not."""
    if result.objects:
        return None
    if result.skipped:
        entry = result.skipped[0]
        return f"{entry.name}: {entry.reason}"
    if settings.scope == "SELECTED":
        return "Nothing with a surface is selected: select a mesh, or set Objects to All Visible"
    return "The scene shows nothing with a surface"


def stopped_text(result: Result) -> str:
    """Where a partial result ends."""
    assert result.partial is not None, "this is said of partial results"
    if result.partial.planned_end != result.time.end:
        return f"Stopped at frame {result.time.end:g}: later contacts unknown"
    return f"Stopped: {result.partial.unasked} contacts not asked of the meshes"


def sticking_out(result: Result) -> str:
    """What has vertices outside of its override: that may be meant."""
    names = result.sticking_out
    return f", {len(names)} with vertices outside of an override ({names[0]})" if names else ""


def left_out(result: Result) -> str:
    """What got no bounds although it is on show; that hidden things get none is no news to who hid them."""
    missing = [entry for entry in result.skipped if entry.reason not in (HIDDEN, STANDS_FOR_ANOTHER)]
    return f", {len(missing)} left out ({missing[0].name}: {missing[0].reason})" if missing else ""


def stayed_linear(result: Result) -> str:
    """What could not be looked at between frames."""
    names = result.linear_only
    return f", {len(names)} linear for the sake of simulations ({names[0]})" if names else ""
