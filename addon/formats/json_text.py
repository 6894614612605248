"""Documents as JSON text, in parts: what fits a line is on one line, and what can be made late is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol, runtime_checkable

_WIDTH = 100

one_line = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


@runtime_checkable
class WrittenInParts(Protocol):
    """A list, not empty, whose entries are made when they are due."""

    def texts(self, indent: str) -> Iterator[str]:
        """Its entries over several lines, of which the first stands behind `indent` already."""
        ...


def dumps(document: Mapping[str, Any]) -> str:
    """The document as text: UTF-8 characters as they are, LF, what fits a line on one line."""
    return "".join(chunks(document))


def chunks(document: Mapping[str, Any]) -> Iterator[str]:
    """The same text in parts, an entry of a list each, so that it need not be held all at once."""
    opening = "{"
    for key, value in document.items():
        yield f"{opening}\n {one_line(key)}: "
        opening = ","
        if isinstance(value, WrittenInParts):
            yield from _listed(value.texts("  "))
        elif isinstance(value, list):
            yield from _list_in_parts(value)
        else:
            yield laid_out(value, " ").text
    yield "\n}\n"


class LaidOut(NamedTuple):
    """A value as JSON on one line, and over as many as it takes when it is too long for one."""

    line: str
    text: str

    @classmethod
    def rows(cls, line: str, indent: str) -> LaidOut:
        """Of a list of lists of numbers that is `line`: a line each."""
        if len(line) <= _WIDTH:
            return cls(line, line)
        # Of these there may be millions.
        deeper = f",\n{indent} ["
        return cls(line, f"[\n{indent} " + line[1:-1].replace(", [", deeper) + f"\n{indent}]")

    @classmethod
    def joined(cls, keys: Sequence[str] | None, parts: Sequence[LaidOut], indent: str) -> LaidOut:
        """Of a list, or with `keys` of an object, of which the entries are laid out one space deeper."""
        opening, closing = "[]" if keys is None else "{}"
        names = [""] * len(parts) if keys is None else [one_line(key) + ": " for key in keys]
        line = ", ".join([name + part.line for name, part in zip(names, parts, strict=True)])
        line = opening + line + closing
        if len(line) <= _WIDTH:
            return cls(line, line)
        text = f",\n{indent} ".join([name + part.text for name, part in zip(names, parts, strict=True)])
        return cls(line, f"{opening}\n{indent} {text}\n{indent}{closing}")


def laid_out(value: Any, indent: str) -> LaidOut:
    """Anything that JSON knows; the first line stands behind `indent` already."""
    deeper = indent + " "
    if isinstance(value, dict) and value:
        parts = [laid_out(item, deeper) for item in value.values()]
        return LaidOut.joined(list(value), parts, indent)
    if isinstance(value, list) and not _is_scalars(value):
        if all(isinstance(item, list) and _is_scalars(item) for item in value):
            line = one_line(value)
            if '"' not in line:
                return LaidOut.rows(line, indent)
        return LaidOut.joined(None, [laid_out(item, deeper) for item in value], indent)
    line = one_line(value)
    return LaidOut(line, line)


def _is_scalars(value: list[Any]) -> bool:
    return not any(isinstance(item, (dict, list)) for item in value)


def _list_in_parts(value: list[Any]) -> Iterator[str]:
    """A list, entry by entry if it is too long for a line."""
    entries = (laid_out(item, "  ") for item in value)
    begun, width = [], 0
    for item, entry in zip(value, entries, strict=False):
        begun.append(entry.text)
        width += len(entry.line) + 2
        if width > _WIDTH and isinstance(item, (dict, list)):
            yield from _listed(chain(begun, (entry.text for entry in entries)))
            return
    yield laid_out(value, " ").text


def _listed(texts: Iterator[str]) -> Iterator[str]:
    opening = "[\n  "
    for text in texts:
        yield opening + text
        opening = ",\n  "
    yield "\n ]"
