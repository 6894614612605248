"""What a table of timings is made of, how it is measured, and how it is written."""

from __future__ import annotations

import gc
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any

ROUNDS = 15
SECONDS_EACH = 1.5
"""What one competitor may take on one row, the rest of its rounds being left out."""
SHORTEST = 0.002
"""Seconds that one reading of the clock covers at least: shorter calls are repeated within it."""
LONGEST = 20.0
"""Seconds that one call may be expected to take, going by the row before. Longer ones are not made."""

Call = Callable[[], Any]


@dataclass(frozen=True)
class Competitor:
    """One way of doing the work of a row.

    `prepare` takes the row's input and gives the call to time; when it raises ImportError, the competitor is
    missing. `per` is how many tests that call makes, where it is not as many as the row says.
    """

    name: str
    prepare: Callable[[Any], Call]
    per: int | None = None


@dataclass(frozen=True)
class Target:
    """A wish: `who` takes at most `limit` times what `of` takes, or seconds where `of` is empty.

    The other way round with `faster`: `of` takes at least `limit` times what `who` takes. `who` is the first
    competitor when empty.
    """

    limit: float
    of: str = ""
    who: str = ""
    faster: bool = False

    def told(self, times: Mapping[str, float], first: str) -> str:
        """The wish and what became of it; empty when one of the two was not measured."""
        who = self.who or first
        if who not in times or (self.of and self.of not in times):
            return ""
        value = times[who] / (times[self.of] if self.of else 1.0)
        value = 1 / value if self.faster else value
        reached = value >= self.limit if self.faster else value <= self.limit
        what = f"{'at least' if self.faster else 'at most'} "
        what += f"{self.limit:g} x {self.of}" if self.of else duration(self.limit)
        got = f"{value:.3g}" if self.of else duration(value)
        whose = f"{self.who}: " if self.who else ""
        return f"{whose}{what}: {got}, {'reached' if reached else '**not reached**'}"


@dataclass(frozen=True)
class Row:
    """One input. Times are shown per one of `per`, a number or what makes it of the input.

    `size` is what the work should grow with.

    Rows of one `series` differ in size only. `without` names competitors that do not do this one, and why; an
    empty reason goes without saying.
    """

    label: str
    make: Callable[[], Any]
    size: int
    per: int | Callable[[Any], int] = 1
    targets: Sequence[Target] = ()
    series: str = ""
    without: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Rows and competitors, ours first. `compare` tells how far the answers agree, empty for fully.

    clock : the processor's time, which others on the machine do not disturb; for what is done in several
        threads, that of the wall
    seconds_each : what one competitor may take on one row, the rest of its rounds being left out
    """

    name: str
    first_column: str
    competitors: Sequence[Competitor]
    rows: Sequence[Row]
    compare: Callable[[Any, Mapping[str, Any]], str] = lambda case, answers: ""
    clock: Callable[[], float] = process_time
    seconds_each: float = SECONDS_EACH


@dataclass(frozen=True)
class Measured:
    """The median times of a row, in seconds per one of its tests, and what was noticed."""

    row: Row
    times: Mapping[str, float]
    note: str


def medians(
    calls: Mapping[str, Call], clock: Callable[[], float] = process_time, seconds_each: float = SECONDS_EACH
) -> tuple[dict[str, float], dict[str, Any]]:
    """The median seconds of each call, and the answer of each.

    In every round each call has its turn, so that a disturbance of the machine meets all of them.
    """
    answers: dict[str, Any] = {}
    repeats: dict[str, int] = {}
    readings: dict[str, list[float]] = {name: [] for name in calls}
    spent = dict.fromkeys(calls, 0.0)
    gc.collect()
    gc.disable()
    try:
        for name, call in calls.items():
            # The first call is left out, as it warms up, unless there is no time for another.
            start = clock()
            answers[name] = call()
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
                taken = clock() - start
                spent[name] += taken
                readings[name].append(taken / repeats[name])
    finally:
        gc.enable()
    return {name: statistics.median(listed) for name, listed in readings.items()}, answers


def measure(table: Table) -> tuple[list[Measured], dict[str, str]]:
    """Time every row; also what was left out, and why."""
    left_out: dict[str, str] = {}
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
                    left_out[f"{name}, {row.label}"] = row.without[name]
            elif seconds_by_size.get(name, 0.0) * row.size > LONGEST:
                left_out[f"{name}, {row.label}"] = f"would take longer than {LONGEST:g} s"
            elif name not in missing:
                try:
                    calls[name] = competitor.prepare(case)
                except ImportError as error:
                    missing.add(name)
                    left_out[name] = f"missing: {error}"
        seconds, answers = medians(calls, table.clock, table.seconds_each)
        seconds_by_size |= {name: taken / row.size for name, taken in seconds.items()}
        per = row.per(case) if callable(row.per) else row.per
        tests = {competitor.name: competitor.per or per for competitor in table.competitors}
        times = {name: taken / tests[name] for name, taken in seconds.items()}
        measured.append(Measured(row, times, table.compare(case, answers)))
    return measured, left_out


def written(table: Table, measured: Sequence[Measured], left_out: Mapping[str, str]) -> str:
    """The table in Markdown. In brackets: how many times what the first competitor takes."""
    names = [competitor.name for competitor in table.competitors]
    has_series = any(m.row.series for m in measured)
    has_notes = any(m.note for m in measured)
    has_targets = any(m.row.targets for m in measured)
    head = [table.first_column, *names, *(["growth"] * has_series), *(["wanted"] * has_targets)]
    head += ["answers"] * has_notes
    lines = [head, ["---"] + ["---:"] * (len(names) + has_series) + ["---"] * (has_targets + has_notes)]
    before: dict[str, float] = {}
    for m in measured:
        ours = m.times.get(names[0])
        cells = [
            m.row.label,
            *(_cell(m.times.get(name), ours if i else None) for i, name in enumerate(names)),
        ]
        if has_series:
            each = ours / m.row.size if ours and m.row.series else None
            first = before.setdefault(m.row.series, each) if each else None
            cells.append(f"{each / first:.2f}" if each and first else "")
        if has_targets:
            cells.append("; ".join(filter(None, (t.told(m.times, names[0]) for t in m.row.targets))))
        if has_notes:
            cells.append(m.note)
        lines.append(cells)
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"
    if left_out:
        reasons: dict[str, list[str]] = {}
        for what, why in left_out.items():
            reasons.setdefault(why, []).append(what)
        text += (
            "\nLeft out: " + ". ".join(f"{'; '.join(what)} ({why})" for why, what in reasons.items()) + ".\n"
        )
    return text


def duration(seconds: float) -> str:
    """Seconds in three digits and the unit that suits."""
    units = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))
    unit, size = next((pair for pair in units if seconds >= 0.9995 * pair[1]), units[-1])
    value = seconds / size
    return f"{value:.{max(0, 3 - len(str(int(value))))}f} {unit}"


def _cell(seconds: float | None, ours: float | None) -> str:
    if seconds is None:
        return "–"
    if ours is None:
        return duration(seconds)
    ratio = seconds / ours
    return f"{duration(seconds)} ({ratio:.{0 if ratio >= 10 else 1 if ratio >= 1 else 2}f}x)"
