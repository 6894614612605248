"""Documents as JSON text: values that fit a line stay on one line, and long lists are generated lazily."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
from math import isfinite
from typing import Any

from ...core.errors import CollisionBoundsError
from ..validation.strict_json import DocumentError
from ..wording import message_line

WIDTH = 100
"""Characters of a value that stays on one line."""

compact_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""JSON text on one line. Raises ValueError for NaN and infinity."""

json_string: Callable[[str], str] = json.encoder.encode_basestring


def dumps(document: Mapping[str, Any]) -> str:
    """Convert a document to JSON text with non-ASCII characters as they are and LF line ends.

    document : Of `make_document`, or anything of dicts, lists and scalars.
    Raises DocumentError: for NaN and infinity, and for what JSON has no text for.
    """
    return "".join(json_parts(document))


def json_parts(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text of `dumps` in parts, one for each entry of a list, so that memory stays small.

    Raises DocumentError as `dumps`.
    """
    if not isinstance(document, Mapping) or not all(isinstance(key, str) for key in document):
        raise DocumentError(f"document: a dict with text keys is needed, not {type(document).__name__}")
    try:
        opening = "{"
        for key, value in document.items():
            yield f"{opening}\n {key_text(key)}"
            opening, texts = ",", None
            if isinstance(value, list):
                widths = accumulate(len(compact_json(item)) + 2 for item in value)
                places = zip(widths, value, strict=True)
                if any(width > WIDTH and isinstance(item, (dict, list)) for width, item in places):
                    texts = (value_text(item, "  ") for item in value)
            elif hasattr(value, "texts"):  # of `WrittenEntries`
                texts = value.texts("  ")
            if texts is None:
                yield value_text(value, " ")
                continue
            separator = "[\n  "
            for text in texts:
                yield separator + text
                separator = ",\n  "
            yield "\n ]"
        yield "\n}\n"
    except CollisionBoundsError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise DocumentError(message_line(f"document: cannot be written as JSON ({error})")) from error


def value_text(value: Any, indent: str) -> str:
    """Text of a JSON value; its first line follows `indent`, which is written already."""
    kind, deeper = type(value), indent + " "
    # An encoder is slow for frequent scalars and vectors.
    if kind is float and isfinite(value):
        return repr(value)
    if kind is str:
        return json_string(value)
    if kind is list and len(value) == 3 and all(type(item) is float and isfinite(item) for item in value):
        return f"[{value[0]!r}, {value[1]!r}, {value[2]!r}]"
    if isinstance(value, dict):
        # From the texts of its members, because encoding it as a whole first would repeat that at each level.
        texts = [key_text(key) + value_text(item, deeper) for key, item in value.items()]
        line = "{" + ", ".join(texts) + "}"
        # A member with several lines did not fit a line by itself.
        return line if len(line) <= WIDTH and "\n" not in line else broken_text("{}", texts, indent)
    line = compact_json(value)
    if len(line) <= WIDTH or not isinstance(value, list) or _has_scalars(value):
        return line
    if '"' not in line and all(isinstance(item, list) and _has_scalars(item) for item in value):
        return rows_text(line, indent)
    return broken_text("[]", [value_text(item, deeper) for item in value], indent)


@lru_cache(maxsize=256, typed=True)
def key_text(key: str) -> str:
    """Text of a member's key, up to its value; Python's json writes 1 as "1" there."""
    return compact_json({key: 0})[1:-2]


def rows_text(line: str, indent: str) -> str:
    """Text of a list of lists of numbers, given on one line: one row a line unless all rows fit a line."""
    if len(line) <= WIDTH:
        return line
    # A string replacement, because a list can have millions of rows.
    return f"[\n{indent} " + line[1:-1].replace(", [", f",\n{indent} [") + f"\n{indent}]"


def broken_text(brackets: str, entries: Iterable[str], indent: str) -> str:
    """Text of a list or an object with one entry a line."""
    inner = f",\n{indent} ".join(entries)
    return f"{brackets[0]}\n{indent} {inner}\n{indent}{brackets[1]}"


def _has_scalars(value: list[Any]) -> bool:
    return not any(isinstance(item, (dict, list)) for item in value)
