"""Preset: contacts of boxes on straight paths between frames. Fast."""

import bpy

bpy.context.scene.collision_bounds.shape = "aabb"
bpy.context.scene.collision_bounds.motion = "linear"
bpy.context.scene.collision_bounds.clearance = 0.0
