"""What a contact scan finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from .arrays import Floats

MotionKind: TypeAlias = Literal["adaptive", "linear"]
"""Between samples: the scene is asked as often as it takes, or the straight line is taken."""


class Progress(NamedTuple):
    """`done` of `total` samples taken, or contacts asked, the last look at `time` (frames)."""

    done: int
    total: int
    time: float
    phase: Literal["frames", "meshes"] = "frames"


class ContactInterval(NamedTuple):
    """A stretch of time in contact, both ends included, in frames."""

    start: float
    end: float


@dataclass(frozen=True, slots=True)
class FirstContact:
    """The first time a pair touches.

    frame : fractional frame
    uncertainty : frames by which `frame` may be off, estimated from how far neighbouring samples are from a
        straight line; the whole interval where there are no neighbours to tell
    point, normal : (3,) where, and the unit vector from a to b
    at_start : already in contact when the scan begins
    tunnelling : no whole frame shows this contact
    motion : whether the way between samples was looked at, or taken to be straight
    """

    frame: float
    uncertainty: float
    point: Floats
    normal: Floats
    at_start: bool
    tunnelling: bool
    motion: MotionKind = "linear"


@dataclass(frozen=True, slots=True)
class Contact:
    """A pair that touches: a and b are indices of subjects, `depth` is at `deepest_frame`, >= -clearance."""

    a: int
    b: int
    first: FirstContact
    intervals: tuple[ContactInterval, ...]
    deepest_frame: float
    depth: float


@dataclass(frozen=True, slots=True)
class Clearance:
    """A near miss: the pair never touches and comes closest at `frame`, leaving `gap`."""

    a: int
    b: int
    frame: float
    gap: float


@dataclass(frozen=True, slots=True)
class ContactReport:
    """What a scan found: contacts by time of first contact, near misses by gap.

    A near miss is a pair, one of it moving, whose gap is at most the size of the smaller one: the radius of a
    sphere, half the diagonal of a box, when first seen.

    stopped_at : the last frame that was looked at, where the scan was stopped before its end; else None
    """

    contacts: tuple[Contact, ...]
    clearances: tuple[Clearance, ...]
    stopped_at: float | None = None
