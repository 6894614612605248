# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes with cases that the sample files lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scene.building import add_instance

bpy = pytest.importorskip("bpy")


def _add(operator: str, name: str, **options: object) -> bpy.types.Object:
    """Add an object by an operator such as `mesh.primitive_cube_add`."""
    group, call = operator.split(".")
    getattr(getattr(bpy.ops, group), call)(**options)
    item = bpy.context.object
    item.name = name
    return item


def make_odd_scene(path: Path) -> None:
    """Save a scene of curves, text, surfaces, metaballs, instances, shear, mirrors, far and tiny objects."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.unit_settings.scale_length = 0.01
    tube = _add("curve.primitive_bezier_circle_add", "Tube", location=(5, 0, 0), rotation=(0.3, 0.2, 0.1))
    tube.data.bevel_depth = 0.1
    _add("curve.primitive_bezier_circle_add", "Wire", location=(5, 5, 0))
    _add("object.text_add", "Label", location=(0, 5, 0), rotation=(1.0, 0.0, 0.7))
    _add("surface.primitive_nurbs_surface_sphere_add", "Nurbs", location=(-5, 0, 0), scale=(1, 2, 0.5))
    for index, x in enumerate((-5.0, -4.0)):
        ball = _add("object.metaball_add", f"Blob.{index:03}", type="BALL", location=(x, 5, 0))
        ball.scale = (1.0, 0.7, 1.3)
    _make_meshes()
    _make_instances()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def _make_meshes() -> None:
    scaled = _add("mesh.primitive_cube_add", "Scaled", scale=(3, 1, 1), rotation=(0.0, 0.0, 0.4))
    sheared = _add("mesh.primitive_monkey_add", "Sheared")
    sheared.parent, sheared.rotation_euler = scaled, (0.0, 0.5, 0.785)
    sheared.modifiers.new("Smooth", "SUBSURF").levels = 2
    mirrored = _add("mesh.primitive_cone_add", "Mirrored", location=(0, -5, 1), rotation=(0.5, 1.0, -2.0))
    mirrored.scale = (-1.0, 2.0, 0.3)
    _add("mesh.primitive_torus_add", "Far", location=(12345.678, -9876.543, 4321.987), rotation=(1, 2, 3))
    _add("mesh.primitive_uv_sphere_add", "Tiny", radius=0.00137, location=(0.1, 0.2, 0.3), rotation=(1, 2, 3))
    _add("mesh.primitive_plane_add", "Flat", location=(0, 0, -3), rotation=(0.1, 0.2, 0.3))
    _add("mesh.primitive_cube_add", "Hidden", location=(0, 0, 50)).hide_viewport = True
    point = (0.1, 0.2, 0.3)
    for name, vertices in (("Empty", []), ("Point", [point]), ("Pair", [(0, 0, 0), point])):
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(vertices, [], [])
        bpy.context.collection.objects.link(bpy.data.objects.new(name, mesh))


def _make_instances() -> None:
    library = bpy.data.collections.new("Library")
    inner = bpy.data.collections.new("Inner")
    for name, collection in (("Part", library), ("Deep", inner)):
        part = _add(
            "mesh.primitive_ico_sphere_add", name, location=(0.5, 0.25, 0.1), rotation=(0.1, 0.2, 0.3)
        )
        part.users_collection[0].objects.unlink(part)
        collection.objects.link(part)
    nested = bpy.data.objects.new("Nested", None)
    nested.instance_type, nested.instance_collection, nested.location = "COLLECTION", inner, (0, 0, 2)
    library.objects.link(nested)
    for name, angle in (("Holder", 0.7), ("Holder.001", -1.9)):
        holder = add_instance(name, library)
        holder.location, holder.rotation_euler, holder.scale = (0, 10, angle), (angle, 1.0, 2.0), (1, 2, 3)
    frame = _add("mesh.primitive_cube_add", "Frame", location=(10, 0, 0))
    frame.instance_type, frame.show_instancer_for_viewport = "VERTS", False
    _add("mesh.primitive_cone_add", "Knob", radius1=0.2, depth=0.3).parent = frame
    _add("object.text_add", "Tag", radius=0.1).parent = frame


def make_moving_scene(path: Path) -> None:
    """Save frames 1-8: tunnelling, contact at the start, two contacts, rotation, growth, near miss.

    A linear scan does not evaluate the scene between whole frames, so the easing of the keys has no effect.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 8
    scene.render.fps, scene.render.fps_base = 30, 1.001
    _add("mesh.primitive_cube_add", "Wall", scale=(0.05, 4, 4))
    tracks = {
        "Bullet": ("location", {1: (-9, 0, 0), 4: (-3, 0.1, 0), 5: (3, 0.2, 0.1), 8: (9, 0, 0)}),
        "Guest": ("location", {1: (0.1, 2.5, 2.5), 4: (6, 2.5, 2.5), 8: (0.2, 2.5, 2.5)}),
        "Grazing": ("location", {1: (2.3, -9, 3), 8: (2.3, 9, 3.3)}),
        "Missing": ("location", {1: (30, -9, 0), 8: (30, 9, 0)}),
        "Dart": (
            "location",
            {1: (31.4, -12, 0.2), 4: (31.4, -3, 0.2), 5: (31.5, 3.4, 0.3), 8: (31.5, 12, 0.2)},
        ),
        "Post": ("location", {1: (31.4, 0.3, 0.2), 8: (31.5, 0.3, 0.2)}),
        "Spinner": ("rotation_euler", {1: (0, 0, 0), 8: (3, 1, 9)}),
        "Grower": ("scale", {1: (0.1, 0.1, 0.1), 5: (2, 3, 1), 8: (0.1, 0.2, 0.1)}),
    }
    for name, (path_name, keys) in tracks.items():
        item = _add("mesh.primitive_ico_sphere_add", name, radius=0.5, subdivisions=1)
        for frame, value in keys.items():
            setattr(item, path_name, value)
            item.keyframe_insert(path_name, frame=frame)
    bpy.data.objects["Spinner"].scale = (4.0, 0.3, 0.6)
    bpy.data.objects["Spinner"].location = (12, 0, 0)
    bpy.data.objects["Grower"].location = (12, 2.2, 0.4)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def make_touching_scene(path: Path) -> None:
    """Save frames 1-9 of cubes whose faces share coordinates that are exact in float32.

    Neighbor touches Still in all frames. Visitor reaches the other face of Still at frame 5 and moves away
    again.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 9
    _add("mesh.primitive_cube_add", "Still")
    _add("mesh.primitive_cube_add", "Neighbor", location=(2, 0.5, 0))
    visitor = _add("mesh.primitive_cube_add", "Visitor")
    for frame, x in ((1, -4.0), (5, -2.0), (9, -4.0)):
        visitor.location.x = x
        visitor.keyframe_insert("location", frame=frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
