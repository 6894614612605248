"""Rules of engines for colliders, one problem with one sentence each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ...core.messages import counted, message, template
from ...core.numeric.arrays import Floats
from ...formats.wording import quoted
from ..collider_names import COMPONENTS, PREFIXES, ColliderName, Engine, SourceMatch, has_blender_suffix
from .containment import ConvexVolume, HullVolume, Outside, RoundVolume, vertices_outside
from .reading import ObjectSurface
from .surfaces import box_defect, concave_depth, count_pieces, open_defect, unreal_capsule, unreal_sphere

ProblemKind: TypeAlias = Literal[
    "outside", "open", "flat", "concave", "shape", "name", "mesh", "vertices", "scale", "unreadable"
]
"""Kinds of problems of colliders.

- "outside": vertices of the mesh are outside of all its colliders
- "open": the surface is not closed
- "flat": the vertices are in one plane
- "concave": the surface is not convex
- "shape": it is no box, sphere or capsule, as its name says
- "name": the engine does not recognize the name, or finds another mesh by it
- "mesh": there is no mesh object of the name
- "vertices": more vertices than the engine allows
- "scale": a scale that the engine does not support
- "unreadable": the object is disabled, or has coordinates that are not finite
"""

_MOST_VERTICES = 255
"""Most vertices of a convex hull in PhysX, on which Unity and Unreal's limit are based."""
_EQUAL = 1e-4
"""Relative difference of scales below which they are equal, and cosine of a right angle."""
_ENGINES: dict[Engine, str] = {"unreal": "Unreal", "unity": "Unity", "godot": "Godot"}

_ROUND: dict[str, Callable[[ObjectSurface], tuple[RoundVolume, str]]] = {
    "sphere": unreal_sphere,
    "capsule": unreal_capsule,
}
"""Round shapes that Unreal makes of surfaces, by kind of collider."""
_NOT_OF_KIND = {
    "box": template("is not a box: {defect}"),
    "sphere": template("is not a sphere: {defect}"),
    "capsule": template("is not a capsule: {defect}"),
}

Found = tuple[ProblemKind, str]
"""Kind and sentence of a problem."""


class CheckedShape(NamedTuple):
    """Problems of a collider's geometry, and the volume that an engine makes of it.

    `volume` is None for a surface without an inside or a volume; `rounding` is the largest error of world
    coordinates.
    """

    problems: list[Found]
    volume: ConvexVolume | None = None
    rounding: float = 0.0


def name_problems(collider: str, name: ColliderName, match: SourceMatch, used: Container[str]) -> list[Found]:
    """Find the problems of a collider's name, as its engine reads it.

    match : mesh that it belongs to, or collection treated as one
    used : names of all objects in the file, which are not suggested
    """
    source = match.name
    if name.engine == "custom" and source is None:
        return [("mesh", message("belongs to no object: its object was deleted or renamed"))]
    if name.engine in ("custom", "godot"):
        return []  # Godot reads no names of meshes, and ignores .001
    found: list[Found] = []
    problems = [name.defect] if name.defect else []
    if source is None:
        found.append(("mesh", _missing_mesh(name.sources or name.similar)))
    elif has_blender_suffix(collider) and name.sources[:1] != (source,):
        text = "ends with {suffix}, which Blender adds to names that are in use"
        problems.append(message(text, suffix=collider[collider.rindex(".") :]))
    elif not match.is_named and not name.defect:
        text = "does not contain the name of its mesh {mesh}, so {engine} does not find the mesh"
        problems.append(message(text, mesh=quoted(source), engine=_ENGINES[name.engine]))
    if source is not None:
        wanted = quoted(_right_name(name, source, used)) if problems else ""
        problems = [message("{problem}: rename it to {name}", problem=each, name=wanted) for each in problems]
    return [("name", problem) for problem in problems] + found


def _missing_mesh(names: Sequence[str]) -> str:
    """Return that there is no mesh of any of these names, of which there are up to three."""
    text = (
        "belongs to no mesh: there is no mesh object named {a}",
        "belongs to no mesh: there is no mesh object named {a} or {b}",
        "belongs to no mesh: there is no mesh object named {a} or {b} or {c}",
    )[len(names) - 1]
    return message(text, **dict(zip("abc", map(quoted, names), strict=False)))


def _right_name(name: ColliderName, source: str, used: Container[str]) -> str:
    """Return a free name by which Unreal or Unity finds a mesh."""
    assert name.kind != "triangles", "only Godot has such colliders"
    start = (
        f"{PREFIXES[name.kind]}_{source}" if name.engine == "unreal" else f"{source}_{COMPONENTS[name.kind]}"
    )
    candidates = (f"{start}_{number:02}" for number in itertools.count())
    return next(candidate for candidate in candidates if candidate not in used)


def geometry_problems(
    name: ColliderName, surface: ObjectSurface, mesh: Floats | None, unit: float
) -> CheckedShape:
    """Find the problems of a collider's surface, kind of shape, number of vertices, and scale.

    name : determines the engine and the kind of shape
    mesh : (4, 4) float64, world matrix of its mesh, or None
    unit : length of a Blender unit in meters
    """
    if not surface.is_readable:
        return CheckedShape([("unreadable", message("has coordinates that are not finite, or too large"))])
    if not len(surface.triangles):
        return CheckedShape([("open", message("has no faces"))])
    found: list[Found] = []
    volume: ConvexVolume | None = None
    if name.is_separate and name.kind != "triangles":
        merged = surface.merged()
        try:
            hull = HullVolume(merged)
        except ValueError:
            found.append(("flat", message("is flat: it has no volume")))
        else:
            found = _surface_problems(name, merged, hull)
            volume, defect = hull, ""
            if name.kind in _ROUND:
                shape, defect = _ROUND[name.kind](merged)
                volume = hull if defect else shape
            elif name.kind == "box":
                defect = box_defect(merged, unit)
            if defect:
                found.append(("shape", message(_NOT_OF_KIND[name.kind], defect=defect)))
    count = len(surface.local)
    if name.engine in ("unreal", "unity") and name.kind == "hull" and count > _MOST_VERTICES:
        text = "has {count} vertices, and convex hulls have at most {most}"
        found.append(("vertices", message(text, count=count, most=_MOST_VERTICES)))
    found += _scale_problems(name, surface.matrix, mesh)
    return CheckedShape(found, volume, surface.rounding)


def _surface_problems(name: ColliderName, surface: ObjectSurface, hull: HullVolume) -> list[Found]:
    """Problems of the surface; of boxes and round shapes, the kind of shape includes that it is convex."""
    found: list[Found] = []
    if defect := open_defect(surface):
        found.append(("open", defect))
    elif (pieces := count_pieces(surface)) > 1:
        return [("concave", message("is not convex: it consists of {count} pieces", count=pieces))]
    if (name.engine == "godot" or name.kind == "hull") and (depth := concave_depth(surface, hull)):
        text = "is not convex: it has a dent, {depth:.4g} below its convex hull"
        found.append(("concave", message(text, depth=depth)))
    return found


def _scale_problems(name: ColliderName, matrix: Floats, mesh: Floats | None) -> list[Found]:
    """Problems of the scale, where the engine does not apply it to the vertices.

    A scale that a collider inherits from its mesh, or has because it is the mesh, is accepted, because the
    user has chosen it for the mesh. It is not accepted for round shapes of Unity, which stay round.
    """
    if not name.is_separate:
        return []
    linear = matrix[:3, :3]
    if name.engine == "unity" and name.kind in ("sphere", "capsule") and not _is_uniform(linear):
        component = COMPONENTS[name.kind]
        text = "has a non-uniform scale in the world, and a {component} has none: apply it"
        return [("scale", message(text, component=component))]
    is_unity_box = name.engine == "unity" and name.kind == "box"
    if name.engine != "godot" and not is_unity_box:
        return []
    maps = [linear]  # each of which can be without the defect
    if mesh is not None and abs(np.linalg.det(mesh[:3, :3])) > 1e-300:
        maps.append(np.asarray(np.linalg.solve(mesh[:3, :3], linear), dtype=np.float64))
    if all(np.linalg.det(each) < 0 for each in maps):
        if is_unity_box:
            text = "has a negative scale, which a BoxCollider does not support: apply it"
        else:
            text = "has a negative scale, which physics in {engine} does not support: apply it"
    elif not is_unity_box and not any(map(_is_uniform, maps)):
        text = "has a non-uniform scale, which physics in {engine} does not support: apply it"
    else:
        return []
    return [("scale", message(text, engine=_ENGINES[name.engine]))]


def _is_uniform(linear: Floats) -> bool:
    """Return whether a linear map (3, 3) is a rotation with one scale, mirrored or not."""
    square = linear.T @ linear
    largest = float(np.abs(square).max())
    return bool(np.abs(square - np.eye(3) * np.trace(square) / 3).max() <= _EQUAL * largest)


def outside_problem(
    source: ObjectSurface, shapes: Sequence[CheckedShape], names: Sequence[str]
) -> tuple[str, Outside] | None:
    """Find the vertices of a mesh that are in none of its colliders, with a sentence; None without any.

    shapes : its colliders that have a volume, at least one
    names : those of its colliders
    """
    tolerance = source.rounding + max(shape.rounding for shape in shapes)
    volumes = [shape.volume for shape in shapes if shape.volume is not None]
    outside = vertices_outside(source.points, volumes, tolerance)
    if not outside.vertices:
        return None
    if len(names) == 1:
        singular = (
            "{count} of {total} vertices is outside of {collider}, by up to {distance} (vertex {vertex})"
        )
        plural = (
            "{count} of {total} vertices are outside of {collider}, by up to {distance} (vertex {vertex})"
        )
    else:
        singular = (
            "{count} of {total} vertices is outside of all its {colliders} colliders, by up to {distance} "
            "(vertex {vertex})"
        )
        plural = (
            "{count} of {total} vertices are outside of all its {colliders} colliders, by up to {distance} "
            "(vertex {vertex})"
        )
    text = counted(
        outside.vertices,
        singular,
        plural,
        total=len(source.points),
        collider=names[0],
        colliders=len(names),
        distance=f"{outside.distance:.6g}",
        vertex=outside.vertex,
    )
    return text, outside
