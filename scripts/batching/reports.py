"""Summaries of a run: a JSON file for programs, and JUnit's XML for continuous integration."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

from addon.formats import extension_version, write_text
from addon.formats.wording import pluralized, single_line

from .options import BatchOptions
from .records import Records, share_suffix
from .tasks import CONTACTS, DONE, FAILED, Outcome

_LISTED_NAMES = 5
"""Names that a remark lists."""


def write_reports(options: BatchOptions, records: Records, version: str, is_complete: bool) -> dict[str, int]:
    """Write the summaries of the outcomes of this run, and return the number of files by state.

    Both files are written in parts, so memory does not grow with the number of files.
    """
    counts: Counter[str] = Counter({DONE: 0, CONTACTS: 0, FAILED: 0, "reused": 0, "files": 0})
    for outcome in records.outcomes():
        counts[outcome.state] += 1
        counts["files"] += 1
        counts["reused"] += outcome.is_reused
    suffix = share_suffix(options.share)
    write_text(
        options.output / f"summary{suffix}.json", _summary(options, records, version, is_complete, counts)
    )
    write_text(options.output / f"junit{suffix}.xml", _junit(options, records, counts))
    return dict(counts)


def _summary(
    options: BatchOptions, records: Records, version: str, is_complete: bool, counts: Counter[str]
) -> Iterator[str]:
    head: dict[str, Any] = {
        "format": "collision-bounds-batch",
        "version": "1.0.0",
        "generator": {"name": "Collision Bounds", "version": extension_version(), "program": version},
        "settings": options.settings,
        "isComplete": is_complete,
        "counts": {state: counts[state] for state in ("files", DONE, CONTACTS, FAILED)},
    }
    yield json.dumps(head, indent=1).removesuffix("\n}") + ',\n "files": ['
    separator = "\n  "
    for outcome in records.outcomes():
        yield separator + json.dumps(_entry(options, outcome))
        separator = ",\n  "
    yield "\n ]\n}\n"


def _entry(options: BatchOptions, outcome: Outcome) -> dict[str, Any]:
    written = f"{outcome.name}{options.suffix}" if outcome.output_hash else None
    return {
        "name": outcome.name,
        "state": outcome.state,
        "reason": outcome.reason,
        "attempts": outcome.attempts,
        "seconds": round(outcome.seconds, 3),
        "output": written,
        "counts": outcome.counts,
    }


def _junit(options: BatchOptions, records: Records, counts: Counter[str]) -> Iterator[str]:
    fails = options.fails_on_contact or options.fails_on_new
    failures = counts[CONTACTS] if fails else 0
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield (
        f'<testsuite name={quoteattr(options.command)} tests="{counts["files"]}" failures="{failures}"'
        f' errors="{counts[FAILED]}">\n'
    )
    for outcome in records.outcomes():
        start = f'  <testcase name={_attribute(outcome.name)} time="{outcome.seconds:.3f}"'
        if outcome.state == FAILED:
            yield f"{start}><error message={_attribute(outcome.reason)}/></testcase>\n"
        elif outcome.state == CONTACTS and fails:
            yield f"{start}><failure message={_attribute(_failure(options, outcome))}/></testcase>\n"
        else:
            yield f"{start}/>\n"
    yield "</testsuite>\n"


def _failure(options: BatchOptions, outcome: Outcome) -> str:
    """Return the number of contacts that count, and the first of them."""
    key, noun = ("newContacts", "new contact") if options.fails_on_new else ("contacts", "contact")
    if key not in outcome.counts:
        return f"{noun}s"
    count = outcome.counts[key]
    more = count - len(outcome.examples)
    examples = [*outcome.examples, *([f"{more} more"] if more > 0 and outcome.examples else [])]
    return f"{pluralized(count, noun)}: {'; '.join(examples)}" if examples else pluralized(count, noun)


def final_remarks(options: BatchOptions, records: Records, counts: Mapping[str, int]) -> Iterator[str]:
    """Yield sentences about a complete run, for its last lines."""
    new = (each.name for each in records.outcomes() if each.lacks_baseline and each.state != FAILED)
    if listed := _listed(new, "file"):
        yield f"no earlier result in {options.baseline} for {listed}: all contacts are new"
    if options.share == (1, 1):
        names = (f"{name}{options.suffix}" for name in records.earlier_names())
        if listed := _listed((name for name in names if (options.output / name).is_file()), "result"):
            yield f"{options.output} also has results of files that are not in this run: {listed}"
    if counts[FAILED] and not options.fails_on_error:
        yield "files failed, which does not change the exit code without --fail-on-error"


def _listed(names: Iterator[str], noun: str) -> str:
    """Return the only name, or the number of names and the first few; empty without a name."""
    first = list(itertools.islice(names, _LISTED_NAMES))
    if len(first) < 2:
        return "".join(first)
    count = len(first) + sum(1 for _ in names)
    return f"{pluralized(count, noun)} ({', '.join(first)}{', ...' if count > len(first) else ''})"


def _attribute(text: str) -> str:
    return quoteattr(single_line(text))
