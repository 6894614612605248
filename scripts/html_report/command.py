"""Command line of `batch.py report`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from addon.cli.parser import UsageError

from .pages import PAGE_SUFFIXES, write_report


def run_report(words: Sequence[str]) -> int:
    """Write the page that the words after `batch.py report` request, and return the exit code.

    Raises
    ------
    CollisionBoundsError
        If the source cannot be read, or the page cannot be written.
    """
    options = _parser().parse_args(words)
    if options.output.suffix.lower() not in PAGE_SUFFIXES:
        raise UsageError(f"-o {options.output}: the name of a page ends with {PAGE_SUFFIXES[0]}")
    write_report(options.source, options.output, options.separation)
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"report: {message} (--help lists the options)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="batch.py report",
        description="Write an HTML page about a document, or about the results of a run.",
    )
    parser.add_argument(
        "source",
        type=Path,
        metavar="DOCUMENT.json|FOLDER",
        help="a document, or the folder of the results of a run",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE.html",
        help="the page, one file without links",
    )
    parser.add_argument(
        "--separation",
        nargs=3,
        action="append",
        default=[],
        metavar=("A", "B", "FILE.csv"),
        help="separation of objects A and B over time, from Export Separation (repeatable)",
    )
    return parser
