"""Base class of tables: columns with one value for each row, declared like the fields of a dataclass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np


@dataclass_transform(frozen_default=True, eq_default=False)
class Table:
    """Columns of arrays, batches of shapes, or further tables. Unpacks to its columns.

    Rows are along the first axis, or with `class Pairs(Table, last=True)` along the last: then sums over few
    coordinates of many rows are sums of whole columns.
    """

    _axis: ClassVar[int] = 0

    def __init_subclass__(cls, last: bool = False) -> None:
        """Make the subclass a frozen dataclass."""
        cls._axis = -1 if last else 0
        dataclass(frozen=True, eq=False)(cls)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the columns, in the order of their declaration."""
        return iter(vars(self).values())

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(each.name for each in fields(cls))  # type: ignore[arg-type]

    def take(self, rows: Any) -> Self:
        """Select rows by anything that indexes an array; by indices (k,) or a mask where rows are last."""
        if self._axis:
            if np.asarray(rows).dtype == bool:
                rows = np.flatnonzero(rows)  # np.take would read masks as indices
            return type(self)(*(np.take(column, rows, axis=-1) for column in self))
        return type(self)(
            *(column.take(rows) if isinstance(column, Table) else column[rows] for column in self)
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Join the rows of tables of arrays, at least one, in order."""
        return cls(*(np.concatenate(columns, axis=cls._axis) for columns in zip(*parts, strict=True)))

    def assign(self, rows: Any, new: Self) -> None:
        """Overwrite rows of the arrays in place."""
        for column, values in zip(self, new, strict=True):
            column[rows] = values

    def replaced(self, **columns: Any) -> Self:
        """Return the table with other columns of these names."""
        return replace(self, **columns)  # type: ignore[type-var]
