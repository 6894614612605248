"""Records of sections as plain data for JSON, and back: arrays are base64 of their bytes."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidShapeError
from ..pair_cache import ContactSpans
from .records import ScannerRecords, SectionRecords, ShareRecords

_VECTORS = frozenset({"point", "normal", "velocity", "direction"})
"""Columns of contacts with three numbers each."""
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

    Raises
    ------
    InvalidShapeError
        If it is not what `share_as_json` returns.
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
    fields = records._asdict()
    spans = {name: _encoded(name, values) for name, values in vars(fields.pop("spans")).items()}
    return {name: _encoded(name, values) for name, values in fields.items()} | {"spans": spans}


def _scanner_from_json(data: dict[str, Any]) -> ScannerRecords:
    spans = ContactSpans(*(_decoded(name, data["spans"][name]) for name in ContactSpans.names()))
    if len({len(values) for values in spans}) != 1:
        raise ValueError("columns of different lengths")
    fields = {name: _decoded(name, data[name]) for name in ScannerRecords._fields if name != "spans"}
    if len({len(values) for name, values in fields.items() if name != "has_moved"}) != 1:
        raise ValueError("columns of different lengths")
    if not np.isin(spans.keys, fields["keys"]).all():
        raise ValueError("contacts of unknown pairs")
    return ScannerRecords(**fields, spans=spans)


def _type_of(name: str) -> str:
    if name in _MASKS:
        return "|b1"
    return "<i8" if name in _INTEGERS else "<f8"


def _encoded(name: str, values: NDArray[Any]) -> str:
    return base64.b64encode(values.astype(_type_of(name)).tobytes()).decode()


def _decoded(name: str, text: str) -> NDArray[Any]:
    values = np.frombuffer(base64.b64decode(text, validate=True), dtype=_type_of(name)).copy()
    return values.reshape(-1, 3) if name in _VECTORS else values
