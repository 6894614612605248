"""Tables of timings: their rows and columns, how they are measured, and their text in Markdown."""

from __future__ import annotations

import gc
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any

THIS_PROJECT = "Collision Bounds"
"""Name of the competitor that is this project's code."""

ROUNDS = 15
SECONDS_EACH = 1.5
"""Time budget of one competitor on one row. After that, its remaining rounds are skipped."""
SHORTEST = 0.002
"""Minimum seconds between two readings of the clock. Shorter calls are repeated in between."""
LONGEST = 20.0
"""Maximum expected seconds of one call, estimated from the row before. Longer calls are skipped."""

Call = Callable[[], Any]


@dataclass(frozen=True)
class Competitor:
    """One implementation of the work of a row, shown as a column.

    `prepare` takes the row's input and returns the call to time. If it raises ImportError, the competitor is
    reported as missing. `per` is the number of tests of that call, if it differs from that of the row.
    """

    name: str
    prepare: Callable[[Any], Call]
    per: int | None = None


@dataclass(frozen=True)
class Target:
    """A goal: `competitor` takes at most `limit` times as long as `reference`.

    Without `reference`, `limit` is in seconds. With `faster`, the goal is reversed: `reference` takes at
    least `limit` times as long as `competitor`. The default competitor is the first column.
    """

    limit: float
    reference: str = ""
    competitor: str = ""
    faster: bool = False

    def value(self, times: Mapping[str, float], first: str) -> float | None:
        """Return the number to compare with `limit`, None if one of both was not measured."""
        competitor = self.competitor or first
        if competitor not in times or (self.reference and self.reference not in times):
            return None
        value = times[competitor] / (times[self.reference] if self.reference else 1.0)
        return 1 / value if self.faster else value

    def excess(self, times: Mapping[str, float], first: str) -> float | None:
        """Return the factor by which the goal was missed: at most 1 if reached, None if not measured."""
        value = self.value(times, first)
        if value is None:
            return None
        return self.limit / value if self.faster else value / self.limit

    def verdict(self, times: Mapping[str, float], first: str) -> str:
        """Return the goal, the measured value and whether it was reached.

        The text is empty if the competitor or the reference was not measured.
        """
        value, excess = self.value(times, first), self.excess(times, first)
        if value is None or excess is None:
            return ""
        goal = f"{'at least' if self.faster else 'at most'} "
        goal += f"{self.limit:g} x {self.reference}" if self.reference else format_duration(self.limit)
        measured = f"{value:.3g}" if self.reference else format_duration(value)
        prefix = f"{self.competitor}: " if self.competitor else ""
        return f"{prefix}{goal}: {measured}, {'reached' if excess <= 1 else '**not reached**'}"


@dataclass(frozen=True)
class Row:
    """One input of a table.

    make : creates the input
    size : the number that the work should be proportional to
    per : number of tests that times are divided by, or a function that computes it from the input
    series : rows of one series differ in size only
    without : competitors that are not measured on this row, with the reason; an empty reason is not printed
    """

    label: str
    make: Callable[[], Any]
    size: int
    per: int | Callable[[Any], int] = 1
    targets: Sequence[Target] = ()
    series: str = ""
    without: Mapping[str, str] = field(default_factory=dict)


def compare_counts(counts: Mapping[str, Any], unit: str) -> str:
    """Return the count that all competitors found, or the counts of each."""
    if len(set(counts.values())) == 1:
        return f"{next(iter(counts.values()))} {unit}"
    return "; ".join(f"{name} {count} {unit}" for name, count in counts.items())


def check_counts(counts: Mapping[str, Any], unit: str) -> str:
    """Describe different counts; the text is empty if all are the same."""
    return f"different numbers of {unit}: {counts}" if len(set(counts.values())) > 1 else ""


class WrongResultError(Exception):
    """The timed result is wrong, so the time has no meaning."""


@dataclass(frozen=True)
class Table:
    """Rows and competitors; the first competitor is this project.

    compare : describes the results of a row, or how they differ; empty if there is nothing to report
    check : describes what is wrong with the results of this project, by an independent computation; empty
        if they are right
    clock : processor time by default, because other processes do not affect it; wall-clock time for work in
        several threads
    seconds_each : time budget of one competitor on one row; after that, its remaining rounds are skipped
    longest : maximum expected seconds of one call; longer calls are skipped
    """

    name: str
    first_column: str
    competitors: Sequence[Competitor]
    rows: Sequence[Row]
    compare: Callable[[Any, Mapping[str, Any]], str] = lambda case, results: ""
    check: Callable[[Any, Mapping[str, Any]], str] = lambda case, results: ""
    clock: Callable[[], float] = process_time
    seconds_each: float = SECONDS_EACH
    longest: float = LONGEST


@dataclass(frozen=True)
class RowTimes:
    """Median times of a row, in seconds per test, and the note that `Table.compare` returned."""

    row: Row
    times: Mapping[str, float]
    note: str


def medians(
    calls: Mapping[str, Call], clock: Callable[[], float] = process_time, seconds_each: float = SECONDS_EACH
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the median seconds of each call, and its result.

    The calls take turns in every round, so that a disturbance of the machine affects all of them.
    """
    results: dict[str, Any] = {}
    repeats: dict[str, int] = {}
    readings: dict[str, list[float]] = {name: [] for name in calls}
    spent = dict.fromkeys(calls, 0.0)
    gc.collect()
    gc.disable()
    try:
        for name, call in calls.items():
            # The first call warms up caches, so it counts only if there is no time for another one.
            start = clock()
            results[name] = call()
            spent[name] = clock() - start
            repeats[name] = max(1, round(SHORTEST / max(spent[name], 1e-7)))
            if spent[name] > seconds_each:
                readings[name].append(spent[name])
        for _ in range(ROUNDS):
            for name, call in calls.items():
                if spent[name] > seconds_each:
                    continue
                start = clock()
                for _ in range(repeats[name]):
                    call()
                elapsed = clock() - start
                spent[name] += elapsed
                readings[name].append(elapsed / repeats[name])
    finally:
        gc.enable()
    return {name: statistics.median(listed) for name, listed in readings.items()}, results


def measure(table: Table) -> tuple[list[RowTimes], dict[str, str]]:
    """Return the times of every row, and the reason for each measurement that was skipped.

    Raises WrongResultError for a row whose results `Table.check` finds wrong.
    """
    skipped: dict[str, str] = {}
    missing: set[str] = set()
    seconds_by_size: dict[str, float] = {}
    measured = []
    for row in table.rows:
        print(f"  {table.name}: {row.label} ...", file=sys.stderr, flush=True)
        case = row.make()
        calls = {}
        for competitor in table.competitors:
            name = competitor.name
            if name in row.without:
                if row.without[name]:
                    skipped[f"{name}, {row.label}"] = row.without[name]
            elif seconds_by_size.get(name, 0.0) * row.size > table.longest:
                skipped[f"{name}, {row.label}"] = f"would take longer than {table.longest:g} s"
            elif name not in missing:
                try:
                    calls[name] = competitor.prepare(case)
                except ImportError as error:
                    missing.add(name)
                    skipped[name] = f"missing: {error}"
        seconds, results = medians(calls, table.clock, table.seconds_each)
        problem = table.check(case, results)
        if problem:
            raise WrongResultError(f"{table.name}: {row.label}: wrong result: {problem}")
        seconds_by_size |= {name: median / row.size for name, median in seconds.items()}
        per = row.per(case) if callable(row.per) else row.per
        tests = {competitor.name: competitor.per or per for competitor in table.competitors}
        times = {name: median / tests[name] for name, median in seconds.items()}
        measured.append(RowTimes(row, times, table.compare(case, results)))
    return measured, skipped


def to_markdown(table: Table, measured: Sequence[RowTimes], skipped: Mapping[str, str]) -> str:
    """Return the table in Markdown, with the ratio to the time of the first competitor in parentheses."""
    names = [competitor.name for competitor in table.competitors]
    has_series = any(m.row.series for m in measured)
    has_notes = any(m.note for m in measured)
    has_targets = any(m.row.targets for m in measured)
    head = [table.first_column, *names, *(["growth"] * has_series), *(["goal"] * has_targets)]
    head += ["results"] * has_notes
    lines = [head, ["---"] + ["---:"] * (len(names) + has_series) + ["---"] * (has_targets + has_notes)]
    first_of_series: dict[str, float] = {}
    for m in measured:
        baseline = m.times.get(names[0])
        cells = [
            m.row.label,
            *(_cell(m.times.get(name), baseline if i else None) for i, name in enumerate(names)),
        ]
        if has_series:
            per_size = baseline / m.row.size if baseline and m.row.series else None
            first = first_of_series.setdefault(m.row.series, per_size) if per_size else None
            cells.append(f"{per_size / first:.2f}" if per_size and first else "")
        if has_targets:
            cells.append("; ".join(filter(None, (t.verdict(m.times, names[0]) for t in m.row.targets))))
        if has_notes:
            cells.append(m.note)
        lines.append(cells)
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"
    if skipped:
        by_reason: dict[str, list[str]] = {}
        for measurement, reason in skipped.items():
            by_reason.setdefault(reason, []).append(measurement)
        sentences = [f"{'; '.join(listed)} ({reason})" for reason, listed in by_reason.items()]
        text += f"\nSkipped: {'. '.join(sentences)}.\n"
    return text


def to_ratios(table: Table, measured: Sequence[RowTimes]) -> str:
    """Return the table in Markdown, with ratios to the time of the first competitor in place of times.

    Of the rows of one series, which differ in size only, the largest with the most peers is included.
    """
    first, *peers = [competitor.name for competitor in table.competitors]
    has_targets = any(m.row.targets for m in measured)
    lines = [[table.first_column, *peers, *(["goal"] * has_targets)]]
    lines.append(["---"] + ["---:"] * len(peers) + ["---"] * has_targets)
    by_size = sorted(measured, key=lambda m: (len(m.times), m.row.size))
    of_series = {m.row.series: m for m in by_size}
    for m in measured:
        if m.row.series and m is not of_series[m.row.series]:
            continue
        cells = [m.row.label, *(_ratio(m.times.get(name), m.times.get(first)) for name in peers)]
        if has_targets:
            excesses = [target.excess(m.times, first) for target in m.row.targets]
            worst = max((each for each in excesses if each is not None), default=None)
            missed = f"missed by {worst:.2f}x" if worst is not None else ""
            cells.append("reached" if worst is not None and worst <= 1 else missed)
        lines.append(cells)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def format_duration(seconds: float) -> str:
    """Format seconds with three digits, in the largest unit that is not longer."""
    units = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))
    unit, size = next((pair for pair in units if seconds >= 0.9995 * pair[1]), units[-1])
    value = seconds / size
    return f"{value:.{max(0, 3 - len(str(int(value))))}f} {unit}"


def _cell(seconds: float | None, baseline: float | None) -> str:
    if seconds is None:
        return "–"
    if baseline is None:
        return format_duration(seconds)
    return f"{format_duration(seconds)} ({_ratio(seconds, baseline)})"


def _ratio(seconds: float | None, baseline: float | None) -> str:
    if seconds is None or baseline is None:
        return "–"
    ratio = seconds / baseline
    return f"{ratio:.{0 if ratio >= 10 else 1 if ratio >= 1 else 2}f}x"
