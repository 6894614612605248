"""Closed mesh parts, and Blender objects and materials made from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import cos, pi, sin
from typing import NamedTuple

import bpy

COLORS = {
    "Floor": (0.16, 0.17, 0.19),
    "Pad": (0.30, 0.32, 0.35),
    "Mover": (0.92, 0.36, 0.06),
    "Mover Light": (0.98, 0.62, 0.16),
    "Target": (0.10, 0.36, 0.66),
    "Target Light": (0.42, 0.64, 0.86),
    "Steel": (0.50, 0.53, 0.57),
    "Dark": (0.05, 0.05, 0.06),
    "White": (0.90, 0.90, 0.88),
    "Red": (0.80, 0.06, 0.05),
}


class Part(NamedTuple):
    """A closed part of a mesh: vertices, faces and the color of all its faces."""

    vertices: list[tuple[float, float, float]]
    faces: list[tuple[int, ...]]
    color: str


def box(center: Sequence[float], half_size: Sequence[float], color: str) -> Part:
    """Return an axis-aligned box."""
    (cx, cy, cz), (hx, hy, hz) = center, half_size
    vertices = [
        (cx + sx * hx, cy + sy * hy, cz + sz * hz) for sx in (-1, 1) for sy in (-1, 1) for sz in (-1, 1)
    ]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Part(vertices, faces, color)


def prism(
    rings: Sequence[tuple[float, float]], color: str, center: Sequence[float] = (0, 0), sides: int = 16
) -> Part:
    """Join and cap rings of (height, radius) around a vertical axis through `center`.

    If `sides` is a multiple of four, the outermost vertices lie exactly at the radius along X and Y.
    """
    circle = [unit_vector(step, sides) for step in range(sides)]
    vertices = [(center[0] + r * c, center[1] + r * s, z) for z, r in rings for c, s in circle]
    faces: list[tuple[int, ...]] = [tuple(reversed(range(sides)))]
    for start in range(0, sides * (len(rings) - 1), sides):
        for step in range(sides):
            following = (step + 1) % sides
            faces.append((start + step, start + following, start + sides + following, start + sides + step))
    faces.append(tuple(range(sides * (len(rings) - 1), sides * len(rings))))
    return Part(vertices, faces, color)


def unit_vector(step: int, steps: int) -> tuple[float, float]:
    """Return (cos, sin) of step / steps of a full turn.

    The result is exact at the quarter turns, where math.cos and math.sin are not.
    """
    if 4 * step % steps == 0:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[4 * step // steps % 4]
    angle = 2 * pi * step / steps
    return cos(angle), sin(angle)


def ball(radius: float, color: str, sides: int = 16) -> Part:
    """Return a UV sphere with its poles on the X axis.

    The poles are the only vertices at x = -radius and x = +radius.
    """
    vertices = [(-radius, 0.0, 0.0)]
    for ring in range(1, sides // 2):
        x, width = unit_vector(ring, sides)
        circle = (unit_vector(step, sides) for step in range(sides))
        vertices += [(-radius * x, radius * width * c, radius * width * s) for c, s in circle]
    vertices.append((radius, 0.0, 0.0))
    last = len(vertices) - 1
    faces: list[tuple[int, ...]] = []
    for step in range(sides):
        following = (step + 1) % sides
        faces.append((0, 1 + following, 1 + step))
        for start in range(1, last - sides, sides):
            faces.append((start + step, start + following, start + sides + following, start + sides + step))
        faces.append((last - sides + step, last - sides + following, last))
    return Part(vertices, faces, color)


def along_x(part: Part) -> Part:
    """Return the part with its Z axis mapped to the X axis."""
    return part._replace(vertices=[(z, x, y) for x, y, z in part.vertices])


def material(color: str) -> bpy.types.Material:
    """Return the material of this color, for solid view and renders. Create it on first use."""
    name = f"Factory {color}"
    existing = bpy.data.materials.get(name)
    if existing:
        return existing
    made = bpy.data.materials.new(name)
    made.diffuse_color = (*COLORS[color], 1.0)
    made.roughness = 0.6
    if made.node_tree is None:  # since Blender 5.0, every material has nodes
        made.use_nodes = True
    for node in made.node_tree.nodes:
        if node.type == "BSDF_PRINCIPLED":
            node.inputs["Base Color"].default_value = made.diffuse_color
            node.inputs["Roughness"].default_value = made.roughness
    return made


def mesh_from_parts(name: str, parts: Iterable[Part]) -> bpy.types.Mesh:
    """Return one mesh of all parts, with a material slot for each color."""
    vertices: list[tuple[float, float, float]] = []
    faces: list[tuple[int, ...]] = []
    face_colors: list[str] = []
    for part in parts:
        faces += [tuple(len(vertices) + index for index in face) for face in part.faces]
        vertices += part.vertices
        face_colors += [part.color] * len(part.faces)
    slots = list(dict.fromkeys(face_colors))
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    for color in slots:
        mesh.materials.append(material(color))
    mesh.polygons.foreach_set("material_index", [slots.index(color) for color in face_colors])
    mesh.update()
    return mesh


def mesh_object(name: str, parts: Iterable[Part], location: Sequence[float] = (0, 0, 0)) -> bpy.types.Object:
    """Create an object of the parts, linked to the scene collection."""
    made = bpy.data.objects.new(name, mesh_from_parts(name, parts))
    made.location = location
    bpy.context.scene.collection.objects.link(made)
    return made
