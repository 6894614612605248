"""Preset: contacts of the meshes and of their real motion."""

import bpy

bpy.context.scene.collision_bounds.shape = "mesh"
bpy.context.scene.collision_bounds.motion = "adaptive"
bpy.context.scene.collision_bounds.clearance = 0.0
