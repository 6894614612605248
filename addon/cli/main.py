"""Entry point of the command line: arguments in, exit code out. docs/command-line.md is the contract."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Sequence
from typing import TextIO

from ..core import CollisionBoundsError
from ..formats.wording import message_line
from .commands import BAD_INPUT, COMMANDS, INTERNAL_ERROR, STOPPED
from .parser import PROGRAM, parse_arguments


def main(arguments: Sequence[str], *, opens_file: bool, out: TextIO | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str
        The command and its options.
    opens_file : bool
        Whether the command names the file to open. In Blender, the file is open already.
    out : TextIO, optional
        Stream for tables and documents; standard output by default.

    Returns
    -------
    exit_code : int
    """
    out = out or sys.stdout
    try:
        with contextlib.redirect_stdout(out):  # because argparse prints its help there
            options = parse_arguments(arguments, opens_file)
        return COMMANDS[options.command](options, out)
    except CollisionBoundsError as error:
        print(f"{PROGRAM}: {message_line(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt as stop:
        print(f"{PROGRAM}: stopped by Ctrl-C{stop}", file=sys.stderr)
        return STOPPED
    except SystemExit as stop:  # raised by --help
        return int(stop.code or 0)
    except Exception:
        # Print a traceback, but do not exit with 1: scripts would take that for contacts.
        traceback.print_exc()
        return INTERNAL_ERROR
