"""Records of sections as plain data for JSON, and back: arrays are base64 of their bytes."""

from __future__ import annotations

import base64
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidShapeError
from ...numeric.table import Table
from ..records import VECTORS, ContactSpans, PairRecords, ScannerRecords
from .bounds import SectionRecords, ShareRecords

_Table = TypeVar("_Table", bound=Table)

_INTEGERS = frozenset({"keys", "motion"})
_MASKS = frozenset({"touched", "is_near", "has_moved"})


def share_as_json(share: ShareRecords) -> dict[str, Any]:
    """Convert records to plain data, exactly."""
    sections = [
        {"begin": section.begin, "scanners": [_scanner_as_json(each) for each in section.scanners]}
        for section in share.sections
    ]
    return {"shapeCount": share.shape_count, "sections": sections}


def share_from_json(data: Any) -> ShareRecords:
    """Convert plain data to records.

    Raises InvalidShapeError: if it is not what `share_as_json` returns.
    """
    try:
        sections = tuple(
            SectionRecords(float(each["begin"]), tuple(map(_scanner_from_json, each["scanners"])))
            for each in data["sections"]
        )
        return ShareRecords(int(data["shapeCount"]), sections)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidShapeError(f"records of a scan: {error}") from None


def _scanner_as_json(records: ScannerRecords) -> dict[str, Any]:
    tables = {"pairs": records.pairs, "spans": records.spans}
    encoded: dict[str, Any] = {
        table: {name: _encoded(name, values) for name, values in vars(columns).items()}
        for table, columns in tables.items()
    }
    return {**encoded, "has_moved": _encoded("has_moved", records.has_moved)}


def _scanner_from_json(data: dict[str, Any]) -> ScannerRecords:
    pairs, spans = _table(PairRecords, data["pairs"]), _table(ContactSpans, data["spans"])
    if not np.isin(spans.keys, pairs.keys).all():
        raise ValueError("contacts of unknown pairs")
    return ScannerRecords(pairs, spans, _decoded("has_moved", data["has_moved"]))


def _table(kind: type[_Table], data: dict[str, Any]) -> _Table:
    columns = [_decoded(name, data[name]) for name in kind.names()]
    if len({len(values) for values in columns}) != 1:
        raise ValueError("columns of different lengths")
    return kind(*columns)


def _type_of(name: str) -> str:
    if name in _MASKS:
        return "|b1"
    return "<i8" if name in _INTEGERS else "<f8"


def _encoded(name: str, values: NDArray[Any]) -> str:
    return base64.b64encode(values.astype(_type_of(name)).tobytes()).decode()


def _decoded(name: str, text: str) -> NDArray[Any]:
    values = np.frombuffer(base64.b64decode(text, validate=True), dtype=_type_of(name)).copy()
    return values.reshape(-1, 3) if name in VECTORS else values
