"""Documents as JSON text: values that fit a line stay on one line, and long lists are generated lazily.

Many objects with the same members are columns, whose text is found for all rows at once: which objects fit a
line, from the lengths of their texts. Rows that break in the same way have one template, and each row is a
single call of Python's % operator.

Python writes a number as the shortest text that is read back as the same number. No two texts of up to
fifteen digits are read as the same number. So a number with few decimals is written as exactly those
decimals, without trailing zeros, and its digits can be computed with integer arithmetic on whole arrays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...core.errors import CollisionBoundsError
from ...core.numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints
from ..spaces import to_lists
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
            elif hasattr(value, "converted"):  # of `WrittenEntries`
                texts = value.converted(lambda members, count: object_texts(members, count, "  "))
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


_TOO_LARGE = 1e15
"""From here on, fifteen digits leave none for decimals."""
_LEAST_WITHOUT_EXPONENT = 1e-4
"""Below this, Python writes an exponent."""
_LONGEST = 24
"""Largest number of characters of any float64."""


def lists_of_numbers(values: Floats, decimals: int, counts: Ints) -> list[str]:
    """Convert numbers to one-line JSON lists.

    The text is that of Python's json module, with 0.0 for -0.0. Fast for numbers that were rounded to
    `decimals`; correct for all finite numbers.

    values : (n,) or (n, c) float64. Numbers, or rows of numbers, of all lists, concatenated.
    decimals : Decimals that most numbers were rounded to.
    counts : (k,) int. Rows of each list; their sum is n.
    Raises ValueError: for NaN and infinity.
    """
    opening, closing = ("[[", "]]") if values.ndim == 2 else ("[", "]")
    lists = iter(_joined_numbers(values, decimals, counts).decode("ascii").split("\n"))
    return [opening + next(lists) + closing if count else "[]" for count in counts.tolist()]


def _joined_numbers(values: Floats, decimals: int, counts: Ints) -> bytes:
    """Text of all lists of numbers, each with a line break at its end; nothing for an empty list."""
    if not np.isfinite(values).all():
        raise ValueError("Out of range float values are not JSON compliant")
    columns = values.shape[1] if values.ndim == 2 else 1
    separators = [", "] * (columns - 1) + ["], [" if values.ndim == 2 else ", "]
    numbers = values.reshape(-1)
    is_last = np.zeros(len(numbers), dtype=bool)
    is_last[np.cumsum(counts * columns)[counts > 0] - 1] = True
    size = CHUNK_ROWS // columns * columns
    return b"".join(
        _characters(numbers[start : start + size], is_last[start : start + size], decimals, separators)
        for start in range(0, len(numbers), size)
    )


def _characters(numbers: Floats, is_last: Bools, decimals: int, separators: list[str]) -> bytes:
    """Text of numbers (n,), followed by `separators` in turns; a line break follows each last number."""
    size, grid = np.abs(numbers), 10.0**decimals
    with np.errstate(over="ignore"):
        steps = np.rint(size * grid)
    # A quotient of two whole numbers is rounded to nearest, as is a number that is read from those digits.
    is_plain = (steps < _TOO_LARGE) & (steps / grid == size)
    is_plain &= (size >= _LEAST_WITHOUT_EXPONENT) | (size == 0)
    digits = np.where(is_plain, steps, 0.0).astype(np.uint64)
    whole: NDArray[Any] = digits // np.uint64(10**decimals)
    fraction = (digits - whole * np.uint64(10**decimals)).astype(np.uint32)
    if whole.max(initial=0) < 2**32:
        # Divisions of 32-bit numbers take a third of the time.
        whole = whole.astype(np.uint32)
    width = len(str(whole.max()))
    if not is_plain.all():
        width = max(width, _LONGEST - 2 - decimals)
    # One row a number: a sign, the whole digits, the point, the decimals, the separator.
    point, end = 1 + width, 2 + width + decimals
    cells = np.empty((len(numbers), end + len(separators[-1])), dtype=np.uint8)
    is_used = np.ones(cells.shape, dtype=bool)
    cells[:, 0], is_used[:, 0] = ord("-"), numbers < 0
    cells[:, point] = ord(".")
    is_nonzero = np.zeros(len(numbers), dtype=bool)
    for column in range(end - 1, point, -1):
        quotient = fraction // 10
        digit = fraction - quotient * 10
        is_nonzero |= digit != 0
        cells[:, column], fraction = digit + ord("0"), quotient
        if column > point + 1:  # trailing zeros, except for the first decimal
            is_used[:, column] = is_nonzero
    for column in range(width, 0, -1):
        quotient = whole // 10
        cells[:, column] = whole - quotient * 10 + ord("0")
        if column < width:  # leading zeros, except for the last digit
            is_used[:, column] = whole > 0
        whole = quotient
    for row in np.flatnonzero(~is_plain).tolist():
        text = repr(float(numbers[row])).encode("ascii")
        cells[row, : len(text)] = np.frombuffer(text, dtype=np.uint8)
        is_used[row, :end] = np.arange(end) < len(text)
    for column, separator in enumerate(separators):
        rows = slice(column, None, len(separators))
        cells[rows, end : end + len(separator)] = np.frombuffer(separator.encode("ascii"), np.uint8)
        is_used[rows, end + len(separator) :] = False
    cells[is_last, end] = ord("\n")
    is_used[is_last, end + 1 :] = False
    return bytes(cells[is_used])


_OMITTED = "%.0s"
"""Takes a text and writes nothing."""


class Column(NamedTuple):
    """Values (m,) of a member of several objects.

    values : Sequence of any JSON values. Or an array of numbers (m,), or of lists of numbers (m, c). Or, of
        values that are objects, the columns of their members by key, whose rows are among the m objects.
    rows : (m,) int. Objects that have the value, increasing; None for all.
    decimals : To which most numbers of an array were rounded.
    counts : (m,) int. Of an array that holds lists of several lengths, concatenated: the numbers, or rows of
        numbers, of each list.
    is_optional : Whether objects without members are omitted.
    """

    values: Any
    rows: Ints | None = None
    decimals: int = 0
    counts: Ints | None = None
    is_optional: bool = False


Members: TypeAlias = Mapping[str, Column | Sequence[Any] | None]
"""Columns of the members of objects, or the values of all objects, by key; None is not written."""


def present(values: Sequence[Any]) -> Column | None:
    """Return values of which None is not written; None if that is all."""
    rows = [row for row, value in enumerate(values) if value is not None]
    return Column([values[row] for row in rows], np.array(rows)) if rows else None


def object_values(members: Members, count: int) -> list[dict[str, Any]]:
    """Return `count` objects as dicts."""
    entries: list[dict[str, Any]] = [{} for _ in range(count)]
    for key, each in members.items():
        if each is None:
            continue
        values, of_rows, _, counts, is_optional = each if isinstance(each, Column) else Column(each)
        rows = range(count) if of_rows is None else of_rows.tolist()
        if isinstance(values, Mapping):
            values = object_values(values, len(rows))
        elif not isinstance(values, np.ndarray):
            # Tracks with the same frames share a list, which a caller may change in one of them.
            values = [list(value) if isinstance(value, list) else value for value in values]
        elif counts is None:
            values = to_lists(values)
        else:
            values = [to_lists(each) for each in np.split(values, np.cumsum(counts)[:-1])]
        for row, value in zip(rows, values, strict=True):
            if value or not is_optional:
                entries[row][key] = value
    return entries


_Texts: TypeAlias = tuple[str, list[list[str]], Ints]
"""Texts of values (n,): a template that takes a text of each of several lists of n texts, these lists, and
the lengths on one line; 0 for values that are omitted."""


def object_texts(members: Members, count: int, indent: str) -> list[str]:
    """Text of each of `count` objects; its first line follows `indent`, which is written already."""
    template, columns, _ = _object_texts(members, count, indent)
    return list(map(template.__mod__, zip(*columns, strict=True)))


def _object_texts(members: Members, count: int, indent: str, is_optional: bool = False) -> _Texts:
    of_members = []
    size: Ints = np.zeros(count, dtype=np.int64)
    pattern: Ints = np.zeros(count, dtype=np.int64)
    written = ((key, each) for key, each in members.items() if each is not None)
    for bit, (key, each) in enumerate(written):
        column = each if isinstance(each, Column) else Column(each)
        present_count = count if column.rows is None else len(column.rows)
        template, columns, lengths = _texts_of(column, present_count, indent + " ")
        if column.rows is not None:
            of_rows, columns = columns, []
            for compact in of_rows:
                texts = [""] * count
                for row, text in zip(column.rows.tolist(), compact, strict=True):
                    texts[row] = text
                columns.append(texts)
            every_length = np.zeros(count, dtype=np.int64)
            every_length[column.rows] = lengths
            lengths = every_length
        of_members.append((key_text(key).replace("%", "%%") + template, columns))
        is_present = lengths > 0
        # With a separator or, after the last member, the brackets of the object.
        size += np.where(is_present, lengths + len(key_text(key)) + 2, 0)
        pattern |= is_present.astype(np.int64) << bit
    size = np.where(pattern > 0, size, 0 if is_optional else 2)
    pattern = pattern << 1 | (size <= WIDTH)
    patterns = np.unique(pattern)
    templates = []
    for each in patterns.tolist():
        shown, omitted = [], ""
        for bit, (template, columns) in enumerate(of_members):
            if each >> bit + 1 & 1:
                shown.append(omitted + template)
                omitted = ""
            else:
                omitted += _OMITTED * len(columns)
        text = "{" + ", ".join(shown) + "}" if each & 1 else broken_text("{}", shown, indent)
        templates.append(("" if is_optional and not shown else text) + omitted)
    every = [texts for _, columns in of_members for texts in columns]
    if len(templates) == 1:
        return templates[0], every, size
    rows = zip(np.searchsorted(patterns, pattern).tolist(), zip(*every, strict=True), strict=True)
    return "%s", [[templates[each] % row for each, row in rows]], size


def _texts_of(column: Column, count: int, indent: str) -> _Texts:
    """Convert the values of a column to texts on lines after `indent`."""
    values, _, decimals, counts, is_optional = column
    if isinstance(values, Mapping):
        return _object_texts(values, count, indent, is_optional)
    if isinstance(values, np.ndarray):
        if counts is None:
            numbers = values.reshape(count, -1)
            lines = _joined_numbers(numbers.reshape(-1), decimals, np.full(count, numbers.shape[1]))
            ends = np.flatnonzero(np.frombuffer(lines, dtype=np.uint8) == ord("\n"))
            texts, lengths = lines.decode("ascii").split("\n")[:-1], np.diff(ends, prepend=-1) - 1
            return ("[%s]", [texts], lengths + 2) if values.ndim > 1 else ("%s", [texts], lengths)
        texts = lists_of_numbers(values, decimals, counts)
        texts = [rows_text(text, indent) for text in texts] if values.ndim > 1 else texts
    else:
        # The text of the last value is kept, because tracks can have the same frames.
        texts, last, text = [], None, "null"
        for value in values:
            if value is not last:
                text = json_string(value) if type(value) is str else value_text(value, indent)
                last = value
            texts.append(text)
    return "%s", [texts], np.fromiter(map(len, texts), np.int64, len(texts))
