"""Objects or tracks of a document: dicts that are made on access, and text without making them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeAlias

from ..spaces import Space
from .json_columns import ObjectColumn, object_texts, object_values
from .source_numbers import IDENTITY_SPACE, Entry, restore_source_numbers

Convert: TypeAlias = Callable[[ObjectColumn, int], Iterable[Any]]
"""Converts columns of so many entries to their dicts or texts."""


class WrittenEntries(Sequence[dict[str, Any]], Generic[Entry]):
    """Entries of a document, each converted to a dict on access.

    A document can have very many. `json_parts` writes them without making the dicts.
    """

    def __init__(self, entries: Sequence[Entry], space: Space, block: int) -> None:
        """Convert entries on demand.

        entries : In the order of the document.
        space : The document's space.
        block : Number of entries that are converted at once.
        """
        self._entries: Sequence[Entry] = entries
        self._space, self._block = space, block

    @abstractmethod
    def _members(self, entries: Sequence[Entry], space: Space) -> ObjectColumn:
        """Convert entries to the members that they have in a space."""

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: Any) -> Any:
        rows = range(len(self))[index]
        if isinstance(rows, int):
            return next(iter(self._converted(rows, rows + 1, object_values)))
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
        for begin in range(rows.start, rows.stop, self._block):
            yield from self._converted(begin, min(begin + self._block, rows.stop), convert)

    def _converted(self, start: int, stop: int, convert: Convert) -> Iterable[Any]:
        """Convert entries; those that were read from a document of this space keep their numbers."""
        entries = self._entries[start:stop]
        restored = [restore_source_numbers(entry, self._space) for entry in entries]
        changed = [entry for entry, source in zip(entries, restored, strict=True) if source is None]
        unchanged = [source for source in restored if source is not None]
        of_changed, of_unchanged = (
            iter(convert(self._members(group, space), len(group)) if group else ())
            for group, space in ((changed, self._space), (unchanged, IDENTITY_SPACE))
        )
        return (next(of_changed if source is None else of_unchanged) for source in restored)
