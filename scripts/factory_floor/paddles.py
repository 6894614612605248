"""Station 2: two paddles swing towards the plane between their pivots."""

from math import acos, atan2, degrees, hypot, radians

from .common import FRAME_END, HOVER
from .keyframes import insert_keys, set_interpolation
from .meshes import box, mesh_object, prism

PADDLE_CENTER = (0.25, -1.0625)
PADDLE_PIVOT_DISTANCE = 0.75  # from a pivot to the plane between the two pivots
PADDLE_LENGTH = 0.8125  # from the pivot to the tip
PADDLE_HALF_WIDTH = 0.09375
PADDLE_OPEN_ANGLE = 75.0
PADDLE_CLOSED_ANGLE = 20.0
PADDLE_OPEN_FRAME = 6
PADDLE_CLOSED_FRAME = 38


def paddles_contact_frame() -> float:
    """Return the frame at which the two paddles, and their AABBs, first touch: about 32.13.

    At the opening angle a, the foremost corner of a paddle is L cos a + w sin a from its pivot along X, with
    the length L and half the width w. That is R cos(a - b) with R = hypot(L, w) and b = atan2(w, L). The
    paddles are mirror images, so they touch when this corner reaches the plane between the pivots. The angle,
    not the position, is affine in time.
    """
    corner_distance = hypot(PADDLE_LENGTH, PADDLE_HALF_WIDTH)
    corner_angle = atan2(PADDLE_HALF_WIDTH, PADDLE_LENGTH)
    angle = degrees(corner_angle + acos(PADDLE_PIVOT_DISTANCE / corner_distance))
    progress = (PADDLE_OPEN_ANGLE - angle) / (PADDLE_OPEN_ANGLE - PADDLE_CLOSED_ANGLE)
    return PADDLE_OPEN_FRAME + progress * (PADDLE_CLOSED_FRAME - PADDLE_OPEN_FRAME)


def build_paddles() -> None:
    """Build `Paddle Left` and `Paddle Right`, which swing together, like flippers, and open again.

    Each paddle rotates around its pivot, which is its origin. It rotates at a constant rate from an opening
    angle of 75 degrees at frame 6 to 20 degrees at frame 38, and back at frame 60. The paddles are mirror
    images in the plane X = 0.25. They first touch at paddles_contact_frame().
    """
    x, y = PADDLE_CENTER
    half_height = 0.125
    inner, outer = PADDLE_LENGTH - 0.25, PADDLE_LENGTH
    angles = (PADDLE_OPEN_ANGLE, PADDLE_CLOSED_ANGLE, PADDLE_OPEN_ANGLE)
    frames = (PADDLE_OPEN_FRAME, PADDLE_CLOSED_FRAME, FRAME_END)
    for name, side in (("Paddle Left", 1), ("Paddle Right", -1)):
        arm = box((side * inner / 2, 0, 0), (inner / 2, PADDLE_HALF_WIDTH, half_height), "Mover")
        tip = box((side * (inner + outer) / 2, 0, 0), (0.125, PADDLE_HALF_WIDTH, half_height), "Mover Light")
        hub = prism([(-half_height, 0.14), (half_height, 0.14)], "Steel")
        location = (x - side * PADDLE_PIVOT_DISTANCE, y, HOVER + half_height)
        paddle = mesh_object(name, [arm, tip, hub], location)
        keys = [(frame, (0, 0, -side * radians(angle))) for frame, angle in zip(frames, angles, strict=True)]
        insert_keys(paddle, "rotation_euler", keys)
        set_interpolation(paddle, "LINEAR")
