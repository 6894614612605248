"""Where a long scan is cut into sections, and what is found in these."""

from __future__ import annotations

from typing import NamedTuple

from ..records import ScannerRecords

SECTION_INTERVALS = 250
"""Intervals of a section: so many that the additional work for each section does not matter."""


class Section(NamedTuple):
    """A section of a scan: from the sample `begin` to the sample `end`, by their indices."""

    begin: int
    end: int


def sections_of(sample_count: int) -> list[Section]:
    """Cut a scan into sections of equal lengths, but for the last one.

    The first sections are those of any longer scan too, so a scan that is stopped is one of fewer samples.
    """
    last = max(sample_count - 1, 0)
    begins = range(0, max(last, 1), SECTION_INTERVALS)
    return [Section(begin, min(begin + SECTION_INTERVALS, last)) for begin in begins]


def share_of(sections: list[Section], index: int, count: int) -> list[Section]:
    """Return the successive sections of one of `count` shares, by its number from 0; maybe none."""
    return sections[index * len(sections) // count : (index + 1) * len(sections) // count]


class SectionRecords(NamedTuple):
    """Records of all scanners of a section: of bodies among themselves, then of each obstacle.

    begin : Time at which the section begins.
    scanners : tuple of ScannerRecords
    """

    begin: float
    scanners: tuple[ScannerRecords, ...]


class ShareRecords(NamedTuple):
    """Records of successive sections of a scan.

    shape_count : Number of shapes in a sample of the scan.
    sections : tuple of SectionRecords
    """

    shape_count: int
    sections: tuple[SectionRecords, ...]
