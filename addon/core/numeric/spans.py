"""Spans on many lines: their unions, which spans these cover, positions between cuts, and runs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .arrays import Bools, Floats, Ints, Table


class Spans(Table):
    """Closed spans (m,), each on the line with its number; `end` is not before `start`."""

    line: Ints
    start: Floats
    end: Floats

    def union(self) -> Spans:
        """Join spans that overlap or touch. In order of lines, and of starts on each."""
        order, begins, latest = span_runs(self.line, self.start, self.end)
        firsts, is_last = order[begins], np.append(begins, True)[1:]
        return Spans(self.line[firsts], self.start[firsts], latest[is_last])

    def cover(self, spans: Spans) -> Bools:
        """Mask (k,) of other spans (k,) that lie within one of these, which `union` has put in order."""
        if not len(self.line):
            return np.zeros(len(spans.line), dtype=bool)
        before_starts = CutLines(self.line, np.nextafter(self.start, -np.inf))
        found = before_starts.pieces(spans.line, spans.start) - 1
        last = np.maximum(found, 0)
        is_on_line = (found >= 0) & (self.line[last] == spans.line)
        return np.asarray(is_on_line & (spans.end <= self.end[last]))


def span_runs(line: Ints, start: Floats, end: Floats) -> tuple[Ints, Bools, Floats]:
    """Find the runs of spans (m,) that overlap or share an end.

    Returns order : (m,) int. Spans by line and start; of those that start together, instants come first.
    Returns begins : (m,) bool. Which of the spans in that order begin a run.
    Returns latest : (m,) float. Latest end so far of the spans of the line in that order.
    """
    order = np.lexsort((end > start, start, line))
    line, start, end = line[order], start[order], end[order]
    # Running maximum of the ends, as ranks by line, then end: so none carries over to the next line.
    by_end = np.lexsort((end, line))
    ranks = np.empty(len(line), dtype=np.int64)
    ranks[by_end] = np.arange(len(line))
    latest = end[by_end[np.maximum.accumulate(ranks)]] if len(line) else end
    begins = np.ones(len(line), dtype=bool)
    begins[1:] = (line[1:] != line[:-1]) | (start[1:] > latest[:-1])
    return order, begins, latest


def is_run_start(values: Ints) -> Bools:
    """Mask (m,) of sorted values that differ from the one before."""
    starts = np.ones(len(values), dtype=bool)
    starts[1:] = values[1:] != values[:-1]
    return starts


@dataclass
class CutLines:
    """Lines with numbers, which are cut at positions: to find out what is between the same cuts.

    line, position : (k,) of all cuts, in order; just after the position.
    """

    line: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    position: Floats = field(default_factory=lambda: np.empty(0))

    def cut(self, lines: Ints, positions: Floats, is_before: bool = False) -> None:
        """Cut lines (m,) just after positions (m,), or just before them."""
        if is_before:
            positions = np.nextafter(positions, -np.inf)
        line, position = np.append(self.line, lines), np.append(self.position, positions)
        order = np.lexsort((position, line))
        self.line, self.position = line[order], position[order]

    def pieces(self, lines: Ints, positions: Floats) -> Ints:
        """Count the cuts before positions (m,) of lines (m,), on lines before too: equal within a piece.

        Positions on different lines may have equal numbers.
        """
        # Search the line and the position together: by their ranks among all.
        every, ranks = np.unique(np.concatenate([self.position, positions]), return_inverse=True)
        keys = np.concatenate([self.line, lines]) * len(every) + ranks
        return np.asarray(np.searchsorted(keys[: len(self.line)], keys[len(self.line) :]))
