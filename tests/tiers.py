"""Test tiers: which tests run, and with how many random examples.

    smoke   tests marked `smoke` and not `long`: features that depend on the version of Blender or NumPy
    quick   all tests except those marked `long`, with few random examples
    push    all tests
    full    all tests, with more random examples, which differ from run to run

`pytest --tier NAME` selects the tier. docs/development/testing.md describes when each tier runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from hypothesis import settings

TIERS = ("smoke", "quick", "push", "full")
QUICK_EXAMPLES = 25
QUICK_SECONDS = 2.0
"""Maximum processor time of a test in the quick tier. In the other tiers there is no limit."""

_Test = TypeVar("_Test", bound=Callable[..., object])

_tier = "push"


def select(tier: str) -> None:
    """Set the tier of this run. Call it before test modules are imported, because they call `times`."""
    global _tier
    _tier = tier
    # No deadline, because the time of an example depends on the machine. Random examples differ between runs
    # in the full tier only, so that a push never fails because of something it did not change.
    settings.register_profile(
        tier, max_examples=times(50, QUICK_EXAMPLES, full=100), derandomize=tier != "full", deadline=None
    )
    settings.load_profile(tier)


def is_quick() -> bool:
    """Return whether the tier of this run is smoke or quick."""
    return _tier in ("smoke", "quick")


def is_full() -> bool:
    """Return whether the tier of this run is full."""
    return _tier == "full"


def is_over_limit(seconds: float) -> bool:
    """Return whether a test with this processor time in seconds exceeds the limit of the tier."""
    return _tier == "quick" and seconds > QUICK_SECONDS


def is_selected(markers: set[str]) -> bool:
    """Return whether the tier runs a test with these markers."""
    if is_quick() and "long" in markers:
        return False
    return _tier != "smoke" or "smoke" in markers


def times(count: int, quick: int = 5, full: int | None = None) -> int:
    """Return `count`, in the smoke and quick tiers at most `quick`, in the full tier `full` if it is given.

    Use it for seeds and loops.
    """
    if is_full() and full is not None:
        return full
    return min(count, quick) if is_quick() else count


def examples(count: int, full: int | None = None) -> Callable[[_Test], _Test]:
    """Set the number of hypothesis examples: as `times`, with at most QUICK_EXAMPLES in the quick tier."""
    return settings(max_examples=times(count, QUICK_EXAMPLES, full))


def processor_time() -> float:
    """Return the processor time in seconds of this process and of its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system
