"""What may be written on the command line; docs/command-line.md is what programs rely on."""

from __future__ import annotations

import argparse
import difflib
import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import option_values as values
from .core import SPHERE_METHODS, CollisionBoundsError
from .formats import (
    AXES,
    CARRIERS,
    CONVENTIONS,
    DEFAULT_DECIMALS,
    DEFAULT_DIALECTS,
    LEAST_DECIMALS,
    MOST_DECIMALS,
    PRESETS,
    Convention,
    carrier_of,
    convention_of,
)

PROGRAM = "collision_bounds"

_CONTACT_SHAPES = ("aabb", "sphere", "obb", "spheres")
_MOTIONS = ("adaptive", "linear")
_MODIFIERS = ("evaluated", "base")


_ITS_FILE = {
    "3dtiles": "a tileset",
    "gltf": "a glTF file",
    "unity": "a file for Unity",
    "unreal": "a file for Unreal",
}
"""Those with axes, a unit and shapes of their own."""
_NO_PLACE_FOR = {
    "csv": ("envelope", "tracks"),
    "3dtiles": ("envelope", "tracks"),
    "gltf": ("envelope", "tracks"),
    "unity": ("tracks",),
    "unreal": ("tracks",),
}
_SCENES = (".blend", ".glb", ".fbx", ".obj", ".usd", ".usda", ".usdc", ".usdz")
"""Endings of files that are read, and never written."""
_MAY_BEGIN_WITH_A_MINUS = ("--frames", "--frame", "--padding", "--clearance", "--scale", "--up", "--forward")
_BOXES_AND_SPHERES = {"sphere", "aabb"}
_ITS_SHAPES = {
    "csv": {*_BOXES_AND_SPHERES, "obb"},
    "3dtiles": {*_BOXES_AND_SPHERES, "obb"},
    "gltf": {*_BOXES_AND_SPHERES, "obb"},
    "unity": _BOXES_AND_SPHERES,
    "unreal": _BOXES_AND_SPHERES,
}


class UsageError(CollisionBoundsError):
    """An option that cannot be understood."""


def parsed(arguments: Sequence[str], opens_file: bool) -> argparse.Namespace:
    """The options, and the `command` they are of. Raises UsageError, or SystemExit for --help."""
    words: list[str] = []
    for word in arguments:
        # argparse would take -5:10, -Y and -1e-3 for options.
        if words and words[-1] in _MAY_BEGIN_WITH_A_MINUS:
            words[-1] += f"={word}"
        else:
            words.append(word)
    options = _parser(opens_file).parse_args(words)
    if options.command in ("bounds", "contacts"):
        _settle_file(options)
    if options.command == "bounds":
        if options.frames is not None and not (options.envelope or options.tracks):
            raise UsageError(
                "--frames: is about --envelope and --tracks; for bounds at one frame use --frame"
            )
        if (options.envelope or options.tracks) and not {"sphere", "aabb"} & set(options.shapes):
            told = ",".join(options.shapes)
            raise UsageError(
                f"--shapes {told}: envelopes and tracks are of spheres and boxes, add sphere or aabb"
            )
    if options.command == "contacts":
        options.shape = options.shape or ("aabb" if options.obstacles is None else "sphere")
        if options.one_sided and options.obstacles is None:
            raise UsageError("--one-sided: is about --obstacles, of which there are none")
    return options


def _require_told(options: argparse.Namespace, named: str) -> None:
    """Raises UsageError for what is to be found and has no place in the file."""
    file = _ITS_FILE.get(options.format, "a table")
    for name in _NO_PLACE_FOR.get(options.format, ()):
        if getattr(options, name):
            raise UsageError(f"{named}: {file} has no place for --{name}, a document has (FILE.json)")
    readable = _ITS_SHAPES.get(options.format)
    if readable and not readable & set(options.shapes):
        asked = ",".join(options.shapes)
        raise UsageError(f"--shapes {asked}: {file} has no such shapes, add aabb")


def _settle_file(options: argparse.Namespace) -> None:
    """Which file is written, in which space. Raises UsageError for options that do not go together."""
    if Path(options.output or "").suffix.lower() in _SCENES:
        raise UsageError(f"{options.output}: is the name of a scene; name a .json, .csv or .gltf file")
    named = str(options.output) if options.format is None else f"--format {options.format}"
    options.format = options.format or carrier_of(options.output or "")
    if options.format in _ITS_FILE:
        if options.command == "contacts":
            raise UsageError(f"{named}: {_ITS_FILE[options.format]} has no place for contacts")
        if options.preset is not None and options.preset != options.format:
            raise UsageError(f"--preset: {_ITS_FILE[options.format]} has axes and a unit of its own")
    if options.command == "bounds":
        _require_told(options, named)
    custom = {name: getattr(options, name) for name in ("up", "forward", "handedness", "scale")}
    if options.preset != "custom":
        if told := [name for name, value in custom.items() if value is not None]:
            raise UsageError(f"--{told[0]}: is about --preset custom")
        asked = CONVENTIONS[options.preset or "blender"]
    else:
        if missing := [name for name, value in custom.items() if value is None and name != "scale"]:
            raise UsageError(f"--preset custom: needs --{missing[0]}")
        scale = 1.0 if options.scale is None else options.scale
        asked = Convention("custom", options.up, options.forward, options.handedness, scale)
    options.convention = convention_of(options.format, asked)


class _Parser(argparse.ArgumentParser):
    """argparse that raises instead of printing a usage text of many lines, and knows options by whole names.

    Scripts that say part of a name would stop to work, or do something else, with the next option we add.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (--help lists the options)")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, which comes here for each command too; nothing is left over."""
        known = self._option_string_actions
        for word in itertools.takewhile(lambda word: word != "--", args or ()):
            name = word.partition("=")[0]
            # Else -objects would be -o with the value bjects.
            if name.startswith("-") and f"-{name}" in known and name not in known:
                self.error(_unknown_option(name, known))
        found, unknown = super().parse_known_args(args, namespace)
        for word in unknown:
            if word.startswith("-"):
                self.error(_unknown_option(word.partition("=")[0], known))
        if unknown:
            self.error(f"{unknown[0]!r} is more than is asked for")
        return found, unknown


def _unknown_option(word: str, known: Iterable[str]) -> str:
    """That there is none of this name, and which may be meant."""
    names = {name.strip("-"): name for name in known}
    begun = word.strip("-")
    close = [name for name in names if name.startswith(begun)] or difflib.get_close_matches(begun, names, 1)
    return f"unknown option {word}" + (f", did you mean {names[close[0]]}?" if close else "")


def _parser(opens_file: bool) -> argparse.ArgumentParser:
    parser = _Parser(prog=PROGRAM, description="Bounding volumes of meshes, and contacts over an animation.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)

    bounds = commands.add_parser("bounds", help="fit spheres and boxes and write them")
    _add_scene_options(bounds, opens_file)
    bounds.add_argument(
        "--shapes",
        type=values.shapes,
        default=("sphere", "aabb"),
        metavar="LIST",
        help="which of sphere,aabb,obb, spheres (a tree), hull (default sphere,aabb)",
    )
    bounds.add_argument(
        "--frame", type=values.number, help="the frame to look at (default where the playhead stands)"
    )
    bounds.add_argument(
        "--envelope", action="store_true", help="also one box and sphere around all that moves over --frames"
    )
    bounds.add_argument("--tracks", action="store_true", help="also boxes and spheres at each of --frames")
    bounds.add_argument(
        "--frames",
        type=values.frames,
        metavar="START:END[:STEP]",
        help="frames of envelopes and tracks (default the scene's range)",
    )
    bounds.add_argument(
        "--gltf",
        type=values.dialects,
        default=DEFAULT_DIALECTS,
        metavar="LIST",
        help="how a .gltf tells of colliders: omi,khr and the experimental volumes (default omi,khr)",
    )

    contacts = commands.add_parser("contacts", help="find when things first touch")
    _add_scene_options(contacts, opens_file)
    contacts.add_argument(
        "--shape",
        choices=_CONTACT_SHAPES,
        help="what stands in for each object (default aabb, with --obstacles sphere)",
    )
    contacts.add_argument(
        "--obstacles",
        metavar="PATTERN",
        help="these are the meshes they are, for spheres or sphere trees to bump into",
    )
    contacts.add_argument(
        "--one-sided", action="store_true", help="what is behind a face of an obstacle does not touch it"
    )
    contacts.add_argument(
        "--frames",
        type=values.frames,
        metavar="START:END[:STEP]",
        help="frames to scan (default the scene's range)",
    )
    contacts.add_argument(
        "--motion", choices=_MOTIONS, default="adaptive", help="how things move between two samples"
    )
    contacts.add_argument(
        "--clearance", type=values.length, default=0.0, metavar="D", help="closer than this is a contact"
    )
    contacts.add_argument(
        "--confirm", action="store_true", help="ask the meshes themselves about each contact"
    )
    _add_pair_options(contacts)
    contacts.add_argument("--fail-on-contact", action="store_true", help="exit with 1 when something touches")

    validate = commands.add_parser("validate", help="check a written file")
    validate.add_argument("file", type=Path, metavar="FILE.json")
    validate.add_argument("-q", "--quiet", action="store_true", help="say nothing when it is correct")
    return parser


def _add_pair_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--a", metavar="PATTERN", help="only pairs with one object of this name")
    parser.add_argument("--b", metavar="PATTERN", help="and the other of this name")
    parser.add_argument(
        "--ignore",
        type=values.pair,
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
        "-o", "--output", type=values.file, metavar="FILE.json", help="where to write; - is standard output"
    )
    parser.add_argument(
        "--objects", action="append", default=[], metavar="PATTERN", help="only these objects (repeatable)"
    )
    parser.add_argument("--collection", metavar="NAME", help="only objects of this collection")
    parser.add_argument("--method", choices=SPHERE_METHODS, default="minimal", help="how spheres are fitted")
    parser.add_argument(
        "--padding", type=values.number, default=0.0, metavar="D", help="make every shape larger by this"
    )
    parser.add_argument(
        "--modifiers", choices=_MODIFIERS, default="evaluated", help="the mesh as shown, or before modifiers"
    )
    parser.add_argument(
        "--preset", choices=PRESETS, help="axes and unit of what is written (default blender)"
    )
    custom = parser.add_argument_group("of --preset custom")
    custom.add_argument("--up", choices=AXES, help="where Blender's +Z goes")
    custom.add_argument("--forward", choices=AXES, help="where Blender's front, -Y, goes")
    custom.add_argument("--handedness", choices=("right", "left"))
    custom.add_argument(
        "--scale",
        type=values.number,
        metavar="N",
        help="units in a metre, such as 100 for centimetres (default 1)",
    )
    parser.add_argument(
        "--format",
        choices=CARRIERS,
        help="json, csv for a spreadsheet, 3dtiles for a tileset, gltf for colliders, unity or unreal for "
        "bounds as these read them (default by the suffix: csv for .csv, gltf for .gltf, else json)",
    )
    parser.add_argument(
        "--decimals",
        type=values.decimals,
        default=DEFAULT_DECIMALS,
        metavar="N",
        help=f"decimals of lengths, {LEAST_DECIMALS} to {MOST_DECIMALS}",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no table and no progress")
