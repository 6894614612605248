"""Separations of pairs over time, from files of *Export Separation*."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from addon.formats.wording import single_line

from .contents import ReportError


def separation_curves(requested: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Read curves, each from two ids and a file.

    Returns
    -------
    curves : list of dict
        With `a`, `b`, `frames`, `lengths` (None where the separation is not known) and `unit`.

    Raises
    ------
    ReportError
        If a file cannot be read, or has another content.
    """
    return [_curve(single_line(a), single_line(b), Path(file)) for a, b, file in requested]


def _curve(a: str, b: str, path: Path) -> dict[str, Any]:
    frames: list[float] = []
    lengths: list[float | None] = []
    unit = ""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            if rows.fieldnames is None or not {"frame", "separation", "unit"} <= set(rows.fieldnames):
                raise ReportError(f"{path}: is not a file of Export Separation")
            for row in rows:
                frames.append(_number(row["frame"]))
                lengths.append(_number(row["separation"]) if row["separation"] else None)
                unit = row["unit"]
    except ReportError:
        raise
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise ReportError(f"{path}: {error}") from None
    if frames != sorted(frames):
        raise ReportError(f"{path}: its frames are not in order")
    return {"a": a, "b": b, "frames": frames, "lengths": lengths, "unit": single_line(unit)}


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not finite")
    return number
