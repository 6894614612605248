"""The part of the draw data that one 3D view draws: a local view hides subjects that the view layer shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.numeric.arrays import Ints
from .draw_data import DrawData
from .labels import draw_labels
from .painter import Painter, Style


@dataclass
class FilterableDrawData:
    """Draw data of a scene, and the part of it that each restricted 3D view draws.

    Attributes
    ----------
    data : DrawData
        Everything that is drawn of the scene.
    owner_uids : (n,) int
        session_uid of the object that each subject comes from.
    by_view : mapping of a view's address to (bytes, DrawData)
        Of views that do not show every object: a signature of the subjects shown, and their data.
    """

    data: DrawData
    owner_uids: Ints
    by_view: dict[int, tuple[bytes, DrawData]] = field(default_factory=dict)

    def in_view(self, context: Any) -> DrawData:
        """Return the data that the 3D view of the context draws."""
        view = context.space_data
        if shows_all(view):
            return self.data
        # Evaluated objects, because before Blender 5 the local view is not considered for original objects.
        items = context.view_layer.depsgraph.objects
        visible = [item.original.session_uid for item in items if item.visible_in_viewport_get(view)]
        is_visible = np.isin(self.owner_uids, np.array(visible, dtype=np.int64))
        signature = is_visible.tobytes()
        cached = self.by_view.get(view.as_pointer())
        if cached is None or cached[0] != signature:
            cached = self.by_view[view.as_pointer()] = signature, self.data.of_subjects(is_visible)
        return cached[1]


class ViewPainter:
    """Draws into the 3D view that Blender is drawing."""

    def __init__(self) -> None:
        self._painter: Painter | None = None

    def draw_shapes(self, drawn: FilterableDrawData, style: Style, context: Any) -> None:
        """Draw the shapes. Creates shaders and batches at the first call, which needs a graphics card."""
        painter = self._painter = self._painter or Painter()
        painter.draw(drawn.in_view(context), style, (context.region.width, context.region.height))

    def draw_labels(self, drawn: FilterableDrawData, context: Any) -> None:
        """Draw the labels, in pixels."""
        if drawn.data.labels:
            draw_labels(drawn.in_view(context), context)


def shows_all(view: Any) -> bool:
    """Return whether a 3D view shows every object that its view layer shows."""
    kinds = ("mesh", "curve", "surf", "meta", "font", "curves", "empty")
    return (
        view.local_view is None
        and not view.use_local_collections
        and all(getattr(view, f"show_object_viewport_{kind}", True) for kind in kinds)
    )
