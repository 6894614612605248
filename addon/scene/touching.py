"""Which subjects are in contact: at a frame that a report tells of, or now."""

from __future__ import annotations

import numpy as np

from ..core import ContactReport, overlapping_pairs, overlaps
from ..core.arrays import Bools
from .live_shapes import Parts

# Blender keeps sub-frames in single precision; a jump to a contact lands this close to it.
_FRAME_TOLERANCE = 1e-4
_SINGLE_PRECISION = 2e-7


class ContactTimes:
    """When the contacts of a report begin and end."""

    def __init__(self, report: ContactReport, count: int) -> None:
        spans = [(contact, span) for contact in report.contacts for span in contact.intervals]
        self._sides = np.array([(contact.a, contact.b) for contact, _ in spans], dtype=np.int64).reshape(
            -1, 2
        )
        self._ends = np.array([(span.start, span.end) for _, span in spans]).reshape(-1, 2)
        self._count = count

    def touching_at(self, frame: float) -> Bools:
        """(n,) which subjects touch another at a frame, both ends of a contact included."""
        tolerance = _FRAME_TOLERANCE + _SINGLE_PRECISION * abs(frame)
        start, end = self._ends.T
        is_on = (start - tolerance <= frame) & (frame <= end + tolerance)
        in_contact = np.zeros(self._count, dtype=bool)
        in_contact[self._sides[is_on]] = True
        return in_contact


def touching_now(parts: Parts, count: int) -> Bools:
    """(n,) which subjects have a part that overlaps one of another subject."""
    in_contact = np.zeros(count, dtype=bool)
    pairs = overlapping_pairs(parts.shape.aabb())
    pairs = pairs[parts.owners[pairs[:, 0]] != parts.owners[pairs[:, 1]]]
    touching = overlaps(parts.shape[pairs[:, 0]], parts.shape[pairs[:, 1]])
    in_contact[parts.owners[pairs[touching]]] = True
    return in_contact
