"""Objects or tracks of a document: dicts that are made on access, and text without making them.

Entries that were read from a document keep its numbers, so that they are written again to the byte. A
conversion to Blender's unit and back can change the last bit of a number, and outward rounding then adds a
step of the last decimal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..spaces import Space, space_for
from .json_columns import Members, object_texts, object_values
from .model import ObjectBounds, SortedObjects, SourceNumbers, Track

Entry = TypeVar("Entry", ObjectBounds, Track)

IDENTITY_SPACE = space_for("blender")
"""A space that changes no number."""


def with_source_numbers(in_blender: Entry, in_document: Entry, space: Space) -> Entry:
    """Attach the numbers of the document, whose space is `space`, to an object or track in Blender's units.

    All arrays become read-only: only `dataclasses.replace` changes a part, and it omits these numbers.
    """
    _make_read_only((*vars(in_blender).values(), *vars(in_document).values()))
    object.__setattr__(in_blender, "source_numbers", SourceNumbers(space, in_document))
    return in_blender


def restore_source_numbers(entry: Entry, space: Space) -> Entry | None:
    """Return an object or track in the numbers that it had in a document of `space`.

    None when it was not read from a document of that space, or was changed since.
    """
    source = entry.source_numbers
    if source is None or source.space.scale != space.scale:
        return None
    return source.in_document if np.array_equal(source.space.axes, space.axes) else None


def _make_read_only(part: Any) -> None:
    """Make arrays read-only, also those of hulls, which are tuples; other shapes are immutable."""
    if isinstance(part, np.ndarray):
        part.setflags(write=False)
    elif isinstance(part, tuple):
        for item in part:
            _make_read_only(item)


Convert: TypeAlias = Callable[[Members, int], Iterable[Any]]
"""Converts columns of so many entries to their dicts or texts."""


class WrittenEntries(Sequence[dict[str, Any]]):
    """Entries of a document, each converted to a dict on access.

    A document can have very many. `json_parts` writes them without making the dicts.
    """

    def __init__(
        self, entries: Sequence[Any], space: Space, block: int, members: Callable[[Any, Space], Members]
    ) -> None:
        """Convert entries on demand.

        entries : Objects or tracks, in the order of the document.
        space : The document's space.
        block : Number of entries that are converted at once.
        members : Converts entries, or the columns of SortedObjects, to the members that they have in a space.
        """
        self.entries = entries
        self._space, self._block, self._members = space, block, members

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: Any) -> Any:
        rows = range(len(self))[index]
        if isinstance(rows, int):
            return next(self._blocks(range(rows, rows + 1), object_values))
        return [self[row] for row in rows] if rows.step != 1 else list(self._blocks(rows, object_values))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self._blocks(range(len(self)), object_values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # like a list

    def texts(self, indent: str) -> Iterator[str]:
        """Yield the JSON text of each entry; its first line follows `indent`, which is written already."""
        return self._blocks(range(len(self)), lambda members, count: object_texts(members, count, indent))

    def _blocks(self, rows: range, convert: Convert) -> Iterator[Any]:
        """Convert entries; those that were read from a document of this space keep their numbers."""
        for begin in range(rows.start, rows.stop, self._block):
            stop = min(begin + self._block, rows.stop)
            if isinstance(self.entries, SortedObjects):
                yield from convert(
                    self._members(self.entries.columns(begin, stop), self._space), stop - begin
                )
                continue
            entries = self.entries[begin:stop]
            restored = [restore_source_numbers(entry, self._space) for entry in entries]
            changed = [entry for entry, source in zip(entries, restored, strict=True) if source is None]
            unchanged = [source for source in restored if source is not None]
            of_changed, of_unchanged = (
                iter(convert(self._members(group, space), len(group)) if group else ())
                for group, space in ((changed, self._space), (unchanged, IDENTITY_SPACE))
            )
            yield from (next(of_changed if source is None else of_unchanged) for source in restored)
