"""Consistency of hulls, trees, capsules and cylinders with the boxes and spheres of their object.

All enclose the same points. A box has a point on each of its faces, and a sphere has one on its surface, so
the other shapes must reach as far. This holds for any padding: it moves all of them by the same distance, or
some by more. But a negative one takes more from corners and rims than from faces, so boxes of parts and
cylinders are compared by their faces: the object has a point on each, which its sphere encloses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...core.numeric.arrays import UNIT_BOX_CORNERS, Floats, dot, length, transform_vectors
from ..spaces import matrix_from_quaternion

_SIZE_TOLERANCE, _POSITION_TOLERANCE = 1e-3, 1e-8
_HULL_GROWTH = 4.0
"""A hull exceeds boxes and spheres by at most this multiple of their size. Its padding is a cube, thin
hulls have a minimum thickness, and a limit of vertices or few decimals have doubled the size of some."""
_HULL_STEPS, _HULL_POSITION = 64, 1e-5
"""Further growth: in steps of rounding, and relative to the coordinates, because of single precision."""
_POINT_THICKNESS = 1e-3
"""Size of the hull of a single point, in Blender's units."""
_FARTHEST_NODE = 64
"""A node is at most this many radii away from its root. It can be outside of it only with a negative padding
of almost the size of the object."""


class _Plain(NamedTuple):
    """A box or a sphere in world space.

    Attributes
    ----------
    name : str
    center : (3,) float64
    axes : (3, 3) float64
        Of a box, as rows.
    half : (3,) float64
        Half extents of a box; 0 for a sphere.
    radius : float
        Of a sphere; 0 for a box.
    """

    name: str
    center: Floats
    axes: Floats
    half: Floats
    radius: float


class _Slabs(NamedTuple):
    """Pairs of parallel faces in world space, on each of which the object has a point.

    Attributes
    ----------
    centers, normals : (m, 3) float64
    half : (m,) float64
        Half distances between the faces.
    """

    centers: Floats
    normals: Floats
    half: Floats

    def exceed(self, sphere: _Plain, step: float) -> bool:
        """Return whether a face is beyond a sphere."""
        offset = dot(self.centers - sphere.center, self.normals)
        excess = np.abs(offset) + self.half - sphere.radius
        return bool(excess.max() > _slack(sphere, step))


class _Body(NamedTuple):
    """The vertices of a hull, the leaves of a tree, or the ends of a capsule, in world space.

    Attributes
    ----------
    name : str
    centers : (m, 3) float64
    radii : (m,) float64
        0 for vertices.
    slabs : _Slabs or None
        The faces, if these are the corners of boxes.
    """

    name: str
    centers: Floats
    radii: Floats
    slabs: _Slabs | None = None

    def reach(self, axes: Floats) -> Floats:
        """Greatest extents (k,) in the directions of `axes` (k, 3)."""
        reach: Floats = (self.centers @ axes.T + self.radii[:, None]).max(axis=0)
        return reach

    def farthest(self, point: Floats) -> float:
        """Greatest distance from a point (3,)."""
        return float((length(self.centers - point) + self.radii).max())


class _Cylinder(NamedTuple):
    """A cylinder in world space; see `Cylinder`.

    Attributes
    ----------
    name : str
    center, axis : (3,) float64
    half_length, radius : float
    """

    name: str
    center: Floats
    axis: Floats
    half_length: float
    radius: float

    @property
    def slabs(self) -> _Slabs:
        """Both ends as faces."""
        return _Slabs(self.center[None], self.axis[None], np.array([self.half_length]))

    @property
    def centers(self) -> Floats:
        """Both ends (2, 3) of the axis."""
        along = self.axis * self.half_length
        return np.stack([self.center - along, self.center + along])

    def reach(self, axes: Floats) -> Floats:
        """Greatest extents (k,) in the directions of `axes` (k, 3)."""
        cosine = np.abs(axes @ self.axis)
        sine = length(axes - (axes @ self.axis)[:, None] * self.axis)
        reach: Floats = axes @ self.center + cosine * self.half_length + sine * self.radius
        return reach

    def farthest(self, point: Floats) -> float:
        """Greatest distance from a point (3,): that of a point on one of the rims."""
        offset = self.center - point
        along = float(offset @ self.axis)
        across = float(length(offset - along * self.axis))
        return float(np.hypot(abs(along) + self.half_length, across + self.radius))


_Solid: TypeAlias = _Body | _Cylinder
_EXTENDS = ("hull", "capsule", "cylinder")
"""Shapes that exceed boxes and spheres by no more than _HULL_GROWTH of their size."""


class _Frame(NamedTuple):
    """Rotation (3, 3) and translation (3,) of local shapes, and of world shapes the identity."""

    rotation: Floats
    translation: Floats

    def points(self, values: Any) -> Floats:
        """Convert points (..., 3) to world space."""
        return transform_vectors(self.rotation, np.array(values, dtype=np.float64)) + self.translation


def enclosure_problems(document: Mapping[str, Any], step: float) -> Iterator[str]:
    """Yield contradictions between hulls, trees and other shapes of an object, as "path: problem".

    Parameters
    ----------
    document : mapping of str to Any
        Correct in all other respects.
    step : float
        Step to which lengths were rounded.
    """
    thickness = _POINT_THICKNESS * float(np.abs(document["space"]["fromBlender"]).max())
    for index, entry in enumerate(document["objects"]):
        if entry["world"].keys() & {*_EXTENDS, "compound", "spheres"}:
            problem = next(_entry_problems(entry, step, thickness), None)
            if problem:
                yield f"objects[{index}].{problem}"


def _entry_problems(entry: Mapping[str, Any], step: float, thickness: float) -> Iterator[str]:
    """Contradictions within an entry; `thickness` is that of hulls of a single point."""
    transform = entry["transform"]
    local = _Frame(
        matrix_from_quaternion(transform["rotation"]), np.array(transform["translation"], dtype=np.float64)
    )
    frames = {"world": _Frame(np.eye(3), np.zeros(3)), "local": local}
    plain = [shape for name, frame in frames.items() for shape in _plain_shapes(entry[name], name, frame)]
    bodies = [body for name, frame in frames.items() for body in _bodies(entry[name], name, frame)]
    for group in ("world", "local"):
        yield from _tree_problems(entry[group].get("spheres"), f"{group}.spheres", step)
    # Trees first: their roots are compared with hulls afterwards.
    for body in sorted(bodies, key=lambda body: body.name.endswith(_EXTENDS)):
        for shape in plain:
            if body.slabs is not None:
                is_apart = not shape.half.any() and body.slabs.exceed(shape, step)
            else:
                is_apart = _is_short_of(body, shape, step)
            if is_apart:
                yield f"{body.name}: cannot enclose the same object as {shape.name}"
            if body.name.endswith(_EXTENDS) and _is_beyond(body, shape, local, step, thickness):
                yield f"{body.name}: is far larger than {shape.name}"
    yield from _differences(entry, bodies, local, step)


def _plain_shapes(group: Mapping[str, Any], name: str, frame: _Frame) -> Iterator[_Plain]:
    """Boxes and spheres of a group of shapes, with the roots of trees."""
    none = np.zeros(3)
    if box := group.get("aabb"):
        low, high = (np.array(box[key], dtype=np.float64) for key in ("min", "max"))
        center = frame.points(low / 2 + high / 2)
        yield _Plain(f"{name}.aabb", center, frame.rotation.T, high / 2 - low / 2, 0.0)
    if oriented := group.get("obb"):
        axes = (frame.rotation @ matrix_from_quaternion(oriented["rotation"])).T
        half = np.array(oriented["halfExtents"], dtype=np.float64)
        yield _Plain(f"{name}.obb", frame.points(oriented["center"]), axes, half, 0.0)
    if sphere := group.get("sphere"):
        center = frame.points(sphere["center"])
        yield _Plain(f"{name}.sphere", center, np.eye(3), none, float(sphere["radius"]))
    if tree := group.get("spheres"):
        center = frame.points(tree[0]["center"])
        yield _Plain(f"{name}.spheres[0]", center, np.eye(3), none, float(tree[0]["radius"]))


def _bodies(group: Mapping[str, Any], name: str, frame: _Frame) -> Iterator[_Solid]:
    if hull := group.get("hull"):
        vertices = frame.points(hull["vertices"])
        yield _Body(f"{name}.hull", vertices, np.zeros(len(vertices)))
    if tree := group.get("spheres"):
        leaves = [node for node in tree if not node["children"]]
        radii = np.array([node["radius"] for node in leaves], dtype=np.float64)
        yield _Body(f"{name}.spheres", frame.points([node["center"] for node in leaves]), radii)
    if parts := group.get("compound"):
        corners = [_part_corners(part, frame) for part in parts]
        points, radii = (np.concatenate([pair[index] for pair in corners]) for index in range(2))
        yield _Body(f"{name}.compound", points, radii, _slabs_of(parts, frame))
    for key in ("capsule", "cylinder"):
        if axial := group.get(key):
            center, axis = frame.points(axial["center"]), frame.rotation @ np.array(axial["axis"], np.float64)
            half, radius = float(axial["halfLength"]), float(axial["radius"])
            if key == "cylinder":
                yield _Cylinder(f"{name}.cylinder", center, axis, half, radius)
            else:
                ends = np.stack([center - half * axis, center + half * axis])
                yield _Body(f"{name}.capsule", ends, np.full(2, radius))


def _part_corners(part: Mapping[str, Any], frame: _Frame) -> tuple[Floats, Floats]:
    """Points (n, 3) and radii (n,) of balls whose convex hull is a part of a compound."""
    ((key, shape),) = part.items()
    if key == "hull":
        points = frame.points(shape["vertices"])
    elif key == "obb":
        corners = UNIT_BOX_CORNERS * np.array(shape["halfExtents"], dtype=np.float64)
        points = frame.points(
            transform_vectors(matrix_from_quaternion(shape["rotation"]), corners) + shape["center"]
        )
    else:
        center, half = np.array(shape["center"], dtype=np.float64), float(shape.get("halfLength", 0.0))
        along = half * np.array(shape.get("axis", (0, 0, 1)), dtype=np.float64)
        points = frame.points([center - along, center + along])
    return points, np.full(len(points), float(shape.get("radius", 0.0)))


def _slabs_of(parts: list[Mapping[str, Any]], frame: _Frame) -> _Slabs | None:
    """Faces of the boxes among the parts of a compound; None without boxes."""
    boxes = [part["obb"] for part in parts if "obb" in part]
    if not boxes:
        return None
    centers, half, quaternions = (
        np.array([box[key] for box in boxes], dtype=np.float64)
        for key in ("center", "halfExtents", "rotation")
    )
    axes = frame.rotation @ matrix_from_quaternion(quaternions)
    normals = axes.swapaxes(1, 2).reshape(-1, 3)
    return _Slabs(frame.points(centers).repeat(3, axis=0), normals, half.reshape(-1))


def _slack(shape: _Plain, step: float) -> float:
    """Tolerance of a comparison with a box or a sphere."""
    size, position = float(shape.half.max()) + shape.radius, float(np.abs(shape.center).max())
    return 8 * step + _SIZE_TOLERANCE * size + _POSITION_TOLERANCE * (position + size)


def _is_short_of(body: _Solid, shape: _Plain, step: float) -> bool:
    """Return whether a body does not reach a face of a box, or the surface of a sphere."""
    slack = _slack(shape, step)
    if shape.name.endswith(("aabb", "obb")):
        along, half = shape.axes @ shape.center, shape.half
        missing = np.maximum(along + half - body.reach(shape.axes), half - along - body.reach(-shape.axes))
        return bool(missing.max() > slack)
    return bool(shape.radius - body.farthest(shape.center) > slack)


def _is_beyond(hull: _Solid, shape: _Plain, local: _Frame, step: float, thickness: float) -> bool:
    """Return whether a hull exceeds a box or sphere by more than hulls grow."""
    size = float(shape.half.max()) + shape.radius
    position = float(max(np.abs(shape.center).max(), np.abs(shape.center - local.translation).max()))
    slack = _HULL_STEPS * step + _HULL_POSITION * (position + size) + _HULL_GROWTH * size
    if size <= 2 * step:
        slack += thickness
    along = shape.axes @ shape.center
    excess = np.maximum(hull.reach(shape.axes) - along, hull.reach(-shape.axes) + along) - shape.half
    return bool((excess - shape.radius).max() > slack)


def _tree_problems(tree: list[dict[str, Any]] | None, path: str, step: float) -> Iterator[str]:
    """Nodes that cannot have the parts of an object as their parents and children have them.

    The part of a child is in that of its parent, so its smallest sphere is not larger. The sphere of the
    parent has a point on its surface, which one of its children encloses.
    """
    if tree is None or len(tree) == 1:
        return
    centers = np.array([node["center"] for node in tree], dtype=np.float64)
    radii = np.array([node["radius"] for node in tree], dtype=np.float64)
    inner = np.array([index for index, node in enumerate(tree) if node["children"]])
    children = np.array([tree[index]["children"] for index in inner], dtype=np.int64)
    slack = 8 * step + _SIZE_TOLERANCE * radii[0] + _POSITION_TOLERANCE * (np.abs(centers).max() + radii[0])
    below = radii[children] - radii[inner][:, None] > slack
    reach = length(centers[children] - centers[inner][:, None]) + radii[children]
    above = radii[inner] - reach.max(axis=1) > slack
    away = length(centers - centers[0]) > _FARTHEST_NODE * radii[0] + slack
    if below.any():
        node = int(inner[below.any(axis=1).argmax()])
        yield f"{path}[{node}].radius: is smaller than that of a child"
    if above.any():
        yield f"{path}[{int(inner[above.argmax()])}].radius: is larger than its children require"
    if away.any():
        yield f"{path}[{int(away.argmax())}].center: is too far from the root"


def _differences(entry: Mapping[str, Any], bodies: list[_Solid], local: _Frame, step: float) -> Iterator[str]:
    """Shapes of different extents in world and local space, and trees with the same nodes at other places."""
    for key in _EXTENDS:
        hulls = [body for body in bodies if body.name.endswith(key)]
        if not hulls:
            continue
        axes = np.concatenate([local.rotation.T, -local.rotation.T])
        one, other = (hull.reach(axes) for hull in hulls)
        size = min(float((reach[:3] + reach[3:]).max()) / 2 for reach in (one, other))
        position = float(np.abs(hulls[0].centers).max())
        slack = _HULL_STEPS * step + _HULL_POSITION * (position + size)
        # Both hulls are searched, while one capsule or cylinder is that of the other group, moved.
        slack += (_HULL_GROWTH if key == "hull" else _SIZE_TOLERANCE) * size
        if not (np.abs(one - other) <= slack).all():
            yield f"transform: does not map local.{key} to world.{key}"
    kinds = [[[*part] for part in entry[group].get("compound", ())] for group in ("world", "local")]
    if kinds[0] != kinds[1]:
        yield "world.compound: has other shapes than local.compound"
    trees = [entry[group].get("spheres") for group in ("world", "local")]
    if not trees[0] or [node["children"] for node in trees[0]] != [node["children"] for node in trees[1]]:
        return
    centers = [np.array([node["center"] for node in tree], dtype=np.float64) for tree in trees]
    radii = [np.array([node["radius"] for node in tree], dtype=np.float64) for tree in trees]
    size = float(radii[0].max())
    slack = 8 * step + _SIZE_TOLERANCE * size
    slack += _POSITION_TOLERANCE * (float(np.abs(centers[0]).max()) + size)
    apart = centers[0] - local.points(centers[1])
    wrong = (np.sqrt(dot(apart, apart)) > slack) | (np.abs(radii[0] - radii[1]) > slack)
    if wrong.any():
        node = int(wrong.argmax())
        yield f"world.spheres[{node}]: is not local.spheres[{node}], moved by transform"
