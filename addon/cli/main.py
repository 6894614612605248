"""Commands: arguments in, exit code out. docs/command-line.md is the contract.

The script of the checkout and the extension call `run_process`. Blender, and what needs it, is imported when
a command opens a scene, because that takes a second. Texts are written in parts, because a scene can have a
million objects.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
import time
import traceback
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from .. import formats
from ..core import CollisionBoundsError, Progress
from ..formats.document.model import MISSING_INPUTS
from ..formats.export.text_table import collider_check_table
from ..formats.wording import format_duration, message_line, pluralized, single_line
from ..scene import open_file
from ..scene.declarations import with_options
from ..scene.settings import BoundsSettings, ColliderCheckSettings, ContactSettings
from . import BAD_INPUT, CONTACTS_FOUND, DONE, INTERNAL_ERROR, PROBLEMS_FOUND, PROGRAM, STOPPED, process
from .parser import UsageError, parse_arguments

if TYPE_CHECKING:
    from ..scene.jobs.result import Result
    from ..scene.jobs.scan_shares import ScanShare

_INTERVAL = 0.1
"""Seconds between updates: a terminal may be slower than a scan."""
_ESTIMATES_AFTER = 1.0
"""Seconds until the time left is a useful estimate."""
_PARTS_AT_ONCE = 64
"""Parts of a text between updates."""

_Result = TypeVar("_Result")
_Settings = TypeVar("_Settings")


class ProgressLine:
    """Percentage, frame or phase, and time left, in one line that is rewritten in place.

    written : What is done when the text of a result is written, from 0 to 1.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        """Start at the current time of `clock`, which returns seconds."""
        # None after the end of the line.
        self._stream: TextIO | None = stream
        self._clock = clock
        self._started = self._next_update = clock()
        self._width = 0
        self.written = 0.0

    def show(self, done: float, frame: float, phase: str = "") -> None:
        """Update the line, unless it was updated a moment ago; a phase is shown instead of the frame.

        done : from 0 to 1
        """
        now = self._clock()
        if self._stream is None or now < self._next_update:
            return
        self._next_update = now + _INTERVAL
        text = f"{done:4.0%}  {phase or f'frame {frame:g}'}"
        elapsed = now - self._started
        if done and elapsed >= _ESTIMATES_AFTER:
            text += f"  {format_duration(elapsed / done * (1 - done))} left"
        print("\r" + text.ljust(self._width), end="", file=self._stream, flush=True)
        self._width = len(text)

    def clear(self) -> None:
        if self._stream is not None and self._width:
            print("\r" + " " * self._width + "\r", end="", file=self._stream, flush=True)
            self._width = 0

    def shown(
        self, parts: Iterable[str], part_count: int, share: float, terminal: TextIO | None
    ) -> Iterator[str]:
        """Yield the parts of a text, and show the progress before every few.

        part_count : about how many parts there are
        share : of what remains of the progress
        terminal : stream of the text; if it is a terminal, the first part that is not empty ends the progress
        """
        begin, width = self.written, (1 - self.written) * share
        ends_line = terminal is not None and terminal.isatty()
        for count, part in enumerate(parts):
            if part and ends_line:
                self.clear()
                self._stream = None
            if not count % _PARTS_AT_ONCE:
                self.show(begin + width * min(count / max(part_count, 1), 1.0), 0.0, "writing")
            yield part
        self.written = begin + width


def run_job(job: Generator[Progress, None, _Result], line: ProgressLine | None) -> _Result:
    """Run a job to its end and return its result; its progress goes to `line`, if it is shown.

    Raises KeyboardInterrupt after Ctrl-C or SIGTERM, once the part of the job that is running has ended.
    """
    from ..scene.blender.frames import keeping_open

    place = ""
    results: list[_Result] = []
    with contextlib.ExitStack() as stack:
        # No window shows the file before the job has ended, so private scenes stay for all steps.
        stack.enter_context(keeping_open())
        if line is not None:
            stack.callback(line.clear)
        stack.callback(job.close)
        signals = stack.enter_context(process.recorded_signals())
        try:
            while not signals:
                progress = next(job)
                phase = "" if progress.phase == "frames" else progress.phase
                place = f" while {phase}" if phase else f" at frame {progress.time:g}"
                if line is not None and not signals:
                    line.show(progress.share, progress.time, phase)
        except StopIteration as stop:
            results.append(stop.value)
    # Checked after the block, because the handlers record signals until its end.
    if signals:
        raise KeyboardInterrupt(f"stopped by {signals[0]}{place}, nothing was written")
    return results[0]


_LISTED = 20
"""Number of warnings of one run that are printed; the document has all."""


def print_warning(text: str) -> None:
    print(f"{PROGRAM}: {single_line(f'warning: {text}')}", file=sys.stderr)


def report_inputs(warnings: Sequence[formats.InputWarning], options: argparse.Namespace) -> None:
    """Print warnings about inputs that Blender did not read or run.

    Raises UsageError if the options do not allow one of them.
    """
    for entry in warnings[:_LISTED]:
        print_warning(f"{entry.name}: {entry.message}")
    if len(warnings) > _LISTED:
        print_warning(f"{len(warnings) - _LISTED} more")
    kinds = [entry.kind for entry in warnings]
    missing, blocked = sum(kind in MISSING_INPUTS for kind in kinds), kinds.count("blockedDriver")
    problems = []
    if missing and not options.allow_missing:
        problems.append(f"{pluralized(missing, 'missing input')} (--allow-missing accepts this)")
    if blocked and not options.allow_blocked_drivers:
        remedy = "--enable-autoexec runs the scripts of a file that you trust"
        accepted = "--allow-blocked-drivers accepts the drivers as they are"
        problems.append(f"blocked drivers in {pluralized(blocked, 'data-block')} ({remedy}, {accepted})")
    if problems:
        raise UsageError(f"results would be wrong because of {' and '.join(problems)}")


def write_result(
    result: Result,
    known: Collection[formats.InputWarning],
    options: argparse.Namespace,
    out: TextIO,
    progress: ProgressLine | None,
    baseline: dict[str, Any] | None = None,
) -> formats.Comparison | None:
    """Write the document of a result to the output file, if there is one, and the table to `out`.

    known : Warnings of the result that are printed already.
    baseline : Earlier document to compare the contacts with.
    Returns comparison : Comparison or None. None without a baseline.
    Raises UsageError: if the contacts cannot be compared with those of the baseline, and as `report_inputs`.
    """
    report_inputs([entry for entry in result.warnings if entry not in known], options)
    document = result.document(options.convention, options.decimals)
    skipped = document["skipped"]
    if not document["objects"]:
        print_warning(f"no objects with bounds{f', {len(skipped)} skipped' if skipped else ''}")
    elif options.command == "contacts" and not result.has_pairs:
        print_warning("only one object was checked, so there are no pairs that can touch")
    comparison = None if baseline is None else _compare(document, baseline, options.baseline)
    more = [f"\n{len(skipped)} skipped\n"] if skipped else []
    more += (f"  {single_line(each['name'])}: {single_line(each['reason'])}\n" for each in skipped)
    if baseline is not None and comparison is not None:
        names = {entry["id"]: entry["name"] for each in (baseline, document) for entry in each["objects"]}
        more += ["\n", comparison_text(comparison, names)]
    table: Iterable[str]
    if options.command == "bounds":
        chosen = formats.ExportOptions("bounds", options.gltf, options.free_joints)
        table = formats.bounds_table(document, result.linear_only)
    else:
        chosen, table = formats.ExportOptions(table="contacts"), [result.contacts_table(document)]
    text = () if options.output is None else formats.file_text(document, options.format, chosen)
    part_count = len(document["objects"]) + len(document["tracks"])
    write_output(text, itertools.chain(table, more), options, out, progress, part_count)
    return comparison


def write_output(
    text: Iterable[str],
    table: Iterable[str],
    options: argparse.Namespace,
    out: TextIO,
    progress: ProgressLine | None = None,
    part_count: int = 1,
) -> None:
    """Write a text to the output file, if there is one, and a table to `out`.

    If the output is standard output, only the text is written there.

    part_count : About how many parts the text and the table have.
    """
    with contextlib.ExitStack() as output_file:
        if progress is not None:
            output_file.callback(progress.clear)
        if options.output == "-":
            table = text
        elif options.output is not None:
            if progress is not None:
                text = progress.shown(text, part_count, 1.0 if options.quiet else 0.5, None)
            output_file.enter_context(formats.replaced_after(Path(options.output), text))
            table = itertools.chain(table, [f"\nWritten: {single_line(options.output)}\n"])
        if options.output == "-" or not options.quiet:
            out.writelines(table if progress is None else progress.shown(table, part_count, 1.0, out))
        # The file is unchanged if standard output is full, or after Ctrl-C.
        process.finish_output(out)
        process.ignore_late_signals()


def _compare(document: dict[str, Any], baseline: Mapping[str, Any], path: Path) -> formats.Comparison:
    """Compare a document with a baseline, add the result to the document, and warn of an unfit baseline."""
    name = single_line(str(path))
    try:
        comparison = formats.compare_contacts(document, baseline)
    except formats.DocumentError as error:
        raise UsageError(f"--baseline {name}: {error}") from None
    # The objects of another file or scene can have other names.
    scanned, earlier = (
        "scene {scene!r} of {file}".format(scene=source["scene"], file=source["file"] or "an unsaved file")
        for source in (document["source"], baseline["source"])
    )
    if scanned != earlier:
        print_warning(f"--baseline {name}: is of {earlier}, and this scan of {scanned}")
    # Documents do not say whether they are of bounds, or of a scan without contacts.
    if comparison.new and not baseline["contacts"] and not baseline["clearances"]:
        print_warning(
            f"--baseline {name}: has no contacts and no near misses, so all contacts are new; if it was "
            "written by bounds, write it with contacts"
        )
    document["extras"]["baseline"] = comparison.as_json()
    return comparison


def comparison_text(comparison: formats.Comparison, names: Mapping[str, str]) -> str:
    """Return a comparison as lines of text; `names` are those of ids, of both documents."""
    count = comparison.unchanged + len(comparison.new) + comparison.accepted
    lines = [f"Compared with the baseline: {pluralized(count, 'contact')}, {comparison.counts_text()}"]
    for label, intervals in (("New", comparison.new), ("Gone", comparison.gone)):
        for entry in intervals:
            pair = " and ".join(single_line(names[side]) for side in (entry.a, entry.b))
            lines.append(f"  {label}: {pair}, frames {entry.start:.4f} to {entry.end:.4f}")
    return "\n".join(lines) + "\n"


def compute_bounds_command(options: argparse.Namespace, out: TextIO) -> int:
    scene, warnings, frame = _open_scene(options)
    from ..scene.jobs.bounds import BOUNDS_SHARE, bounds_in_parts

    settings = _settings(BoundsSettings(), scene, options, frame=frame)
    line = None if options.quiet or not sys.stderr.isatty() else ProgressLine(sys.stderr)
    result = run_job(bounds_in_parts(scene, settings), line)
    if line is not None:
        line.written = 0.0 if settings.envelope or settings.tracks else BOUNDS_SHARE
    write_result(result, warnings, options, out, line)
    return DONE


def find_contacts_command(options: argparse.Namespace, out: TextIO) -> int:
    baseline = None if options.baseline is None else _load_baseline(options)
    scene, warnings, _ = _open_scene(options)
    from ..scene.jobs.contacts import find_contacts, scan_frame_share
    from ..scene.jobs.scan_shares import has_sections, refusal_of

    settings = _settings(ContactSettings(), scene, options)
    shares: list[ScanShare] = []
    share, count = options.frame_share, options.join_shares
    can_be_shared = share is not None
    if share is None and count is not None:
        shares = _read_shares(options, count)
        _print_refusal(*(each.refusal for each in shares))
    elif count is not None or options.share_exit_code is not None:
        can_be_shared = has_sections(scene, settings)
        if can_be_shared and (refusal := refusal_of(scene)):
            _print_refusal(refusal)
            can_be_shared = False
    job: Generator[Progress, None, Result | None] | None = None
    if can_be_shared and share is not None:
        job = scan_frame_share(scene, settings, share, partial(_exchange_shares, options))
    elif not can_be_shared and (share is None or not share[0]):
        # The first of the shares is the whole scan.
        job = find_contacts(scene, settings, shares=shares)
    line = None if options.quiet or not sys.stderr.isatty() else ProgressLine(sys.stderr)
    result = None if job is None else run_job(job, line)
    if result is None:
        return DONE if options.share_exit_code is None else int(options.share_exit_code)
    comparison = write_result(result, warnings, options, out, line, baseline)
    if not (comparison.new if options.fail_on_new else result.has_contacts):
        return DONE
    if options.contact_exit_code is not None:
        return int(options.contact_exit_code)
    return CONTACTS_FOUND if options.fail_on_new or options.fail_on_contact else DONE


def _exchange_shares(options: argparse.Namespace, share: ScanShare) -> list[ScanShare]:
    """Write a share, and return all shares; an empty list if others are missing, or of another scan."""
    from ..scene.jobs.scan_shares import share_as_text

    formats.write_text(_share_path(options, share.number, share.share_count), share_as_text(share))
    if options.join_shares is None:
        _print_refusal(share.refusal)
        return []
    try:
        shares = _read_shares(options, share.share_count)
    except UsageError:
        return []
    for number, other in enumerate(shares):
        if (other.number, other.share_count, other.identity) != (number, len(shares), share.identity):
            return []
    _print_refusal(*(each.refusal for each in shares))
    return shares


def _read_shares(options: argparse.Namespace, count: int) -> list[ScanShare]:
    """Read the files of all shares. Raises UsageError for one that is missing or damaged."""
    from ..scene.jobs.scan_shares import share_from_text

    shares = []
    for number in range(count):
        path = _share_path(options, number, count)
        name = single_line(str(path))
        try:
            shares.append(share_from_text(path.read_text("utf-8")))
        except FileNotFoundError:
            remedy = f"write it with --frame-share {number + 1}/{count}"
            raise UsageError(f"{name}: does not exist; {remedy}") from None
        except (OSError, UnicodeDecodeError, CollisionBoundsError) as error:
            raise UsageError(f"{name}: cannot be joined ({error})") from None
    return shares


def _share_path(options: argparse.Namespace, number: int, count: int) -> Path:
    """Return the file of a share, by its number from 0."""
    return Path(f"{options.output}.{number + 1}-of-{count}")


def _print_refusal(*refusals: str) -> None:
    """Print the first reason that is not empty, if there is one, why a scan was not divided."""
    if refusal := next(filter(None, refusals), ""):
        print(f"{PROGRAM}: not split: {single_line(refusal)}", file=sys.stderr)


def check_colliders_command(options: argparse.Namespace, out: TextIO) -> int:
    scene, _, frame = _open_scene(options)
    from ..scene.blender.animated import Simulations
    from ..scene.blender.frames import advance_to
    from ..scene.blender.instances import name_of
    from ..scene.colliders.check import check_colliders

    if frame is not None:
        advance_to(scene, frame, Simulations.of(scene), None)
    check = check_colliders(scene, _settings(ColliderCheckSettings(), scene, options))
    document = check.document(name_of(scene))
    text, table = [formats.dumps(document)], [collider_check_table(document)]
    write_output(text, table, options, out)
    return PROBLEMS_FOUND if document["problems"] else DONE


def _load_baseline(options: argparse.Namespace) -> dict[str, Any]:
    name = single_line(str(options.baseline))
    if _is_output(options.baseline, options):
        raise UsageError(f"--baseline {name}: is the output file too, which would replace it")
    try:
        baseline: dict[str, Any] = formats.load_document(options.baseline)
    except formats.DocumentError as error:
        raise UsageError(f"--baseline {name}: {error}") from None
    # Only bounds have these. Bounds without them look like a scan without contacts.
    if baseline["tracks"] or "vertexGroup" in baseline["extras"]:
        raise UsageError(f"--baseline {name}: is a document of bounds; write it with contacts")
    return baseline


def validate_command(options: argparse.Namespace, out: TextIO) -> int:
    name = single_line(str(options.file))
    try:
        document = formats.load_document(options.file, options.max_size)
    except formats.DocumentSizeError as error:
        raise UsageError(f"{name}: {error}; raise the limit with --max-size") from None
    except formats.DocumentError as error:
        raise UsageError(f"{name}: {error}") from None
    if not options.quiet:
        objects = pluralized(len(document["objects"]), "object")
        contacts = pluralized(len(document["contacts"]), "contact")
        warnings = len(document.get("warnings", ()))
        more = f", {pluralized(warnings, 'warning')}" if warnings else ""
        print(f"{name}: valid ({objects}, {contacts}{more})", file=out)
    return DONE


def _open_scene(options: argparse.Namespace) -> tuple[Any, tuple[formats.InputWarning, ...], float | None]:
    """Check that the output can be written, open the file if there is one to open, and check its inputs.

    What Blender simulated in one step, when it opened the file at a later frame than the start, is forgotten.

    Returns the scene, the warnings about it, which are printed already, and the frame to evaluate, by default
    that of the file; None to take a scene without such simulations as it is.
    """
    if options.output not in (None, "-"):
        formats.require_writable(Path(options.output))
    if "bpy" not in sys.modules:
        process.create_session_folder_parent()
    try:
        import bpy
    except ImportError as error:
        reason = "is not installed in this Python" if error.name == "bpy" else f"cannot be imported ({error})"
        raise UsageError(
            f"the module bpy {reason}: install it with {sys.executable} -m pip install bpy, or run the "
            "script in Blender (blender -b --python-exit-code 3 --python SCRIPT -- COMMAND SCENE)"
        ) from None
    from ..scene.blender import object_properties
    from ..scene.blender.parts import known_rows

    object_properties.attach()
    known_rows.attach()
    if _is_output(options.file if "file" in options else bpy.data.filepath, options):
        raise UsageError(f"{options.output}: is the scene file itself; choose another name")
    if "file" in options:
        for problem in open_file.open_scene(options.file, options.enable_autoexec):
            print_warning(problem)
    elif not bpy.data.filepath:
        # Blender continues with its start-up scene if it cannot open a file: that is not the requested scene.
        # Name the last scene file on Blender's own command line.
        before = itertools.takewhile(lambda word: word not in {"-c", "--command", "--"}, sys.argv[1:])
        names = [word for word in before if not word.startswith("-")]
        scenes = [name for name in names if open_file.has_scene_suffix(Path(name))]
        reason = open_file.unreadable_reason(Path(scenes[-1])) if scenes else ""
        name = scenes[-1] if scenes else "SCENE.blend"
        raise UsageError(f"{name}: {reason or 'Blender has no scene file open'}")
    if options.scene is not None:
        open_file.activate_scene(options.scene)
    from ..scene.blender.animated import Simulations
    from ..scene.blender.frames import playhead
    from ..scene.blender.missing_inputs import input_warnings

    warnings = input_warnings(bpy.context.evaluated_depsgraph_get())
    report_inputs(warnings, options)
    scene, frame = bpy.context.scene, getattr(options, "frame", None)
    simulations = Simulations.of(scene)
    if simulations.first_frame is not None:
        frame = playhead(scene) if frame is None else frame
        simulations.restart(scene)
    return scene, warnings, frame


def _is_output(opened: str | Path, options: argparse.Namespace) -> bool:
    """Return whether the output would replace a file that is opened, also through links."""
    try:
        return options.output not in (None, "-") and Path(options.output).samefile(opened)
    except OSError:  # one of them does not exist
        return False


def _settings(settings: _Settings, scene: Any, options: argparse.Namespace, **more: Any) -> _Settings:
    """Return settings with the options; in --objects, the objects below an armature or empty stand for it."""
    from ..scene.subjects.selection import patterns_with_objects_below

    if options.objects:
        more["objects"] = patterns_with_objects_below(scene, options.objects)
    return with_options(settings, options.given | more)


COMMANDS: dict[str, Callable[[argparse.Namespace, TextIO], int]] = {
    "bounds": compute_bounds_command,
    "contacts": find_contacts_command,
    "check-colliders": check_colliders_command,
    "validate": validate_command,
}


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
            if prints and isinstance(out, process.StandardOutput):
                out.require_writable()
            exit_code = COMMANDS[options.command](options, out)
        process.finish_output(out)
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

    The arguments are those of `main`. Standard output is discarded afterwards, because Blender prints to it
    when it ends.
    """
    process.prepare_process(formats.remove_unfinished_files)
    out = process.open_standard_output()
    with contextlib.redirect_stderr(process.ErrorStream(sys.stderr)):
        exit_code = main(arguments, opens_file=opens_file, out=out)
    with contextlib.suppress(formats.OutputError, OSError):  # a command that failed may have printed a part
        out.close()
    process.ignore_late_signals()
    return exit_code
