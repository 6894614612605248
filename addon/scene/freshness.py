"""Whether results are those of the scene as it is, along undo and redo.

Nobody can tell from a scene at one frame that its whole animation is what it was. But where undo leads is
known: to what there was before. So results are fresh again if undo or redo leads to where every subject is
where it was before the first edit, unless an edit led there as well, or was made at another frame: either may
have left what does not show here. In any doubt they stay stale.

A drag that is called off is no edit, wherever it went meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from .live_shapes import Seen

Place: TypeAlias = tuple[int, str]
"""session_uid of a scene, and the name of one of its view layers."""


class AtFrame(NamedTuple):
    """What was there of the subjects at a frame."""

    frame: float
    seen: Seen

    def is_same(self, other: AtFrame) -> bool:
        """Whether everything is where it was, with the same vertices and settings."""
        return self.frame == other.frame and self.seen.is_same(other.seen)


class Freshness:
    """What results were last fresh for, in each place that shows them."""

    def __init__(self) -> None:
        self._fresh: dict[Place, AtFrame] = {}
        self._was_edited = False
        self._may_lead_back = True
        self._held: tuple[int, bool, bool] | None = None

    def remember(self, place: Place, now: AtFrame) -> None:
        """Results are fresh, and this is what there is."""
        if not self._was_edited:
            self._fresh[place] = now

    def is_unmoved(self, place: Place, now: AtFrame) -> bool:
        """Whether a place shows the very same as it did before the first edit."""
        return place in self._fresh and self._fresh[place].is_same(now)

    def edited(self, place: Place, now: AtFrame) -> None:
        """Something was edited, and this is what there is now."""
        self._was_edited = True
        before = self._fresh.get(place)
        if before is None or before.frame != now.frame or before.is_same(now):
            self._may_lead_back = False

    def hold(self, last_done: int) -> None:
        """Results are fresh, and a drag begins that may be called off; `last_done` was finished before."""
        self._held = last_done, self._was_edited, self._may_lead_back

    def let_go(self, place: Place, now: AtFrame, last_done: int) -> bool:
        """Nothing is dragged any more; whether the drag was called off and has left no trace."""
        held, self._held = self._held, None
        if held is None or held[0] != last_done or not self.is_unmoved(place, now):
            return False
        _, self._was_edited, self._may_lead_back = held
        return True

    def give_up(self) -> None:
        """Something was edited that nobody looked at."""
        self._was_edited, self._may_lead_back, self._held = True, False, None

    def after_undo(self, now: Mapping[Place, AtFrame]) -> bool | None:
        """Whether results are fresh after undo or redo, by what there is now; None: nothing was edited."""
        if not self._was_edited:
            return None
        known = [place for place in self._fresh if place in now]
        return (
            self._may_lead_back and bool(known) and all(self.is_unmoved(place, now[place]) for place in known)
        )
