"""Frame range of the scene, and the distance between parts and floor."""

FRAME_START = 1
FRAME_END = 60
FPS = 24

HOVER = 0.01
"""Height in meters of the parts above the floor. Because of this gap, the floor has no contacts."""
