"""HTML reports: how long it takes to write the page about a document."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from addon.core import Aabb, ContactReport, ScanSettings, scan_contacts
from addon.core.progress import run_to_end
from addon.formats import (
    DocumentContents,
    ObjectBounds,
    Origin,
    ScannedContacts,
    TimeSettings,
    dumps,
    load_document,
    make_document,
    space_for,
)

from .tables import THIS_PROJECT, Call, Competitor, Row, Table

_FRAMES = 50


class _Bobbing:
    """A row of boxes, of which every second one moves up and down past both neighbors."""

    def __init__(self, count: int) -> None:
        self._x = 0.9 * np.arange(count)
        self._phase = np.random.default_rng(0).uniform(0, 6, count)

    def sample(self, time: float) -> Aabb:
        """Return the boxes at a frame."""
        is_moving = np.arange(len(self._x)) % 2
        y = np.where(is_moving, 3 * np.cos(time / 8 + self._phase), 0.0)
        center = np.stack([self._x, y, np.zeros(len(y))], axis=1)
        return Aabb(center - 0.5, center + 0.5)


def _report(motion: _Bobbing) -> ContactReport:
    settings = ScanSettings(motion="linear")
    report: ContactReport = run_to_end(scan_contacts(motion, range(1, _FRAMES + 1), settings))
    return report


def _document(contacts: int) -> Path:
    """Write a document with about as many contacts to a new folder, and return the file."""
    motion = _Bobbing(contacts + 1)
    boxes = motion.sample(1.0)
    none, one = np.array([1.0, 0, 0, 0]), np.ones(3)
    objects = [
        ObjectBounds(f"Part {k:05}", f"Part {k:05}", "MESH", None, center, none, one, (box,), (world,))
        for k, (center, world) in enumerate(zip(boxes.center, boxes.to_list(), strict=True))
        for box in [Aabb(world.min - center, world.max - center)]
    ]
    scanned = ScannedContacts(_report(motion), [entry.id for entry in objects], "aabb")
    origin = Origin("Collision Bounds", "0.1.0", "5.2.3", "parts.blend", "Scene")
    contents = DocumentContents(objects, (), origin, TimeSettings(24, 1, _FRAMES, 1, 1), scanned)
    path = Path(tempfile.mkdtemp(prefix="collision_bounds_")) / "parts.json"
    path.write_text("".join(dumps(make_document(contents, space_for("blender", 1.0)))), "utf-8")
    return path


def _page(document: Path) -> Call:
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    from html_report import write_report

    output = document.with_suffix(".html")

    def write() -> int:
        write_report(document, output)
        return output.stat().st_size

    return write


def _reading(document: Path) -> Call:
    return partial(load_document, document)


def _notes(_document: Path, results: Mapping[str, Any]) -> str:
    read, size = results[_READING], results.get(THIS_PROJECT)
    return f"{len(read['contacts'])} contacts" + (f", {size / 1e6:.1f} MB" if size else "")


_READING = "reading and checking the document alone"

REPORT_PAGES = Table(
    "report-pages",
    "contacts in the document, about",
    (Competitor(THIS_PROJECT, _page), Competitor(_READING, _reading)),
    [Row(f"{count:,}", partial(_document, count), count) for count in (400, 10_000)],
    compare=_notes,
)
