"""Consistency of the shapes of an object: all enclose the same points, and closely.

Each shape says how far it reaches along axes and from a point. A box has a point of the object on each of its
faces, and a sphere has one on its surface, so all other shapes must reach as far. This holds for any padding,
which moves all faces by the same distance, or some by more. But a negative one takes more from corners and
rims than from faces: so boxes are compared with boxes of the same axes, boxes of parts and the ends of
cylinders by their faces, and spheres never with corners of boxes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...core import Aabb, ConvexHull, Cylinder, Obb, Sphere, SphereTree
from ...core.compound.convex_parts import Compound
from ...core.numeric.arrays import (
    Bools,
    Floats,
    Ints,
    Table,
    dot,
    largest_component,
    length,
    transform_points,
    transform_vectors,
)
from ...core.shapes import VOLUMES, BoundingVolume, stacked
from ..shape_members import read_column, read_shapes, read_track_shapes
from ..spaces import matrix_from_quaternion

# Half a side or a lost sign is more than this; errors of rounding, and of nine decimals, are less.
_SIZE_TOLERANCE, _POSITION_TOLERANCE = 1e-3, 1e-8
# An envelope encloses what is in both box and sphere: with negative padding that is a little less than each.
_ENVELOPE_TOLERANCE = 5e-2
_LEAST_DECIMALS, _MOST_NUMBERS = 3, 0.95
_PARALLEL_TOLERANCE = 1e-6
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

_PLAIN = ("aabb", "obb", "sphere")
_GROUPS = ("world", "local")
_EXTENDS = ("hull", *(name for name, kind in VOLUMES.items() if "axis" in kind.field_shapes))
"""Shapes that exceed boxes and spheres by no more than _HULL_GROWTH of their size."""
_ROOT = "spheres[0]"
"""Name of the root of a tree."""

_WORLD = np.eye(4)
"""The frame of world shapes. Frames are matrices (n, 4, 4), or (4, 4) for all, without scale."""


class _Plain(Table):
    """Boxes or spheres of n objects in world space; NaN where an object has none.

    axes : (n, 3, 3) of boxes, as rows
    half : (n, 3) half extents of boxes; 0 for spheres
    radius : (n,) of spheres; 0 for boxes
    """

    center: Floats
    axes: Floats
    half: Floats
    radius: Floats

    @classmethod
    def of(cls, shapes: Aabb | Obb | Sphere, frames: Floats = _WORLD) -> _Plain:
        """Move boxes or spheres (n,) from their frames to world space."""
        turns = np.broadcast_to(frames[..., :3, :3], (*shapes.shape, 3, 3))
        axes, half, radius = np.eye(3), np.zeros((*shapes.shape, 3)), np.zeros(shapes.shape)
        if isinstance(shapes, Aabb):
            center, half = shapes.min / 2 + shapes.max / 2, shapes.max / 2 - shapes.min / 2
        else:
            center = shapes.center
        if isinstance(shapes, Obb):
            axes, half = shapes.rotation, shapes.half_extents
        if isinstance(shapes, Sphere):
            radius = shapes.radius
        return cls(transform_points(frames, center), (turns @ axes).swapaxes(1, 2), half, radius)

    def reach(self, axes: Floats, origin: Floats) -> Floats:
        """Greatest extents (n, k) from points (n, 3) in the directions of `axes` (n, k, 3)."""
        cosines = np.abs(axes @ self.axes.swapaxes(1, 2))
        along = dot(axes, (self.center - origin)[:, None]) + self.radius[:, None]
        return np.asarray(along + dot(cosines, self.half[:, None]))

    def farthest(self, point: Floats) -> Floats:
        """Greatest distances (n,) from points (n, 3)."""
        offset = np.abs(transform_vectors(self.axes, self.center - point))
        return np.asarray(length(offset + self.half) + self.radius)

    @property
    def size(self) -> Floats:
        """Half the longest sides, or radii (n,)."""
        return np.asarray(self.half.max(axis=-1) + self.radius)

    def slack(self, step: float, size_tolerance: float = _SIZE_TOLERANCE) -> Floats:
        """Largest distances (n,) by which they can exceed another shape without a contradiction."""
        position = largest_component(self.center) + self.size
        return np.asarray(8 * step + size_tolerance * self.size + _POSITION_TOLERANCE * position)


class _Bodies(NamedTuple):
    """Bodies of m objects in world space, each the convex hull of balls and discs: vertices, leaves, ends.

    rows : (m,) of the objects
    owner : (b,) bodies of the balls, increasing
    normals : (b, 3) unit vectors of discs; 0 for balls
    faces : bodies (f,) and boxes (f,) on each of whose faces the object has a point: boxes of compounds, and
        ends of cylinders; half extents are -inf along other axes
    """

    rows: Ints
    owner: Ints
    centers: Floats
    radii: Floats
    normals: Floats
    faces: tuple[Ints, _Plain] | None

    def reach(self, axes: Floats, origin: Floats) -> Floats:
        """Greatest extents (m, k) from points (m, 3) in the directions of unit vectors (m, k, 3)."""
        axes, normals = axes[self.owner], self.normals[:, None]
        across = length(axes - dot(axes, normals)[..., None] * normals)
        along = dot(axes, (self.centers - origin[self.owner])[:, None])
        return self.largest(along + across * self.radii[:, None])

    def farthest(self, point: Floats) -> Floats:
        """Greatest distances (m,) of balls from points (m, 3)."""
        return self.largest(length(self.centers - point[self.owner]) + self.radii)

    def largest(self, values: Floats) -> Floats:
        """Largest value (m, ...) of the balls (b, ...) of each body."""
        return np.maximum.reduceat(values, np.flatnonzero(np.diff(self.owner, prepend=-1)))


def shape_problems(document: Mapping[str, Any]) -> list[str]:
    """Find contradictions between shapes, each as "path: problem".

    document : Correct in all other respects.
    """
    if not document["objects"]:
        return []
    # Numbers can be as large as float64 allows.
    with np.errstate(over="ignore", invalid="ignore"):
        objects, step = document["objects"], _rounding_step(document)
        transforms = [entry["transform"] for entry in objects]
        local = np.tile(_WORLD, (len(objects), 1, 1))
        local[:, :3, :3] = matrix_from_quaternion([each["rotation"] for each in transforms])
        local[:, :3, 3] = [each["translation"] for each in transforms]
        frames = {"world": _WORLD, "local": local}
        plain = {
            f"{group}.{key}": shapes
            for group, each in frames.items()
            for key, shapes in _plain_shapes([entry[group] for entry in objects], each).items()
        }
        return [
            *_plain_problems(document, plain, local, step),
            *_track_problems(document, step),
            *_body_problems(document, plain, frames, step),
        ]


def _plain_shapes(groups: Sequence[Mapping[str, Any]], frames: Floats = _WORLD) -> dict[str, _Plain]:
    """Boxes and spheres of groups of shapes by JSON key, with the roots of trees; none that no group has."""
    plain, every = {}, np.broadcast_to(frames, (len(groups), 4, 4))
    roots = [{"sphere": group["spheres"][0]} if "spheres" in group else {} for group in groups]
    for name, (rows, shapes) in {
        **{key: read_column(key, groups) for key in _PLAIN},
        _ROOT: read_column("sphere", roots),
    }.items():
        if len(rows):
            absent = Sphere.unchecked(np.full((len(groups), 3), np.nan), np.zeros(len(groups)))
            plain[name] = _Plain(*map(np.array, _Plain.of(absent)))
            plain[name].assign(rows, _Plain.of(shapes, every[rows]))
    return plain


def _beyond_faces(shape: _Plain, other: _Plain | _Bodies) -> Floats:
    """Distances (n,) by which others do not reach a face of boxes."""
    reach = np.minimum(other.reach(shape.axes, shape.center), other.reach(-shape.axes, shape.center))
    return np.asarray((shape.half - reach).max(axis=-1))


def _contradicts(shape: _Plain, other: _Plain, slack: Floats) -> Bools:
    """Return which boxes and spheres (n,) others do not reach, where they can be compared."""
    surface = shape.radius - other.farthest(shape.center)
    missing = np.where(shape.radius > 0, surface, _beyond_faces(shape, other))
    comparable = (other.radius > 0) | ((shape.radius == 0) & _are_parallel(shape.axes, other.axes))
    return np.asarray(comparable & (missing > slack))


def _are_parallel(axes: Floats, other: Floats) -> Bools:
    """Return whether axes (n, 3, 3), as rows, are equal in any order: all absolute cosines are 0 or 1."""
    cosines = np.abs(axes @ other.swapaxes(-1, -2))
    return np.asarray((np.minimum(cosines, np.abs(1 - cosines)) < _PARALLEL_TOLERANCE).all(axis=(-1, -2)))


def _is_contradictory(shapes: Mapping[str, _Plain], step: float, tolerance: float) -> Bools:
    """Return which objects (n,) have boxes and spheres that cannot enclose the same."""
    pairs = product(shapes.values(), repeat=2)
    found = [_contradicts(shape, other, shape.slack(step, tolerance)) for shape, other in pairs]
    return np.asarray(np.any(found, axis=0))


def _is_outside(shapes: Mapping[str, _Plain], envelope: Mapping[str, _Plain], step: float) -> Bools:
    """Return which objects (n,) have a box that exceeds a shape of their envelope."""
    found = [
        (shape.radius == 0) & _contradicts(shape, other, shape.slack(step, _ENVELOPE_TOLERANCE))
        for shape, other in product(shapes.values(), envelope.values())
    ]
    return np.asarray(np.any(found, axis=0))


def _plain_problems(
    document: Mapping[str, Any], plain: Mapping[str, _Plain], local: Floats, step: float
) -> Iterator[str]:
    """Objects whose boxes and spheres contradict each other or their envelope."""
    objects, names = document["objects"], [name for name in plain if not name.endswith(_ROOT)]
    wrong = np.zeros((len(objects), len(names), len(names)), dtype=bool)
    for (row, name), (column, other) in product(enumerate(names), repeat=2):
        wrong[:, row, column] = _contradicts(plain[name], plain[other], plain[name].slack(step))
    for index in np.flatnonzero(wrong.any(axis=(1, 2))).tolist():
        yield f"objects[{index}].{_contradiction(wrong[index] | wrong[index].T, names)}"
    if "world.obb" in plain:
        box, axes_of_objects = plain["world.obb"], local[:, :3, :3].swapaxes(1, 2)
        allowed = (plain["local.obb"].axes, axes_of_objects, np.eye(3))
        is_along = np.any([_are_parallel(box.axes, axes) for axes in allowed], axis=0)
        for index in np.flatnonzero(np.isfinite(box.center[:, 0]) & ~is_along).tolist():
            yield f"objects[{index}].world.obb.rotation: is not that of local.obb, the object or the world"
    envelopes = _plain_shapes([entry.get("envelope", {}) for entry in objects])
    is_contradictory = _is_contradictory(envelopes, step, _ENVELOPE_TOLERANCE)
    for index in np.flatnonzero(is_contradictory).tolist():
        yield f"objects[{index}].envelope: its box and sphere cannot enclose the same object"
    if _is_envelope_frame(document["time"]):
        around = _plain_shapes([entry.get("envelope", {}).get("local", {}) for entry in objects])
        inside = _plain_shapes([entry["local"] for entry in objects]) if around else {}
        inside.pop(_ROOT, None)
        for index in np.flatnonzero(_is_outside(inside, around, step)).tolist():
            yield f"objects[{index}].envelope.local: does not enclose the local shapes at one of its frames"
        world = {key: plain[f"world.{key}"] for key in _PLAIN if f"world.{key}" in plain}
        # Shapes around a bone at all frames are larger than the bone at one, around which the envelope is.
        is_at_frame = np.array([not entry.get("allFrames") for entry in objects])
        is_outside = _is_outside(world, envelopes, step) & is_at_frame & ~is_contradictory
        linear_ids = document["extras"].get("straightBetweenFrames", ())
        for index in np.flatnonzero(is_outside).tolist():
            # A simulated object can be elsewhere when its frame is evaluated a second time.
            if not isinstance(linear_ids, Collection) or objects[index]["id"] not in linear_ids:
                yield f"objects[{index}].envelope: does not enclose the world shapes at one of its frames"


def _track_problems(document: Mapping[str, Any], step: float) -> Iterator[str]:
    """Tracks that contradict themselves or the envelope of their object."""
    by_id = {entry["id"]: entry for entry in document["objects"]}
    time = document["time"]
    for number, track in enumerate(document["tracks"]):
        path, frames = f"tracks[{number}]", track["frames"]
        if not time["frameStart"] <= frames[0] <= frames[-1] <= time["frameEnd"]:
            yield f"{path}.frames: must be from frameStart to frameEnd"
        shapes = {key: _Plain.of(each) for key, each in read_track_shapes(track).items()}
        envelope = _plain_shapes([by_id[track["object"]].get("envelope", {})])
        at_frames = {key: each.take(np.zeros(len(frames), np.int64)) for key, each in envelope.items()}
        checks = {
            "box and sphere cannot enclose the same object": _is_contradictory(shapes, step, _SIZE_TOLERANCE),
            "is not in the envelope of its object": _is_outside(shapes, at_frames, step),
        }
        if problem := next((problem for problem, is_bad in checks.items() if is_bad.any()), None):
            yield f"{path}: at frame {frames[int(checks[problem].argmax())]:g} {problem}"


def _body_problems(
    document: Mapping[str, Any], plain: Mapping[str, _Plain], frames: Mapping[str, Floats], step: float
) -> Iterator[str]:
    """First contradiction of each object between hulls, trees, other bodies, and boxes and spheres."""
    objects, local = document["objects"], frames["local"]
    thickness = _POINT_THICKNESS * float(np.abs(document["space"]["fromBlender"]).max())
    found: dict[int, str] = {}

    def note(rows: Ints, is_wrong: Bools, problem: str) -> None:
        for row in rows[is_wrong].tolist():
            found.setdefault(row, problem)

    for (index, entry), group in product(enumerate(objects), _GROUPS):
        for problem in _tree_problems(entry[group].get("spheres", ()), f"{group}.spheres", step):
            found.setdefault(index, problem)
    bodies = {
        f"{group}.{key}": body
        # Trees first: their roots are compared with hulls afterwards.
        for keys in (("spheres", "compound"), _EXTENDS)
        for group in _GROUPS
        for key in keys
        if (body := _bodies([entry[group] for entry in objects], key, frames[group])) is not None
    }
    for name, body in bodies.items():
        for other, every in plain.items():
            shape = every.take(body.rows)
            note(
                body.rows,
                _is_short_of(body, shape, "sphere" in other, step),
                f"{name}: cannot enclose the same object as {other}",
            )
            if name.endswith(_EXTENDS):
                is_beyond = _is_beyond(body, shape, local[body.rows, :3, 3], step, thickness)
                note(body.rows, is_beyond, f"{name}: is far larger than {other}")
    for key in _EXTENDS:
        if f"world.{key}" in bodies:
            pair = bodies[f"world.{key}"], bodies[f"local.{key}"]
            is_different = _is_different(*pair, local[pair[0].rows, :3, :3], step, key == "hull")
            note(pair[0].rows, is_different, f"transform: does not map local.{key} to world.{key}")
    for index, entry in enumerate(objects):
        for problem in _differences(entry, local[index], step):
            found.setdefault(index, problem)
    for index in sorted(found):
        yield f"objects[{index}].{found[index]}"


def _bodies(groups: Sequence[Mapping[str, Any]], key: str, frames: Floats) -> _Bodies | None:
    """Bodies of the groups of shapes that have this one; None if none has."""
    rows, shapes = read_column(key, groups)
    if not len(rows):
        return None
    shapes = shapes.to_list() if isinstance(shapes, BoundingVolume) else shapes
    parts = [
        (owner, part)
        for owner, shape in enumerate(shapes)
        for part in (shape.parts if isinstance(shape, Compound) else (shape,))
    ]
    balls = [_balls_of(part) for _, part in parts]
    owner = np.repeat([owner for owner, _ in parts], [len(radii) for _, radii, _ in balls])
    in_frames = np.broadcast_to(frames, (len(groups), 4, 4))[rows]
    centers, radii, normals = (np.concatenate(each) for each in zip(*balls, strict=True))
    centers = transform_points(in_frames[owner], centers)
    normals = transform_vectors(in_frames[owner, :3, :3], normals)
    flat = [(body, part) for body, part in parts if isinstance(part, Obb)]
    for body, part in parts:
        if isinstance(part, Cylinder):
            # Its ends, as the only faces of a box.
            sizes = np.array([float(part.half_length), -np.inf, -np.inf])
            flat.append((body, Obb.unchecked(part.center, sizes, np.outer(part.axis, [1, 0, 0]))))
    faces = None
    if flat:
        of_faces = np.array([owner for owner, _ in flat])
        faces = of_faces, _Plain.of(stacked([box for _, box in flat]), in_frames[of_faces])
    return _Bodies(rows, owner, centers, radii, normals, faces)


def _balls_of(shape: Any) -> tuple[Floats, Floats, Floats]:
    """Centers (b, 3), radii (b,) and normals (b, 3) of the balls or discs of a shape."""
    radius = getattr(shape, "radius", np.zeros(()))
    if isinstance(shape, SphereTree):
        points, radius = shape.leaf_spheres.center, shape.leaf_spheres.radius
    elif isinstance(shape, ConvexHull):
        points = shape.vertices
    elif isinstance(shape, Obb):
        points = shape.corners()
    elif isinstance(shape, Sphere):
        points = shape.center[None]
    else:
        balls: tuple[Floats, Floats, Floats] = shape.balls()
        return balls
    return points, np.broadcast_to(radius, len(points)), np.zeros_like(points)


def _is_short_of(body: _Bodies, shape: _Plain, is_sphere: bool, step: float) -> Bools:
    """Return which bodies (m,) do not reach a face of boxes (m,), or the surface of spheres.

    Bodies with faces are compared by those, and only with spheres, which must reach them.
    """
    slack = shape.slack(step)
    beyond = shape.radius - body.farthest(shape.center) if is_sphere else _beyond_faces(shape, body)
    is_short = beyond > slack
    if body.faces is not None:
        owner, box = body.faces
        sphere = shape.take(owner)
        is_short[owner] = False
        is_beyond = (_beyond_faces(box, sphere) > slack[owner]) & ~sphere.half.any(axis=1)
        is_short[owner[is_beyond]] = True
    return np.asarray(is_short)


def _is_beyond(body: _Bodies, shape: _Plain, places: Floats, step: float, thickness: float) -> Bools:
    """Return which bodies (m,) exceed boxes or spheres (m,) by more than hulls grow.

    places : (m, 3) of the objects
    thickness : of hulls of a single point
    """
    size, center = shape.size, shape.center
    position = np.maximum(largest_component(center), largest_component(center - places))
    slack = _HULL_STEPS * step + _HULL_POSITION * (position + size) + _HULL_GROWTH * size
    reach = np.maximum(body.reach(shape.axes, center), body.reach(-shape.axes, center))
    excess = (reach - shape.half).max(axis=-1) - shape.radius
    return np.asarray(excess > slack + np.where(size <= 2 * step, thickness, 0.0))


def _is_different(world: _Bodies, local: _Bodies, turns: Floats, step: float, is_hull: bool) -> Bools:
    """Return which bodies (m,) of both groups have different extents along the axes of their objects."""
    axes = turns.swapaxes(1, 2)
    axes, origin = np.concatenate([axes, -axes], axis=1), np.zeros((len(axes), 3))
    one, other = (body.reach(axes, origin) for body in (world, local))
    size = np.minimum(*((reach[:, :3] + reach[:, 3:]).max(axis=1) / 2 for reach in (one, other)))
    position = world.largest(largest_component(world.centers))
    slack = _HULL_STEPS * step + _HULL_POSITION * (position + size)
    # Both hulls are searched, while one capsule or cylinder is that of the other group, moved.
    slack += (_HULL_GROWTH if is_hull else _SIZE_TOLERANCE) * size
    return np.asarray(~(np.abs(one - other) <= slack[:, None]).all(axis=1))


def _tree_problems(tree: Sequence[Mapping[str, Any]], path: str, step: float) -> Iterator[str]:
    """Nodes that cannot have the parts of an object as their parents and children have them.

    The part of a child is in that of its parent, so its smallest sphere is not larger. The sphere of the
    parent has a point on its surface, which one of its children encloses.
    """
    if len(tree) < 2:
        return
    spheres = read_shapes("sphere", tree)
    centers, radii = spheres.center, spheres.radius
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


def _differences(entry: Mapping[str, Any], local: Floats, step: float) -> Iterator[str]:
    """Compounds of different kinds of parts, and trees with the same nodes at other places."""
    kinds = [[[*part] for part in entry[group].get("compound", ())] for group in _GROUPS]
    if kinds[0] != kinds[1]:
        yield "world.compound: has other shapes than local.compound"
    trees = [entry[group].get("spheres") for group in _GROUPS]
    if not trees[0] or [node["children"] for node in trees[0]] != [node["children"] for node in trees[1]]:
        return
    world, moved = (read_shapes("sphere", tree) for tree in trees)
    size = float(world.radius[0])
    slack = 8 * step + _SIZE_TOLERANCE * size
    slack += _POSITION_TOLERANCE * (float(np.abs(world.center[0]).max()) + size)
    wrong = length(world.center - transform_points(local, moved.center)) > slack
    wrong |= np.abs(world.radius - moved.radius) > slack
    if wrong.any():
        node = int(wrong.argmax())
        yield f"world.spheres[{node}]: is not local.spheres[{node}], moved by transform"


def _contradiction(wrong: Bools, names: Sequence[str]) -> str:
    """Name the shape that contradicts most others, or the transform.

    The transform is wrong if the world shapes agree with each other, the local ones too, and no shape takes
    part in half of the contradictions.

    wrong : (k, k), symmetric, whether two shapes contradict each other; in the order of their names
    """
    counts, is_world = wrong.sum(axis=1), np.array([name.startswith("world") for name in names])
    is_between_groups = is_world[:, None] != is_world
    if not wrong[~is_between_groups].any() and counts.max() < counts.sum() / 2:
        return "transform: does not map the local shapes to the world shapes"
    worst = int(counts.argmax())
    contradicted = ", ".join(name for name, is_wrong in zip(names, wrong[worst], strict=True) if is_wrong)
    return f"{names[worst]}: cannot enclose the same object as {contradicted}"


def _is_envelope_frame(time: Mapping[str, float]) -> bool:
    """Return whether the envelopes were sampled at the frame of the objects' shapes."""
    keys = ("referenceFrame", "frameStart", "frameEnd", "frameStep")
    reference, start, end, step = (float(time[key]) for key in keys)
    if not start <= reference <= end or math.isinf(end - start):
        return False
    return reference == end or abs(math.remainder(reference - start, step)) < 1e-9


def _rounding_step(document: Mapping[str, Any]) -> float:
    """Estimate the step that lengths were rounded to: a unit of the last decimal, or a larger one before.

    A document can have been read from one with fewer decimals in another unit, such as meters instead of
    centimeters. Its numbers are then multiples of a larger step, up to its own last decimal.

    document : Correct by the schema.
    Returns step : float. In the document's unit.
    """
    values = np.array(_lengths(document), dtype=np.float64)
    least = _MOST_NUMBERS * len(values)
    decimals = _LEAST_DECIMALS
    while decimals < 9 and np.count_nonzero(np.around(values, decimals) == values) < least:
        decimals += 1
    step, space = 10.0**-decimals, document["space"]
    meter, unit = 1 / space["metersPerUnit"], max(map(abs, space["fromBlender"]))
    for earlier_decimals in range(_LEAST_DECIMALS, decimals + 1):
        earlier = 10.0**-earlier_decimals * max(meter, unit)
        away = np.abs(values - np.rint(values / earlier) * earlier)
        if step < earlier and (earlier <= 20 * step or np.count_nonzero(away <= 1.01 * step) >= least):
            return float(earlier)
    return step


def _lengths(document: Mapping[str, Any]) -> list[float]:
    """Return the lengths of boxes and spheres; where there are none, of hulls and trees, or of parts."""
    groups = [group for entry in document["objects"] for group in (entry["world"], entry["local"])]
    parts = [part for group in groups for part in group.get("compound", ())]
    for names, holders in (
        (("aabb", "obb", "sphere"), groups),
        (("hull", "spheres"), groups),
        (("hull", "obb", "sphere"), parts),
    ):
        found = [group[name] for group in holders for name in names if name in group]
        numbers = [
            number
            for shapes in found
            for shape in (shapes if isinstance(shapes, list) else [shapes])
            for key, value in shape.items()
            if key not in ("rotation", "faces", "children")
            for number in np.ravel(value).tolist()
        ]
        if numbers:
            return numbers
    return []
