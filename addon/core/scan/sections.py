"""Records of the sections of a long scan: joined, and as plain data, which one process gives to another."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidShapeError
from ..numeric.arrays import Table
from .pair_cache import ContactSpans, PairCache, PairRecords
from .report import VECTORS


def joined_records(parts: Sequence[PairCache]) -> PairCache:
    """Join the records of successive sections, at least one."""
    result = PairCache(np.logical_or.reduce([part.has_moved for part in parts]))
    result.pairs = PairRecords.joined([part.pairs for part in parts])
    # A contact that lasts over a cut begins as in its first section.
    result.open, *_ = ContactSpans.concatenate([part.spans() for part in parts]).joined()
    return result


_Table = TypeVar("_Table", bound=Table)

_TYPES = {
    **dict.fromkeys(("keys", "motion", "overlap"), "<i8"),
    **dict.fromkeys(("touched", "is_near", "has_moved", "has_depth"), "|b1"),
}
"""Types of the columns that are no numbers of float64."""


def share_as_json(records: PairCache) -> dict[str, Any]:
    """Convert the records of successive sections to plain data, exactly."""
    return {
        **{
            table: {name: _encoded(name, values) for name, values in vars(columns).items()}
            for table, columns in (("pairs", records.pairs), ("spans", records.spans()))
        },
        "has_moved": _encoded("has_moved", records.has_moved),
    }


def share_from_json(data: Any) -> PairCache:
    """Convert plain data to records.

    Raises InvalidShapeError: if it is not what `share_as_json` returns.
    """
    try:
        result = PairCache(_decoded("has_moved", data["has_moved"]))
        result.pairs, result.open = _table(PairRecords, data["pairs"]), _table(ContactSpans, data["spans"])
        if not np.isin(result.open.keys, result.pairs.keys).all():
            raise ValueError("contacts of unknown pairs")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidShapeError(f"records of a scan: {error}") from None
    return result


def _table(kind: type[_Table], data: dict[str, Any]) -> _Table:
    columns = [_decoded(name, data[name]) for name in kind.names()]
    if len({len(values) for values in columns}) != 1:
        raise ValueError("columns of different lengths")
    return kind(*columns)


def _encoded(name: str, values: NDArray[Any]) -> str:
    return base64.b64encode(values.astype(_TYPES.get(name, "<f8")).tobytes()).decode()


def _decoded(name: str, text: str) -> NDArray[Any]:
    values = np.frombuffer(base64.b64decode(text, validate=True), dtype=_TYPES.get(name, "<f8")).copy()
    return values.reshape(-1, 3) if name in VECTORS else values
