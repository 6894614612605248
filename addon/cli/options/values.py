"""Values of options, converted from text. argparse reports their errors as "argument --x: message"."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

from ...core import CollisionBoundsError
from ...core.compound.convex_parts import MOST_PARTS
from ...formats import GLTF_EXTENSIONS, LEAST_DECIMALS, MOST_DECIMALS
from ...formats.wording import valid_text
from ...scene.settings import BOUND_SHAPES


class UsageError(CollisionBoundsError):
    """An argument that is unknown or invalid, or a combination of options that is not possible."""


def parse_shapes(text: str) -> tuple[str, ...]:
    """Convert a list of shapes, separated by commas."""
    return _listed(text, "shape", BOUND_SHAPES)


_STANDARD_OUTPUT = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}
"""Names of standard output. Opened as files, they would lose the output with that of Blender."""


def parse_output(text: str) -> str:
    """Check the name of the output file; all names of standard output become a dash."""
    if not text:
        raise argparse.ArgumentTypeError("the file name is empty")
    return "-" if text in _STANDARD_OUTPUT else text


def parse_name(text: str) -> str:
    """Convert a name or a pattern; bytes that are not UTF-8 are compared as they are shown."""
    return valid_text(text)


def parse_gltf_extensions(text: str) -> tuple[str, ...]:
    """Convert a list of glTF extensions, separated by commas."""
    return _listed(text, "glTF extension", GLTF_EXTENSIONS)


def parse_number(text: str) -> float:
    """Convert a finite number."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def parse_weight(text: str) -> float:
    """Convert a weight of vertices."""
    value = parse_number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a weight from 0 to 1")
    return value


def parse_length(text: str) -> float:
    """Convert a finite number that is not negative."""
    value = parse_number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative; it must be 0 or more")
    return value


def parse_exit_code(text: str) -> int:
    """Convert an exit code without another meaning: 2 and 3 are errors, and shells use those above 125."""
    if not (text.isascii() and text.isdecimal()) or int(text) not in (1, *range(4, 126)):
        raise argparse.ArgumentTypeError(f"{text!r} is not 1 or a whole number from 4 to 125")
    return int(text)


def parse_decimals(text: str) -> int:
    """Convert a number of decimals of lengths."""
    if not text.isdecimal() or not LEAST_DECIMALS <= int(text) <= MOST_DECIMALS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number from {LEAST_DECIMALS} to {MOST_DECIMALS}"
        )
    return int(text)


def parse_parts(text: str) -> int:
    """Convert a largest number of convex parts."""
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= MOST_PARTS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {MOST_PARTS}")
    return int(text)


def parse_frames(text: str) -> tuple[float, float, float]:
    """Convert START[:END[:STEP]] to start, end and step in frames; the default is one frame, and step 1."""
    try:
        parts = [float(part) for part in text.split(":")]
    except ValueError:
        parts = []
    if len(parts) not in (1, 2, 3) or not all(map(math.isfinite, parts)):
        raise argparse.ArgumentTypeError(f"{text!r}: expected START, START:END or START:END:STEP, in frames")
    start, end, step = (*parts, *(parts[0], 1.0)[len(parts) - 1 :])
    if start > end:
        raise argparse.ArgumentTypeError(f"{text!r}: the end is before the start")
    if step <= 0:
        raise argparse.ArgumentTypeError(f"{text!r}: the step must be greater than 0")
    return start, end, step


def parse_share(text: str) -> tuple[int, int]:
    """Convert the number of a share and the number of shares, such as 2/8, to numbers from 0."""
    numbers = text.split("/")
    if len(numbers) == 2 and all(number.isascii() and number.isdigit() for number in numbers):
        number, count = map(int, numbers)
        if 1 <= number <= count:
            return number - 1, count
    raise argparse.ArgumentTypeError(f"{text!r} is not I/N, such as 2/8, with I from 1 to N")


def parse_share_count(text: str) -> int:
    """Convert a number of shares."""
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of shares, 1 or more")
    return int(text)


def check_pair(text: str) -> str:
    """Check that text is two patterns with a colon between; `subjects.scan_settings` separates them."""
    if ":" not in text[1:-1]:
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected A:B, two names or patterns with a colon between"
        )
    return valid_text(text)


def _listed(text: str, noun: str, choices: Sequence[str]) -> tuple[str, ...]:
    """Names in a list separated by commas, without duplicates."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in choices:
            raise argparse.ArgumentTypeError(f"unknown {noun} {name!r} (choose from {', '.join(choices)})")
    return names
