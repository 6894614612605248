"""Documents as JSON text, in parts: what fits a line is on one line, and what can be made late is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

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
            yield laid_out(value, " ")
    yield "\n}\n"


def laid_out(value: Any, indent: str) -> str:
    """Anything that JSON knows; the first line stands behind `indent` already."""
    line = one_line(value)
    is_list = isinstance(value, list)
    if len(line) <= _WIDTH or not (is_list or isinstance(value, dict)) or (is_list and _is_scalars(value)):
        return line
    deeper = indent + " "
    if not is_list:
        return joined({key: laid_out(item, deeper) for key, item in value.items()}, indent)
    if '"' not in line and all(isinstance(item, list) and _is_scalars(item) for item in value):
        return rows(line, indent)
    return _broken("[]", [laid_out(item, deeper) for item in value], indent)


def joined(parts: Mapping[str, str], indent: str) -> str:
    """An object of entries that are laid out one space deeper, on one line if it fits."""
    entries = [f"{one_line(key)}: {text}" for key, text in parts.items()]
    # A line that was broken was too long.
    if sum(map(len, entries)) + 2 * len(entries) <= _WIDTH and not any("\n" in text for text in entries):
        return "{" + ", ".join(entries) + "}"
    return _broken("{}", entries, indent)


def rows(line: str, indent: str) -> str:
    """A list of lists of numbers that is `line`, a line each unless all fit one."""
    if len(line) <= _WIDTH:
        return line
    # Of these there may be millions.
    return f"[\n{indent} " + line[1:-1].replace(", [", f",\n{indent} [") + f"\n{indent}]"


def _broken(brackets: str, entries: Iterable[str], indent: str) -> str:
    inner = f",\n{indent} ".join(entries)
    return f"{brackets[0]}\n{indent} {inner}\n{indent}{brackets[1]}"


def _is_scalars(value: list[Any]) -> bool:
    return not any(isinstance(item, (dict, list)) for item in value)


def _list_in_parts(value: list[Any]) -> Iterator[str]:
    """A list, entry by entry if it is too long for a line."""
    width = 0
    for item in value:
        width += len(one_line(item)) + 2
        if width > _WIDTH and isinstance(item, (dict, list)):
            yield from _listed(laid_out(item, "  ") for item in value)
            return
    yield laid_out(value, " ")


def _listed(texts: Iterator[str]) -> Iterator[str]:
    opening = "[\n  "
    for text in texts:
        yield opening + text
        opening = ",\n  "
    yield "\n ]"
