"""Argument parser of the command line. docs/command-line.md is the contract for programs."""

from __future__ import annotations

import argparse
import difflib
import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn, get_args

from ...core import MotionKind
from ...formats import (
    AXES,
    DEFAULT_DECIMALS,
    DEFAULT_GLTF_EXTENSIONS,
    FORMAT_NAMES,
    GLTF_EXTENSIONS,
    HANDEDNESS,
    LEAST_DECIMALS,
    MAX_MEGABYTES,
    MOST_DECIMALS,
    PRESETS,
    extension_version,
)
from ...scene.open_file import SCENE_SUFFIXES
from ...scene.settings import (
    BOUND_SHAPES,
    DEFAULT_SHAPES,
    OBSTACLE_SHAPES,
    SCANNED_SHAPES,
    Axes,
    BoneFrames,
    ContactSettings,
    FitSettings,
    Modifiers,
    PartShape,
    VertexGroup,
)
from .. import PROGRAM
from . import values
from .combinations import complete_options
from .output_options import REPORT_FORMATS, format_help
from .values import UsageError

_FIT, _CONTACTS = FitSettings(), ContactSettings()
"""Settings with their default values, which are the defaults of the options."""

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
        For --help and --version.
    """
    words: list[str] = []
    for word in arguments:
        # Join the value to the option, because argparse takes -5:10, -Y and -1e-3 for options.
        if words and words[-1] in _NEGATIVE_VALUE_OPTIONS:
            words[-1] += f"={word}"
        else:
            words.append(word)
    options = _create_parser(opens_file).parse_args(words)
    complete_options(options)
    return options


def option_takes_value(command: str) -> dict[str, bool]:
    """Return the options of a command that names the file to open, each with whether it takes a value."""
    commands = next(
        action
        for action in _create_parser(opens_file=True)._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    options = commands.choices[command]._option_string_actions
    return {name: action.nargs != 0 for name, action in options.items()}


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
            self.error(_unexpected_argument(unknown[0], getattr(namespace, "file", None)))
        return namespace, unknown


def _unknown_option(word: str, known: Iterable[str]) -> str:
    """Message for an unknown option, with the most similar known option."""
    names = {name.strip("-"): name for name in known}
    prefix = word.strip("-")
    close = [name for name in names if name.startswith(prefix)] or difflib.get_close_matches(prefix, names, 1)
    return f"unknown option {word}" + (f", did you mean {names[close[0]]}?" if close else "")


def _unexpected_argument(word: str, file: Path | None) -> str:
    """Message for a word that is neither an option nor a value, after the file to open, if there is one."""
    opened = SCENE_SUFFIXES[0] if file is None else file.suffix.lower()
    if opened in SCENE_SUFFIXES and Path(word).suffix.lower() in SCENE_SUFFIXES:
        return f"{word}: is a second scene file; each run reads one"
    return f"unexpected argument {word!r}: only one file per run"


def _create_parser(opens_file: bool) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM, description="Bounding volumes of objects, and contacts between animated objects."
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"Collision Bounds {extension_version()}",
        help="print the version",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    _add_bounds(commands.add_parser("bounds", help="fit bounding volumes to objects"), opens_file)
    _add_contacts(commands.add_parser("contacts", help="find the contacts of animated objects"), opens_file)
    _add_check_colliders(
        commands.add_parser("check-colliders", help="check collider objects that are named for an engine"),
        opens_file,
    )
    _add_validate(commands.add_parser("validate", help="check a JSON document"))
    return parser


def _add_bounds(parser: argparse.ArgumentParser, opens_file: bool) -> None:
    _add_scene_options(parser, opens_file)
    _add_shape_options(parser)
    parser.add_argument(
        "--frame",
        type=values.parse_number,
        metavar="N",
        help="frame to evaluate (default: the current frame of the file)",
    )
    parser.add_argument(
        "--envelope",
        action="store_true",
        help="add a box and a sphere that enclose each object over --frames",
    )
    parser.add_argument(
        "--tracks", action="store_true", help="add the box and the sphere of each object at each of --frames"
    )
    parser.add_argument(
        "--frames",
        type=values.parse_frames,
        metavar="START[:END[:STEP]]",
        help="frames of envelopes, tracks and bones (default: the scene's frame range)",
    )
    parser.add_argument(
        "--vertex-group",
        type=values.parse_name,
        metavar="NAME",
        help="bounds of the vertices of this vertex group alone; objects without such vertices are skipped",
    )
    parser.add_argument(
        "--group-threshold",
        type=values.parse_weight,
        metavar="W",
        help="with --vertex-group: least weight of a vertex, from 0 to 1; vertices of weight 0 never count "
        f"(default: {VertexGroup('').threshold:g})",
    )
    parser.add_argument(
        "--bone-frames",
        choices=get_args(BoneFrames),
        default=_FIT.bone_frames,
        help="current: bounds of bones enclose their vertices at --frame; all: at all of --frames, in the "
        f"space of the bone (default: {_FIT.bone_frames})",
    )
    parser.add_argument(
        "--gltf",
        type=values.parse_gltf_extensions,
        default=DEFAULT_GLTF_EXTENSIONS,
        metavar="LIST",
        help=f"glTF extensions to write: {','.join(GLTF_EXTENSIONS)}; volumes is experimental "
        f"(default: {','.join(DEFAULT_GLTF_EXTENSIONS)})",
    )
    parser.add_argument(
        "--free-joints",
        action="store_true",
        help="MJCF: let objects without a parent move freely (default: all are fixed)",
    )


def _add_shape_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shapes",
        type=values.parse_shapes,
        default=DEFAULT_SHAPES,
        metavar="LIST",
        help=f"shapes to fit: {','.join(BOUND_SHAPES)}; spheres is a sphere tree, compound convex parts "
        f"(default: {','.join(DEFAULT_SHAPES)})",
    )
    _add_parts_options(parser, "add compound: split each mesh into up to N convex parts")
    parser.add_argument(
        "--part-shape",
        choices=get_args(PartShape),
        help=f"shape of each part of a compound (default: {_FIT.part_shape})",
    )


def _add_parts_options(parser: argparse.ArgumentParser, help: str) -> None:
    parser.add_argument(
        "--parts",
        type=values.parse_parts,
        metavar="N",
        help=f"{help} (default of compound: {_FIT.parts})",
    )
    parser.add_argument(
        "--parts-tolerance",
        type=values.parse_length,
        metavar="D",
        help="split a part of a compound no further if its notches are at most D Blender units deep",
    )


def _add_scanned_shape_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shape",
        choices=SCANNED_SHAPES,
        help="shape that is tested for each object; spheres is a sphere tree, compound a box around each "
        f"convex part (default: {_CONTACTS.shape}; with --obstacles: {OBSTACLE_SHAPES[0]})",
    )
    _add_parts_options(parser, "test compounds: a box around each of up to N convex parts of each mesh")
    parser.add_argument(
        "--obstacles",
        type=values.parse_name,
        action="append",
        default=[],
        metavar="PATTERN",
        help="objects tested as triangle meshes; all other objects are tested against them as "
        f"{' or '.join(OBSTACLE_SHAPES)} (repeatable)",
    )
    parser.add_argument(
        "--one-sided",
        action="store_true",
        help="treat the faces of obstacles as single-sided: ignore contacts from behind",
    )


def _add_contacts(parser: argparse.ArgumentParser, opens_file: bool) -> None:
    _add_scene_options(parser, opens_file)
    _add_scanned_shape_options(parser)
    parser.add_argument(
        "--frames",
        type=values.parse_frames,
        metavar="START[:END[:STEP]]",
        help="frames to scan (default: the scene's frame range)",
    )
    parser.add_argument(
        "--motion",
        choices=get_args(MotionKind),
        default=_CONTACTS.motion,
        help="motion between frames: adaptive follows keyframes, or evaluates the scene between frames where "
        f"objects come close; linear interpolates (default: {_CONTACTS.motion})",
    )
    parser.add_argument(
        "--clearance",
        type=values.parse_length,
        default=_CONTACTS.clearance,
        metavar="D",
        help=f"report pairs that are closer than D as contacts (default: {_CONTACTS.clearance:g})",
    )
    parser.add_argument("--confirm", action="store_true", help="verify each contact on the meshes")
    _add_pair_options(parser)
    _add_share_options(parser)
    _add_result_options(parser)


def _add_result_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fail-on-contact", action="store_true", help="exit with 1 if there are contacts")
    parser.add_argument(
        "--contact-exit-code",
        type=values.parse_exit_code,
        metavar="N",
        help="exit with N, which is 1 or 4 to 125, if there are contacts",
    )
    parser.add_argument(
        "--baseline",
        type=Path,
        metavar="OLD.json",
        help="compare the contacts with those of an earlier document, by object ids and time",
    )
    parser.add_argument(
        "--fail-on-new",
        action="store_true",
        help="like --fail-on-contact, but only for contacts that are not in the baseline",
    )


def _add_share_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--frame-share",
        type=values.parse_share,
        metavar="I/N",
        help="scan only the I-th of N shares of the frames of a long animation, and write what was found to "
        "FILE.I-of-N, for --join-shares",
    )
    parser.add_argument(
        "--join-shares",
        type=values.parse_share_count,
        metavar="N",
        help="join FILE.1-of-N to FILE.N-of-N, instead of scanning the frames; with --frame-share, scan the "
        "share, and join all shares if the others are done",
    )
    parser.add_argument(
        "--share-exit-code",
        type=values.parse_exit_code,
        metavar="N",
        help="exit with N, which is 1 or 4 to 125, instead of scanning, if the frames can be shared; with "
        "--frame-share and --join-shares, if other shares are not done",
    )


def _add_check_colliders(parser: argparse.ArgumentParser, opens_file: bool) -> None:
    _add_input_options(parser, opens_file)
    _add_modifiers_option(parser)
    parser.add_argument(
        "--format",
        choices=REPORT_FORMATS,
        help=f"format of the output (default: by the suffix, {REPORT_FORMATS[0]} without a file)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print no table")


def _add_validate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.json")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing if the document is valid")
    parser.add_argument(
        "--max-size",
        type=values.parse_length,
        default=MAX_MEGABYTES,
        metavar="MB",
        help=f"refuse larger files, which need much memory (default: {MAX_MEGABYTES:g})",
    )


def _add_pair_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--a",
        type=values.parse_name,
        action="append",
        default=[],
        metavar="PATTERN",
        help="only pairs with an object that matches PATTERN (repeatable: any of them)",
    )
    parser.add_argument(
        "--b",
        type=values.parse_name,
        action="append",
        default=[],
        metavar="PATTERN",
        help="only pairs with an object that matches PATTERN (repeatable: any of them); with --a, one object "
        "must match each",
    )
    parser.add_argument(
        "--ignore",
        type=values.check_pair,
        action="append",
        default=[],
        metavar="A:B",
        help="skip pairs of objects that match patterns A and B (repeatable)",
    )
    parser.add_argument(
        "--ignore-parents",
        action=argparse.BooleanOptionalAction,
        default=_CONTACTS.ignore_parents,
        help="skip pairs of a parent and its child (default: on)",
    )
    parser.add_argument(
        "--ignore-collection", action="store_true", help="skip pairs of objects in the same collection"
    )
    parser.add_argument(
        "--static-pairs", action="store_true", help="include pairs in which neither object moves"
    )


def _add_input_options(parser: argparse.ArgumentParser, opens_file: bool) -> None:
    """Add the scene file, the output file, the selection, and what to accept of the scene."""
    if opens_file:
        parser.add_argument(
            "file", type=Path, metavar="SCENE", help=f"file to open: {', '.join(SCENE_SUFFIXES)}"
        )
        parser.add_argument(
            "--enable-autoexec",
            action="store_true",
            help="run the scripts of the file, for drivers that need them; only for files that you trust",
        )
    parser.add_argument(
        "-o",
        "--output",
        type=values.parse_output,
        metavar="FILE",
        help="output file; - is standard output",
    )
    _add_selection_options(parser)
    parser.add_argument(
        "--allow-missing",
        action="store_true",
        help="continue although libraries, data-blocks or files are missing",
    )
    parser.add_argument(
        "--allow-blocked-drivers",
        action="store_true",
        help="continue although drivers need scripts, which are blocked",
    )


def _add_scene_options(parser: argparse.ArgumentParser, opens_file: bool) -> None:
    _add_input_options(parser, opens_file)
    parser.add_argument(
        "--padding",
        type=values.parse_number,
        default=_FIT.padding,
        metavar="D",
        help=f"margin in Blender units that is added to every shape (default: {_FIT.padding:g})",
    )
    _add_split_options(parser)
    _add_modifiers_option(parser)
    _add_output_options(parser)


def _add_split_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bones",
        action="store_true",
        help="bounds of each deform bone, along its axes, instead of the whole of an object with an armature",
    )
    parser.add_argument(
        "--bone-weight",
        type=values.parse_weight,
        metavar="W",
        help="with --bones: a vertex also belongs to bones for which its weight is at least W, from 0 to 1, "
        "not only to the bone with its largest weight (default: 1, only to that)",
    )
    parser.add_argument(
        "--box-axes",
        choices=[axes for axes in get_args(Axes) if axes != "checked"],
        help="axes of the boxes of all objects: object: the object's own axes; world; smallest: those of the "
        "smallest box, which rotates with the object (default: world for aabb, object for obb)",
    )


def _add_modifiers_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--modifiers",
        choices=get_args(Modifiers),
        default=_FIT.modifiers,
        help="evaluated: the mesh as the viewport shows it; base: the mesh without modifiers and shape keys "
        f"(default: {_FIT.modifiers})",
    )


def _add_selection_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scene",
        type=values.parse_name,
        metavar="NAME",
        help="scene of the file (default: its active scene)",
    )
    parser.add_argument(
        "--objects",
        type=values.parse_name,
        action="append",
        default=[],
        metavar="PATTERN",
        help="only objects that match PATTERN (repeatable)",
    )
    parser.add_argument(
        "--collection",
        type=values.parse_name,
        metavar="NAME",
        help="only objects in this collection and its children",
    )


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--preset",
        choices=PRESETS,
        help=f"axes and unit of the output (default: {PRESETS[0]})",
    )
    custom = parser.add_argument_group("options of --preset custom")
    custom.add_argument("--up", choices=AXES, help="axis that Blender's +Z maps to")
    custom.add_argument("--forward", choices=AXES, help="axis that Blender's front, -Y, maps to")
    custom.add_argument("--handedness", choices=HANDEDNESS, help="handedness of the coordinate system")
    custom.add_argument(
        "--scale",
        type=values.parse_number,
        metavar="N",
        help="units per meter, such as 100 for centimeters (default: 1)",
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
        help=f"decimals of lengths, {LEAST_DECIMALS} to {MOST_DECIMALS} (default: {DEFAULT_DECIMALS})",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print no table and no progress")
