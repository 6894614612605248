"""Writes the report of a check: the JSON file, and the table."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from ..formats import dumps, replaced_after
from ..formats.wording import single_line
from .standard_streams import finish_output
from .stop_signals import ignore_late_signals


def write_report(document: Mapping[str, Any], options: argparse.Namespace, out: TextIO, table: str) -> None:
    """Write a report to the output file, if there is one, and its table to `out`.

    If the output is standard output, only the document is written there.
    """
    text = dumps(document)
    with contextlib.ExitStack() as output_file:
        if options.output == "-":
            out.write(text)
        elif options.output is not None:
            output_file.enter_context(replaced_after(Path(options.output), text))
        if options.output != "-" and not options.quiet:
            out.write(table)
            if options.output is not None:
                out.write(f"\nWritten: {single_line(options.output)}\n")
        # The file is unchanged if standard output is full, or after Ctrl-C.
        finish_output(out)
        ignore_late_signals()
