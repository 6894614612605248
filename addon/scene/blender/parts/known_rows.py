"""Vertices of bones that are known from before, because weights are slow to read and rarely change.

Blender reports a mesh with the next evaluation after its weights were edited, in any way; poses and frames do
not change them. So rows are kept until the mesh is reported, if no modifier can change weights. They are kept
for each view layer, because Blender does not report what was edited before a layer is evaluated first.
Nothing is kept where the handlers are missing: in scripts without the extension, or after a script has
removed them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import bpy
from bpy.app.handlers import persistent

from ....core.numeric.arrays import Ints
from ...settings import Modifiers
from ..animated import updated_geometry_uids


class PartRows(NamedTuple):
    """Vertices of the parts of a mesh.

    rows : list of (k,) int. Rows of the vertices of each part, increasing.
    """

    vertices: int
    rows: list[Ints]


_MOST_MESHES = 64
"""Meshes whose rows are kept: those that were used last."""

_MOVING_ONLY = frozenset(
    {
        *("ARMATURE", "CAST", "CLOTH", "COLLISION", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK"),
        *("LAPLACIANDEFORM", "LAPLACIANSMOOTH", "LATTICE", "MESH_DEFORM", "SHRINKWRAP", "SIMPLE_DEFORM"),
        *("SMOOTH", "SOFT_BODY", "SURFACE_DEFORM", "WARP", "WAVE"),
    }
)
"""Modifiers that move vertices, and change neither their number nor their weights."""

_known: OrderedDict[tuple[int, object, object], PartRows] = OrderedDict()


def known_rows(
    evaluated: bpy.types.Object, modifiers: Modifiers, key: object, find: Callable[[], PartRows]
) -> PartRows:
    """Return the rows that `find` finds by the weights of an evaluated object, or found for the same key.

    key : all that the rows depend on apart from the weights
    """
    original = evaluated.original
    mesh: Any = original.data
    if original.type != "MESH" or getattr(original.data, "is_editmode", True):
        return find()
    handlers = bpy.app.handlers
    is_attached = (
        _on_evaluated in handlers.depsgraph_update_post and _on_evaluated in handlers.frame_change_post
    )
    # Other modifiers may give the mesh that is read other weights than the original mesh has.
    keeps_weights = modifiers == "base" or all(each.type in _MOVING_ONLY for each in original.modifiers)
    if not (is_attached and keeps_weights):
        return find()
    layer: Any = bpy.context.view_layer
    place = mesh.session_uid, (bpy.context.scene.session_uid, layer.name), key
    read: Any = mesh if modifiers == "base" else evaluated.data
    found = _known.pop(place, None)
    if found is None or found.vertices != len(read.vertices):
        found = find()
    _known[place] = found
    while len(_known) > _MOST_MESHES:
        _known.popitem(last=False)
    return found


@persistent  # type: ignore[untyped-decorator]  # the stubs do not describe it
def _on_evaluated(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if _known and depsgraph.id_type_updated("MESH"):
        changed = updated_geometry_uids(depsgraph)
        for place in [place for place in _known if place[0] in changed]:
            del _known[place]


HANDLERS = (_on_evaluated,)
"""Handlers that have to be called when a scene of the user is evaluated."""


@persistent  # type: ignore[untyped-decorator]  # the stubs do not describe it
def forget_rows(*_unused: object) -> None:
    """Forget all rows, as after data-blocks were replaced."""
    _known.clear()


def attach() -> None:
    """Add the handlers that are missing. The command line calls this where the extension is disabled."""
    for handlers, function in _LISTS:
        if function not in handlers:
            handlers.append(function)
            _known.clear()  # edits since the function was removed were not reported


def detach() -> None:
    for handlers, function in _LISTS:
        if function in handlers:
            handlers.remove(function)
    forget_rows()


_LISTS: tuple[tuple[list[Any], Any], ...] = (
    (bpy.app.handlers.depsgraph_update_post, _on_evaluated),
    (bpy.app.handlers.frame_change_post, _on_evaluated),
    (bpy.app.handlers.undo_post, forget_rows),
    (bpy.app.handlers.redo_post, forget_rows),
    (bpy.app.handlers.load_post, forget_rows),
)
"""Lists of Blender, each with the function that it calls; the last three after data-blocks were replaced."""
