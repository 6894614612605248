"""Preset: colliders that the import script for Unity recognizes as convex meshes."""

import bpy

bpy.context.scene.collision_bounds.colliders.kind = "hull"
bpy.context.scene.collision_bounds.colliders.naming = "unity"
