"""Objects, bones and bent meshes whose motion follows from F-curves: known at any time without evaluation.

Modules in reading order:

- `channels`: channels of objects and bones, and the curves and drivers that animate them.
- `curve_keys`: keys of F-curves as arrays, repeated where a curve is cyclic.
- `frame_drivers`: drivers whose results follow from the frame number alone.
- `visibility`: when keys hide and show objects.
- `bones`: bones of an armature that follow curves and such drivers alone.
- `transform_curves`: objects and bones whose world matrices follow from them alone.
- `skinned_meshes`: meshes that an armature bends and nothing else changes, as points that bones carry.
- `skin_poses`: boxes around such meshes at any time, and bounds of what happens between two times.
- `skin_reading`: reads these meshes step by step.
- `curve_poses`: world matrices of such subjects at any time, compared with the scene at a few times.

May import `core`, `formats`, and the room `blender` of `scene`.
"""
