"""Writes the result of a command: the file and the table, in parts, because it can have a million objects."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..formats import (
    Comparison,
    DocumentError,
    ExportOptions,
    compare_contacts,
    dumps,
    file_text,
    replaced_after,
)
from ..formats.wording import pluralized, single_line
from .errors import UsageError
from .input_checks import report_baseline_without_scan, report_nothing_to_test, report_other_source
from .progress_line import ProgressLine
from .standard_streams import finish_output
from .stop_signals import ignore_late_signals

if TYPE_CHECKING:
    from ..scene.jobs.result import Result


class WritingProgress:
    """Progress of writing, in the line that a job has used before."""

    def __init__(self, line: ProgressLine | None, done_before: float = 0.0) -> None:
        """Continue the progress at `done_before`, from 0 to 1."""
        self._line, self._done = line, done_before

    def shown(
        self, parts: Iterable[str], part_count: int, share: float, terminal: TextIO | None
    ) -> Iterator[str]:
        """Yield the parts of a text, and show the progress before every few.

        part_count : about how many parts there are
        share : of the progress that remains
        terminal : stream of the text; if it is a terminal, the first part that is not empty ends the progress
        """
        start, width = self._done, (1 - self._done) * share
        ends_line = terminal is not None and terminal.isatty()
        for count, part in enumerate(parts):
            if part and ends_line:
                self.end()
            if self._line and not count % _PARTS_AT_ONCE:
                done = start + width * min(count / max(part_count, 1), 1.0)
                self._line.show(round(1000 * done), 1000, 0.0, phase="writing")
            yield part
        self._done = start + width

    def end(self) -> None:
        """Clear the line of progress, and do not show it again."""
        if self._line:
            self._line.clear()
        self._line = None


_PARTS_AT_ONCE = 64


def write_result(
    result: Result,
    options: argparse.Namespace,
    out: TextIO,
    table: Callable[[dict[str, Any]], Iterable[str]],
    progress: WritingProgress,
    baseline: dict[str, Any] | None = None,
) -> Comparison | None:
    """Write the document to the output file, if there is one, and the table to `out`.

    result : The result of the command.
    options : Options of the command.
    out : Stream for tables and documents.
    table : Converts the document to the parts of a table.
    progress : Progress of the command so far.
    baseline : Earlier document to compare the contacts with.
    Returns comparison : Comparison or None. None without a baseline.
    Raises UsageError: if the contacts cannot be compared with those of the baseline.
    """
    document = _document(result, options)
    comparison = None if baseline is None else _compare(document, baseline, options.baseline)
    part_count = len(document["objects"]) + len(document["tracks"])
    with contextlib.ExitStack() as output_file:
        output_file.callback(progress.end)
        if options.output is not None:
            text = file_text(document, options.format, _export_options(options))
            if options.output == "-":
                out.writelines(progress.shown(text, part_count, 1.0, out))
                return comparison
            share = 1.0 if options.quiet else 0.5
            text = progress.shown(text, part_count, share, None)
            output_file.enter_context(replaced_after(Path(options.output), text))
        if not options.quiet:
            more = ""
            if comparison is not None and baseline is not None:
                more = "\n" + comparison_text(comparison, _names(baseline, document))
            lines = _printed_lines(document, options, table, more)
            out.writelines(progress.shown(lines, part_count, 1.0, out))
        # The file is unchanged if standard output is full, or after Ctrl-C.
        finish_output(out)
        ignore_late_signals()
    return comparison


def _document(result: Result, options: argparse.Namespace) -> dict[str, Any]:
    document = result.document(options.convention, options.decimals)
    report_nothing_to_test(document, options.command != "contacts" or result.has_pairs)
    return document


def _compare(document: dict[str, Any], baseline: dict[str, Any], path: Path) -> Comparison:
    """Compare a document with a baseline, and add the result to the document."""
    name = single_line(str(path))
    try:
        comparison = compare_contacts(document, baseline)
    except DocumentError as error:
        raise UsageError(f"--baseline {name}: {error}") from None
    report_other_source(document, baseline, name)
    if comparison.new:
        report_baseline_without_scan(baseline, name)
    document["extras"]["baseline"] = comparison.as_json()
    return comparison


def comparison_text(comparison: Comparison, names: dict[str, str]) -> str:
    """Return a comparison as lines of text; `names` are those of ids, of both documents."""
    count = comparison.unchanged + len(comparison.new) + comparison.accepted
    lines = [f"Compared with the baseline: {pluralized(count, 'contact')}, {comparison.counts_text()}"]
    for label, intervals in (("New", comparison.new), ("Gone", comparison.gone)):
        for entry in intervals:
            pair = " and ".join(single_line(names[side]) for side in (entry.a, entry.b))
            lines.append(f"  {label}: {pair}, frames {entry.start:.4f} to {entry.end:.4f}")
    return "\n".join(lines) + "\n"


def _names(*documents: dict[str, Any]) -> dict[str, str]:
    """Return the names of all objects of documents, by their ids; the last document counts."""
    return {entry["id"]: entry["name"] for document in documents for entry in document["objects"]}


def _export_options(options: argparse.Namespace) -> ExportOptions:
    if options.command == "contacts":
        return ExportOptions(table="contacts")
    return ExportOptions("bounds", options.gltf, options.free_joints)


def _printed_lines(
    document: dict[str, Any],
    options: argparse.Namespace,
    table: Callable[[dict[str, Any]], Iterable[str]],
    comparison: str,
) -> Iterator[str]:
    """Yield the table, the objects that were skipped, the comparison if not empty, and the file's name."""
    yield from table(document)
    if document["skipped"]:
        yield f"\n{len(document['skipped'])} skipped\n"
    for entry in document["skipped"]:
        yield f"  {single_line(entry['name'])}: {single_line(entry['reason'])}\n"
    if comparison:
        yield comparison
    if options.output is not None:
        yield f"\nWritten: {single_line(options.output)}\n"


def write_report(document: Mapping[str, Any], options: argparse.Namespace, out: TextIO, table: str) -> None:
    """Write a report to the output file, if there is one, and its table to `out`.

    If the output is standard output, only the document is written there.
    """
    text = dumps(document)
    with contextlib.ExitStack() as output_file:
        if options.output == "-":
            out.write(text)
        elif options.output is not None:
            output_file.enter_context(replaced_after(Path(options.output), text))
        if options.output != "-" and not options.quiet:
            out.write(table)
            if options.output is not None:
                out.write(f"\nWritten: {single_line(options.output)}\n")
        # The file is unchanged if standard output is full, or after Ctrl-C.
        finish_output(out)
        ignore_late_signals()
