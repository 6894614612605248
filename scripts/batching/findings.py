"""Numbers of a result, and its first contacts, for the summaries of a run."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

NEW = "newContacts"
"""Key of the number of new contacts in the counts."""
_EXAMPLES = 3


@dataclass(frozen=True)
class Findings:
    """Numbers of a document; empty for a result that is no document.

    Attributes
    ----------
    counts : dict of str to int
        Numbers of objects, contacts and so on.
    examples : list of str
        The first contacts, or the first new ones if they were compared.
    """

    counts: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)


def findings_of(name: str, content: bytes, lacks_baseline: bool) -> Findings:
    """Return the findings of a result.

    Parameters
    ----------
    name : str
        Name of the file.
    content : bytes
        Content of the file.
    lacks_baseline : bool
        Whether there is no earlier result to compare with, so that all contacts are new.
    """
    if name.endswith(".json"):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            return _findings(json.loads(content), lacks_baseline)
    return Findings()


def _findings(document: dict[str, Any], lacks_baseline: bool) -> Findings:
    counts = {key: len(document[key]) for key in ("objects", "contacts", "clearances", "skipped", "warnings")}
    baseline = document["extras"].get("baseline")
    touching = document["contacts"]
    if baseline:
        intervals = baseline["new"]
    else:
        chosen = [entry for entry in touching if "accepted" not in entry] if lacks_baseline else touching
        intervals = [entry | span for entry in chosen for span in entry["intervals"]]
    names = {entry["id"]: entry["name"] for entry in document["objects"]}
    examples = [
        f"{names[entry['a']]} and {names[entry['b']]}, frames {entry['start']:.4f} to {entry['end']:.4f}"
        for entry in intervals[:_EXAMPLES]
    ]
    return Findings(counts | ({NEW: len(intervals)} if baseline or lacks_baseline else {}), examples)
