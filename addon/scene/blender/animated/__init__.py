"""Data paths that the animation of a data-block changes.

- `paths`: data paths that have keys, in the NLA too, or drivers.
- `switches`: properties by which the source of a motion is chosen, which may change while the scene plays.
- `turns`: times within frames at which keyed values turn.
"""
