"""Argument parser of the command line. docs/command-line.md is the contract for programs.

The options of jobs are those that `scene.settings` declares. Those of files and exit codes are here.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from .. import formats
from ..core import CollisionBoundsError
from ..scene.declarations import (
    Choice,
    Choices,
    Flag,
    Kind,
    Name,
    Number,
    Option,
    Parsed,
    Patterns,
    choice,
    completed,
)
from ..scene.open_file import SCENE_SUFFIXES, has_scene_suffix
from ..scene.settings import ALLOWED_INPUTS, JOB_OPTIONS, JOB_RULES
from . import PROGRAM

*_SUFFIXES, _LAST_SUFFIX = dict.fromkeys(format.suffix for format in formats.FILE_FORMATS)
_KNOWN_SUFFIXES = f"{', '.join(_SUFFIXES)} or {_LAST_SUFFIX}"


class UsageError(CollisionBoundsError):
    """An argument that is unknown or invalid, or a combination of options that is not possible."""


def _complete_output_options(options: argparse.Namespace) -> None:
    """Set the format and convention of the output, in place. Raises UsageError for contradictions."""
    is_file = options.output not in (None, "-")
    source = str(options.output) if options.format is None else f"--format {options.format}"
    format = formats.FILE_FORMATS[0]
    if options.format is not None:
        format = formats.file_format(options.format)
    elif is_file:
        target = os.path.realpath(options.output)
        found = formats.format_from_filename(options.output) or formats.format_from_filename(target)
        if found is None and not _is_pipe_or_device(options.output):
            remedy = f"the name must end in {_KNOWN_SUFFIXES}; for another name add --format"
            raise UsageError(f"{options.output}: {remedy}")
        format = found or format
    options.format = format
    if options.command == "contacts" and "contacts" not in format.contents:
        raise UsageError(f"{source}: {format.label} cannot store contacts; {_alternative('contacts')}")
    if format.convention is not None and options.preset not in (None, format.name):
        raise UsageError(f"--preset {options.preset}: {format.label} has fixed axes and units; omit --preset")
    if options.command == "bounds":
        for name in ("envelope", "tracks"):
            if getattr(options, name) and name not in format.contents:
                raise UsageError(f"{source}: {format.label} cannot store --{name}; {_alternative(name)}")
        if options.envelope and format.name == "gltf" and "volumes" not in options.gltf:
            remedy = "stores --envelope as volumes only; add --gltf volumes"
            raise UsageError(f"{source}: {format.label} {remedy}")
        if not format.shapes & set(options.shapes):
            requested = ",".join(options.shapes)
            added = "aabb" if "aabb" in format.shapes else "sphere"
            raise UsageError(f"--shapes {requested}: {format.label} cannot store these shapes; add {added}")
        if "compound" in options.shapes and "compound" not in format.shapes:
            raise UsageError(f"{source}: {format.label} cannot store convex parts; omit --parts")
        if "compound" in options.shapes and options.part_shape == "hull" and "hull" not in format.shapes:
            raise UsageError(f"{source}: {format.label} cannot store hulls of parts; add --part-shape box")
        if options.free_joints and format.name != "mjcf":
            raise UsageError("--free-joints: only valid with --format mjcf or a FILE.xml")
    custom = {name: getattr(options, name) for name in ("up", "forward", "handedness", "scale")}
    if options.preset != "custom":
        if given := [name for name, value in custom.items() if value is not None]:
            raise UsageError(f"--{given[0]}: only valid with --preset custom")
        convention = formats.CONVENTIONS[options.preset or "blender"]
    else:
        if missing := [name for name, value in custom.items() if value is None and name != "scale"]:
            raise UsageError(f"--preset custom: needs --{missing[0]}")
        scale = 1.0 if options.scale is None else options.scale
        convention = formats.Convention("custom", options.up, options.forward, options.handedness, scale)
    options.convention = format.convention or convention


def _is_pipe_or_device(output: str) -> bool:
    try:
        return not stat.S_ISREG(Path(output).stat().st_mode)
    except OSError:  # it does not exist
        return False


def _alternative(content: str) -> str:
    """Suggest files that can store a kind of content of FileFormat.contents."""
    able = (format for format in formats.FILE_FORMATS if content in format.contents)
    suffixes = [each.suffix for each in able if formats.format_from_filename(each.suffix) is each]
    return f"write a {' or '.join(suffixes)} file instead"


def _format_help() -> str:
    purposes = (
        f"{' or '.join(format.name for format in group)} {purpose}".strip()
        for purpose, group in itertools.groupby(formats.FILE_FORMATS, lambda format: format.purpose)
    )
    default = formats.FILE_FORMATS[0]
    return f"{', '.join(purposes)} (default: by the suffix, {default.name} without a file)"


_COMMANDS = {
    "bounds": "fit bounding volumes to objects",
    "contacts": "find the contacts of animated objects",
    "check-colliders": "check collider objects that are named for an engine",
    "validate": "check a JSON document",
}
_STANDARD_OUTPUT = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}
"""Names of standard output. Opened as files, they would lose the output with that of Blender."""


def parse_arguments(arguments: Sequence[str], opens_file: bool) -> argparse.Namespace:
    """Parse a command and its options, and check that the options fit together.

    arguments : The command and its options.
    opens_file : Whether the command names the file to open.
    Returns options : argparse.Namespace. With the name of the `command`, the options that are `given` or
        follow from those, by name, and the `format` and `convention` of the output.
    Raises UsageError: for unknown, invalid or contradictory options.
    Raises SystemExit: for --help and --version.
    """
    options = create_parser(opens_file).parse_args(arguments)
    known = _OPTIONS[options.command]
    try:
        given = completed(vars(options), known, JOB_RULES.get(options.command, ()), _spelled)
    except ValueError as error:
        raise UsageError(str(error)) from None
    for name, option in known.items():
        setattr(options, name, given.get(name, option.default))
    options.given = given
    output = getattr(options, "output", None)
    is_file = output not in (None, "-")
    if is_file:
        target, written = os.path.realpath(output), {format.suffix for format in formats.FILE_FORMATS}
        for path, problem in (
            (Path(output), f"is the name of a scene file; choose a name that ends in {_KNOWN_SUFFIXES}"),
            (Path(target), f"is a link to the scene file {target}; choose another name"),
        ):
            if path.suffix.lower() not in written and has_scene_suffix(path):
                raise UsageError(f"{output}: {problem}")
    if options.command in ("bounds", "contacts"):
        _complete_output_options(options)
    if options.command == "contacts":
        if options.fail_on_new and options.baseline is None:
            raise UsageError("--fail-on-new needs --baseline OLD.json")
        for name in ("frame_share", "join_shares"):
            if getattr(options, name) is not None and not is_file:
                raise UsageError(f"{_spelled(name)}: needs an output file, which names those of the shares")
        share, count = options.frame_share, options.join_shares
        if share is not None and count is not None and share[1] != count:
            raise UsageError(f"--join-shares {count}: must be {share[1]}, as of --frame-share")
        if options.share_exit_code is not None and (share is None) != (count is None):
            uses = "not valid with one of --frame-share and --join-shares, only with both or none"
            raise UsageError(f"--share-exit-code: {uses}")
    if options.command == "check-colliders" and is_file:
        suffixes = {Path(name).suffix.lower() for name in (output, os.path.realpath(output))}
        if options.format is None and ".json" not in suffixes and not _is_pipe_or_device(output):
            raise UsageError(f"{output}: the name must end in .json; for another name add --format json")
    return options


def parse_exit_code(text: str) -> int:
    """Convert an exit code without another meaning: 2 and 3 are errors, and shells use those above 125."""
    if not (text.isascii() and text.isdecimal()) or int(text) not in (1, *range(4, 126)):
        raise argparse.ArgumentTypeError(f"{text!r} is not 1 or a whole number from 4 to 125")
    return int(text)


def _parse_output(text: str) -> str:
    """Check the name of the output file; all names of standard output become a dash."""
    if not text:
        raise argparse.ArgumentTypeError("the file name is empty")
    return "-" if text in _STANDARD_OUTPUT else text


def _parse_share(text: str) -> tuple[int, int]:
    """Convert the number of a share and the number of shares, such as 2/8, to numbers from 0."""
    numbers = text.split("/")
    if len(numbers) == 2 and all(number.isascii() and number.isdigit() for number in numbers):
        number, count = map(int, numbers)
        if 1 <= number <= count:
            return number - 1, count
    raise argparse.ArgumentTypeError(f"{text!r} is not I/N, such as 2/8, with I from 1 to N")


_EXIT_CODE = Parsed(parse_exit_code)

_ENABLE_AUTOEXEC = Option(
    "enable_autoexec",
    Flag(),
    "run the scripts of the file, for drivers that need them; only for files that you trust",
    False,
)
"""Option of a command that opens the scene; Blender has an option of the same name."""

_INPUT = (
    Option(
        "output", Parsed(_parse_output, "FILE"), "output file; - is standard output", flags=("-o", "--output")
    ),
    Option("scene", Name(), "scene of the file (default: its active scene)"),
    _ENABLE_AUTOEXEC,
)
"""Options of all commands that open a scene."""

_SCANS = (
    Option(
        "frame_share", Parsed(_parse_share, "I/N"), "scan the I-th of N shares of the frames", is_hidden=True
    ),
    Option("join_shares", Number(1, is_whole=True), "join the files of N shares", is_hidden=True),
    Option("share_exit_code", _EXIT_CODE, "exit with N if the frames can be shared", is_hidden=True),
    Option("fail_on_contact", Flag(), "exit with 1 if there are contacts", False),
    Option("contact_exit_code", _EXIT_CODE, "exit with N, which is 1 or 4 to 125, if there are contacts"),
    Option(
        "baseline",
        Parsed(Path, "OLD.json"),
        "compare the contacts with those of an earlier document, by object ids and time",
    ),
    Option(
        "fail_on_new",
        Flag(),
        "like --fail-on-contact, but only for contacts that are not in the baseline",
        False,
    ),
)
_COLLIDER_FILES = (
    Option(
        "gltf",
        Choices(formats.GLTF_EXTENSIONS, "glTF extension"),
        f"glTF extensions to write: {','.join(formats.GLTF_EXTENSIONS)}; volumes is experimental",
        formats.DEFAULT_GLTF_EXTENSIONS,
    ),
    Option(
        "free_joints",
        Flag(),
        "MJCF: let objects without a parent move freely (default: all are fixed)",
        False,
    ),
)
_SPACE = (
    Option(
        "preset", choice(*formats.PRESETS), f"axes and unit of the output (default: {formats.PRESETS[0]})"
    ),
    Option("up", choice(*formats.AXES), "with --preset custom: axis that Blender's +Z maps to"),
    Option("forward", choice(*formats.AXES), "with --preset custom: axis that Blender's front, -Y, maps to"),
    Option(
        "handedness", choice(*formats.HANDEDNESS), "with --preset custom: handedness of the coordinate system"
    ),
    Option(
        "scale", Number(), "with --preset custom: units per meter, such as 100 for centimeters (default: 1)"
    ),
    Option("format", choice(*formats.FORMAT_NAMES), _format_help()),
    Option(
        "decimals",
        Number(formats.LEAST_DECIMALS, formats.MOST_DECIMALS, is_whole=True),
        f"decimals of lengths, {formats.LEAST_DECIMALS} to {formats.MOST_DECIMALS}",
        formats.DEFAULT_DECIMALS,
    ),
)
_QUIET = Option("quiet", Flag(), "print no table and no progress", False, flags=("-q", "--quiet"))
_OF_FILES: dict[str, tuple[Option, ...]] = {
    "bounds": (*_COLLIDER_FILES, *_SPACE),
    "contacts": (*_SCANS, *_SPACE),
    "check-colliders": (
        Option(
            "format", choice("json"), "format of the output (default: by the suffix, json without a file)"
        ),
    ),
}
_OPTIONS = {
    command: {
        option.name: option
        for option in (*_INPUT, *ALLOWED_INPUTS, *JOB_OPTIONS[command].values(), *of_files, _QUIET)
        if option.help
    }
    for command, of_files in _OF_FILES.items()
}
"""Options of each command by name, in the order of `--help`."""
_OPTIONS["validate"] = {
    "max_size": Option(
        *("max_size", Parsed(Number(0.0).read, "MB"), "refuse larger files, which need much memory"),
        formats.MAX_MEGABYTES,
    ),
    "quiet": replace(_QUIET, help="print nothing if the document is valid"),
}


def _spelled(name: str, value: str = "") -> str:
    return f"--{name.replace('_', '-')}{' ' * bool(value)}{value}"


class _Parser(argparse.ArgumentParser):
    """Argument parser that raises UsageError instead of exiting, and for unknown arguments."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (--help lists the options)")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse like argparse, which also calls this for each command, but raise for unknown arguments."""
        known = self._option_string_actions
        for word in itertools.takewhile(lambda word: word != "--", args or ()):
            name = word.partition("=")[0]
            # Without this check, -objects would be -o with the value "bjects".
            if name.startswith("-") and f"-{name}" in known and name not in known:
                self.error(_unknown_option(name, known))
        namespace, unknown = super().parse_known_args(args, namespace)
        for word in unknown:
            if word.startswith("-"):
                self.error(_unknown_option(word.partition("=")[0], known))
        if unknown:
            word, file = unknown[0], getattr(namespace, "file", None)
            if (file is None or has_scene_suffix(file)) and has_scene_suffix(Path(word)):
                self.error(f"{word}: is a second scene file; each run reads one")
            self.error(f"unexpected argument {word!r}: only one file per run")
        return namespace, unknown


def _unknown_option(word: str, known: Iterable[str]) -> str:
    """Message for an unknown option, with the most similar known option."""
    names = {name.strip("-"): name for name in known}
    prefix = word.strip("-")
    close = [name for name in names if name.startswith(prefix)] or difflib.get_close_matches(prefix, names, 1)
    return f"unknown option {word}" + (f", did you mean {names[close[0]]}?" if close else "")


def create_parser(opens_file: bool) -> argparse.ArgumentParser:
    """Make the parser of all commands; `opens_file` is that of `parse_arguments`."""
    # An abbreviation in a script would break, or change its meaning, with the next option that is added.
    parser = _Parser(
        prog=PROGRAM,
        description="Bounding volumes of objects, and contacts between animated objects.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"Collision Bounds {formats.extension_version()}",
        help="print the version",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    for command, purpose in _COMMANDS.items():
        added = commands.add_parser(command, help=purpose, allow_abbrev=False)
        # Argparse takes -5:10, -Y and -1e-3 for options.
        added._negative_number_matcher = re.compile(r"-(?:[.\d]|inf|nan|[XYZ]$)", re.IGNORECASE)
        if command == "validate":
            added.add_argument("file", type=Path, metavar="FILE.json")
        elif opens_file:
            suffixes = ", ".join(SCENE_SUFFIXES)
            added.add_argument("file", type=Path, metavar="SCENE", help=f"file to open: {suffixes}")
        for option in _OPTIONS[command].values():
            if option is _ENABLE_AUTOEXEC and not opens_file:
                continue
            kind, default, help = option.kind, option.default, option.help
            if default not in (None, ()) and not isinstance(kind, Flag) and "(default" not in help:
                shown = ",".join(default) if isinstance(default, tuple) else str(default).removesuffix(".0")
                help = f"{help} (default: {shown})"
            if option.is_hidden:
                help = argparse.SUPPRESS
            more: dict[str, Any] = {}
            if isinstance(kind, Flag):
                more["action"] = argparse.BooleanOptionalAction if default else "store_true"
            elif isinstance(kind, Choice):
                more["choices"] = kind.names
            else:
                more |= {"type": partial(_read, kind), "metavar": kind.metavar}
                if isinstance(kind, Patterns):
                    more["action"] = "append"
            # Options that are not given are None.
            flags = option.flags or (_spelled(option.name),)
            added.add_argument(*flags, dest=option.name, default=None, help=help, **more)
    return parser


def _read(kind: Kind, text: str) -> Any:
    """Convert a word with errors that argparse reports as "argument --x: message"."""
    try:
        return kind.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
