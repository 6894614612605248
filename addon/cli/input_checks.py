"""Inputs that Blender did not read or run: a line for each, and an error unless an option allows them.

Also baselines of another scene, and results without anything to test.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..formats import InputWarning
from ..formats.document.model import MISSING_INPUTS
from ..formats.wording import pluralized, single_line
from . import PROGRAM
from .errors import UsageError

_LISTED = 20
"""Number of warnings of one run that are printed; the document has all."""


def report_inputs(warnings: Sequence[InputWarning], options: argparse.Namespace) -> None:
    """Print warnings to standard error. Raises UsageError if the options do not allow one of them."""
    for entry in warnings[:_LISTED]:
        print_warning(f"{entry.name}: {entry.message}")
    if len(warnings) > _LISTED:
        print_warning(f"{len(warnings) - _LISTED} more")
    kinds = [entry.kind for entry in warnings]
    missing, blocked = sum(kind in MISSING_INPUTS for kind in kinds), kinds.count("blockedDriver")
    problems = []
    if missing and not options.allow_missing:
        problems.append(f"{pluralized(missing, 'missing input')} (--allow-missing accepts this)")
    if blocked and not options.allow_blocked_drivers:
        remedy = "--enable-autoexec runs the scripts of a file that you trust"
        accepted = "--allow-blocked-drivers accepts the drivers as they are"
        problems.append(f"blocked drivers in {pluralized(blocked, 'data-block')} ({remedy}, {accepted})")
    if problems:
        raise UsageError(f"results would be wrong because of {' and '.join(problems)}")


def report_nothing_to_test(document: Mapping[str, Any], has_pairs: bool) -> None:
    """Print a warning if a document has no objects, or no pairs of objects: a check of contacts would pass.

    has_pairs : whether any two objects can touch; also true for bounds
    """
    if not document["objects"]:
        skipped = len(document["skipped"])
        print_warning(f"no objects with bounds{f', {skipped} skipped' if skipped else ''}")
    elif not has_pairs:
        print_warning("only one object was checked, so there are no pairs that can touch")


def report_other_source(document: Mapping[str, Any], baseline: Mapping[str, Any], name: str) -> None:
    """Print a warning if a baseline is of another file or scene, whose objects can have other names.

    name : of the baseline
    """
    scanned, earlier = (
        "scene {scene!r} of {file}".format(scene=source["scene"], file=source["file"] or "an unsaved file")
        for source in (document["source"], baseline["source"])
    )
    if scanned != earlier:
        print_warning(f"--baseline {name}: is of {earlier}, and this scan of {scanned}")


def report_baseline_without_scan(baseline: Mapping[str, Any], name: str) -> None:
    """Print a warning if a baseline without contacts may be a document of bounds, so that all are new.

    Documents do not say whether they are of a scan without contacts, which is a correct baseline.

    name : of the baseline
    """
    if not baseline["contacts"] and not baseline["clearances"]:
        print_warning(
            f"--baseline {name}: has no contacts and no near misses, so all contacts are new; if it was "
            "written by bounds, write it with contacts"
        )


def print_warning(text: str) -> None:
    """Print a warning to standard error."""
    if sys.stderr is not None:
        print(f"{PROGRAM}: {single_line(f'warning: {text}')}", file=sys.stderr)
