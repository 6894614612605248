"""The floor, the light and the camera."""

from math import radians

import bpy
from mathutils import Vector

from .meshes import box, mesh_object


def build_surroundings() -> None:
    """Build `Floor` with a pad below each station, a sun, a sky and the camera."""
    slab = box((0, -0.125, -0.101), (6.125, 2.625, 0.099), "Floor")
    pads = [
        box((x, y, -0.001), (half_x, half_y, 0.001), "Pad")
        for y, half_y, pads_along_x in (
            (-1.375, 1.125, ((-3.4375, 2.4375), (0.25, 1.0625), (3.6875, 2.1875))),
            (1.25, 1.0, ((-4.375, 1.5), (-1.75, 0.9375), (1.0, 1.625), (4.3125, 1.5625))),
        )
        for x, half_x in pads_along_x
    ]
    mesh_object("Floor", [slab, *pads])

    scene = bpy.context.scene
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy = 3.0
    sun.location = (-4, -5, 8)
    sun.rotation_euler = (radians(40), radians(15), 0)
    scene.collection.objects.link(sun)

    scene.world = bpy.data.worlds.new("Sky")
    scene.world.color = (0.35, 0.38, 0.42)

    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens = 46
    camera.location = (-5.0, -14.5, 9.5)
    camera.rotation_euler = (Vector((-0.1, -0.2, 0.1)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera
