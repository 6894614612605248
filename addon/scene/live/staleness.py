"""State machine of a result's staleness, along edits, drags, undo and redo.

A result describes the scene that it was computed from. One frame does not show whether the whole animation is
still the same, but undo leads to a known moment: the one before the first edit. So a result is fresh again if
undo or redo leads to where every subject is as it was before that edit. It stays stale if an edit led to that
same moment too, or was made at another frame, because either may have changed something that this frame does
not show. In any doubt a result is stale.

A cancelled drag is no edit, wherever the object was moved meanwhile.

    FRESH or RESTORED --edit or drag--> RESTORABLE --undo--> RESTORED --redo--> RESTORABLE
    any state --cancelled drag--> the state before the drag
    any state --edit that does not show at its frame--> STALE, which is final
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import TypeAlias

from .contact_state import FrameSnapshot

ViewLayerKey: TypeAlias = tuple[int, str]
"""session_uid of a scene, and the name of one of its view layers."""


class Staleness(Enum):
    """States of a result. It is valid in FRESH and RESTORED, and out of date in the others."""

    FRESH = auto()
    """No subject was edited since the result was computed."""
    RESTORABLE = auto()
    """A subject was edited, and undo can lead back to the recorded moment."""
    RESTORED = auto()
    """Undo or redo has led back to the recorded moment; redo can lead away from it again."""
    STALE = auto()
    """An edit was made that the recorded moment cannot rule out: no undo makes the result valid."""

    @property
    def is_stale(self) -> bool:
        return self not in (Staleness.FRESH, Staleness.RESTORED)


class StalenessMachine:
    """Staleness of one result, from what its view layers showed when it was last fresh."""

    def __init__(self, state: Staleness = Staleness.FRESH) -> None:
        self.state = state
        self._recorded: dict[ViewLayerKey, FrameSnapshot] = {}
        # The operator that had finished last when a drag began, which is still the last one after a cancelled
        # drag, and the state then.
        self._drag: tuple[int, Staleness] | None = None

    def record(self, layer: ViewLayerKey, now: FrameSnapshot) -> None:
        """Record what a view layer shows of a fresh result. Does nothing once it was edited."""
        if self.state is Staleness.FRESH:
            self._recorded[layer] = now

    def on_edit(
        self, layer: ViewLayerKey, now: FrameSnapshot | None, is_dragging: bool, last_operator: int
    ) -> None:
        """Take an edit of a subject into account.

        layer : View layer in which the edit was noticed.
        now : The subjects after the edit; None if the view layer shows none.
        is_dragging : Whether the user is moving objects at this moment.
        last_operator : Identifies the operator that finished last; see `last_operator_pointer`.
        """
        if now is None:
            self.invalidate()
        elif is_dragging:
            if self._drag is None:
                # It may be cancelled before anything moves.
                self._drag = last_operator, self.state
            if not self.is_unmoved(layer, now):
                self.record_edit(layer, now)
        else:
            drag, self._drag = self._drag, None
            if drag is not None and drag[0] == last_operator and self.is_unmoved(layer, now):
                self.state = drag[1]
            else:
                self.record_edit(layer, now)

    def on_undo(self, now: Mapping[ViewLayerKey, FrameSnapshot]) -> None:
        """Compare the outcome of undo or redo with the recorded moment, in all view layers drawn."""
        if self.state in (Staleness.FRESH, Staleness.STALE):
            return
        known = [layer for layer in self._recorded if layer in now]
        leads_back = bool(known) and all(self.is_unmoved(layer, now[layer]) for layer in known)
        self.state = Staleness.RESTORED if leads_back else Staleness.RESTORABLE

    def is_unmoved(self, layer: ViewLayerKey, now: FrameSnapshot) -> bool:
        """Return whether a view layer shows the recorded moment."""
        return layer in self._recorded and self._recorded[layer].is_same(now)

    def record_edit(self, layer: ViewLayerKey, now: FrameSnapshot) -> None:
        """Note that a subject was edited, which led to `now`."""
        recorded = self._recorded.get(layer)
        is_hidden = recorded is None or recorded.frame != now.frame or recorded.is_same(now)
        if self.state is not Staleness.STALE:
            self.state = Staleness.STALE if is_hidden else Staleness.RESTORABLE

    def invalidate(self) -> None:
        """Make the result stale for good, because of an edit whose outcome is not known."""
        self.state, self._drag = Staleness.STALE, None
