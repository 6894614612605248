"""Contacts of bounds that are tested again on the meshes: a scan of these pairs with the meshes as shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...core import CollisionBoundsError, Contact, ContactReport, FirstContact, NonFiniteGeometryError
from ...formats import Confirmation, MeshContact, NotVerified
from ..motion.scene_motion import SceneMotion
from ..subjects.subject import Subject


def reasons_against(
    subjects: Sequence[Subject], contacts: Sequence[Contact], motion: SceneMotion
) -> list[NotVerified | None]:
    """Return why the meshes of each contact cannot be tested; None where they can.

    subjects, motion : Of the scan of bounds. Contacts refer to subjects by index.
    """
    return [_reason_against([subjects[k] for k in (each.a, each.b)], each, motion) for each in contacts]


def _reason_against(both: Sequence[Subject], contact: Contact, motion: SceneMotion) -> NotVerified | None:
    for reason, holds in (
        (NotVerified.BONE, any(subject.bone is not None for subject in both)),
        (NotVerified.CUSTOM_SHAPE, any(subject.override is not None for subject in both)),
        (NotVerified.LOOSE_PART, any(subject.part is not None for subject in both)),
        (NotVerified.MERGED_COLLECTION, any(subject.members for subject in both)),
        (NotVerified.UNBAKED_SIMULATION, not motion.is_divisible),
        (NotVerified.SIMULATED, not motion.refinable[[contact.a, contact.b]].all()),
    ):
        if holds:
            return reason
    return None


class _MeshReport(NamedTuple):
    """First contacts by the pairs of subjects, and the time at which the scan was stopped, if it was."""

    first: dict[frozenset[int], FirstContact]
    stopped_at: float | None

    @classmethod
    def of(cls, report: ContactReport) -> _MeshReport:
        """Take the report of a scan."""
        return cls({frozenset((each.a, each.b)): each.first for each in report.contacts}, report.stopped_at)


class MeshReports(NamedTuple):
    """Scans of the meshes of some pairs.

    motion : Motion of the meshes of all subjects.
    touching : Their contacts.
    closer : Those with the clearance of the scan; None without one.
    """

    motion: SceneMotion
    touching: _MeshReport
    closer: _MeshReport | None

    @classmethod
    def of(cls, motion: SceneMotion, touching: ContactReport, closer: ContactReport | None) -> MeshReports:
        """Take the reports of both scans."""
        return cls(motion, _MeshReport.of(touching), None if closer is None else _MeshReport.of(closer))

    def answer(self, contact: Contact) -> Confirmation | NotVerified:
        """Return what the meshes of a contact do, or why that is not known."""
        for error in (self.motion.fit_errors.get(k) for k in (contact.a, contact.b)):
            if error is not None:
                return _reason_of(error)
        first = self._first(self.touching, contact)
        if self.closer is None or isinstance(first, NotVerified):
            return first
        closer = self._first(self.closer, contact)
        return (
            closer if isinstance(closer, NotVerified) else Confirmation(first.first, first.is_proven, closer)
        )

    def _first(self, report: _MeshReport, contact: Contact) -> Confirmation | NotVerified:
        """Return the first contact of a pair in a report; it may have been stopped before."""
        pair = frozenset((contact.a, contact.b))
        found = report.first.get(pair)
        if found is not None:
            first = MeshContact(_within(contact, found.frame), found.uncertainty, found.point)
            return Confirmation(first, found.motion == "proven")
        if report.stopped_at is not None and report.stopped_at < contact.intervals[-1].end:
            return NotVerified.STOPPED
        certain, owners = self.motion.certain, self.motion.owners
        owners = np.arange(len(self.motion.reader.subjects)) if owners is None else owners
        is_proven = certain is not None and bool(certain.is_certain[np.isin(owners, list(pair))].all())
        return Confirmation(None, is_proven)


def _within(contact: Contact, time: float) -> float:
    """Return a time, or where it is between the contacts of the bounds, the begin of the next one."""
    span = next((span for span in contact.intervals if time <= span.end), contact.intervals[-1])
    return min(max(time, span.start), span.end)


def _reason_of(error: CollisionBoundsError) -> NotVerified:
    return NotVerified.NOT_FINITE if isinstance(error, NonFiniteGeometryError) else NotVerified.NO_FACES
