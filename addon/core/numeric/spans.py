"""Spans on many lines: their unions, which spans these cover, and positions between cuts."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .arrays import Bools, Floats, Ints
from .table import Table


class Spans(Table):
    """Closed spans (m,) from `start` to `end`, each on the line with its number.

    line : (m,) int64
    start, end : (m,) float64. `end` is not before `start`.
    """

    line: Ints
    start: Floats
    end: Floats

    def union(self) -> Spans:
        """Join spans that overlap or touch. In order of lines, and of starts on each."""
        order, begins, latest = span_runs(self.line, self.start, self.end)
        firsts = np.flatnonzero(begins)
        lasts = np.append(firsts[1:], len(order)) - 1 if len(firsts) else firsts
        return Spans(self.line[order[firsts]], self.start[order[firsts]], latest[lasts])

    def cover(self, spans: Spans) -> Bools:
        """Mask (k,) of other spans (k,) that lie within one of these, which `union` has put in order."""
        if not len(self.line):
            return np.zeros(len(spans.line), dtype=bool)
        # Search the line and the start together: by their ranks among all.
        starts, ranks = np.unique(np.concatenate([self.start, spans.start]), return_inverse=True)
        line = np.concatenate([self.line, spans.line])
        key = line * len(starts) + ranks
        count = len(self.line)
        found = np.searchsorted(key[:count], key[count:], side="right") - 1
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


class CutLines:
    """Lines with numbers, which are cut at positions: to find out what is between the same cuts."""

    def __init__(self) -> None:
        """Start without cuts."""
        none = np.empty(0, dtype=np.int64), np.empty(0)
        self._before, self._after = none, none

    def cut_before(self, lines: Ints, positions: Floats) -> None:
        """Cut lines (m,) just before positions (m,)."""
        self._before = _appended(self._before, lines, positions)

    def cut_after(self, lines: Ints, positions: Floats) -> None:
        """Cut lines (m,) just after positions (m,)."""
        self._after = _appended(self._after, lines, positions)

    def pieces(self, lines: Ints, positions: Floats) -> Ints:
        """Numbers (m,) of the pieces in which positions (m,) of lines (m,) are: equal within a piece.

        Positions on different lines may have equal numbers.
        """
        return _count_below(self._before, lines, positions, "right") + _count_below(
            self._after, lines, positions, "left"
        )


def _appended(cuts: tuple[Ints, Floats], lines: Ints, positions: Floats) -> tuple[Ints, Floats]:
    """Cuts with further ones, in order of lines, and of positions on each."""
    lines, positions = np.concatenate([cuts[0], lines]), np.concatenate([cuts[1], positions])
    order = np.lexsort((positions, lines))
    return lines[order], positions[order]


def _count_below(
    cuts: tuple[Ints, Floats], lines: Ints, positions: Floats, side: Literal["left", "right"]
) -> Ints:
    """Numbers (m,) of cuts on earlier lines, and on the same one below positions (m,), or at them."""
    if not len(cuts[0]):
        return np.zeros(len(lines), dtype=np.int64)
    # Search the line and the position together: by their ranks among all.
    every, ranks = np.unique(np.concatenate([cuts[1], positions]), return_inverse=True)
    keys = np.concatenate([cuts[0], lines]) * len(every) + ranks
    count = len(cuts[0])
    return np.asarray(np.searchsorted(keys[:count], keys[count:], side=side))
