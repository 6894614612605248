"""Objects, bones and bent meshes whose motion follows from F-curves: known at any time without evaluation.

Modules in reading order:

- `channels`: channels of objects and bones, and the curves and drivers that animate them.
- `curve_keys`: keys of F-curves as arrays, drivers of the frame number alone, and when keys hide objects.
- `bones`: bones of an armature that follow curves and such drivers alone.
- `transform_curves`: objects and bones whose world matrices follow from them alone.
- `skinned_meshes`: meshes that an armature bends and nothing else changes, as points that bones carry.
- `skin_poses`: boxes around such meshes at any time, and bounds of what happens between two times.
- `curve_poses`: world matrices of such subjects at any time, compared with the scene at a few times.

May import `core`, `formats`, and the room `blender` of `scene`.
"""
