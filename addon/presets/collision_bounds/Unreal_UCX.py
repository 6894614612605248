"""Preset: colliders that Unreal recognizes as convex hulls."""

import bpy

bpy.context.scene.collision_bounds.colliders.kind = "hull"
bpy.context.scene.collision_bounds.colliders.naming = "unreal"
