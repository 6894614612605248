"""Station 6: two struts slide against each other under a parent with a non-uniform scale."""

from math import radians, sqrt

import bpy

from .keyframes import insert_keys, set_interpolation
from .meshes import box, mesh_object

FRAME_LOCATION = (1.0, 1.25, 0.8125)
FRAME_SCALE = (3.0, 1.0, 1.0)
STRUT_HALF_SIZE = (0.0625, 0.09375, 0.3125)
STRUT_START_DISTANCE = 0.875  # between the centers of the two struts
STRUT_END_DISTANCE = 0.46875
STRUT_FIRST_FRAME = 12
STRUT_LAST_FRAME = 44


def struts_contact_frame() -> float:
    """Return the frame at which the two struts, and their AABBs, first touch: about 39.15.

    A box rotated by 45 degrees extends (hx + hz) / sqrt(2) to either side. The parent's scale stretches the
    struts vertically only, and the corners that touch are at the same height.
    """
    touching_distance = sqrt(2) * (STRUT_HALF_SIZE[0] + STRUT_HALF_SIZE[2])
    progress = (STRUT_START_DISTANCE - touching_distance) / (STRUT_START_DISTANCE - STRUT_END_DISTANCE)
    return STRUT_FIRST_FRAME + progress * (STRUT_LAST_FRAME - STRUT_FIRST_FRAME)


def build_struts() -> None:
    """Build `Strut B`, which slides against `Strut A`, both rotated by 45 degrees under `Skewed Frame`.

    The frame is an empty with scale (3, 1, 1), rotated so that its X axis points up. A rotated box under this
    parent has a world matrix with shear. Strut B moves at a constant speed from frame 12 to frame 44. The
    struts first touch at struts_contact_frame().
    """
    scene = bpy.context.scene
    frame = bpy.data.objects.new("Skewed Frame", None)
    frame.location = FRAME_LOCATION
    frame.rotation_euler = (0, radians(-90), 0)  # X points up, Z to the world's -X
    frame.scale = FRAME_SCALE
    frame.empty_display_size = 0.25
    scene.collection.objects.link(frame)
    half = STRUT_START_DISTANCE / 2
    for name, color, z, angle in (("Strut A", "Target", half, 45), ("Strut B", "Mover", -half, -45)):
        strut = mesh_object(name, [box((0, 0, 0), STRUT_HALF_SIZE, color)], (0, 0, z))
        strut.rotation_euler = (0, radians(angle), 0)
        strut.parent = frame
    ends = ((0, 0, half - STRUT_START_DISTANCE), (0, 0, half - STRUT_END_DISTANCE))
    strut_b = bpy.data.objects["Strut B"]
    insert_keys(strut_b, "location", zip((STRUT_FIRST_FRAME, STRUT_LAST_FRAME), ends, strict=True))
    set_interpolation(strut_b, "LINEAR")
