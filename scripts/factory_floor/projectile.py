"""Station 1: a ball flies through a plate between two whole frames."""

from .common import HOVER
from .keyframes import insert_keys, set_interpolation
from .meshes import along_x, ball, box, mesh_object, prism

PROJECTILE_RADIUS = 1 / 16
PROJECTILE_START = (-4.5, -1.375, 0.75)
PROJECTILE_FIRST_FRAME = 20
PROJECTILE_LAST_FRAME = 28
PROJECTILE_SPEED = 0.375  # meters per frame
PLATE_THICKNESS = 1 / 64
PLATE_X = -2.8125


def projectile_contact_frame() -> float:
    """Return the frame at which the projectile's AABB first touches the plate's AABB: exactly 24.3125."""
    near_face = PLATE_X - PLATE_THICKNESS / 2
    distance = near_face - PROJECTILE_RADIUS - PROJECTILE_START[0]
    return PROJECTILE_FIRST_FRAME + distance / PROJECTILE_SPEED


def projectile_release_frame() -> float:
    """Return the frame at which the projectile's AABB leaves the plate's AABB: exactly 24.6875."""
    overlapping_distance = 2 * PROJECTILE_RADIUS + PLATE_THICKNESS
    return projectile_contact_frame() + overlapping_distance / PROJECTILE_SPEED


def build_projectile() -> None:
    """Build `Projectile`, which flies through `Plate` and overlaps it at no whole frame.

    The ball rests until frame 20, flies along +X at 0.375 meters per frame until frame 28, and rests again.
    The plate is 1/64 m thick along X. At frame 24 the ball is 0.117 m in front of it, at frame 25 the same
    distance behind it. The AABBs overlap from projectile_contact_frame() to projectile_release_frame().
    """
    x, y, z = PROJECTILE_START
    barrel = along_x(prism([(-0.75, 0.15), (-0.2, 0.15), (-0.2, 0.11), (0.0, 0.11)], "Steel", (0, 0)))
    stand = box((-0.475, 0, (HOVER - z - 0.1) / 2), (0.15, 0.1, (z - 0.1 - HOVER) / 2), "Dark")
    mesh_object("Launcher", [barrel, stand], (x - 0.125, y, z))

    projectile = mesh_object("Projectile", [ball(PROJECTILE_RADIUS, "Mover")], PROJECTILE_START)
    projectile.data.polygons.foreach_set("use_smooth", [True] * len(projectile.data.polygons))
    flight = PROJECTILE_SPEED * (PROJECTILE_LAST_FRAME - PROJECTILE_FIRST_FRAME)
    keys = [(PROJECTILE_FIRST_FRAME, (x, y, z)), (PROJECTILE_LAST_FRAME, (x + flight, y, z))]
    insert_keys(projectile, "location", keys)
    set_interpolation(projectile, "LINEAR")

    half_height = 0.5
    panel = box((0, 0, 0), (PLATE_THICKNESS / 2, 0.5, half_height), "Target")
    mesh_object("Plate", [panel], (PLATE_X, y, HOVER + half_height))
