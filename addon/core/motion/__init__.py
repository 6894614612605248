"""Motions: where shapes are at a time, and where they may be in between.

| file | content |
|---|---|
| `motion` | the protocol `Motion`, samplers and their samples |
| `steps` | shapes over intervals, and their next jumps |
| `samples` | `SampledMotion`: a motion from samples, with deviations estimated from their neighbors |
| `switches` | adds samples where subjects appear or disappear |

May import `interval` and the rooms before it. Motions of keyed objects and bent meshes are in `scene.motion`,
because they need what is read from Blender.
"""
