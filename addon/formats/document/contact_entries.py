"""Contacts and near misses as JSON dicts. Their numbers are converted as arrays, of all contacts at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from ...core import Clearance, Contact, ContactDetails
from ...core.numeric.arrays import Floats
from ..contact_extents import EXTENTS, signed_depth
from ..rounding import is_whole, json_number, rounded_down, rounded_to_nearest, rounded_up, to_lists
from ..spaces import Space
from .model import Confirmation, ScannedContacts, TimeSettings
from .not_verified import NotVerified

UNIT_DECIMALS = 6
"""Decimals that directions, scale factors and frames keep at least, however lengths are rounded.

A unit vector must keep its length, and a frame must stay comparable with an animation curve.
"""

_SPEED_DECIMALS = 6
"""Decimals that velocities have at most: more would not survive the conversion to frames and back."""


@dataclass(frozen=True)
class ContactWriter:
    """Converts contacts and near misses to JSON dicts.

    Attributes
    ----------
    space : Space
        Space of the document.
    decimals : int
        Decimals of lengths.
    time : TimeSettings
        Of the scan.
    """

    space: Space
    decimals: int
    time: TimeSettings

    def contacts(self, scanned: ScannedContacts) -> list[dict[str, Any]]:
        """Convert all contacts of a report."""
        contacts = scanned.report.contacts
        firsts = [contact.first for contact in contacts]
        frames = self._frames_down([first.frame for first in firsts])
        columns = zip(
            contacts,
            frames,
            self._seconds(frames),
            self._frames_up([first.uncertainty for first in firsts]),
            self._vectors([first.point for first in firsts]),
            self._directions([first.normal for first in firsts]),
            self._intervals(contacts, scanned.clearance),
            self._extents(contacts, scanned.clearance),
            strict=True,
        )
        rows = zip_longest(columns, scanned.confirmed, scanned.accepted)
        return [
            self._contact(column, scanned, confirmation, accepted) for column, confirmation, accepted in rows
        ]

    def _contact(
        self,
        column: tuple[Any, ...],
        scanned: ScannedContacts,
        confirmation: Confirmation | NotVerified | None,
        accepted: str | None,
    ) -> dict[str, Any]:
        """Make one contact from its converted numbers."""
        contact, frame, seconds, uncertainty, point, normal, intervals, extent = column
        first, ids = contact.first, (scanned.ids[contact.a], scanned.ids[contact.b])
        obstacles = [id for id in ids if id in scanned.obstacles] if scanned.obstacles else ()
        return {
            "a": ids[0],
            "b": ids[1],
            "shape": scanned.shape,
            **({"obstacle": obstacles[0]} if obstacles else {}),
            "motion": first.motion,
            **({"clearance": self._setting(scanned.clearance)} if scanned.clearance else {}),
            "first": {
                "frame": frame,
                "seconds": seconds,
                "uncertainty": uncertainty,
                "point": point,
                "normal": normal,
                # The frame is rounded down, so a contact just after the first frame begins there too.
                "atStart": first.at_start or frame <= self.time.start,
                "tunnelling": first.tunnelling,
            },
            "intervals": intervals,
            **extent,
            **self._confirmation(confirmation),
            **({} if accepted is None else {"accepted": accepted}),
        }

    def _confirmation(self, confirmation: Confirmation | NotVerified | None) -> dict[str, Any]:
        """Make the member of a contact about its meshes, or about why they were not tested."""
        if confirmation is None:
            return {}
        if isinstance(confirmation, NotVerified):
            return {"notVerified": confirmation.value}
        return {"meshes": self._meshes(confirmation)}

    def _meshes(self, confirmation: Confirmation) -> dict[str, Any]:
        """Convert the result of testing the meshes of a contact."""
        closer = confirmation.closer
        return {
            "touch": confirmation.first is not None,
            **self._mesh_contact(confirmation),
            **({} if closer is None else {"closer": self._mesh_contact(closer) if closer.first else None}),
        }

    def _mesh_contact(self, confirmation: Confirmation) -> dict[str, Any]:
        """Convert the first time at which meshes touch, or come close, if they do, and how it is known."""
        motion = {"motion": "proven" if confirmation.is_proven else "sampled"}
        first = confirmation.first
        if first is None:
            return motion
        frames = self._frames_down([first.time])
        return {
            "frame": frames[0],
            "seconds": self._seconds(frames)[0],
            "uncertainty": self._frames_up([first.uncertainty])[0],
            "point": self._vectors([first.point])[0],
            **motion,
        }

    def _setting(self, length: float) -> float:
        """Convert a length that a user chose, which is exact: the product with the unit is not."""
        return json_number(float(f"{length * self.space.scale:.12g}"))

    def _extents(self, entries: Sequence[Contact | ContactDetails], clearance: float) -> list[dict[str, Any]]:
        """Convert the time and depth of the deepest overlaps, or the gap of what only comes close.

        A gap that is 0 with the decimals of the document is a depth of 0.
        """
        frames = self._frames_nearest([entry.deepest_frame for entry in entries])
        signed = np.array([entry.depth for entry in entries], dtype=np.float64) * self.space.scale
        depths = _json_numbers(rounded_to_nearest(np.maximum(signed, 0.0), self.decimals))
        rounded = rounded_to_nearest(np.maximum(-signed, 0.0), self.decimals)
        # Rounding must not make a gap larger than the clearance.
        most = rounded_down(np.array([self._setting(clearance)]), self.decimals)
        gaps = _json_numbers(np.minimum(rounded, most))
        rows = zip(frames, depths, gaps, strict=True)
        return [
            {"closest": {"frame": at, "gap": gap}} if gap else {"deepest": {"frame": at, "depth": depth}}
            for at, depth, gap in rows
        ]

    def _intervals(self, contacts: Sequence[Contact], clearance: float) -> Iterator[list[dict[str, Any]]]:
        """Yield the intervals of each contact, rounded outward; intervals that then overlap are merged."""
        intervals = [interval for contact in contacts for interval in contact.intervals]
        starts = iter(self._frames_down([interval.start for interval in intervals]))
        ends = iter(self._frames_up([interval.end for interval in intervals]))
        every = chain.from_iterable(contact.details[: len(contact.intervals)] for contact in contacts)
        details = self._details(list(every), clearance)
        for contact in contacts:
            written: list[dict[str, Any]] = []
            for number in range(len(contact.intervals)):
                start, end = next(starts), next(ends)
                entry: dict[str, Any] = {"start": start, "end": end}
                if number < len(contact.details):
                    entry |= next(details)
                if written and start < written[-1]["end"]:
                    last = written[-1]
                    last["end"] = end
                    if signed_depth(entry) > signed_depth(last):
                        kept = {key: value for key, value in last.items() if key not in EXTENTS}
                        extent = {key: value for key, value in entry.items() if key in EXTENTS}
                        written[-1] = kept | extent
                else:
                    written.append(entry)
            yield written

    def _details(self, details: Sequence[ContactDetails], clearance: float) -> Iterator[dict[str, Any]]:
        """Yield begin and deepest overlap of intervals; velocities become lengths per second."""
        normals = self._directions([entry.normal for entry in details])
        columns = zip(
            self._frames_up([entry.uncertainty for entry in details]),
            self._vectors([entry.point for entry in details]),
            normals,
            *self._velocities(details, normals),
            self._extents(details, clearance),
            self._directions([entry.direction for entry in details]),
            strict=True,
        )
        for uncertainty, point, normal, velocity, closing_speed, extent, direction in columns:
            yield {
                "uncertainty": uncertainty,
                "point": point,
                "normal": normal,
                "velocity": velocity,
                "closingSpeed": closing_speed,
                **{key: {**value, "direction": direction} for key, value in extent.items()},
            }

    def _velocities(
        self, details: Sequence[ContactDetails], normals: Sequence[list[float]]
    ) -> tuple[list[list[float] | None], list[float | None]]:
        """Convert velocities, and return closing speeds too; None for those that are not known."""
        decimals = min(self.decimals, _SPEED_DECIMALS)
        rows = [row for row, entry in enumerate(details) if entry.velocity is not None]
        exact = _vectors([details[row].velocity for row in rows]) * self.time.fps
        velocities = to_lists(rounded_to_nearest(self.space.vectors(exact), decimals))
        # Of the written numbers, so that they are the same after they were read.
        exact_speeds = [
            -sum(part * along for part, along in zip(velocity, normals[row], strict=True))
            for row, velocity in zip(rows, velocities, strict=True)
        ]
        speeds = _json_numbers(rounded_to_nearest(exact_speeds, decimals))
        all_velocities: list[list[float] | None] = [None] * len(details)
        all_speeds: list[float | None] = [None] * len(details)
        for row, velocity, speed in zip(rows, velocities, speeds, strict=True):
            all_velocities[row], all_speeds[row] = velocity, speed
        return all_velocities, all_speeds

    def clearances(self, scanned: ScannedContacts) -> list[dict[str, Any]]:
        """Convert all near misses of a report."""
        clearances: Sequence[Clearance] = scanned.report.clearances
        frames = self._frames_nearest([entry.frame for entry in clearances])
        gaps = np.array([entry.gap for entry in clearances], dtype=np.float64) * self.space.scale
        rows = zip(clearances, frames, _json_numbers(rounded_down(gaps, self.decimals)), strict=True)
        return [
            {"a": scanned.ids[entry.a], "b": scanned.ids[entry.b], "frame": frame, "gap": gap}
            for entry, frame, gap in rows
        ]

    def _vectors(self, vectors: Sequence[Floats]) -> Any:
        """Convert positions or displacements (3,)."""
        rounded = rounded_to_nearest(self.space.vectors(_vectors(vectors)), self.decimals)
        # Numbers of more than 15 digits would change when a document is read and written again.
        is_long = np.abs(rounded) >= 10.0 ** (15 - self.decimals)
        rounded[is_long] = [float(f"{value:.15g}") for value in rounded[is_long].tolist()]
        return to_lists(rounded)

    def _directions(self, directions: Sequence[Floats]) -> Any:
        """Convert unit vectors (3,)."""
        in_space = self.space.directions(_vectors(directions))
        return to_lists(rounded_to_nearest(in_space, self._unit_decimals))

    @property
    def _unit_decimals(self) -> int:
        return max(self.decimals, UNIT_DECIMALS)

    def _seconds(self, frames: Sequence[float]) -> list[float]:
        """Convert frames that are rounded already."""
        return _json_numbers(
            rounded_down(np.array(frames, dtype=np.float64) / self.time.fps, self._unit_decimals)
        )

    def _frames_down(self, frames: Sequence[float]) -> list[float]:
        """Round frames down, so that a contact is never reported late."""
        return _json_numbers(rounded_down(frames, self._unit_decimals))

    def _frames_up(self, frames: Sequence[float]) -> list[float]:
        return _json_numbers(rounded_up(frames, self._unit_decimals))

    def _frames_nearest(self, frames: Sequence[float]) -> list[float]:
        return _json_numbers(rounded_to_nearest(frames, self._unit_decimals))


def _vectors(vectors: Sequence[Any]) -> Floats:
    """Stack vectors (3,) to an array (n, 3)."""
    return np.array(vectors, dtype=np.float64).reshape(-1, 3)


def _json_numbers(values: Floats) -> list[float]:
    """Convert numbers (n,) as `json_number`."""
    return [json_number(value) if is_whole(value) else value for value in values.tolist()]
