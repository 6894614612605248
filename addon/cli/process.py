"""Runs a command as the last act of its process. The script of the checkout and the extension call it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

from ..formats import OutputError, remove_unfinished_files
from . import stop_signals
from .main import main
from .session_folder import remove_session_folder
from .standard_streams import ErrorStream, open_missing_descriptors, open_standard_output


def run_process(arguments: Sequence[str], *, opens_file: bool) -> int:
    """Run one command and return the exit code of the process.

    Standard output is discarded afterwards, because Blender prints to it when it ends.

    arguments : The command and its options.
    opens_file : Whether the command names the file to open. In Blender, the file is open already.
    """
    stop_signals.before_end(remove_unfinished_files)
    stop_signals.before_end(remove_session_folder)
    open_missing_descriptors()
    stop_signals.end_process_on_signals()
    out = open_standard_output()
    with contextlib.redirect_stderr(ErrorStream(sys.stderr)):
        exit_code = main(arguments, opens_file=opens_file, out=out)
    with contextlib.suppress(OutputError):  # a command that failed may have printed a part
        out.close()
    stop_signals.ignore_late_signals()
    return exit_code
