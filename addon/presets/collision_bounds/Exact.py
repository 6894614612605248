"""Preset: contacts of the real motion, verified on meshes."""

import bpy

bpy.context.scene.collision_bounds.shape = "obb"
bpy.context.scene.collision_bounds.motion = "adaptive"
bpy.context.scene.collision_bounds.clearance = 0.0
bpy.context.scene.collision_bounds.confirm = True
