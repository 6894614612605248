"""Runs one command: arguments in, exit code out. docs/command-line.md is the contract."""

from __future__ import annotations

import argparse
import contextlib
import sys
import traceback
from collections.abc import Sequence
from typing import TextIO

from ..core import CollisionBoundsError
from ..formats.wording import message_line, single_line
from . import BAD_INPUT, INTERNAL_ERROR, PROGRAM, STOPPED
from .commands import COMMANDS
from .parser import parse_arguments
from .standard_streams import StandardOutput, finish_output


def main(arguments: Sequence[str], *, opens_file: bool, out: TextIO | None = None) -> int:
    """Run one command and return its exit code.

    arguments : The command and its options.
    opens_file : Whether the command names the file to open. In Blender, the file is open already.
    out : Stream for tables and documents; standard output by default.
    """
    out = out or sys.stdout
    try:
        exit_code = _run_command(arguments, opens_file, out)
        finish_output(out)
        return exit_code
    except CollisionBoundsError as error:
        print(f"{PROGRAM}: {message_line(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt as stop:
        print(f"{PROGRAM}: {stop or 'stopped by Ctrl-C'}", file=sys.stderr)
        return STOPPED
    except Exception:
        # Print a traceback, but do not exit with 1: scripts would take that for contacts.
        lines = traceback.format_exc().rstrip("\n").split("\n")
        sys.stderr.writelines(f"{single_line(line)}\n" for line in lines)
        return INTERNAL_ERROR


def _run_command(arguments: Sequence[str], opens_file: bool, out: TextIO) -> int:
    try:
        with contextlib.redirect_stdout(out):  # because argparse prints its help there
            options = parse_arguments(arguments, opens_file)
    except SystemExit as stop:  # raised by --help
        return int(stop.code or 0)
    if isinstance(out, StandardOutput) and _prints(options):
        out.require_writable()
    return COMMANDS[options.command](options, out)


def _prints(options: argparse.Namespace) -> bool:
    """Return whether a command that succeeds prints to standard output."""
    return not options.quiet or getattr(options, "output", None) == "-"
