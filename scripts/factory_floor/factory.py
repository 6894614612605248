"""Build the complete scene and bake its physics."""

import bpy

from .arm import build_arm
from .common import FPS, FRAME_END, FRAME_START
from .crate import build_crate
from .drone import build_drone
from .fence import build_fence
from .paddles import build_paddles
from .projectile import build_projectile
from .struts import build_struts
from .surroundings import build_surroundings


def build_scene() -> None:
    """Build all stations in the current file, which must have no objects, and bake the physics."""
    if bpy.data.objects:
        raise RuntimeError("the file has objects already: start from an empty file")
    scene = bpy.context.scene
    scene.name = "Factory"
    scene.render.fps = FPS
    scene.frame_start, scene.frame_end = FRAME_START, FRAME_END
    build_surroundings()
    build_projectile()
    build_paddles()
    build_arm()
    build_crate()
    build_fence()
    build_struts()
    build_drone()
    bake_physics()
    show_camera_view()
    for view_layer_object in bpy.context.view_layer.objects:
        view_layer_object.select_set(False)
    bpy.context.view_layer.objects.active = None
    scene.frame_set(FRAME_START)


def bake_physics() -> None:
    """Play all frames, which fills the physics cache, and keep the cache as a bake in the .blend.

    The bake operator has the same result, but prints a line for each frame.
    """
    scene = bpy.context.scene
    for frame in range(FRAME_START, FRAME_END + 1):
        scene.frame_set(frame)
    with bpy.context.temp_override(point_cache=scene.rigidbody_world.point_cache):
        bpy.ops.ptcache.bake_from_cache()


def show_camera_view() -> None:
    """Set the 3D viewports to the camera view."""
    for screen in bpy.data.screens:
        for area in screen.areas:
            if area.type == "VIEW_3D":
                area.spaces.active.region_3d.view_perspective = "CAMERA"
