"""Rules of engines for colliders, one problem with one sentence each.

Kinds of shapes are decided as Unreal's importer does (`AddBoxGeomFromTris`, `AddSphereGeomFromVerts` and
`AddCapsuleGeomFromVerts` of `StaticMeshImportUtils`), in world space, because exporters and importers apply
all transforms to colliders.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ...core import Capsule
from ...core.fitting.quickhull import extreme_points
from ...core.messages import message, template
from ...core.numeric.arrays import Floats, cross, dot, length
from ...core.numeric.components import connected_components
from ...formats.wording import quoted
from ..collider_names import COMPONENTS, PREFIXES, ColliderName, Engine, SourceMatch, has_blender_suffix
from .containment import (
    SINGLE,
    ConvexVolume,
    HullVolume,
    ObjectSurface,
    Outside,
    RoundVolume,
    vertices_outside,
)

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

_DOUBLE = float(np.finfo(np.float64).eps)
_CONVEX = 1e-4
"""Largest depth of an edge inside of the hull of a convex surface, as a part of the size."""
_PARALLEL = 1e-3
"""Unreal: difference of a dot product from 1 below which normals are parallel."""
_PLANE_METERS = 1e-5
"""Unreal: distance of planes, 0.001 cm, below which they are one."""
_UNEVEN = 0.05
"""Unreal: largest relative difference of radii of a sphere, and of the sides of the box around it."""
_MOST_PAIRS = 3000
"""Most vertices of a capsule of which all pairs are compared."""

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
    if source is None:
        missing = (
            "belongs to no mesh: there is no mesh object named {a}",
            "belongs to no mesh: there is no mesh object named {a} or {b}",
            "belongs to no mesh: there is no mesh object named {a} or {b} or {c}",
        )
        wanted = name.sources or name.similar  # up to three
        found: list[Found] = [("name", name.defect)] if name.defect else []
        names = dict(zip("abc", map(quoted, wanted), strict=False))
        return [*found, ("mesh", message(missing[len(wanted) - 1], **names))]
    problems = [name.defect] if name.defect else []
    if has_blender_suffix(collider) and name.sources[:1] != (source,):
        text = "ends with {suffix}, which Blender adds to names that are in use"
        problems.append(message(text, suffix=collider[collider.rindex(".") :]))
    elif not match.is_named and not name.defect:
        text = "does not contain the name of its mesh {mesh}, so {engine} does not find the mesh"
        problems.append(message(text, mesh=quoted(source), engine=_ENGINES[name.engine]))
    if not problems:
        return []
    free = quoted(free_name(name, source, used))
    return [("name", message("{problem}: rename it to {name}", problem=each, name=free)) for each in problems]


def free_name(name: ColliderName, source: str, used: Container[str]) -> str:
    """Return a name of a mesh's collider for Unreal or Unity, with the lowest free number."""
    assert name.kind != "triangles", "only Godot has such colliders"
    is_unreal = name.engine == "unreal"
    start = f"{PREFIXES[name.kind]}_{source}" if is_unreal else f"{source}_{COMPONENTS[name.kind]}"
    candidates = (f"{start}_{number:02}" for number in itertools.count())
    return next(candidate for candidate in candidates if candidate not in used)


def open_defect(surface: ObjectSurface) -> str:
    """Describe why a surface is not closed; empty if it is. Orientation of faces does not matter."""
    count = len(surface.points)
    if not len(surface.triangles):
        return message("has no faces")
    used = np.bincount(surface.triangles.reshape(-1), minlength=count) > 0
    edges = surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    keys = edges.min(axis=1) * count + edges.max(axis=1)
    faces_at_edge = np.unique(keys, return_counts=True)[1]
    for is_wrong, text in (
        (faces_at_edge == 1, template("is not closed: it has edges with one face only ({count})")),
        (faces_at_edge > 2, template("is not closed: it has edges with more than two faces ({count})")),
        (~used, template("is not closed: it has vertices without faces ({count})")),
    ):
        if is_wrong.any():
            return message(text, count=int(is_wrong.sum()))
    return ""


def concave_depth(surface: ObjectSurface, hull: HullVolume) -> float:
    """Return how deep an edge or vertex of a surface is inside of its convex hull; 0 for a convex surface.

    The edges of polygons count, not those of the triangles that they are divided into, because the polygons
    of round shapes need not be flat.
    """
    middles = surface.points[surface.edges].mean(axis=1)
    depth = -float(hull.heights(np.concatenate([surface.points, middles])).min())
    return depth if depth > _CONVEX * surface.size + surface.rounding + hull.slack else 0.0


def box_defect(surface: ObjectSurface, unit: float) -> str:
    """Describe why Unreal does not accept a surface with triangles as a box; empty if it does.

    unit : length of a Blender unit in meters
    """
    a, b, c = (surface.points[surface.triangles[:, corner]] for corner in range(3))
    normals = cross(b - a, c - a)
    areas = length(normals)
    # Normals of faces with vertices in line are due to rounding: in object space, or in the world.
    rounding = 8 * _DOUBLE / SINGLE * surface.rounding
    is_proper = areas > ((SINGLE * surface.size) ** 2 + rounding * surface.size)
    normals = normals[is_proper] / areas[is_proper][:, None]
    corners = surface.triangles[is_proper]
    tolerance = _PLANE_METERS / unit + surface.rounding
    directions: list[tuple[Floats, Floats]] = []  # each with the heights of all vertices of its faces
    while len(normals):
        if len(directions) == 3:
            return message("its faces have more than three directions")
        axis = normals[0]
        is_along = np.abs(dot(normals, axis)) > 1 - _PARALLEL
        directions.append((axis, dot(surface.points, axis)[corners[is_along]]))
        normals, corners = normals[~is_along], corners[~is_along]
    # After all directions are known, so that the order of the faces does not matter.
    for _, heights in directions:
        low, high = heights.min(), heights.max()
        if (np.minimum(heights - low, high - heights) > tolerance).any():
            return message("its faces of one direction are in more than two planes")
        if high - low <= tolerance:
            return message("a face has no opposite face")
    if len(directions) < 3:
        return message("its faces have less than three directions")
    a, b, c = (axis for axis, _ in directions)
    if abs(float(dot(cross(a, b), c))) <= 1 - _PARALLEL:
        return message("its sides are not at right angles")
    return ""


def unreal_sphere(surface: ObjectSurface) -> tuple[RoundVolume, str]:
    """Make the sphere that Unreal makes of a surface, and describe why it makes none.

    Differences that rounding of the coordinates can cause do not count.
    """
    points, slack = surface.points, 2 * surface.rounding
    low, high = points.min(axis=0), points.max(axis=0)
    center, sides = (low + high) / 2, high - low
    radius = float(sides.max()) / 2
    sphere = RoundVolume(Capsule(center, np.array([0.0, 0.0, 1.0]), 0.0, radius))
    if sides.max() - sides.min() > _UNEVEN * sides.max() + slack:
        return sphere, _with_range(template("the box around it has sides from {least} to {most}"), sides)
    radii = length(points - center)
    # Unreal skips a vertex in the center.
    radii = radii[radii > 1e-4 * radii.max()]
    if radii.max() - radii.min() > _UNEVEN * radius + slack:
        text = template("its vertices are at distances from {least} to {most} from its center")
        return sphere, _with_range(text, radii)
    return sphere, ""


def unreal_capsule(surface: ObjectSurface) -> tuple[RoundVolume, str]:
    """Make the capsule that Unreal makes of a surface, and describe why it does not fit the vertices.

    Unreal accepts any vertices: the axis is between the two that are farthest apart, and the radius is the
    largest distance from it. They are those of a capsule if all are about at its surface, to 5 % of the
    radius, which is Unreal's tolerance for spheres.
    """
    points = surface.points
    start, end = _farthest_pair(points)
    middle, axis = (start + end) / 2, end - start
    total = float(length(axis))
    axis /= max(total, 1e-300)
    offset = points - middle
    along = offset @ axis
    radius = float(length(offset - along[:, None] * axis).max())
    half = max(total / 2 - radius, 0.0)
    capsule = RoundVolume(Capsule(middle, axis, half, radius))
    distances = length(offset - np.clip(along, -half, half)[:, None] * axis)
    if np.abs(distances - radius).max() > _UNEVEN * radius + 2 * surface.rounding:
        text = template("its vertices are at distances from {least} to {most} from its axis")
        return capsule, _with_range(text, distances)
    return capsule, ""


def _farthest_pair(points: Floats) -> tuple[Floats, Floats]:
    """Return the two points that are farthest apart; of very many, two of those in different directions."""
    if len(points) > _MOST_PAIRS:
        points = extreme_points(points)
    best, pair = -1.0, (0, 0)
    for index in range(len(points)):
        squares = ((points[index:] - points[index]) ** 2).sum(axis=1)
        other = int(squares.argmax())
        if squares[other] > best:
            best, pair = float(squares[other]), (index, index + other)
    return points[pair[0]], points[pair[1]]


def _with_range(text: str, values: Floats) -> str:
    return message(text, least=f"{values.min():.4g}", most=f"{values.max():.4g}")


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
    else:
        edges = surface.triangles[:, [[0, 1], [1, 2]]].reshape(-1, 2)
        pieces = int(connected_components(len(surface.points), edges).max(initial=-1)) + 1
        if pieces > 1:
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
    source: ObjectSurface, shapes: Sequence[CheckedShape], name: str
) -> tuple[str, Outside] | None:
    """Find the vertices of a mesh that are in none of its colliders, with a sentence; None without any.

    shapes : its colliders; if none has a volume, that is their problem
    name : that of the first one
    """
    with_volume = [(shape.volume, shape.rounding) for shape in shapes if shape.volume is not None]
    if not with_volume:
        return None
    volumes, roundings = zip(*with_volume, strict=True)
    outside = vertices_outside(source.points, volumes, source.rounding + max(roundings))
    if not outside.vertices:
        return None
    text = "has {count} of {total} vertices outside of {collider}, by up to {distance} (vertex {vertex})"
    if len(shapes) > 1:
        text = (
            "has {count} of {total} vertices outside of all its {colliders} colliders, by up to {distance} "
            "(vertex {vertex})"
        )
    values: dict[str, object] = {"count": outside.vertices, "total": len(source.points)}
    values |= {"collider": name, "colliders": len(shapes)}
    return message(text, **values, distance=f"{outside.distance:.6g}", vertex=outside.vertex), outside
