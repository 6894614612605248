"""Progress of scans and of other long jobs, and the kinds of motion between samples; imports nothing."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

MotionKind: TypeAlias = Literal["adaptive", "linear"]
"""Motion between samples: "adaptive" evaluates the scene as often as necessary, "linear" interpolates."""

ContactMotion: TypeAlias = Literal["linear", "sampled", "proven"]
"""Motion from which a contact follows: "linear" between samples was assumed; it was "sampled" between frames
too; or "proven", because the motion of both subjects is known at all times."""


class Progress(NamedTuple):
    """Progress of a long job.

    Attributes
    ----------
    done, total : int
        Samples evaluated, in the phase "frames"; contacts tested, in the phase "meshes"; thousandths of the
        whole job in the others, which follow one another.
    time : float
        Of the latest sample, in frames.
    phase : {"frames", "meshes", "reading", "fitting", "writing"}
    part : float or None
        Part of the job that is done, where it is known better than by `done`.
    """

    done: int
    total: int
    time: float
    phase: Literal["frames", "meshes", "reading", "fitting", "writing"] = "frames"
    part: float | None = None

    @property
    def share(self) -> float:
        """Part of the job that is done, from 0 to 1."""
        return self.done / self.total if self.part is None else self.part
