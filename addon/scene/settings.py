"""Settings of every job, and the kinds of shapes that they name.

This module imports no `bpy`, so that the command line can use it before Blender is loaded.
`SHAPE_KINDS` is the only list of shape kinds: the other modules derive theirs from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, get_args

from ..core import Aabb, Capsule, MotionKind, Obb, Shape, Sphere

Modifiers = Literal["evaluated", "base"]
"""Source of vertices: the evaluated mesh that the viewport shows, or that before modifiers and shape keys."""

PlainShape = Literal["sphere", "aabb", "obb"]
"""Shapes of bounds with one volume that need the vertices alone."""

ShapeName = Literal["aabb", "sphere", "obb", "spheres", "capsule", "compound"]
"""Shapes that a contact scan can test, the default first; "spheres" are the leaves of a sphere tree, and
"compound" is a box around each convex part.

Menus and help texts list them in this order. Blender files store the position, so append new ones.
"""

DrawnShape = Literal[ShapeName, "cylinder"]
"""Shapes that the viewport can show."""

AXIAL_SHAPES: tuple[DrawnShape, ...] = ("capsule", "cylinder")
"""Shapes around an axis."""

DetailedShapeName = Literal["spheres", "hull", "capsule", "cylinder", "compound"]
"""Shapes that are fitted to each subject by itself, by `jobs.detailed_shapes`."""

BoundShape = Literal[PlainShape, DetailedShapeName]
"""Shapes that bounds can have."""

PartShape: TypeAlias = Literal["hull", "box", "sphere", "capsule"]
"""Shapes that the convex parts of a mesh can have, the default first."""

Axes = Literal["checked", "world", "object", "smallest"]
"""Axes of a box; "checked" means those of the shape that a contact scan tests.

"smallest" are the axes of the smallest box around the vertices; they rotate with the object.
"""


BoneFrames = Literal["current", "all"]
"""Frames at which bounds of bones hold the vertices of the bone, in its space."""


@dataclass(frozen=True)
class ShapeKind:
    """Properties of one kind of bounding shape.

    Attributes
    ----------
    label, description, icon : str
        Name, tooltip and Blender icon in the interface.
    switch : str
        Property of the Display panel that shows it in the viewport; empty if the viewport cannot show it.
    tested_as : type or None
        Class of the shapes that a contact scan tests, several for a sphere tree. None if it cannot test
        them.
    is_plain : bool
        Whether `fitting.fit` fits it for bounds, to the vertices alone.
    """

    label: str
    description: str = ""
    icon: str = ""
    switch: str = ""
    tested_as: type[Shape] | None = None
    is_plain: bool = False


BOUND_SHAPES: tuple[BoundShape, ...] = get_args(BoundShape)
SCANNED_SHAPES: tuple[ShapeName, ...] = get_args(ShapeName)
ENVELOPE_SHAPES: tuple[PlainShape, ...] = ("sphere", "aabb")
"""Shapes that envelopes and tracks can have."""

SHAPE_KINDS: dict[ShapeName | BoundShape, ShapeKind] = {
    "sphere": ShapeKind(
        label="Spheres",
        description="Bounding sphere. Suits rotating objects",
        icon="MESH_UVSPHERE",
        switch="show_spheres",
        tested_as=Sphere,
        is_plain=True,
    ),
    "aabb": ShapeKind(
        label="Boxes",
        description="Axis-aligned box. Suits walls and floors",
        icon="MESH_CUBE",
        switch="show_boxes",
        tested_as=Aabb,
        is_plain=True,
    ),
    "obb": ShapeKind(
        label="Oriented Boxes",
        description="Box along the object's own axes, which rotates with it",
        icon="ORIENTATION_LOCAL",
        switch="show_oriented_boxes",
        tested_as=Obb,
        is_plain=True,
    ),
    "spheres": ShapeKind(
        label="Sphere Trees",
        description="Hierarchy of small spheres that follows the shape of the object. Most accurate, slowest",
        icon="META_BALL",
        switch="show_sphere_trees",
        tested_as=Sphere,
    ),
    "hull": ShapeKind(label="Convex Hulls"),
    "capsule": ShapeKind(
        label="Capsules",
        description="Capsule along any axis, which rotates with the object. Suits limbs and characters",
        icon="MESH_CAPSULE",
        switch="show_capsules",
        tested_as=Capsule,
    ),
    "cylinder": ShapeKind(
        label="Cylinders",
        description="Cylinder along any axis, which rotates with the object. Suits wheels and pillars",
        icon="MESH_CYLINDER",
        switch="show_cylinders",
    ),
    "compound": ShapeKind(
        label="Convex Parts",
        description="Box of any direction around each convex part of the object, so that notches stay open",
        icon="MOD_EXPLODE",
        switch="show_parts",
        tested_as=Obb,
    ),
}

SHAPES_OF_TRIANGLES: frozenset[DrawnShape] = frozenset({"spheres", "compound"})
"""Shapes of several parts, which follow from the triangles of an object and not from its vertices alone."""

OBSTACLE_SHAPES: tuple[ShapeName, ...] = tuple(
    name for name in SCANNED_SHAPES if SHAPE_KINDS[name].tested_as is Sphere
)
"""Shapes that a contact scan can test against the triangles of obstacles; the default first."""


def shape_kind(name: str) -> ShapeKind:
    """Return the properties of a kind of shape. Raises ValueError for a name that is not in `SHAPE_KINDS`."""
    for known, kind in SHAPE_KINDS.items():
        if known == name:
            return kind
    raise ValueError(f"unknown shape {name!r}: choose from {', '.join(SHAPE_KINDS)}")


DEFAULT_SHAPES: tuple[BoundShape, ...] = ("sphere", "aabb")


class VertexGroup(NamedTuple):
    """Vertices of a vertex group.

    Attributes
    ----------
    name : str
    threshold : float
        Least weight of a vertex. Vertices of weight 0 are never part.
    """

    name: str
    threshold: float = 0.5


@dataclass(frozen=True)
class FitSettings:
    """Settings of fitting shapes to vertices.

    Attributes
    ----------
    padding : float
        Length in Blender units that is added on every side. A negative padding shrinks the shape.
    modifiers : Modifiers
        Source of the vertices.
    axes : Axes
        Axes of boxes, where a contact scan tests boxes.
    depth : int
        Depth of sphere trees.
    parts : int
        Largest number of convex parts of a compound, from 1 to 256.
    parts_tolerance : float
        Length in Blender units. Parts of a compound are not split further if no notch is deeper than this.
    part_shape : PartShape
        Shape of each part of a compound.
    bone_frames : BoneFrames
        Frames at which bounds of bones hold their vertices. Contact scans ignore it: they use the vertices of
        each frame.
    vertex_group : VertexGroup or None
        Group whose vertices alone are enclosed at one frame, see `bounds_in_parts`. Other jobs ignore it.
    """

    padding: float = 0.0
    modifiers: Modifiers = "evaluated"
    axes: Axes = "checked"
    depth: int = 4
    parts: int = 8
    parts_tolerance: float = 0.0
    part_shape: PartShape = "hull"
    bone_frames: BoneFrames = "current"
    vertex_group: VertexGroup | None = None


@dataclass(frozen=True)
class Selection:
    """Filter of the visible objects; everything passes when nothing is set.

    Attributes
    ----------
    patterns : tuple of str
        Shell patterns. A subject is selected if its name, or its owner's name, matches any of them.
    collection : str or None
        Name of a collection, its children included.
    selected_only : bool
        Whether only objects that are selected in the viewport pass.
    split_by_bones : bool
        Whether objects that an armature deforms are split by its bones, unless they have settings of their
        own.
    owners : frozenset of str or None
        Full names of the only objects that pass, with their instances and parts; None for all.
    bone_weight : float
        Least weight of the vertices of a bone, of objects that are split. Each vertex belongs to the bone
        with its largest weight in any case. At 1 it belongs to no other one.
    """

    patterns: tuple[str, ...] = ()
    collection: str | None = None
    selected_only: bool = False
    split_by_bones: bool = False
    owners: frozenset[str] | None = None
    bone_weight: float = 1.0

    @property
    def weight_of_bones(self) -> float | None:
        """Return the least weight of the vertices of a bone; None if objects are not split by bones."""
        return self.bone_weight if self.split_by_bones else None


@dataclass(frozen=True)
class PairSettings:
    """Filter of the pairs that a contact scan tests.

    A pattern is a shell pattern of names, or "collection:" and a shell pattern of collection names.

    Attributes
    ----------
    group_a, group_b : tuple of str
        Patterns of the subjects in a group, which has all if empty. A pair needs one subject of each.
    ignored : tuple of str
        Pairs to skip as "A:B", two patterns with a colon between.
    ignore_parents : bool
        Whether to skip a subject with its parent, the nearest ancestor that is a subject, and loose parts of
        one object with each other.
    ignore_collection : bool
        Whether to skip pairs that lie in one collection. The scene's own collection does not count.
    static_pairs : bool
        Whether to keep pairs of which neither subject ever moves.
    obstacles : tuple of str
        Patterns of subjects that are tested as triangle meshes, against the spheres of all others.
    one_sided : bool
        Whether obstacles are single-sided: contacts from behind a face are ignored.
    """

    group_a: tuple[str, ...] = ()
    group_b: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    ignore_parents: bool = True
    ignore_collection: bool = False
    static_pairs: bool = False
    obstacles: tuple[str, ...] = ()
    one_sided: bool = False


@dataclass(frozen=True)
class BoundsSettings:
    """Settings of computing bounds.

    Attributes
    ----------
    selection : Selection
    shapes : tuple of BoundShape
        Shapes of each subject.
    fit : FitSettings
    frame : float or None
        Frame to evaluate; None is the current frame of the scene.
    envelope, tracks : bool
        Results that `play_bounds` computes over `frames`. Other jobs ignore them.
    frames : tuple of float or None
        First, last and step, all of which may be fractional; None is the scene's frame range. Used by
        `play_bounds`, and for bones that are enclosed at all frames.
    """

    selection: Selection = field(default_factory=Selection)
    shapes: tuple[BoundShape, ...] = DEFAULT_SHAPES
    fit: FitSettings = field(default_factory=FitSettings)
    frame: float | None = None
    envelope: bool = False
    tracks: bool = False
    frames: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class ContactSettings(PairSettings):
    """Settings of a contact scan.

    Attributes
    ----------
    selection : Selection
    shape : ShapeName
        Shape that is tested for each subject.
    fit : FitSettings
    frames : tuple of float or None
        First, last and step, all of which may be fractional; None is the scene's frame range.
    motion : MotionKind
        "adaptive" evaluates the scene between frames where objects come close and their motion is not linear.
        "linear" interpolates linearly between the frames.
    clearance : float
        Length in Blender units. Pairs that are closer than this are in contact.
    confirm : bool
        Whether to verify each contact on the meshes.
    """

    selection: Selection = field(default_factory=Selection)
    shape: ShapeName = "aabb"
    fit: FitSettings = field(default_factory=FitSettings)
    frames: tuple[float, float, float] | None = None
    motion: MotionKind = "adaptive"
    clearance: float = 0.0
    confirm: bool = False


ColliderKind: TypeAlias = Literal["box", "sphere", "capsule", "hull"]

COLLIDER_NAME_PATTERNS = {
    "unreal": "{prefix}_{name}_{number}",
    "godot": "{name}_{number}-convcolonly",
    "godot_concave": "{name}_{number}-colonly",
    "unity": "{name}_{component}_{number}",
}
"""Patterns of collider names by the engine that recognizes them, see `colliders.naming.ColliderNames`."""


@dataclass(frozen=True)
class ColliderSettings:
    """Settings of creating collider objects. An object with an override keeps the shape of that.

    Attributes
    ----------
    selection : Selection
    fit : FitSettings
    kind : ColliderKind
    pattern : str
        Pattern of the names, see `colliders.naming.ColliderNames`.
    collection : str
        Name of the collection that colliders are linked to.
    max_vertices : int
        Maximum number of vertices of a hull, at least 4.
    parts : int
        Maximum number of convex parts that a mesh is split into, each with a collider; 1 for one around all.
    parts_tolerance : float
        Length in Blender units. Parts are not split further if no notch is deeper than this.
    """

    selection: Selection = field(default_factory=Selection)
    fit: FitSettings = field(default_factory=FitSettings)
    kind: ColliderKind = "box"
    pattern: str = COLLIDER_NAME_PATTERNS["unreal"]
    collection: str = "Colliders"
    max_vertices: int = 255
    parts: int = 1
    parts_tolerance: float = 0.0


@dataclass(frozen=True)
class ColliderCheckSettings:
    """Settings of checking colliders.

    Attributes
    ----------
    selection : Selection
        Filter of the colliders, by their names or those of their meshes.
    fit : FitSettings
        `modifiers` is the source of the vertices of meshes without settings of their own.
    """

    selection: Selection = field(default_factory=Selection)
    fit: FitSettings = field(default_factory=FitSettings)
