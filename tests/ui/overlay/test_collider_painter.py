"""Surfaces of collider objects after edits. No graphics card needed."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon import registration
from addon.ui.overlay import collider_surfaces as painter
from addon.ui.overlay import handlers

VIOLET = (0.8, 0.4, 1.0, 0.3)


class Recorder:
    """Receives what is drawn, instead of the graphics card."""

    def __init__(self, monkeypatch):
        self.columns = None
        monkeypatch.setattr(painter, "_shader", lambda: None)
        monkeypatch.setattr(painter, "batch_for_shader", lambda _shader, _kind, columns: columns)
        monkeypatch.setattr(painter, "_draw", self.receive)

    def receive(self, columns):
        self.columns = columns

    def spans(self):
        """Return the lower and upper ends along x of what a view draws; None if it draws nothing."""
        self.columns = None
        view = SimpleNamespace(local_view=None, use_local_collections=False)
        context = SimpleNamespace(
            scene=bpy.context.scene,
            view_layer=bpy.context.view_layer,
            space_data=view,
        )
        handlers._colliders.draw(context, VIOLET)
        return None if self.columns is None else np.round(self.columns["pos"][:, 0], 4)


@pytest.fixture
def recorder(empty_file, add_mesh, monkeypatch):
    registration.register()
    add_mesh("Crate", location=(3, 0, 0))
    bpy.ops.collision_bounds.create_colliders(scope="VISIBLE", kind="box")
    # A view of a window is needed to ask whether an object is visible in it.
    monkeypatch.setattr(painter, "is_visible_in", lambda evaluated, _view: evaluated.original.visible_get())
    yield Recorder(monkeypatch)
    registration.unregister()


def ends(values):
    return None if values is None else (values.min(), values.max())


def test_surface_follows_its_object_is_hidden_with_it_and_vanishes_when_removed(recorder):
    assert ends(recorder.spans()) == (2, 4)
    bpy.data.objects["Crate"].location.x = 7
    bpy.context.view_layer.update()
    assert ends(recorder.spans()) == (6, 8)
    collider = bpy.data.objects["UBX_Crate_00"]
    collider.hide_set(True)
    bpy.context.view_layer.update()
    assert recorder.spans() is None or not len(recorder.spans())
    collider.hide_set(False)
    bpy.context.view_layer.update()
    assert ends(recorder.spans()) == (6, 8)
    bpy.ops.collision_bounds.remove_colliders()
    assert recorder.spans() is None


def test_surface_follows_edited_mesh_and_animation(recorder):
    assert ends(recorder.spans()) == (2, 4)
    mesh = bpy.data.objects["UBX_Crate_00"].data
    for vertex in mesh.vertices:
        vertex.co.x *= 2
    mesh.update()
    bpy.context.view_layer.update()
    assert ends(recorder.spans()) == (1, 5)
    crate = bpy.data.objects["Crate"]
    for frame, x in ((1, 0), (11, 10)):
        crate.location.x = x
        crate.keyframe_insert("location", frame=frame)
    for frame, x in ((1, 0), (11, 10)):
        bpy.context.scene.frame_set(frame)
        assert ends(recorder.spans()) == (x - 2, x + 2)


def test_colliders_get_no_material_and_the_file_no_more_data(recorder):
    recorder.spans()
    assert not bpy.data.materials and not bpy.data.objects["UBX_Crate_00"].material_slots
