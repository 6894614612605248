"""The command line: arguments in, exit code out. The contract of its options is in docs/command-line.md."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from .core import CollisionBoundsError, Progress
from .formats import bounds_table, contacts_table, parse_document, require_writable, text_of, write_text
from .formats.wording import counted, on_a_line
from .options import PROGRAM, UsageError, parsed
from .progress_line import ProgressLine

if TYPE_CHECKING:
    from .scene.fitting import FitSettings
    from .scene.result import Result
    from .scene.selection import Selection

DONE, CONTACTS_FOUND, BAD_INPUT, OUR_FAULT, STOPPED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str], *, opens_file: bool, out: TextIO | None = None) -> int:
    """Run one command and return its exit code.

    opens_file : whether the command is followed by the file to open; inside Blender the file is open already
    out : where tables and documents go, standard output by default
    """
    out = out or sys.stdout
    try:
        with contextlib.redirect_stdout(out):  # where argparse prints its help
            options = parsed(arguments, opens_file)
        return _RUN[options.command](options, out)
    except CollisionBoundsError as error:
        print(f"{PROGRAM}: {_one_line(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt as stop:
        print(f"{PROGRAM}: stopped by Ctrl-C{stop}", file=sys.stderr)
        return STOPPED
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    except Exception:
        # A bug stays loud, but must not look like contacts to who goes by the exit code.
        traceback.print_exc()
        return OUR_FAULT


def _run_bounds(options: argparse.Namespace, out: TextIO) -> int:
    scene = _prepared(options)
    from .scene.jobs import BoundsSettings, compute_bounds, play_bounds

    settings = BoundsSettings(
        selection=_selection(options),
        shapes=options.shapes,
        fit=_fit_settings(options),
        frame=options.frame,
        envelope=options.envelope,
        tracks=options.tracks,
        frames=options.frames,
    )
    if options.envelope or options.tracks:
        result = _finished(play_bounds(scene, settings), _progress_line(options))
    else:
        result = compute_bounds(scene, settings)
    _deliver(result, options, out, lambda document: bounds_table(document, result.linear_only))
    return DONE


def _run_contacts(options: argparse.Namespace, out: TextIO) -> int:
    scene = _prepared(options)
    from .scene.jobs import ContactSettings, find_contacts

    settings = ContactSettings(
        selection=_selection(options),
        shape=options.shape,
        fit=_fit_settings(options),
        frames=options.frames,
        motion=options.motion,
        clearance=options.clearance,
        confirm=options.confirm,
        group_a=options.a,
        group_b=options.b,
        ignored=tuple(options.ignore),
        ignore_parents=options.ignore_parents,
        ignore_collection=options.ignore_collection,
        static_pairs=options.static_pairs,
        obstacles=options.obstacles,
        one_sided=options.one_sided,
    )
    result = _finished(find_contacts(scene, settings), _progress_line(options))
    _deliver(result, options, out, lambda document: contacts_table(document, result.linear_only))
    return CONTACTS_FOUND if options.fail_on_contact and result.has_contacts else DONE


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
        objects = counted(len(document["objects"]), "object")
        contacts = counted(len(document["contacts"]), "contact")
        print(f"{options.file}: correct ({objects}, {contacts})", file=out)
    return DONE


def _prepared(options: argparse.Namespace) -> Any:
    """Check the output first, then open the file if that is ours to do; the scene to work on."""
    if options.output not in (None, "-"):
        target = Path(options.output)
        require_writable(target)
        if "file" in options and target.exists() and options.file.exists() and target.samefile(options.file):
            raise UsageError(f"{target}: is the scene itself; name another file")
    import bpy

    from .ui import object_settings

    object_settings.attach()
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
    from .scene.selection import Selection

    return Selection(tuple(options.objects), options.collection)


def _fit_settings(options: argparse.Namespace) -> FitSettings:
    from .scene.fitting import FitSettings

    return FitSettings(options.method, options.padding, options.modifiers)


def _progress_line(options: argparse.Namespace) -> ProgressLine | None:
    return ProgressLine(sys.stderr) if sys.stderr.isatty() and not options.quiet else None


def _finished(job: Generator[Progress, None, Result], line: ProgressLine | None) -> Result:
    """Run a job to its end, or until Ctrl-C; how far it is goes to `line`."""
    try:
        with _interrupts() as interrupts:
            while True:
                progress = next(job)
                if interrupts:
                    raise KeyboardInterrupt(f" at frame {progress.time:g}, nothing was written")
                if line:
                    line.show(progress.done, progress.total, progress.time)
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        job.close()
        if line:
            line.clear()


@contextlib.contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collects what Ctrl-C sends. Raised in the middle of a frame change it could end in a driver's script.

    Blender itself would go on in background, and die without a word the second time; so here, too, the second
    time raises.
    """
    received: list[int] = []

    def receive(number: int, frame: FrameType | None) -> None:
        if received:
            signal.default_int_handler(number, frame)
        received.append(number)

    before = signal.signal(signal.SIGINT, receive)
    try:
        yield received
    finally:
        # None is a handler that Python does not know: Blender's.
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


def _deliver(
    result: Result,
    options: argparse.Namespace,
    out: TextIO,
    table: Callable[[dict[str, Any]], str],
) -> None:
    document = result.document(options.convention, options.decimals)
    if options.output is not None:
        about_contacts = options.command == "contacts"
        dialects = () if about_contacts else options.gltf
        text = text_of(document, options.format, about_contacts, dialects)
        if options.output == "-":
            out.writelines(text)
            return
        write_text(Path(options.output), text)
    if options.quiet:
        return
    out.write(table(document))
    if document["skipped"]:
        out.write(f"\n{len(document['skipped'])} left out\n")
        out.writelines(f"  {on_a_line(entry['name'])}: {entry['reason']}\n" for entry in document["skipped"])
    if options.output is not None:
        out.write(f"\nWritten: {options.output}\n")


_RUN: dict[str, Callable[[argparse.Namespace, TextIO], int]] = {
    "bounds": _run_bounds,
    "contacts": _run_contacts,
    "validate": _run_validate,
}


def _one_line(message: str) -> str:
    return " ".join(message.split())
