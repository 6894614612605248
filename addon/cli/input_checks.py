"""Inputs that Blender did not read or run: a line for each, and an error unless an option allows them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ..formats import InputWarning
from ..formats.wording import pluralized, single_line
from . import PROGRAM
from .options.values import UsageError

_MISSING = frozenset({"missingData", "missingFile", "missingLibrary", "newerFile"})
"""Kinds of warnings about data that could not be read."""

_LISTED = 20
"""Number of warnings of one run that are printed; the document has all."""


def report_inputs(warnings: Sequence[InputWarning], options: argparse.Namespace) -> None:
    """Print warnings to standard error. Raises UsageError if the options do not allow one of them."""
    for entry in warnings[:_LISTED]:
        _print(f"warning: {entry.name}: {entry.message}")
    if len(warnings) > _LISTED:
        _print(f"warning: {len(warnings) - _LISTED} more")
    kinds = [entry.kind for entry in warnings]
    missing, blocked = sum(kind in _MISSING for kind in kinds), kinds.count("blockedDriver")
    problems = []
    if missing and not options.allow_missing:
        problems.append(f"{pluralized(missing, 'missing input')} (--allow-missing accepts this)")
    if blocked and not options.allow_blocked_drivers:
        remedy = "--enable-autoexec runs the scripts of a file that you trust"
        accepted = "--allow-blocked-drivers accepts the drivers as they are"
        problems.append(f"blocked drivers in {pluralized(blocked, 'data-block')} ({remedy}, {accepted})")
    if problems:
        raise UsageError(f"results would be wrong because of {' and '.join(problems)}")


def _print(text: str) -> None:
    if sys.stderr is not None:
        print(f"{PROGRAM}: {single_line(text)}", file=sys.stderr)
