"""Command line of `scripts/batch.py`: its own options, and those of the command that runs for each file."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from addon.cli.parser import UsageError, create_parser, parse_arguments, parse_exit_code

COMMANDS = ("bounds", "contacts")
_FORBIDDEN = ("--frame-share", "--join-shares", "--share-exit-code")
"""Options of a command that a run over many files sets itself."""


@dataclass(frozen=True)
class BatchOptions:
    """Options of a run.

    Attributes
    ----------
    command : str
        The command that runs for each file.
    arguments : tuple of str
        Options of the command, as they were given.
    inputs : tuple of str
        Files, folders and patterns.
    output : Path
        Folder of the results.
    suffix : str
        Suffix of the file that each command writes.
    jobs : int
        Number of Blenders that run at the same time on this machine.
    scheduler : str or None
        Address of a Dask scheduler, which runs the files instead of this machine.
    blender : str or None
        Blender, or a Python with bpy. None for the Python of this script.
    time_limit : float
        Seconds that a file may take.
    memory_limit : float
        Megabytes that Blender may use.
    files_per_blender : int
        Number of files after which Blender is started again.
    split : int
        Number of shares of the frames of each long animation.
    share : tuple of int
        Number of the share of the files that this run does, from 1, and the number of shares.
    baseline : Path or None
        Folder with the results of an earlier run.
    fails_on_contact, fails_on_new : bool
        Whether contacts, or new contacts, change the exit code of the run.
    contact_exit_code : int
        Exit code of a run with contacts that count.
    fails_on_error : bool
        Whether files that failed make the exit code 2. They do if contacts count, too.
    report : Path or None
        HTML page about the results.
    is_quiet : bool
        Whether no progress is shown.
    """

    command: str
    arguments: tuple[str, ...]
    inputs: tuple[str, ...]
    output: Path
    suffix: str
    jobs: int
    scheduler: str | None
    blender: str | None
    time_limit: float
    memory_limit: float
    files_per_blender: int
    split: int
    share: tuple[int, int]
    baseline: Path | None
    fails_on_contact: bool
    fails_on_new: bool
    contact_exit_code: int
    fails_on_error: bool
    report: Path | None
    is_quiet: bool

    @property
    def settings(self) -> list[str]:
        """All that changes a result, apart from the file itself."""
        compared = ["--fail-on-new"] if self.fails_on_new else []
        return [self.command, *self.arguments, *compared]


def parse_options(words: Sequence[str]) -> BatchOptions:
    """Parse the command line. Raises UsageError for wrong options, and SystemExit for --help."""
    batch_words, command_words = _split(words)
    parsed = _parser().parse_args(batch_words)
    _check_contact_options(parsed)
    _check_report(parsed)
    for name, value in (
        ("--jobs", parsed.jobs),
        ("--files-per-blender", parsed.files_per_blender),
        ("--split", parsed.split),
    ):
        if value < 1:
            raise UsageError(f"{name} {value}: must be 1 or more")
    for name, limit in (("--timeout", parsed.timeout), ("--memory", parsed.memory)):
        if not limit > 0:
            raise UsageError(f"{name} {limit:g}: must be above 0")
    # Wrong options would fail for every file: parse them once, before a Blender is started.
    checked = parse_arguments([parsed.command, "scene.blend", *command_words], opens_file=True)
    return BatchOptions(
        command=parsed.command,
        arguments=tuple(command_words),
        inputs=tuple(parsed.inputs),
        output=parsed.output,
        suffix=checked.format.suffix,
        jobs=parsed.jobs,
        scheduler=parsed.dask,
        blender=parsed.blender,
        time_limit=parsed.timeout,
        memory_limit=parsed.memory,
        # A script of one file must not change the results of the next.
        files_per_blender=1 if checked.enable_autoexec else parsed.files_per_blender,
        split=parsed.split,
        share=_share(parsed.share),
        baseline=parsed.baseline,
        fails_on_contact=parsed.fail_on_contact or parsed.contact_exit_code is not None,
        fails_on_new=parsed.fail_on_new,
        contact_exit_code=parsed.contact_exit_code or 1,
        fails_on_error=parsed.fail_on_error or _counts_contacts(parsed),
        report=parsed.report,
        is_quiet=parsed.quiet,
    )


def _counts_contacts(parsed: argparse.Namespace) -> bool:
    return parsed.fail_on_contact or parsed.fail_on_new or parsed.contact_exit_code is not None


def _check_contact_options(parsed: argparse.Namespace) -> None:
    """Raise UsageError for wrong options of contacts, and a baseline that the run would overwrite."""
    if parsed.command == "bounds":
        if parsed.baseline or _counts_contacts(parsed):
            names = "--baseline, --fail-on-contact, --fail-on-new and --contact-exit-code"
            raise UsageError(f"{names}: only valid for contacts")
        if parsed.split > 1:
            raise UsageError("--split: only valid for contacts")
    if parsed.baseline is None:
        if parsed.fail_on_new:
            raise UsageError("--fail-on-new needs --baseline FOLDER")
        return
    baseline, output = parsed.baseline.resolve(), parsed.output.resolve()
    if baseline == output or baseline in output.parents or output in baseline.parents:
        raise UsageError(
            f"--baseline {parsed.baseline}: is, contains or is within the folder of the results, which would "
            "replace the earlier ones; choose another folder for -o"
        )


def _check_report(parsed: argparse.Namespace) -> None:
    """Raise UsageError, before the run, if no page can be made at its end."""
    if parsed.report is None:
        return
    if importlib.util.find_spec("jinja2") is None:
        raise UsageError("--report needs the package jinja2: pip install jinja2")
    from html_report.pages import PAGE_SUFFIXES  # needs Jinja2, which runs without a page do not

    if parsed.report.suffix.lower() not in PAGE_SUFFIXES:
        raise UsageError(f"--report {parsed.report}: the name of a page ends with {PAGE_SUFFIXES[0]}")
    if parsed.share != "1/1":
        raise UsageError(
            "--report: only valid without --share; the command that joins the shares writes the page"
        )
    folder = parsed.report.absolute().parent
    if folder != parsed.output.absolute() and not folder.is_dir():
        raise UsageError(f"--report {parsed.report}: the folder {folder} does not exist")


def _share(text: str) -> tuple[int, int]:
    numbers = text.split("/")
    if len(numbers) == 2 and all(number.isascii() and number.isdigit() for number in numbers):
        index, count = map(int, numbers)
        if 1 <= index <= count:
            return index, count
    raise UsageError(f"--share {text}: must be I/N, such as 2/8, with I from 1 to N")


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the words into those for this script, and the options of the command with their values."""
    command = next((word for word in words if word in COMMANDS), COMMANDS[0])
    # Options of this script take the place of those of the command that have their names.
    batch_options = _parser()._option_string_actions
    parser: Any = create_parser(opens_file=True)
    options = parser._subparsers._group_actions[0].choices[command]._option_string_actions
    takes_value = {name: each.nargs != 0 for name, each in options.items() if name not in batch_options}
    batch_words: list[str] = []
    passed: list[str] = []
    rest = iter(words)
    for word in rest:
        name = word.partition("=")[0]
        if name in _FORBIDDEN:
            raise UsageError(f"{name}: is set for each file; see --help")
        if name not in takes_value:
            batch_words.append(word)
            continue
        passed.append(word)
        if takes_value[name] and "=" not in word:
            value = next(rest, None)
            if value is None or value in takes_value or value in batch_options:
                raise UsageError(f"{name}: needs a value")
            passed.append(value)
    return batch_words, passed


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageError(f"{message} (--help lists the options)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="batch.py",
        description="Run a command of Collision Bounds on many scene files.",
        epilog="All other options are those of the command: see docs/command-line.md.",
        allow_abbrev=False,
    )
    parser.add_argument("command", choices=COMMANDS, help="command that runs for each file")
    parser.add_argument(
        "inputs", nargs="+", metavar="FILE|FOLDER|PATTERN", help="scene files, folders with some, patterns"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FOLDER", help="folder of the results"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="Blenders at a time (default: 1)")
    parser.add_argument("--dask", metavar="ADDRESS", help="run on the workers of this Dask scheduler")
    parser.add_argument(
        "--blender", metavar="PROGRAM", help="Blender, or a Python with bpy (default: this Python)"
    )
    parser.add_argument(
        "--timeout", type=float, default=600.0, metavar="S", help="seconds for a file (default: 600)"
    )
    parser.add_argument(
        "--memory", type=float, default=4000.0, metavar="MB", help="memory of a Blender (default: 4000)"
    )
    parser.add_argument(
        "--files-per-blender",
        type=int,
        default=200,
        metavar="N",
        help="start Blender again after N files (default: 200; with --enable-autoexec always 1)",
    )
    parser.add_argument(
        "--split",
        type=int,
        default=1,
        metavar="N",
        help="share the frames of each animation with more than 250 steps among N workers (default: 1)",
    )
    parser.add_argument(
        "--share",
        default="1/1",
        metavar="I/N",
        help="run only the I-th of N shares of the files; the same command without --share then joins them",
    )
    _add_contact_options(parser)
    parser.add_argument(
        "--report", type=Path, metavar="FILE.html", help="write an HTML page about the results"
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="show no progress, only files that failed and the numbers"
    )
    return parser


def _add_contact_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--baseline", type=Path, metavar="FOLDER", help="compare contacts with the results of an earlier run"
    )
    parser.add_argument("--fail-on-contact", action="store_true", help="exit with 1 if there are contacts")
    parser.add_argument(
        "--fail-on-new", action="store_true", help="exit with 1 if there are contacts that the baseline lacks"
    )
    parser.add_argument(
        "--contact-exit-code",
        type=parse_exit_code,
        metavar="N",
        help="like --fail-on-contact, but exit with N, which is 1 or 4 to 125; also for --fail-on-new",
    )
    parser.add_argument(
        "--fail-on-error",
        action="store_true",
        help="exit with 2 if a file failed; implied by the options for contacts",
    )
