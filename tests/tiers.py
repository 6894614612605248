"""Test tiers: which tests run, and with how many random examples.

    smoke   tests marked `smoke`, but not `long`: what differs between versions of Blender or of NumPy
    quick   all tests but those marked `long`, with few random examples
    push    all tests
    full    all tests, with random examples that differ from run to run

`pytest --tier NAME` selects the tier; CONTRIBUTING.md describes which of them runs where.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from hypothesis import settings

TIERS = ("smoke", "quick", "push", "full")
QUICK_EXAMPLES = 25
QUICK_SECONDS = 2.0
"""Processor time that a test of the quick tier may take. In the others a slow machine fails nothing."""

_Test = TypeVar("_Test", bound=Callable[..., object])

_tier = "push"


def select(tier: str) -> None:
    """Set the tier of this run. Call it before test modules are imported: `times` is evaluated there."""
    global _tier
    _tier = tier
    # No deadline: how long an example takes depends on the machine. Random examples that change from run to
    # run are for the full tier, so that a push never fails because of something it did not change.
    settings.register_profile(
        tier, max_examples=times(100, QUICK_EXAMPLES), derandomize=tier != "full", deadline=None
    )
    settings.load_profile(tier)


def is_quick() -> bool:
    """Return whether this run is of the smoke or the quick tier."""
    return _tier in ("smoke", "quick")


def is_over_limit(seconds: float) -> bool:
    """Return whether a test that took so much processor time fails for it."""
    return _tier == "quick" and seconds > QUICK_SECONDS


def is_selected(markers: set[str]) -> bool:
    """Return whether the tier runs a test with these markers."""
    if is_quick() and "long" in markers:
        return False
    return _tier != "smoke" or "smoke" in markers


def times(count: int, quick: int = 5) -> int:
    """Return `count`, or at most `quick` in the smoke and quick tiers: for seeds and loops."""
    return min(count, quick) if is_quick() else count


def examples(count: int) -> Callable[[_Test], _Test]:
    """Let hypothesis try `count` examples, or at most QUICK_EXAMPLES in the smoke and quick tiers."""
    return settings(max_examples=times(count, QUICK_EXAMPLES))


def processor_time() -> float:
    """Processor time in seconds of this process and of those of its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system
