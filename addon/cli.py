"""The command line: arguments in, exit code out. The contract of its options is in docs/command-line.md."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
import traceback
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from .core import SPHERE_METHODS, CollisionBoundsError, Progress
from .formats import (
    DEFAULT_DECIMALS,
    LEAST_DECIMALS,
    MOST_DECIMALS,
    PRESETS,
    bounds_table,
    contacts_table,
    dumps,
    parse_document,
    require_writable,
    write_text,
)

if TYPE_CHECKING:
    from .scene.fitting import FitSettings
    from .scene.jobs import Result
    from .scene.subjects import Selection

DONE, CONTACTS_FOUND, BAD_INPUT, OUR_FAULT = 0, 1, 2, 3

PROGRAM = "collision_bounds"
_SHAPES = ("sphere", "aabb")
_MODIFIERS = ("evaluated", "base")


class UsageError(CollisionBoundsError):
    """An option that cannot be understood."""


def main(arguments: Sequence[str], *, opens_file: bool, out: TextIO | None = None) -> int:
    """Run one command and return its exit code.

    opens_file : whether the command is followed by the file to open; inside Blender the file is open already
    out : where tables and documents go, standard output by default
    """
    out = out or sys.stdout
    try:
        with contextlib.redirect_stdout(out):  # where argparse prints its help
            options = _parser(opens_file).parse_args(arguments)
        run: Callable[[argparse.Namespace, TextIO], int] = options.run
        return run(options, out)
    except CollisionBoundsError as error:
        print(f"{PROGRAM}: {_one_line(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    except Exception:
        # A bug stays loud, but must not look like contacts to who goes by the exit code.
        traceback.print_exc()
        return OUR_FAULT


class _Parser(argparse.ArgumentParser):
    """argparse that raises instead of printing a usage text of many lines."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (--help lists the options)")


def _parser(opens_file: bool) -> argparse.ArgumentParser:
    parser = _Parser(prog=PROGRAM, description="Bounding volumes of meshes, and contacts over an animation.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)

    bounds = commands.add_parser("bounds", help="fit spheres and boxes and write them")
    _add_scene_options(bounds, opens_file)
    bounds.add_argument(
        "--shapes", type=_shapes, default=_SHAPES, metavar="LIST", help="sphere, aabb or both (default both)"
    )
    bounds.add_argument(
        "--frame", type=_number, help="the frame to look at (default where the playhead stands)"
    )
    bounds.set_defaults(run=_run_bounds)

    contacts = commands.add_parser("contacts", help="find when things first touch")
    _add_scene_options(contacts, opens_file)
    contacts.add_argument("--shape", choices=_SHAPES, default="aabb", help="what stands in for each object")
    contacts.add_argument(
        "--frames",
        type=_frames,
        metavar="START:END[:STEP]",
        help="frames to scan (default the scene's range)",
    )
    contacts.add_argument(
        "--motion", choices=("linear",), default="linear", help="how things move between two samples"
    )
    contacts.add_argument(
        "--clearance", type=_length, default=0.0, metavar="D", help="closer than this is a contact"
    )
    contacts.add_argument("--a", metavar="PATTERN", help="only pairs with one object of this name")
    contacts.add_argument("--b", metavar="PATTERN", help="and the other of this name")
    contacts.add_argument(
        "--ignore",
        type=_pair,
        action="append",
        default=[],
        metavar="A:B",
        help="leave this pair out (repeatable)",
    )
    contacts.add_argument("--fail-on-contact", action="store_true", help="exit with 1 when something touches")
    contacts.set_defaults(run=_run_contacts)

    validate = commands.add_parser("validate", help="check a written file")
    validate.add_argument("file", type=Path, metavar="FILE.json")
    validate.add_argument("-q", "--quiet", action="store_true", help="say nothing when it is correct")
    validate.set_defaults(run=_run_validate)
    return parser


def _add_scene_options(parser: argparse.ArgumentParser, opens_file: bool) -> None:
    if opens_file:
        parser.add_argument(
            "file", type=Path, metavar="SCENE", help=".blend, .glb, .gltf, .fbx, .obj or .usd"
        )
    parser.add_argument("-o", "--output", metavar="FILE.json", help="where to write; - is standard output")
    parser.add_argument(
        "--objects", action="append", default=[], metavar="PATTERN", help="only these objects (repeatable)"
    )
    parser.add_argument("--collection", metavar="NAME", help="only objects of this collection")
    parser.add_argument("--method", choices=SPHERE_METHODS, default="minimal", help="how spheres are fitted")
    parser.add_argument(
        "--padding", type=_number, default=0.0, metavar="D", help="make every shape larger by this"
    )
    parser.add_argument(
        "--modifiers", choices=_MODIFIERS, default="evaluated", help="the mesh as shown, or before modifiers"
    )
    parser.add_argument(
        "--preset", choices=PRESETS, default="blender", help="axes and unit of what is written"
    )
    parser.add_argument(
        "--decimals",
        type=_decimals,
        default=DEFAULT_DECIMALS,
        metavar="N",
        help=f"decimals of lengths, {LEAST_DECIMALS} to {MOST_DECIMALS}",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no table and no progress")


def _run_bounds(options: argparse.Namespace, out: TextIO) -> int:
    scene = _prepared(options)
    from .scene.jobs import BoundsSettings, compute_bounds

    settings = BoundsSettings(
        selection=_selection(options),
        shapes=options.shapes,
        fit=_fit_settings(options),
        frame=options.frame,
    )
    _deliver(compute_bounds(scene, settings), options, out, bounds_table)
    return DONE


def _run_contacts(options: argparse.Namespace, out: TextIO) -> int:
    scene = _prepared(options)
    from .scene.jobs import ContactSettings, find_contacts

    settings = ContactSettings(
        selection=_selection(options),
        shape=options.shape,
        fit=_fit_settings(options),
        frames=options.frames,
        clearance=options.clearance,
        group_a=options.a,
        group_b=options.b,
        ignored=tuple(options.ignore),
    )
    result = _finished(find_contacts(scene, settings), show=not options.quiet and sys.stderr.isatty())
    _deliver(result, options, out, contacts_table)
    found = result.report is not None and bool(result.report.contacts)
    return CONTACTS_FOUND if options.fail_on_contact and found else DONE


def _run_validate(options: argparse.Namespace, out: TextIO) -> int:
    try:
        text = options.file.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"{options.file}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UsageError(f"{options.file}: is not a text file in UTF-8") from None
    try:
        document = parse_document(text)
    except CollisionBoundsError as error:
        raise UsageError(f"{options.file}: {error}") from None
    if not options.quiet:
        counts = f"{len(document['objects'])} objects, {len(document['contacts'])} contacts"
        print(f"{options.file}: correct ({counts})", file=out)
    return DONE


def _prepared(options: argparse.Namespace) -> Any:
    """Check the output first, then open the file if that is ours to do; the scene to work on."""
    if options.output not in (None, "-"):
        require_writable(Path(options.output))
    import bpy

    if "file" in options:
        from .scene.opening import open_scene

        open_scene(options.file)
    elif not bpy.data.filepath:
        # Blender goes on with its start-up scene when it cannot open a file. Bounds of the default cube are
        # not what a farm asked for.
        raise UsageError(f"{_file_asked_for()}: Blender has no scene file open")
    return bpy.context.scene


def _file_asked_for() -> str:
    """The scene on Blender's own command line, as far as it can be told."""
    before = itertools.takewhile(lambda argument: argument not in {"-c", "--command", "--"}, sys.argv[1:])
    names = [argument for argument in before if Path(argument).suffix and not argument.startswith("-")]
    scenes = [name for name in names if not name.endswith(".py")]
    return scenes[-1] if scenes else "SCENE.blend"


def _selection(options: argparse.Namespace) -> Selection:
    from .scene.subjects import Selection

    return Selection(tuple(options.objects), options.collection)


def _fit_settings(options: argparse.Namespace) -> FitSettings:
    from .scene.fitting import FitSettings

    return FitSettings(options.method, options.padding, options.modifiers)


def _finished(job: Generator[Progress, None, Result], *, show: bool) -> Result:
    """Run a job to its end, with a line of progress on standard error if wanted."""
    try:
        while True:
            progress = next(job)
            if show:
                print(f"\rframe {progress.time:g}, {progress.done}/{progress.total}", end="", file=sys.stderr)
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        job.close()
        if show:
            print(file=sys.stderr)


def _deliver(
    result: Result,
    options: argparse.Namespace,
    out: TextIO,
    table: Callable[[dict[str, Any]], str],
) -> None:
    document = result.document(options.preset, options.decimals)
    text = dumps(document)
    if options.output == "-":
        out.write(text)
        return
    if options.output is not None:
        write_text(Path(options.output), text)
    if options.quiet:
        return
    out.write(table(document))
    if document["skipped"]:
        out.write(f"\n{len(document['skipped'])} left out\n")
        out.writelines(f"  {entry['name']}: {entry['reason']}\n" for entry in document["skipped"])
    if options.output is not None:
        out.write(f"\nWritten: {options.output}\n")


def _one_line(message: str) -> str:
    return " ".join(message.split())


# Types of options. argparse turns what they raise into "argument --x: message".


def _shapes(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in _SHAPES:
            raise argparse.ArgumentTypeError(f"unknown shape {name!r} (choose from {', '.join(_SHAPES)})")
    return names


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def _length(text: str) -> float:
    value = _number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return value


def _decimals(text: str) -> int:
    if not text.isdecimal() or not LEAST_DECIMALS <= int(text) <= MOST_DECIMALS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number from {LEAST_DECIMALS} to {MOST_DECIMALS}"
        )
    return int(text)


def _frames(text: str) -> tuple[int, int, int]:
    try:
        parts = [int(part) for part in text.split(":")]
    except ValueError:
        parts = []
    if len(parts) not in (2, 3):
        raise argparse.ArgumentTypeError(f"{text!r} is not START:END or START:END:STEP in whole frames")
    start, end, step = (*parts, 1)[:3]
    if start > end:
        raise argparse.ArgumentTypeError(f"{text!r} ends before it starts")
    if step < 1:
        raise argparse.ArgumentTypeError(f"{text!r} has a step below 1")
    return start, end, step


def _pair(text: str) -> tuple[str, str]:
    first, colon, second = text.partition(":")
    if not (first and colon and second):
        raise argparse.ArgumentTypeError(f"{text!r} is not two names with a colon between")
    return first, second
