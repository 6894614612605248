"""JSON text of many objects with the same members, from columns: one template for each way to break lines.

The text is that of `json_writer`, which breaks an object that does not fit a line. Which objects do is found
for all rows at once, from the lengths of their texts. Rows that break in the same way have one template, and
each row is a single call of Python's % operator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ...core.numeric.arrays import Bools, Floats, Ints
from .json_numbers import rows_of_numbers
from .json_writer import WIDTH, broken_text, key_text

_string_text: Callable[[str], str] = json.encoder.encode_basestring

_FLAGS_AT_ONCE = 32
"""Flags in one integer, above those of which patterns are numbered already."""
_OMITTED = "%.0s"
"""Takes a text and writes nothing."""


class TextColumn(NamedTuple):
    """Texts of n values.

    Attributes
    ----------
    texts : sequence of str
        Any text for a value that is not present.
    lengths : (n,) int
        Their lengths, without brackets.
    brackets : str
        Two brackets around each text; or none.
    is_present : (n,) bool or None
        Which rows have the value; None for all.
    """

    texts: Sequence[str]
    lengths: Ints
    brackets: str = ""
    is_present: Bools | None = None


class ObjectColumn(NamedTuple):
    """Members of n objects, by key; `is_present` as of `TextColumn`."""

    members: Mapping[str, TextColumn | ObjectColumn]
    is_present: Bools | None = None


Column: TypeAlias = TextColumn | ObjectColumn


def number_column(values: Floats, decimals: int) -> TextColumn:
    """Numbers (n,), or lists of numbers (n, c), see `lists_of_numbers`."""
    rows = values.reshape(len(values), -1)
    return TextColumn(*rows_of_numbers(rows, decimals), "[]" if values.ndim > 1 else "")


def string_column(values: Sequence[str]) -> TextColumn:
    """Texts as JSON strings."""
    return text_column(list(map(_string_text, values)))


def repeated_string_column(values: Sequence[str | None]) -> TextColumn:
    """Few different strings, or null."""
    text_of = {value: "null" if value is None else _string_text(value) for value in set(values)}
    return text_column(list(map(text_of.__getitem__, values)))


def text_column(texts: Sequence[str]) -> TextColumn:
    """Finished texts, which are longer than a line if they are broken."""
    return TextColumn(texts, np.fromiter(map(len, texts), np.int64, len(texts)))


def spread(column: Column, rows: Ints, count: int) -> Column:
    """Give the values of a column (m,) to rows (m,) of `count`; the others do not have it."""
    if len(rows) == count:
        return column
    is_present = np.zeros(count, dtype=bool)
    is_present[rows] = True
    if isinstance(column, ObjectColumn):
        members = {key: spread(member, rows, count) for key, member in column.members.items()}
        return ObjectColumn(members, is_present)
    texts, lengths = [""] * count, np.zeros(count, dtype=np.int64)
    for row, text in zip(rows.tolist(), column.texts, strict=True):
        texts[row] = text
    lengths[rows] = column.lengths
    return TextColumn(texts, lengths, column.brackets, is_present)


def object_texts(column: ObjectColumn, indent: str) -> list[str]:
    """Text of each object; its first line follows `indent`, which is written already."""
    texts = [leaf.texts for leaf in _leaves(column)]
    flags: list[Bools] = []
    _measure(column, flags, len(texts[0]))
    first, pattern = _patterns(flags)
    templates = [_template(column, [bool(flag[row]) for flag in reversed(flags)], indent) for row in first]
    rows = zip(*texts, strict=True)
    if len(templates) == 1:
        return list(map(templates[0].__mod__, rows))
    return [templates[each] % row for each, row in zip(pattern.tolist(), rows, strict=True)]


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


def _leaves(column: Column) -> Iterator[TextColumn]:
    if isinstance(column, TextColumn):
        yield column
        return
    for member in column.members.values():
        yield from _leaves(member)


def _measure(column: Column, flags: list[Bools], count: int) -> Ints:
    """Length (n,) of each value on one line, 0 if not present.

    Appends whether it is present, and whether it fits a line if it is an object.
    """
    is_present = np.ones(count, dtype=bool) if column.is_present is None else column.is_present
    flags.append(is_present)
    if isinstance(column, TextColumn):
        return (column.lengths + len(column.brackets)) * is_present
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
    return size * is_present


def _template(column: Column, flags: list[bool], indent: str) -> str:
    """Template of a value, which takes the flags that `_measure` appends from the end of a list."""
    is_present = flags.pop()
    if isinstance(column, TextColumn):
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
