"""Runs a job with its progress in a line of a terminal, and writes the file, the table and warnings.

A job runs to its end, or until Ctrl-C or SIGTERM. Texts are written in parts, because a scene can have a
million objects.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from ..core import Progress
from ..formats import (
    Comparison,
    DocumentError,
    ExportOptions,
    InputWarning,
    compare_contacts,
    file_text,
    replaced_after,
)
from ..formats.document.model import MISSING_INPUTS
from ..formats.wording import format_duration, pluralized, single_line
from . import PROGRAM
from .parser import UsageError
from .process import finish_output, ignore_late_signals, recorded_signals

if TYPE_CHECKING:
    from ..scene.jobs.result import Result

_INTERVAL = 0.1
"""Seconds between updates: a terminal may be slower than a scan."""

_ESTIMATES_AFTER = 1.0
"""Seconds until the time left is a useful estimate."""

_PARTS_AT_ONCE = 64
"""Parts of a text between updates."""

_Result = TypeVar("_Result")


class ProgressLine:
    """Percentage, frame or phase, and time left, in one line that is rewritten in place.

    written : What is done when the text of a result is written, from 0 to 1.
    """

    def __init__(self, stream: TextIO | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Start at the current time of `clock`, which returns seconds; without a stream nothing is shown."""
        self._stream = stream
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
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Clear the line."""
        if self._stream is not None and self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
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


def run_job(job: Generator[Progress, None, _Result], line: ProgressLine) -> _Result:
    """Run a job to its end and return its result; its progress goes to `line`.

    Raises KeyboardInterrupt after Ctrl-C or SIGTERM, once the part of the job that is running has ended.
    """
    from ..scene.blender.private_scene import keeping_open

    place = ""
    results: list[_Result] = []
    with contextlib.ExitStack() as stack:
        # No window shows the file before the job has ended, so private scenes stay for all steps.
        stack.enter_context(keeping_open())
        stack.callback(line.clear)
        stack.callback(job.close)
        signals = stack.enter_context(recorded_signals())
        try:
            while not signals:
                progress = next(job)
                phase = "" if progress.phase in ("frames", "meshes") else progress.phase
                place = f" while {phase}" if phase else f" at frame {progress.time:g}"
                if not signals:
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
    """Print a warning to standard error."""
    if sys.stderr is not None:
        print(f"{PROGRAM}: {single_line(f'warning: {text}')}", file=sys.stderr)


def report_inputs(warnings: Sequence[InputWarning], options: argparse.Namespace) -> None:
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
    options: argparse.Namespace,
    out: TextIO,
    table: Callable[[dict[str, Any]], Iterable[str]],
    progress: ProgressLine,
    baseline: dict[str, Any] | None = None,
) -> Comparison | None:
    """Write the document of a result to the output file, if there is one, and the table to `out`.

    table : Converts the document to the parts of a table.
    baseline : Earlier document to compare the contacts with.
    Returns comparison : Comparison or None. None without a baseline.
    Raises UsageError: if the contacts cannot be compared with those of the baseline.
    """
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
    text: Iterable[str] = ()
    if options.output is not None:
        chosen = ExportOptions(table="contacts")
        if options.command == "bounds":
            chosen = ExportOptions("bounds", options.gltf, options.free_joints)
        text = file_text(document, options.format, chosen)
    part_count = len(document["objects"]) + len(document["tracks"])
    write_output(text, itertools.chain(table(document), more), options, out, progress, part_count)
    return comparison


def write_output(
    text: Iterable[str],
    table: Iterable[str],
    options: argparse.Namespace,
    out: TextIO,
    progress: ProgressLine,
    part_count: int = 1,
) -> None:
    """Write a text to the output file, if there is one, and a table to `out`.

    If the output is standard output, only the text is written there.

    part_count : About how many parts the text and the table have.
    """
    with contextlib.ExitStack() as output_file:
        output_file.callback(progress.clear)
        if options.output == "-":
            table = text
        elif options.output is not None:
            text = progress.shown(text, part_count, 1.0 if options.quiet else 0.5, None)
            output_file.enter_context(replaced_after(Path(options.output), text))
            table = itertools.chain(table, [f"\nWritten: {single_line(options.output)}\n"])
        if options.output == "-" or not options.quiet:
            out.writelines(progress.shown(table, part_count, 1.0, out))
        # The file is unchanged if standard output is full, or after Ctrl-C.
        finish_output(out)
        ignore_late_signals()


def _compare(document: dict[str, Any], baseline: Mapping[str, Any], path: Path) -> Comparison:
    """Compare a document with a baseline, add the result to the document, and warn of an unfit baseline."""
    name = single_line(str(path))
    try:
        comparison = compare_contacts(document, baseline)
    except DocumentError as error:
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


def comparison_text(comparison: Comparison, names: Mapping[str, str]) -> str:
    """Return a comparison as lines of text; `names` are those of ids, of both documents."""
    count = comparison.unchanged + len(comparison.new) + comparison.accepted
    lines = [f"Compared with the baseline: {pluralized(count, 'contact')}, {comparison.counts_text()}"]
    for label, intervals in (("New", comparison.new), ("Gone", comparison.gone)):
        for entry in intervals:
            pair = " and ".join(single_line(names[side]) for side in (entry.a, entry.b))
            lines.append(f"  {label}: {pair}, frames {entry.start:.4f} to {entry.end:.4f}")
    return "\n".join(lines) + "\n"
