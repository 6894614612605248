"""What a 3D view draws of a picture: all of it, or what the view itself does not hide, as local views do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.arrays import Ints
from .drawing import Painter, Style
from .names import draw_names
from .picture import Picture


@dataclass
class OnShow:
    """A picture, and the session_uid of the object that each subject in it is there because of, (n,).

    seen_in : of views that do not show everything, by their address: what they show of it, and that
    """

    picture: Picture
    owners: Ints
    seen_in: dict[int, tuple[bytes, Picture]] = field(default_factory=dict)


class Views:
    """Draws into whichever view Blender is drawing."""

    def __init__(self) -> None:
        self._painter: Painter | None = None

    def draw(self, show: OnShow, style: Style, context: Any) -> None:
        """Draw the shapes."""
        painter = self._painter = self._painter or Painter()
        painter.draw(_seen(show, context), style, (context.region.width, context.region.height))

    def draw_names(self, show: OnShow, context: Any) -> None:
        """Draw the names, in pixels."""
        if show.picture.names:
            draw_names(_seen(show, context), context)


def _seen(show: OnShow, context: Any) -> Picture:
    """What the view of the context shows."""
    view = context.space_data
    if _shows_all(view):
        return show.picture
    # Evaluated ones: in a local view, originals do not tell before Blender 5.
    items = context.view_layer.depsgraph.objects
    visible = [item.original.session_uid for item in items if item.visible_in_viewport_get(view)]
    chosen = np.isin(show.owners, np.array(visible, dtype=np.int64))
    known = show.seen_in.get(view.as_pointer())
    if known is None or known[0] != chosen.tobytes():
        known = show.seen_in[view.as_pointer()] = chosen.tobytes(), show.picture.of(chosen)
    return known[1]


def _shows_all(view: Any) -> bool:
    """Whether a 3D view shows every object that its view layer does."""
    kinds = ("mesh", "curve", "surf", "meta", "font", "curves", "empty")
    return (
        view.local_view is None
        and not view.use_local_collections
        and all(getattr(view, f"show_object_viewport_{kind}", True) for kind in kinds)
    )
