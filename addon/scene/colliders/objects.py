"""Creating, updating and removing collider objects; children that users gave them keep their places.

Names are exactly as engines expect them. Meshes are around the vertices of subjects, in the space of the
object that is the parent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from string import Formatter
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from ...core import (
    Capsule,
    CollisionBoundsError,
    ball_surface,
    box_surface,
    capsule_from_points,
    capsule_surface,
    sphere_from_points,
)
from ...core.fitting.convex_hull import HullRequest, hull_steps, run_together
from ...core.fitting.tessellation import Faces
from ...core.messages import message
from ...core.numeric.arrays import Floats, Ints, require_finite
from ...formats.export.gltf_collider_nodes import (
    NodeFrame,
    compensating_frame,
    minimum_thickness,
    node_matrix,
)
from ..blender.instances import name_of
from ..blender.mesh_data import Geometry
from ..blender.object_settings import COLLIDER_PROPERTY
from ..collider_names import COMPONENTS, PREFIXES, base_name
from ..errors import SceneError
from ..fitting.fit import inflated_points, padding_error
from ..settings import ColliderKind, FitSettings
from ..subjects.reader import SubjectGeometry
from .records import Recipe, store_record

_UNIFORM = 1e-6
"""Largest relative difference of the axes' scales for which a scale counts as uniform."""
_ROUNDED = 5e-7
"""Largest cosine of two axes that rounding in single precision can have without shear."""

_SINGLE = float(np.finfo(np.float32).eps)


class ColliderMesh(NamedTuple):
    """A closed convex mesh.

    vertices : (v, 3) float64 numbers that single precision can represent
    faces : vertex indices of polygons, counter-clockwise from outside
    frame : rotation and scale of the collider below its source; None if it has the source's axes
    """

    vertices: Floats
    faces: Faces
    frame: NodeFrame | None


def collider_steps(
    geometry: Geometry, kind: ColliderKind, fit: FitSettings, max_vertices: int
) -> Generator[HullRequest, Ints | None, ColliderMesh]:
    """Fit a collider to the vertices of a subject, with the padding, a length in the world, around it.

    No vertex of the subject is above any face. Vertices are in the subject's object space, so that the
    collider scales with it. Where that would turn a sphere into an ellipsoid, or shear a box or a hull, the
    collider's frame compensates the scale, and the rotation that comes with shear. Engines have no sheared
    shapes: Jolt Physics drops the shear.

    Yields requests as `hull_steps`, so that hulls of many subjects are built at the same time; hulls have at
    most `max_vertices`. Raises CollisionBoundsError if there are no finite vertices, or a negative padding
    leaves nothing.
    """
    linear = geometry.matrix[:3, :3]
    frame: NodeFrame | None = compensating_frame(linear)
    lengths = 1 / np.abs(frame.scale)
    require_finite(geometry.points, "vertices")
    points: Floats = geometry.points.astype(np.float64)
    axes = node_matrix(np.zeros(3), frame.rotation, frame.scale)[:3, :3]
    is_sheared = bool(frame.rotation[:3].any())
    is_uniform = bool(np.ptp(lengths) <= _UNIFORM * lengths.max())
    slack = 0.0
    if is_sheared or (kind in ("sphere", "capsule") and not is_uniform):
        points = np.asarray(np.linalg.solve(axes, points.T).T, dtype=np.float64)
        # Blender multiplies both matrices in single precision, and makes rotations of rounded quaternions, no
        # entry of which is more precise than the largest one.
        entries = np.tile(np.abs(frame.scale), (3, 1)) if is_sheared else np.abs(axes)
        growth = float((np.abs(linear) @ entries).sum(axis=1).max())
        slack = 8 * _SINGLE * growth * float(np.abs(points).max())
        axes, lengths = np.eye(3), np.ones(3)
    else:
        frame = None
    if kind == "hull":
        around = inflated_points(points, axes, lengths, fit.padding)
        hull = yield from hull_steps(around, max_vertices, margin=slack)
        return ColliderMesh(hull.vertices, tuple(map(tuple, hull.faces.tolist())), frame)
    return ColliderMesh(*_volume(points, kind, geometry, fit, lengths, slack), frame)


def _volume(
    points: Floats, kind: ColliderKind, geometry: Geometry, fit: FitSettings, lengths: Floats, slack: float
) -> tuple[Floats, Faces]:
    """Vertices and faces of a volume around points (n, 3), grown by a slack and the padding."""
    if kind == "box":
        return _box(points, lengths, fit.padding, slack)
    radius = geometry.radius
    ball = radius * float(np.linalg.norm(geometry.matrix[:3, :3], 2)) if radius else 0.0
    unit = float(lengths.min())
    growth = slack + (ball + fit.padding) / unit
    if kind == "sphere":
        sphere = sphere_from_points(points)
        return ball_surface(sphere.center, _thick_radius(float(sphere.radius) + growth, unit, fit))
    along_axes = (capsule_from_points(points, axis) for axis in np.eye(3)[[2, 0, 1]])
    capsule = min(along_axes, key=lambda each: float(each.volume))
    thick = _thick_radius(float(capsule.radius) + growth, unit, fit, 2 * float(capsule.half_length))
    return capsule_surface(Capsule(capsule.center, capsule.axis, capsule.half_length, thick))


def _box(points: Floats, lengths: Floats, padding: float, slack: float) -> tuple[Floats, Faces]:
    """Vertices and faces of a box around points (n, 3), whose units have lengths (3,) in the world."""
    low, high = points.min(axis=0), points.max(axis=0)
    growth = slack + padding / lengths
    sides = (high - low + 2 * growth) * lengths
    if (sides < 0).any():
        raise padding_error(padding)
    growth += np.maximum(minimum_thickness(float(sides.max())) - sides, 0) / 2 / lengths
    return box_surface(low - growth, high + growth)


def _thick_radius(radius: float, unit: float, fit: FitSettings, axis: float = 0.0) -> float:
    """Radius of at least the minimum thickness, in a space whose unit has the length `unit` in the world.

    `axis` is the length of the axis of a capsule.
    """
    if radius < 0:
        raise padding_error(fit.padding)
    return max(radius, minimum_thickness((2 * radius + axis) * unit) / unit / 2)


def fit_colliders(
    subjects: Sequence[tuple[Recipe, Sequence[SubjectGeometry]]],
) -> Iterator[list[ColliderMesh] | CollisionBoundsError]:
    """Fit colliders to the parts of each of many subjects, with the kind and most vertices of a recipe.

    Hulls, which are slow, are built at the same time, and once for all with the same vertices. Yields the
    meshes of the parts of each subject, or the first error of one.
    """
    keys = [[_shape_key(part, recipe) for part in parts] for recipe, parts in subjects]
    jobs: dict[object, Generator[HullRequest, Ints | None, ColliderMesh]] = {}
    for (recipe, parts), of_parts in zip(subjects, keys, strict=True):
        for key, part in zip(of_parts, parts, strict=True):
            if key not in jobs:
                jobs[key] = collider_steps(part.geometry, recipe.kind, part.fit, recipe.max_vertices)
    made = dict(zip(jobs, run_together(list(jobs.values())), strict=True))
    for of_parts in keys:
        results = [made[key] for key in of_parts]
        meshes = [mesh for mesh in results if isinstance(mesh, ColliderMesh)]
        errors = (error for error in results if isinstance(error, CollisionBoundsError))
        yield next(errors, None) or meshes


def _shape_key(piece: SubjectGeometry, recipe: Recipe) -> object:
    """Return a value that is equal for subjects whose colliders have the same mesh."""
    geometry, fit = piece.geometry, piece.fit
    if recipe.kind != "hull" or fit.padding:
        return id(piece)
    linear = geometry.matrix[:3, :3]
    products = linear.T @ linear
    lengths = np.diag(products) ** 0.5
    if (np.abs(products - np.diag(lengths**2)) > _ROUNDED * np.outer(lengths, lengths)).any():
        # The collider of a sheared object has axes of its own.
        return geometry.points.tobytes(), linear.tobytes(), recipe.max_vertices
    # The minimum thickness depends on the scale, which is compared to three digits.
    return geometry.points.tobytes(), tuple(f"{length:.3e}" for length in lengths), recipe.max_vertices


class ColliderRequest(NamedTuple):
    """A collider that is to be created or updated.

    mark : name of its source, stored on the object and its mesh
    before : existing collider to update; None to create one
    elsewhere : collections of colliders that it stays linked to
    bone : bone of the parent that it follows, in whose space its vertices are; empty if it follows the parent
    """

    name: str
    shape: ColliderMesh
    recipe: Recipe
    mark: str
    parent: bpy.types.Object | None
    before: bpy.types.Object | None = None
    elsewhere: Collection[bpy.types.Collection] = ()
    bone: str = ""


def match_existing(items: Iterable[bpy.types.Object], names: Sequence[str]) -> dict[str, bpy.types.Object]:
    """Assign existing colliders to names: the one of that name if it exists, else any other, in order."""
    usable = {name_of(item): item for item in items if item.type == "MESH" and item.mode == "OBJECT"}
    matched = {name: usable.pop(name) for name in names if name in usable}
    unmatched = [name for name in names if name not in matched]
    return matched | {name: usable[before] for name, before in zip(unmatched, sorted(usable), strict=False)}


def create_or_update(
    requests: Sequence[ColliderRequest], home: bpy.types.Collection
) -> list[bpy.types.Object]:
    """Create or update colliders, and return them. None of their names may be in use by another object.

    They are linked to the collection `home`. Links to other collections of colliders are removed, but not
    those that users added.
    """
    names = {entry.name for entry in requests}
    for entry in requests:
        item = entry.before
        if item is not None and name_of(item) != entry.name and name_of(item) in names:
            # Another collider gets its name, and Blender appends .001 to a name that is in use.
            item.name = f"{item.session_uid}"
            assert isinstance(item.data, bpy.types.Mesh), "only mesh objects are matched"
            if _is_exclusive(item.data):
                item.data.name = item.name
    _remove_meshes(filter(None, (bpy.data.meshes.get(entry.name) for entry in requests)))
    items = {entry.before for entry in requests if entry.before is not None}
    children, homes = _children_of(items), _collections_of(items)
    unused: set[bpy.types.ID] = set()
    renamed: dict[bpy.types.Mesh, str] = {}
    updated_items = []
    for entry in requests:
        item = entry.before
        mesh = item.data if item is not None else None
        assert mesh is None or isinstance(mesh, bpy.types.Mesh), "only mesh objects are matched"
        updated = _filled(mesh, entry)
        if updated != mesh:
            if mesh is not None:
                unused.add(mesh)
            renamed[updated] = entry.name
        if item is None:
            item = bpy.data.objects.new(entry.name, updated)
        elif updated != mesh:
            item.data = updated
        updated_items.append(item)
        before = _placement_of(item) if item in children else None
        _set(item, entry)
        for child in children[item] if before is not None else ():
            # A child of its vertices follows the vertices, so it is not changed.
            if child.parent_type == "OBJECT":
                child.matrix_parent_inverse = _inverse_in_place(child, before, item.parent, item.matrix_basis)
        wanted = {home, *entry.elsewhere}
        for added in wanted - homes[item]:
            added.objects.link(item)
        for other in homes[item] - wanted:
            # Keep it in collections that users linked it to.
            if other.get(COLLIDER_PROPERTY) is not None or len(homes[item]) == 1:
                other.objects.unlink(item)
    _remove_meshes(unused)
    for renamed_mesh, name in renamed.items():
        if name_of(renamed_mesh) != name:
            renamed_mesh.name = name
    return updated_items


def ancestors(item: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Iterate over the parents of an object, upward."""
    parent = item.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def remove_objects(items: Iterable[bpy.types.Object]) -> None:
    """Remove colliders, and those of their meshes that were created here and have no other user.

    Children that users gave them become children of their sources, and stay in place.
    """
    items = set(items)
    # All matrices are read before anything is set, because setting one invalidates the others.
    reparented = []
    for item, children in _children_of(items).items():
        before = _placement_of(item)
        parent = next((each for each in ancestors(item) if each not in items), None)
        for child in (each for each in children if each not in items):
            if child.parent_type == "OBJECT":
                below = _inverse_in_place(child, before, parent, Matrix())
            else:
                world = child.matrix_world @ child.matrix_basis.inverted_safe()
                below = parent.matrix_world.inverted_safe() @ world if parent else world
            reparented.append((child, parent, below))
    for child, parent, below in reparented:
        child.parent, child.parent_type = parent, "OBJECT"
        if parent is None:
            child.matrix_basis = below @ child.matrix_basis
        else:
            child.matrix_parent_inverse = below
    meshes = {item.data for item in items if item.data is not None}
    bpy.data.batch_remove(items)
    _remove_meshes(meshes)


def _remove_meshes(meshes: Iterable[bpy.types.ID]) -> None:
    """Remove meshes that were created here and have no user."""
    bpy.data.batch_remove(
        [
            mesh
            for mesh in meshes
            if mesh.get(COLLIDER_PROPERTY) is not None and not mesh.users and not mesh.library
        ]
    )


def _children_of(items: set[bpy.types.Object]) -> dict[bpy.types.Object, list[bpy.types.Object]]:
    """Children of objects that can be kept in place, from one loop over the file."""
    children: dict[bpy.types.Object, list[bpy.types.Object]] = defaultdict(list)
    for item in bpy.data.objects if items else ():
        if item.parent in items and item.library is None:
            children[item.parent].append(item)
    return children


def _collections_of(items: set[bpy.types.Object]) -> dict[bpy.types.Object, set[bpy.types.Collection]]:
    """Editable collections that objects are linked to, from one loop over the file.

    Collections that hold the rigid bodies of a scene are excluded.
    """
    collections: dict[bpy.types.Object, set[bpy.types.Collection]] = defaultdict(set)
    if items:
        worlds = [scene.rigidbody_world for scene in bpy.data.scenes if scene.rigidbody_world is not None]
        bodies = {home for world in worlds for home in (world.collection, world.constraints)}
        for home in (*bpy.data.collections, *(scene.collection for scene in bpy.data.scenes)):
            if home.library is None and home not in bodies:
                for item in items.intersection(home.objects):
                    collections[item].add(home)
    return collections


def _filled(mesh: bpy.types.Mesh | None, entry: ColliderRequest) -> bpy.types.Mesh:
    """Return a mesh with the surface of a collider: this one if only the collider uses it, or a new one."""
    if mesh is None or not _is_exclusive(mesh):
        mesh = bpy.data.meshes.new(entry.name)
    else:
        mesh.clear_geometry()
        if name_of(mesh) != entry.name:
            mesh.name = entry.name
    mesh.from_pydata(entry.shape.vertices.tolist(), [], list(entry.shape.faces))
    mesh[COLLIDER_PROPERTY] = entry.mark
    return mesh


def _is_exclusive(mesh: bpy.types.Mesh) -> bool:
    """Return whether a mesh was created for one collider and has no other user."""
    is_alone = mesh.users == 1 and not mesh.library and not mesh.shape_keys
    return is_alone and mesh.get(COLLIDER_PROPERTY) is not None


def _set(item: bpy.types.Object, entry: ColliderRequest) -> None:
    """Convert an object to the requested collider; changes that users made to its transform are reset."""
    if item.animation_data is not None:
        item.animation_data_clear()
    for added in (item.modifiers, item.constraints):
        if added:
            added.clear()
    item[COLLIDER_PROPERTY] = entry.mark
    frame = entry.shape.frame
    rotation, no_scale = Quaternion(), Vector((1.0, 1.0, 1.0))
    if frame is not None:
        x, y, z, w = frame.rotation.tolist()
        rotation = Quaternion((w, x, y, z))
    parent_inverse = Matrix()
    if entry.bone:
        # From the tail of a bone, where its children are, to its head.
        assert entry.parent is not None, "a bone is of an armature"
        armature: Any = entry.parent.data
        parent_inverse = Matrix.Translation((0.0, -armature.bones[entry.bone].length, 0.0))
    values = {
        "name": entry.name,
        "hide_render": True,
        "display_type": "WIRE",
        "parent": entry.parent,
        "parent_type": "BONE" if entry.bone else "OBJECT",
        "parent_bone": entry.bone,
        "matrix_parent_inverse": parent_inverse,
        # First, because Blender converts the rotation to another mode.
        "rotation_mode": "XYZ" if frame is None else "QUATERNION",
        **dict.fromkeys(("delta_location", "location"), Vector()),
        **dict.fromkeys(("delta_rotation_euler", "rotation_euler"), Euler()),
        "delta_rotation_quaternion": Quaternion(),
        "delta_scale": no_scale,
        "rotation_quaternion": rotation,
        "scale": no_scale if frame is None else Vector(frame.scale.tolist()),
    }
    for key, value in values.items():
        # Set only what differs, because Blender loops over the whole file when some of these are set.
        if getattr(item, key) != value:
            setattr(item, key, value)
    store_record(item, entry.recipe)


_Placement: TypeAlias = tuple[bpy.types.Object | None, Matrix, Matrix, bool]
"""Parent of a collider that has children, its matrices below the parent and in the world, and whether its own
transform alone places it there: it has no bone as its parent, and no constraints."""


def _placement_of(item: bpy.types.Object) -> _Placement:
    local = item.matrix_parent_inverse @ item.matrix_basis if item.parent else item.matrix_basis.copy()
    is_plain = item.parent_type == "OBJECT" and not item.constraints
    return item.parent, local, item.matrix_world.copy(), is_plain


def _inverse_in_place(
    child: bpy.types.Object, before: _Placement, parent: bpy.types.Object | None, basis: Matrix
) -> Matrix:
    """Parent-inverse matrix of a child of a collider that keeps it in place.

    Before, the collider was placed as `before`. Now what the child is below has a parent and a basis matrix.
    """
    parent_before, local, world, is_plain = before
    if is_plain and parent_before == parent:
        old, now = local, basis
    else:
        old, now = world, parent.matrix_world @ basis if parent else basis
    inverse = child.matrix_parent_inverse.copy()
    return inverse if old == now else now.inverted_safe() @ old @ inverse


FIELDS = ("name", "base", "number", "prefix", "component", "kind")


class ColliderNames:
    """Assigns unique names by a pattern, without those that are in use."""

    def __init__(self, pattern: str, used: Iterable[str]) -> None:
        """Parse a pattern; `used` has the names of existing objects.

        The pattern has {name}, the name of the source, or {base}, its name without a level of detail such as
        _LOD1, and optionally {number}, {prefix} (UBX, USP, UCP, UCX), {component} (BoxCollider and so on) and
        {kind} (box, sphere, capsule, hull). Raises SceneError without {name} and {base}, or with an unknown
        field.
        """
        try:
            parts = list(Formatter().parse(pattern))
        except ValueError:
            text = "name pattern {pattern!r}: a brace is missing"
            raise SceneError(message(text, pattern=pattern)) from None
        fields = {field for _, field, _, _ in parts if field is not None}
        if not fields <= set(FIELDS) or any(form or conversion for _, _, form, conversion in parts):
            known = ", ".join(f"{{{known}}}" for known in FIELDS)
            text = "name pattern {pattern!r}: unknown field in braces; allowed fields are {known}"
            raise SceneError(message(text, pattern=pattern, known=known))
        if not fields & {"name", "base"}:
            text = "name pattern {pattern!r}: has no {{name}}; add it, for the name of the object"
            raise SceneError(message(text, pattern=pattern))
        self._pattern, self._is_numbered = pattern, "number" in fields
        self._used = set(used)

    def reserve(self, names: Iterable[str]) -> None:
        """Exclude names from those that are assigned."""
        self._used.update(names)

    def assign(self, name: str, kinds: list[ColliderKind]) -> list[str]:
        """Assign a name to a collider of each kind, for the source of a name, with the lowest free numbers.

        Raises SceneError if a name is in use, or too long for Blender, which would append .001 or truncate
        it.
        """
        if len(kinds) > 1 and not self._is_numbered:
            text = "has {count} colliders: add {{number}} to the name pattern"
            raise SceneError(message(text, count=len(kinds)))
        declared: Any = bpy.types.ID.bl_rna.properties["name"]
        limit = int(declared.length_max) - 1  # 63 bytes, 255 since Blender 5.0
        names: dict[str, None] = {}
        # All lower numbers are in use, so thousands of parts do not search from 0 again each.
        numbers = dict.fromkeys(kinds, 0)
        for kind in kinds:
            fields = {"name": name, "base": base_name(name), "kind": kind}
            fields |= {"prefix": PREFIXES[kind], "component": COMPONENTS[kind]}
            while (
                candidate := self._pattern.format(**fields, number=f"{numbers[kind]:02}")
            ) in self._used or candidate in names:
                if not self._is_numbered:
                    text = "the name {candidate!r} is taken by another object: rename that object"
                    raise SceneError(message(text, candidate=candidate))
                numbers[kind] += 1
            size = len(candidate.encode())
            if size > limit:
                text = (
                    "the name {candidate!r} has {size} bytes, and Blender allows {limit}: rename the object"
                )
                raise SceneError(message(text, candidate=candidate, size=size, limit=limit))
            names[candidate] = None
        self._used.update(names)
        return list(names)
