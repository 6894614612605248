"""Many objects with the same members, from columns: as JSON values, and as their text.

The text is that of `json_writer`, which breaks an object that does not fit a line. Which objects do is found
for all rows at once, from the lengths of their texts. Rows that break in the same way have one template, and
each row is a single call of Python's % operator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...core.numeric.arrays import Bools, Floats, Ints
from ..rounding import to_lists
from .json_numbers import lists_of_numbers, rows_of_numbers
from .json_writer import WIDTH, broken_text, key_text, rows_text, value_text

_string_text: Callable[[str], str] = json.encoder.encode_basestring

_FLAGS_AT_ONCE = 32
"""Flags in one integer, above those of which patterns are numbered already."""
_OMITTED = "%.0s"
"""Takes a text and writes nothing."""


class NumberColumn(NamedTuple):
    """Numbers (n,), or lists of numbers (n, c), most of them rounded to `decimals`.

    is_present : (n,) which rows have the value; None for all
    """

    values: Floats
    decimals: int
    is_present: Bools | None = None


class ListColumn(NamedTuple):
    """Lists (n,) of numbers, or of rows of numbers, most of them rounded to `decimals`.

    values : Of all lists, concatenated.
    counts : (n,) int. Numbers or rows of each list.
    """

    values: Floats
    decimals: int
    counts: Ints
    is_present: Bools | None = None


class ValueColumn(NamedTuple):
    """Any JSON values (n,)."""

    values: Sequence[Any]
    is_present: Bools | None = None


class ObjectColumn(NamedTuple):
    """Objects (n,): their members by key."""

    members: Mapping[str, Column]
    is_present: Bools | None = None


Column: TypeAlias = NumberColumn | ListColumn | ValueColumn | ObjectColumn


class _Texts(NamedTuple):
    """Texts (n,) of values, with their lengths without brackets, and brackets around each, if any."""

    values: Sequence[str]
    lengths: Ints
    brackets: str
    is_present: Bools | None


def spread(column: Column, rows: Ints, count: int) -> Column:
    """Give the values of a column (m,) to rows (m,) of `count`; the others do not have it."""
    if len(rows) == count:
        return column
    is_present = np.zeros(count, dtype=bool)
    is_present[rows] = True
    if isinstance(column, ObjectColumn):
        return ObjectColumn(
            {key: spread(each, rows, count) for key, each in column.members.items()}, is_present
        )
    if isinstance(column, NumberColumn):
        numbers = np.zeros((count, *column.values.shape[1:]))
        numbers[rows] = column.values
        return NumberColumn(numbers, column.decimals, is_present)
    if isinstance(column, ListColumn):
        counts = np.zeros(count, dtype=np.int64)
        counts[rows] = column.counts
        return ListColumn(column.values, column.decimals, counts, is_present)
    values = [None] * count
    for row, value in zip(rows.tolist(), column.values, strict=True):
        values[row] = value
    return ValueColumn(values, is_present)


def present(values: Sequence[Any]) -> ValueColumn | None:
    """Return values of which None is not written; None if that is all."""
    is_present = np.array([value is not None for value in values], dtype=bool)
    return ValueColumn(values, is_present) if is_present.any() else None


def object_values(objects: ObjectColumn, count: int) -> list[dict[str, Any]]:
    """Return `count` objects as dicts."""
    return _values_of(objects, np.arange(count))


def _values_of(column: Column, rows: Ints) -> list[Any]:
    """JSON values of rows (m,), all of which are present."""
    if isinstance(column, NumberColumn):
        numbers: list[Any] = to_lists(column.values[rows])
        return numbers
    if isinstance(column, ListColumn):
        lists = np.split(column.values, np.cumsum(column.counts)[:-1])
        return [to_lists(lists[row]) for row in rows.tolist()]
    if isinstance(column, ValueColumn):
        return [column.values[row] for row in rows.tolist()]
    entries: list[dict[str, Any]] = [{} for _ in rows]
    for key, each in column.members.items():
        if each.is_present is None:
            for entry, value in zip(entries, _values_of(each, rows), strict=True):
                entry[key] = value
        else:
            present_rows = np.flatnonzero(each.is_present[rows])
            values = _values_of(each, rows[present_rows])
            for row, value in zip(present_rows.tolist(), values, strict=True):
                entries[row][key] = value
    return entries


def object_texts(objects: ObjectColumn, indent: str) -> list[str]:
    """Text of each object; its first line follows `indent`, which is written already."""
    column = _texts_of(objects, indent)
    texts = [leaf.values for leaf in _leaves(column)]
    flags: list[Bools] = []
    _measure(column, flags, len(texts[0]))
    first, pattern = _patterns(flags)
    templates = [_template(column, [bool(flag[row]) for flag in reversed(flags)], indent) for row in first]
    rows = zip(*texts, strict=True)
    if len(templates) == 1:
        return list(map(templates[0].__mod__, rows))
    return [templates[each] % row for each, row in zip(pattern.tolist(), rows, strict=True)]


def _texts_of(column: Any, indent: str) -> Any:
    """Convert the values of a column, or of all members, to texts on lines after `indent`."""
    if isinstance(column, ObjectColumn):
        deeper = {key: _texts_of(each, indent + " ") for key, each in column.members.items()}
        return ObjectColumn(deeper, column.is_present)
    if isinstance(column, NumberColumn):
        rows = column.values.reshape(len(column.values), -1)
        brackets = "[]" if column.values.ndim > 1 else ""
        return _Texts(*rows_of_numbers(rows, column.decimals), brackets, column.is_present)
    if isinstance(column, ListColumn):
        texts = lists_of_numbers(column.values, column.decimals, column.counts)
        texts = [rows_text(text, indent) for text in texts] if column.values.ndim > 1 else texts
    else:
        texts = list(_value_texts(column.values, indent))
    return _Texts(texts, np.fromiter(map(len, texts), np.int64, len(texts)), "", column.is_present)


def _value_texts(values: Sequence[Any], indent: str) -> Iterator[str]:
    """Yield the text of each value; that of the last one is kept, because tracks can have the same frames."""
    last, text = None, "null"
    for value in values:
        if value is not last:
            text = _string_text(value) if type(value) is str else value_text(value, indent)
            last = value
        yield text


def _patterns(flags: Sequence[Bools]) -> tuple[list[int], Ints]:
    """Return a row with each different pattern of flags (n,), and the pattern of each row (n,)."""
    pattern: Ints = np.zeros(len(flags[0]), dtype=np.int64)
    first: list[int] = []
    for begin in range(0, len(flags), _FLAGS_AT_ONCE):
        code = pattern << _FLAGS_AT_ONCE
        for bit, flag in enumerate(flags[begin : begin + _FLAGS_AT_ONCE]):
            code |= flag.astype(np.int64) << bit
        _, index, inverse = np.unique(code, return_index=True, return_inverse=True)
        first, pattern = index.tolist(), inverse.astype(np.int64)
    return first, pattern


def _leaves(column: Any) -> Iterator[_Texts]:
    if isinstance(column, _Texts):
        yield column
        return
    for member in column.members.values():
        yield from _leaves(member)


def _measure(column: Any, flags: list[Bools], count: int) -> Ints:
    """Length (n,) of each value on one line, 0 if not present.

    Appends whether it is present, and whether it fits a line if it is an object.
    """
    is_present = np.ones(count, dtype=bool) if column.is_present is None else column.is_present
    flags.append(is_present)
    if isinstance(column, _Texts):
        return np.asarray((column.lengths + len(column.brackets)) * is_present)
    fits = np.zeros(count, dtype=bool)
    flags.append(fits)
    size = np.zeros(count, dtype=np.int64)
    for key, member in column.members.items():
        place = len(flags)
        length = _measure(member, flags, count)
        size += np.where(flags[place], length + len(key_text(key)) + 2, 0)
    # Two brackets, and as many separators as members but one; an object without members has none.
    size = np.maximum(size, 2)
    fits[:] = size <= WIDTH
    return np.asarray(size * is_present)


def _template(column: Any, flags: list[bool], indent: str) -> str:
    """Template of a value, which takes the flags that `_measure` appends from the end of a list."""
    is_present = flags.pop()
    if isinstance(column, _Texts):
        return f"{column.brackets[:1]}%s{column.brackets[1:]}" if is_present else _OMITTED
    fits = flags.pop()
    members = []
    omitted = ""
    for key, member in column.members.items():
        is_shown = flags[-1]
        text = _template(member, flags, indent + " ")
        if is_shown:
            members.append(omitted + key_text(key).replace("%", "%%") + text)
            omitted = ""
        else:
            omitted += text
    if not is_present:
        return _OMITTED * sum(1 for _ in _leaves(column))
    return ("{" + ", ".join(members) + "}" if fits else broken_text("{}", members, indent)) + omitted
