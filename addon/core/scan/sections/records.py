"""Records of a section of a scan, as arrays that can be stored and joined."""

from __future__ import annotations

from typing import NamedTuple

from ...numeric.arrays import Bools, Floats, Ints
from ..pair_cache import ContactSpans


class ScannerRecords(NamedTuple):
    """Pairs and contacts of one scanner in a section.

    Attributes
    ----------
    keys : (m,) int
        Keys of the pairs that came near each other, increasing.
    least, least_time : (m,) float
        Least separation, and its time.
    touched : (m,) bool
        Whether the pair had a contact.
    is_near : (m,) bool
        Whether the least separation is at most the size of the smaller subject.
    doubtful_since : (m,) float
        Time from which the pair may touch without a record; inf for none.
    spans : ContactSpans
        Contacts, ordered by key, then time.
    has_moved : (s,) bool
        Subjects that moved, appeared or disappeared.
    """

    keys: Ints
    least: Floats
    least_time: Floats
    touched: Bools
    is_near: Bools
    doubtful_since: Floats
    spans: ContactSpans
    has_moved: Bools


class SectionRecords(NamedTuple):
    """Records of all scanners of a section: of bodies among themselves, then of each obstacle.

    Attributes
    ----------
    begin : float
        Time at which the section begins.
    scanners : tuple of ScannerRecords
    """

    begin: float
    scanners: tuple[ScannerRecords, ...]


class ShareRecords(NamedTuple):
    """Records of successive sections of a scan.

    Attributes
    ----------
    shape_count : int
        Number of shapes in a sample of the scan.
    sections : tuple of SectionRecords
    """

    shape_count: int
    sections: tuple[SectionRecords, ...]
