"""Runs one command: arguments in, exit code out. docs/command-line.md is the contract.

The script of the checkout and the extension call `run_process`.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Sequence
from typing import TextIO

from ..core import CollisionBoundsError
from ..formats import OutputError, remove_unfinished_files
from ..formats.wording import message_line, single_line
from . import BAD_INPUT, INTERNAL_ERROR, PROGRAM, STOPPED
from .commands import COMMANDS
from .parser import parse_arguments
from .process import (
    ErrorStream,
    StandardOutput,
    finish_output,
    ignore_late_signals,
    open_standard_output,
    prepare_process,
)


def main(arguments: Sequence[str], *, opens_file: bool, out: TextIO | None = None) -> int:
    """Run one command and return its exit code.

    arguments : The command and its options.
    opens_file : Whether the command names the file to open. In Blender, the file is open already.
    out : Stream for tables and documents; standard output by default.
    """
    out = out or sys.stdout
    try:
        try:
            with contextlib.redirect_stdout(out):  # because argparse prints its help there
                options = parse_arguments(arguments, opens_file)
        except SystemExit as stop:  # raised by --help
            exit_code = int(stop.code or 0)
        else:
            prints = not options.quiet or getattr(options, "output", None) == "-"
            if prints and isinstance(out, StandardOutput):
                out.require_writable()
            exit_code = COMMANDS[options.command](options, out)
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


def run_process(arguments: Sequence[str], *, opens_file: bool) -> int:
    """Run one command and return the exit code of the process.

    Standard output is discarded afterwards, because Blender prints to it when it ends.

    arguments : The command and its options.
    opens_file : Whether the command names the file to open. In Blender, the file is open already.
    """
    prepare_process(remove_unfinished_files)
    out = open_standard_output()
    with contextlib.redirect_stderr(ErrorStream(sys.stderr)):
        exit_code = main(arguments, opens_file=opens_file, out=out)
    with contextlib.suppress(OutputError, OSError):  # a command that failed may have printed a part
        out.close()
    ignore_late_signals()
    return exit_code
