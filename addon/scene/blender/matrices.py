"""Matrices and visibility of all objects of a scene, each read in one call."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools, Ints


class ObjectReader:
    """Reads all objects of a scene at once, in the order of the scene, and finds subjects among them.

    Attributes
    ----------
    has_changed : bool
        Whether objects came or went since the previous reading, or others are shown than at the first one.
    """

    def __init__(self, wanted: Ints) -> None:
        """Find subjects by the session_uids (n,) of the objects that they are, or that instance them."""
        self._wanted = wanted
        self._uids, self._hidden = np.empty(0, dtype=np.int32), np.empty(0, dtype=bool)
        self._first_hidden: bytes | None = None
        self._index = np.full(len(wanted), -1)
        self._shown = np.zeros(len(wanted), dtype=bool)
        self.has_changed = False

    def read(self, scene: bpy.types.Scene, subjects: Ints) -> tuple[Ints, Bools, NDArray[np.float64]]:
        """Read the objects of a scene, and return those of some subjects.

        Parameters
        ----------
        scene : bpy.types.Scene
        subjects : (m,) int

        Returns
        -------
        index : (m,) int
            Index of each object in `scene.objects`; -1 for a missing one.
        is_shown : (m,) bool
            Whether it exists, and is not hidden in all viewports.
        matrices : (m, 4, 4) float64
            World matrices; zeros for a missing object.
        """
        # The order is that of `scene.objects`, which Blender would build anew for each access.
        items: Any = scene.collection.all_objects
        count = len(items)
        uids, hidden = np.empty(count, dtype=np.int32), np.empty(count, dtype=bool)
        matrices = np.empty((count + 1, 4, 4), dtype=np.float32)
        matrices[count] = 0
        items.foreach_get("session_uid", uids)
        items.foreach_get("hide_viewport", hidden)
        items.foreach_get("matrix_world", matrices[:count].reshape(-1))
        # Compare bytes, because small arrays take ten times as long.
        now = hidden.tobytes()
        same = uids.tobytes() == self._uids.tobytes()
        if self._first_hidden is None:
            self._first_hidden = now
        else:
            self.has_changed = not (same and now == self._first_hidden)
        if not same:
            order = np.append(np.argsort(uids, kind="stable"), -1)
            index = order[np.searchsorted(uids[order[:-1]], self._wanted)]
            self._index = np.where(np.append(uids, -1)[index] == self._wanted, index, -1)
        if not (same and now == self._hidden.tobytes()):
            self._shown = ~np.append(hidden, True)[self._index]
        self._uids, self._hidden = uids, hidden
        index = self._index[subjects]
        # Blender stores matrices by columns.
        return index, self._shown[subjects], matrices[index].transpose(0, 2, 1).astype(np.float64)


def visibility_and_selection(
    scene: bpy.types.Scene, layer: bpy.types.ViewLayer, index: Ints
) -> tuple[Bools, Bools]:
    """Return which objects at indices (n,) of `scene.objects` are visible, and selected; -1 is neither."""
    items: list[Any] = [*scene.objects, None]
    objects = [items[k] for k in index.tolist()]
    context: Any = bpy.context
    # Without an area, because in a 3D view Blender would report what is visible there, as in a local view.
    with context.temp_override(area=None):
        is_visible = [item is not None and item.visible_get(view_layer=layer) for item in objects]
    is_selected = [item is not None and item.select_get(view_layer=layer) for item in objects]
    return np.array(is_visible, dtype=bool), np.array(is_selected, dtype=bool)
