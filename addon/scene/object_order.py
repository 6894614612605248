"""All objects of a scene read in one call each, and found again among them."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Bools, Ints


class ObjectOrder:
    """Reads all objects of a scene at once, in the order of the scene, and finds subjects among them again.

    changed : whether objects came or went since the reading before, or others are shown than at the first
    """

    def __init__(self, wanted: Ints) -> None:
        """For subjects that are, or come with, objects of these session_uids (n,)."""
        self._wanted = wanted
        self._uids, self._hidden = np.empty(0, dtype=np.int32), np.empty(0, dtype=bool)
        self._hidden_at_first: bytes | None = None
        self._place = np.full(len(wanted), -1)
        self._shown = np.zeros(len(wanted), dtype=bool)
        self.changed = False

    def read(self, scene: bpy.types.Scene, subjects: Ints) -> tuple[Ints, Bools, NDArray[np.float64]]:
        """Of some subjects (m,): places in the scene's order, which are shown, world matrices (m, 4, 4).

        What is gone is at place -1, and is not shown.
        """
        # In the order of `scene.objects`, which Blender puts together anew for each reading.
        items: Any = scene.collection.all_objects
        count = len(items)
        uids, hidden = np.empty(count, dtype=np.int32), np.empty(count, dtype=bool)
        matrices = np.empty((count + 1, 4, 4), dtype=np.float32)
        matrices[count] = 0
        items.foreach_get("session_uid", uids)
        items.foreach_get("hide_viewport", hidden)
        items.foreach_get("matrix_world", matrices[:count].reshape(-1))
        # Bytes compare in a tenth of the time that arrays of few take.
        now = hidden.tobytes()
        same = uids.tobytes() == self._uids.tobytes()
        if self._hidden_at_first is None:
            self._hidden_at_first = now
        else:
            self.changed = not (same and now == self._hidden_at_first)
        if not same:
            order = np.append(np.argsort(uids, kind="stable"), -1)
            place = order[np.searchsorted(uids[order[:-1]], self._wanted)]
            self._place = np.where(np.append(uids, -1)[place] == self._wanted, place, -1)
        if not (same and now == self._hidden.tobytes()):
            self._shown = ~np.append(hidden, True)[self._place]
        self._uids, self._hidden = uids, hidden
        place = self._place[subjects]
        # Blender stores matrices by columns.
        return place, self._shown[subjects], matrices[place].transpose(0, 2, 1).astype(np.float64)


def flags_of(scene: bpy.types.Scene, layer: bpy.types.ViewLayer, place: Ints) -> tuple[Bools, Bools]:
    """Which of those at places (n,) in the scene's order are visible, and which selected; -1 is neither."""
    items: list[Any] = [*scene.objects, None]
    there = [items[k] for k in place.tolist()]
    context: Any = bpy.context
    # In a 3D view Blender would tell what is visible in that one, which may be a local view.
    with context.temp_override(area=None):
        seen = [item is not None and item.visible_get(view_layer=layer) for item in there]
    selected = [item is not None and item.select_get(view_layer=layer) for item in there]
    return np.array(seen, dtype=bool), np.array(selected, dtype=bool)
