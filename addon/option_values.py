"""Values of options, from what was typed. argparse turns what these raise into "argument --x: message"."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

from .formats import DIALECTS, LEAST_DECIMALS, MOST_DECIMALS

_SHAPES = ("sphere", "aabb", "obb", "spheres", "hull")


def shapes(text: str) -> tuple[str, ...]:
    """Shapes, separated by commas."""
    return _listed(text, "shape", _SHAPES)


def file(text: str) -> str:
    """The name of a file."""
    if not text:
        raise argparse.ArgumentTypeError("the name of the file is empty")
    return text


def dialects(text: str) -> tuple[str, ...]:
    """Ways to tell of colliders, separated by commas."""
    return _listed(text, "way to tell of colliders", DIALECTS)


def number(text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def length(text: str) -> float:
    """A finite number that is not negative."""
    value = number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return value


def decimals(text: str) -> int:
    """How many decimals lengths have."""
    if not text.isdecimal() or not LEAST_DECIMALS <= int(text) <= MOST_DECIMALS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number from {LEAST_DECIMALS} to {MOST_DECIMALS}"
        )
    return int(text)


def frames(text: str) -> tuple[float, float, float]:
    """START:END:STEP, the step 1 unless told."""
    try:
        parts = [float(part) for part in text.split(":")]
    except ValueError:
        parts = []
    if len(parts) not in (2, 3) or not all(map(math.isfinite, parts)):
        raise argparse.ArgumentTypeError(f"{text!r} is not START:END or START:END:STEP in frames")
    start, end, step = (*parts, 1.0)[:3]
    if start > end:
        raise argparse.ArgumentTypeError(f"{text!r} ends before it starts")
    if step <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} has a step that is not above 0")
    return start, end, step


def pair(text: str) -> str:
    """Two patterns with a colon between, which `scene.pairs` takes apart."""
    if ":" not in text[1:-1]:
        raise argparse.ArgumentTypeError(f"{text!r} is not two names with a colon between")
    return text


def _listed(text: str, what: str, known: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"unknown {what} {name!r} (choose from {', '.join(known)})")
    return names
