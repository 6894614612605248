"""Progress of a run: a bar with rate and time left on a terminal, a line for each file in a log."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping

from tqdm import tqdm

from addon.formats.wording import pluralized, single_line

from .tasks import CONTACTS, DONE, FAILED, Outcome

_LABELS = {DONE: "done", CONTACTS: "with contacts", FAILED: "failed"}
"""States as they are shown."""


class Progress:
    """Progress on standard error."""

    def __init__(self, total: int, is_quiet: bool) -> None:
        """Show only files that failed, and the numbers at the end, if `is_quiet`."""
        self._total, self._count, self._is_quiet = total, 0, is_quiet
        self._bar = tqdm(total=total, unit="file", disable=is_quiet or not sys.stderr.isatty())

    def show(self, outcome: Outcome) -> None:
        """Show that a file is done."""
        self._count += 1
        if self._is_quiet:
            if outcome.state == FAILED:
                print(_line(outcome), file=sys.stderr, flush=True)
            return
        if self._bar.disable:
            print(f"[{self._count}/{self._total}] {_line(outcome)}", file=sys.stderr, flush=True)
            return
        if outcome.state == FAILED:
            self._bar.write(_line(outcome), file=sys.stderr)
        self._bar.update()

    def end(self, counts: Mapping[str, int], remarks: Iterable[str]) -> None:
        """Show the remarks, and the numbers of all files by state."""
        self._bar.close()
        for remark in remarks:
            print(f"batch: {single_line(remark)}", file=sys.stderr)
        states = ", ".join(f"{counts[state]} {label}" for state, label in _LABELS.items() if counts[state])
        reused = f"; {counts['reused']} of them unchanged since an earlier run" if counts["reused"] else ""
        print(f"{pluralized(counts['files'], 'file')}: {states or 'none'}{reused}", file=sys.stderr)

    def close(self) -> None:
        """Leave the line of the bar."""
        self._bar.close()


@contextlib.contextmanager
def show_progress(total: int, is_quiet: bool) -> Iterator[Progress]:
    """Show progress until the end of the block."""
    with contextlib.closing(Progress(total, is_quiet)) as progress:
        yield progress


def _line(outcome: Outcome) -> str:
    counts = [
        pluralized(outcome.counts[key], word)
        for key, word in (("objects", "object"), ("contacts", "contact"), ("warnings", "warning"))
        if outcome.counts.get(key)
    ]
    # Only documents are counted.
    if not counts and outcome.counts:
        counts = ["no objects"]
    if outcome.lacks_baseline:
        counts.append("no earlier result")
    how = "unchanged" if outcome.is_reused else f"{outcome.seconds:.1f} s"
    text = outcome.reason if outcome.state == FAILED else ", ".join(counts)
    line = f"{outcome.name}: {_LABELS[outcome.state]} ({how})"
    return single_line(f"{line}: {text}" if text else line)
