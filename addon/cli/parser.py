"""Argument parser of the command line. docs/command-line.md is the contract for programs."""

from __future__ import annotations

import argparse
import difflib
import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn, get_args

from ..core import SPHERE_METHODS, MotionKind
from ..formats import (
    AXES,
    DEFAULT_DECIMALS,
    DEFAULT_GLTF_EXTENSIONS,
    FORMAT_NAMES,
    LEAST_DECIMALS,
    MOST_DECIMALS,
    PRESETS,
)
from ..scene.settings import DEFAULT_SHAPES, Modifiers, ShapeName
from . import values
from .output_options import complete_output_options, format_help
from .values import UsageError

PROGRAM = "collision_bounds"

_CONTACT_SHAPES: tuple[ShapeName, ...] = ("aabb", "sphere", "obb", "spheres")
"""Shapes of a scan, in the order of the help: the default first."""

_NEGATIVE_VALUE_OPTIONS = (
    "--frames",
    "--frame",
    "--padding",
    "--clearance",
    "--scale",
    "--up",
    "--forward",
)
"""Options whose values may begin with a minus sign."""


def parse_arguments(arguments: Sequence[str], opens_file: bool) -> argparse.Namespace:
    """Parse a command and its options, and check that the options fit together.

    Parameters
    ----------
    arguments : sequence of str
        The command and its options.
    opens_file : bool
        Whether the command names the file to open.

    Returns
    -------
    options : argparse.Namespace
        With the name of the `command`, and the `format` and `convention` of the output.

    Raises
    ------
    UsageError
        For unknown, invalid or contradictory options.
    SystemExit
        For --help.
    """
    words: list[str] = []
    for word in arguments:
        # Join the value to the option, because argparse takes -5:10, -Y and -1e-3 for options.
        if words and words[-1] in _NEGATIVE_VALUE_OPTIONS:
            words[-1] += f"={word}"
        else:
            words.append(word)
    options = _create_parser(opens_file).parse_args(words)
    if options.command in ("bounds", "contacts"):
        complete_output_options(options)
    if options.command == "bounds":
        _check_bounds_options(options)
    if options.command == "contacts":
        options.shape = options.shape or ("aabb" if options.obstacles is None else "sphere")
        if options.one_sided and options.obstacles is None:
            raise UsageError("--one-sided: is about --obstacles, of which there are none")
    return options


def _check_bounds_options(options: argparse.Namespace) -> None:
    over_frames = options.envelope or options.tracks
    if options.frames is not None and not over_frames:
        raise UsageError("--frames: is about --envelope and --tracks; for bounds at one frame use --frame")
    if over_frames and not {"sphere", "aabb"} & set(options.shapes):
        requested = ",".join(options.shapes)
        raise UsageError(
            f"--shapes {requested}: envelopes and tracks are of spheres and boxes, add sphere or aabb"
        )


class _Parser(argparse.ArgumentParser):
    """Argument parser that raises UsageError instead of exiting, and accepts no abbreviated options.

    An abbreviation in a script would break, or change its meaning, with the next option that is added.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

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
            self.error(f"{unknown[0]!r} is more than is asked for")
        return namespace, unknown


def _unknown_option(word: str, known: Iterable[str]) -> str:
    """Message for an unknown option, with the most similar known option."""
    names = {name.strip("-"): name for name in known}
    prefix = word.strip("-")
    close = [name for name in names if name.startswith(prefix)] or difflib.get_close_matches(prefix, names, 1)
    return f"unknown option {word}" + (f", did you mean {names[close[0]]}?" if close else "")


def _create_parser(opens_file: bool) -> argparse.ArgumentParser:
    parser = _Parser(prog=PROGRAM, description="Bounding volumes of meshes, and contacts over an animation.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    _add_bounds(commands.add_parser("bounds", help="fit spheres and boxes and write them"), opens_file)
    _add_contacts(commands.add_parser("contacts", help="find when things first touch"), opens_file)
    _add_validate(commands.add_parser("validate", help="check a written file"))
    return parser


def _add_bounds(parser: argparse.ArgumentParser, opens_file: bool) -> None:
    _add_scene_options(parser, opens_file)
    parser.add_argument(
        "--shapes",
        type=values.parse_shapes,
        default=DEFAULT_SHAPES,
        metavar="LIST",
        help="which of sphere,aabb,obb, spheres (a tree), hull (default sphere,aabb)",
    )
    parser.add_argument(
        "--frame", type=values.parse_number, help="the frame to look at (default where the playhead stands)"
    )
    parser.add_argument(
        "--envelope", action="store_true", help="also one box and sphere around all that moves over --frames"
    )
    parser.add_argument("--tracks", action="store_true", help="also boxes and spheres at each of --frames")
    parser.add_argument(
        "--frames",
        type=values.parse_frames,
        metavar="START:END[:STEP]",
        help="frames of envelopes and tracks (default the scene's range)",
    )
    parser.add_argument(
        "--gltf",
        type=values.parse_gltf_extensions,
        default=DEFAULT_GLTF_EXTENSIONS,
        metavar="LIST",
        help="how a .gltf tells of colliders: omi,khr and the experimental volumes (default omi,khr)",
    )


def _add_contacts(parser: argparse.ArgumentParser, opens_file: bool) -> None:
    _add_scene_options(parser, opens_file)
    parser.add_argument(
        "--shape",
        choices=_CONTACT_SHAPES,
        help="what stands in for each object (default aabb, with --obstacles sphere)",
    )
    parser.add_argument(
        "--obstacles",
        metavar="PATTERN",
        help="these are the meshes they are, for spheres or sphere trees to bump into",
    )
    parser.add_argument(
        "--one-sided", action="store_true", help="what is behind a face of an obstacle does not touch it"
    )
    parser.add_argument(
        "--frames",
        type=values.parse_frames,
        metavar="START:END[:STEP]",
        help="frames to scan (default the scene's range)",
    )
    parser.add_argument(
        "--motion",
        choices=get_args(MotionKind),
        default="adaptive",
        help="how things move between two samples",
    )
    parser.add_argument(
        "--clearance",
        type=values.parse_length,
        default=0.0,
        metavar="D",
        help="closer than this is a contact",
    )
    parser.add_argument("--confirm", action="store_true", help="ask the meshes themselves about each contact")
    _add_pair_options(parser)
    parser.add_argument("--fail-on-contact", action="store_true", help="exit with 1 when something touches")


def _add_validate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.json")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing when it is correct")


def _add_pair_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--a", metavar="PATTERN", help="only pairs with one object of this name")
    parser.add_argument("--b", metavar="PATTERN", help="and the other of this name")
    parser.add_argument(
        "--ignore",
        type=values.check_pair,
        action="append",
        default=[],
        metavar="A:B",
        help="leave pairs of these names out (repeatable)",
    )
    parser.add_argument(
        "--ignore-parents",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="leave pairs of a parent and its child out",
    )
    parser.add_argument(
        "--ignore-collection", action="store_true", help="leave pairs within a collection out"
    )
    parser.add_argument("--static-pairs", action="store_true", help="keep pairs of which neither moves")


def _add_scene_options(parser: argparse.ArgumentParser, opens_file: bool) -> None:
    if opens_file:
        parser.add_argument(
            "file", type=Path, metavar="SCENE", help=".blend, .glb, .gltf, .fbx, .obj or .usd"
        )
    parser.add_argument(
        "-o",
        "--output",
        type=values.parse_file_name,
        metavar="FILE.json",
        help="where to write; - is standard output",
    )
    parser.add_argument(
        "--objects", action="append", default=[], metavar="PATTERN", help="only these objects (repeatable)"
    )
    parser.add_argument("--collection", metavar="NAME", help="only objects of this collection")
    parser.add_argument("--method", choices=SPHERE_METHODS, default="minimal", help="how spheres are fitted")
    parser.add_argument(
        "--padding",
        type=values.parse_number,
        default=0.0,
        metavar="D",
        help="make every shape larger by this",
    )
    parser.add_argument(
        "--modifiers",
        choices=get_args(Modifiers),
        default="evaluated",
        help="the mesh as shown, or before modifiers",
    )
    _add_output_options(parser)


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--preset", choices=PRESETS, help="axes and unit of what is written (default blender)"
    )
    custom = parser.add_argument_group("of --preset custom")
    custom.add_argument("--up", choices=AXES, help="where Blender's +Z goes")
    custom.add_argument("--forward", choices=AXES, help="where Blender's front, -Y, goes")
    custom.add_argument("--handedness", choices=("right", "left"))
    custom.add_argument(
        "--scale",
        type=values.parse_number,
        metavar="N",
        help="units in a metre, such as 100 for centimetres (default 1)",
    )
    parser.add_argument(
        "--format",
        choices=FORMAT_NAMES,
        help=format_help(),
    )
    parser.add_argument(
        "--decimals",
        type=values.parse_decimals,
        default=DEFAULT_DECIMALS,
        metavar="N",
        help=f"decimals of lengths, {LEAST_DECIMALS} to {MOST_DECIMALS}",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no table and no progress")
