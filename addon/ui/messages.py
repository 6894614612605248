"""What operators say about a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..formats import Skipped
from ..formats.wording import counted
from ..scene.result import Result
from ..scene.subjects import HIDDEN, STANDS_FOR_ANOTHER


def nothing_to_do(count: int, skipped: Sequence[Skipped], scope: str) -> str | None:
    """Why `count` things is none, in words that say what to do; None when there are some."""
    if count:
        return None
    if skipped:
        return f"{skipped[0].name}: {skipped[0].reason}"
    if scope == "SELECTED":
        return "Nothing with a surface is selected: select a mesh, or set Objects to All Visible"
    return "The scene shows nothing with a surface"


def stopped_text(result: Result) -> str:
    """Where a partial result ends."""
    assert result.partial is not None, "this is said of partial results"
    if result.partial.planned_end != result.time.end:
        return f"Stopped at frame {result.time.end:g}: later contacts unknown"
    return f"Stopped: {counted(result.partial.unasked, 'contact')} not asked of the meshes"


def sticking_out(result: Result) -> str:
    """What has vertices outside of its override: that may be meant."""
    names = result.sticking_out
    return f", {len(names)} with vertices outside of an override ({names[0]})" if names else ""


def left_out(skipped: Iterable[Skipped]) -> str:
    """What was left out although it is on show, by reason; who hid something knows that it has nothing."""
    names: dict[str, list[str]] = {}
    for entry in skipped:
        if entry.reason not in (HIDDEN, STANDS_FOR_ANOTHER):
            names.setdefault(entry.reason, []).append(entry.name)
    if not names:
        return ""
    told = [
        f"{own[0]}{f' and {len(own) - 1} more' if len(own) > 1 else ''}: {reason}"
        for reason, own in names.items()
    ]
    return f", {sum(map(len, names.values()))} left out ({'; '.join(told)})"


def stayed_linear(result: Result) -> str:
    """What could not be looked at between frames."""
    names = result.linear_only
    return f", {len(names)} linear for the sake of simulations ({names[0]})" if names else ""
