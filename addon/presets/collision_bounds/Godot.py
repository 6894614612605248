"""Preset: colliders that Godot imports as convex shapes."""

import bpy

bpy.context.scene.collision_bounds.colliders.kind = "hull"
bpy.context.scene.collision_bounds.colliders.naming = "godot"
