"""Settings of every job, and the kinds of shapes that they name.

This module imports no `bpy`, so that the command line can use it before Blender is loaded.
`SHAPE_KINDS` is the only list of shape kinds: the other modules derive theirs from it.

A field that an option sets declares the option: its default, its kind, its line of `--help`, and its label
and tooltip in the window. The command line, `api` and the properties derive theirs from these, see
`declarations`. Options of files and exit codes are in `cli.parser`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from ..core import (
    Aabb,
    Capsule,
    Cylinder,
    Meshes,
    MotionKind,
    Obb,
    Sphere,
    capsule_from_points,
    cylinder_from_points,
)
from ..core.compound.convex_parts import MOST_PARTS
from ..core.shapes import BoundingVolume
from .declarations import (
    Choices,
    Flag,
    FrameSpan,
    Item,
    Name,
    Number,
    Option,
    Patterns,
    Rule,
    choice,
    declare,
    declare_together,
    options_of,
    switch,
)

Modifiers = Literal["evaluated", "base"]
"""Source of vertices: the evaluated mesh that the viewport shows, or that before modifiers and shape keys."""

PlainShape = Literal["sphere", "aabb", "obb"]
"""Shapes of bounds with one volume that need the vertices alone."""

ShapeName = Literal["aabb", "sphere", "obb", "spheres", "capsule", "compound", "mesh"]
"""Shapes that a contact scan can test; "spheres" are the leaves of a sphere tree, and "compound" is a box
around each convex part, "mesh" the triangles themselves.

Menus and help texts list them in this order. Blender files store the position, so append new ones.
"""

DrawnShape = Literal[ShapeName, "cylinder"]
"""Shapes that the viewport can show."""

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

    label, description, icon : Name, tooltip and Blender icon in the interface.
    switch : Property of the Display panel that shows it in the viewport; empty if the viewport cannot show
        it.
    fitted_as : Class of the shapes that scans and views fit again at each frame, several for a sphere tree.
        None if neither can.
    is_plain : Whether `fitting.fit` fits it for bounds, to the vertices alone.
    turned : Kind that stands for it where axes of boxes turn with their objects; empty if it has no such
        axes.
    fit : Fit to points (n, 3), along an axis (3,) if one is given, of a shape along any axis.
    bit : Stands for it in Blender files where it can be fitted in addition; 0 if it cannot.
    farthest : Bound of the distance of its center and all its points that turn from the origin, relative to
        the farthest vertex; infinite if none is known.
    """

    label: str
    description: str = ""
    icon: str = ""
    switch: str = ""
    fitted_as: type[BoundingVolume] | type[Meshes] | None = None
    is_plain: bool = False
    turned: ShapeName | Literal[""] = ""
    fit: Callable[..., BoundingVolume] | None = None
    bit: int = 0
    farthest: float = math.inf


BOUND_SHAPES: tuple[BoundShape, ...] = get_args(BoundShape)
SCANNED_SHAPES: tuple[ShapeName, ...] = get_args(ShapeName)
ENVELOPE_SHAPES: tuple[PlainShape, ...] = ("sphere", "aabb")
"""Shapes that envelopes and tracks can have."""

_IN_CUBE = 3**0.5
"""In a cube around the origin that holds all vertices; for capsules see tests/core/fitting/test_axial.py."""

SHAPE_KINDS: dict[ShapeName | BoundShape, ShapeKind] = {
    "sphere": ShapeKind(
        label="Spheres",
        description="Bounding sphere. Suits rotating objects",
        icon="MESH_UVSPHERE",
        switch="show_spheres",
        fitted_as=Sphere,
        farthest=_IN_CUBE,
        is_plain=True,
    ),
    "aabb": ShapeKind(
        label="Boxes",
        description="Axis-aligned box. Suits walls and floors",
        icon="MESH_CUBE",
        switch="show_boxes",
        fitted_as=Aabb,
        is_plain=True,
        turned="obb",
    ),
    "obb": ShapeKind(
        label="Oriented Boxes",
        description="Box along the object's own axes, which rotates with it",
        icon="ORIENTATION_LOCAL",
        switch="show_oriented_boxes",
        fitted_as=Obb,
        farthest=_IN_CUBE,
        is_plain=True,
    ),
    "spheres": ShapeKind(
        label="Sphere Trees",
        description="Hierarchy of small spheres that follows the shape of the object. Most accurate, slowest",
        icon="META_BALL",
        switch="show_sphere_trees",
        fitted_as=Sphere,
        farthest=_IN_CUBE,
    ),
    "hull": ShapeKind(label="Convex Hulls"),
    "capsule": ShapeKind(
        label="Capsules",
        description="Capsule along any axis, which rotates with the object. Suits limbs and characters",
        icon="MESH_CAPSULE",
        switch="show_capsules",
        fitted_as=Capsule,
        farthest=_IN_CUBE,
        fit=capsule_from_points,
        bit=1,
    ),
    "cylinder": ShapeKind(
        label="Cylinders",
        description="Cylinder along any axis, which rotates with the object. Suits wheels and pillars",
        icon="MESH_CYLINDER",
        switch="show_cylinders",
        fitted_as=Cylinder,
        fit=cylinder_from_points,
        bit=2,
    ),
    "compound": ShapeKind(
        label="Convex Parts",
        description="Box of any direction around each convex part of the object, so that notches stay open",
        icon="MOD_EXPLODE",
        switch="show_parts",
        fitted_as=Obb,
        farthest=_IN_CUBE,
        bit=4,
    ),
    "mesh": ShapeKind(
        label="Meshes",
        description="The triangles that the viewport shows, and what is inside closed meshes. Exact, slower",
        icon="MESH_DATA",
        fitted_as=Meshes,
        farthest=1.0,
    ),
}

AXIAL_SHAPES: tuple[Any, ...] = tuple(name for name, kind in SHAPE_KINDS.items() if kind.fit)
"""Shapes along any axis."""

SHAPES_OF_PARTS: frozenset[DrawnShape] = frozenset({"spheres", "compound"})
"""Shapes of several parts, which follow from the triangles of an object and not from its vertices alone."""

SHAPES_OF_TRIANGLES: frozenset[DrawnShape] = SHAPES_OF_PARTS | {"mesh"}
"""Shapes that need the triangles of an object."""

OBSTACLE_SHAPES: tuple[ShapeName, ...] = (
    *(name for name in SCANNED_SHAPES if SHAPE_KINDS[name].fitted_as is Sphere),
    "mesh",
)
"""Shapes that a contact scan can test against the triangles of obstacles."""

DEFAULT_SHAPES: tuple[BoundShape, ...] = ("sphere", "aabb")


class VertexGroup(NamedTuple):
    """Vertices of a vertex group.

    threshold : Least weight of a vertex. Vertices of weight 0 are never part.
    """

    name: str
    threshold: float = 0.5


_MODIFIERS = choice(
    Item("evaluated", "Evaluated", "The mesh as shown in the viewport, with modifiers and shape keys"),
    Item("base", "Base", "The mesh before modifiers and shape keys"),
)
_AXES = choice(
    Item(
        "checked",
        "By Shape",
        "The world axes for Boxes, each object's own axes for Oriented Boxes",
        is_in_window_alone=True,
    ),
    Item("world", "World", "Along the world axes"),
    Item("object", "Object", "Along the object's own axes: the box rotates with the object"),
    Item("smallest", "Smallest", "The smallest box of any direction. It rotates with the object"),
)
_PART_SHAPES = choice(
    Item("hull", "Convex Hulls", "The convex hull of each part"),
    Item("box", "Boxes", "The smallest box of any direction around each part"),
    Item("sphere", "Spheres", "The bounding sphere of each part"),
    Item("capsule", "Capsules", "The smallest capsule around each part"),
)
_BONE_FRAMES = choice(
    Item("current", "Current", "Enclose the vertices at the current frame"),
    Item(
        "all",
        "All",
        "Enclose the vertices at all frames of the scene, in the space of the bone. "
        "That takes about as long as playing them. Esc stops it. "
        "Contacts are still found with the vertices of each frame",
    ),
)
_SHAPES = choice(
    *(
        Item(name, SHAPE_KINDS[name].label, SHAPE_KINDS[name].description, SHAPE_KINDS[name].icon)
        for name in SCANNED_SHAPES
    )
)
_MOTIONS = choice(
    Item(
        "adaptive",
        "Adaptive",
        "Follow keyframes, or evaluate the scene between frames where objects come close. Accurate",
    ),
    Item("linear", "Linear", "Interpolate linearly between frames. Faster"),
)
_LENGTH = Number(0.0, soft_most=1.0, is_length=True, metavar="D")
_WEIGHT = Number(0.0, 1.0, metavar="W")
_OF_BOUNDS = ("bounds",)


@dataclass(frozen=True)
class FitSettings:
    """Settings of fitting shapes to vertices.

    Lengths are in Blender units. A negative padding shrinks the shape. `depth` is that of sphere trees.
    Contact scans ignore `bone_frames`: they use the vertices of each frame. `vertex_group` is for bounds at
    one frame, see `bounds_in_parts`; other jobs ignore it.
    """

    padding: float = declare(
        0.0,
        Number(soft_least=0.0, soft_most=1.0, is_length=True, metavar="D"),
        "margin in Blender units that is added to every shape",
        label="Padding",
        description="Distance by which every sphere and box is enlarged on all sides",
    )
    modifiers: Modifiers = declare(
        "evaluated",
        _MODIFIERS,
        "evaluated: the mesh as the viewport shows it; base: the mesh without modifiers and shape keys",
        label="Mesh",
        description="Vertices to enclose",
        is_of_objects_alone=True,
    )
    axes: Axes = declare(
        "checked",
        _AXES,
        "axes of the boxes of all objects: object: the object's own axes; world; smallest: those of the "
        "smallest box, which rotates with the object (default: world for aabb, object for obb)",
        name="box_axes",
        property="box_axes",
        label="Box Axes",
        description="Axes of the boxes of all objects that have no settings of their own",
    )
    depth: int = declare(
        4,
        Number(0, 8, is_whole=True),
        label="Tree Depth",
        description="Levels of the sphere tree: up to two spheres at depth 1, four at 2, sixteen at 4",
        is_of_objects_alone=True,
    )
    parts: int = declare(
        8,
        Number(1, MOST_PARTS, soft_most=32, is_whole=True),
        "use compounds: split each mesh into up to N convex parts (default of compound: 8)",
        label="Parts",
        description="Maximum number of convex parts that each mesh is split into",
    )
    parts_tolerance: float = declare(
        0.0,
        _LENGTH,
        "split a part of a compound no further if its notches are at most D Blender units deep",
        label="Tolerance",
        description="Depth of notches up to which a part is not split further",
    )
    part_shape: PartShape = declare(
        "hull",
        _PART_SHAPES,
        "shape of each part of a compound",
        commands=_OF_BOUNDS,
        label="Part Shape",
        description="Shape of each convex part in exported bounds",
    )
    bone_frames: BoneFrames = declare(
        "current",
        _BONE_FRAMES,
        "current: bounds of bones enclose their vertices at --frame; all: at all of --frames, in the space "
        "of the bone",
        commands=_OF_BOUNDS,
        label="Bone Frames",
        description="Frames at which the bounds of each bone enclose its vertices",
        is_of_objects_alone=True,
    )
    vertex_group: VertexGroup | None = declare_together(
        VertexGroup,
        Option(
            "vertex_group",
            Name(),
            "bounds of the vertices of this vertex group alone; objects without such vertices are skipped",
            commands=_OF_BOUNDS,
            label="Vertex Group",
            description="Enclose the vertices of this group alone. Objects without such vertices are "
            "skipped. Empty: all vertices. Only Compute Bounds uses it",
        ),
        Option(
            "group_threshold",
            _WEIGHT,
            "with --vertex-group: least weight of a vertex, from 0 to 1; vertices of weight 0 never count",
            VertexGroup("").threshold,
            commands=_OF_BOUNDS,
            label="Threshold",
            description="Least weight of a vertex. Vertices of weight 0 are never part",
        ),
    )


@dataclass(frozen=True)
class Selection:
    """Filter of the visible objects; everything passes when nothing is set.

    patterns : Shell patterns. A subject is selected if its name, or its owner's name, matches any of them.
    collection : Name of a collection, its children included.
    selected_only : Whether only objects that are selected in the viewport pass.
    split_by_bones : Whether objects that an armature deforms are split by its bones, unless they have
        settings of their own.
    owners : Full names of the only objects that pass, with their instances and parts; None for all.
    bone_weight : Least weight of the vertices of a bone, of objects that are split. Each vertex belongs to
        the bone with its largest weight in any case. At 1 it belongs to no other one.
    """

    patterns: tuple[str, ...] = declare(
        (), Patterns(), "only objects that match PATTERN (repeatable)", name="objects"
    )
    collection: str | None = declare(None, Name(), "only objects in this collection and its children")
    selected_only: bool = False
    split_by_bones: bool = switch(
        "bounds of each deform bone, along its axes, instead of the whole of an object with an armature",
        name="bones",
    )
    owners: frozenset[str] | None = None
    bone_weight: float = declare(
        1.0,
        _WEIGHT,
        "with --bones: a vertex also belongs to bones for which its weight is at least W, from 0 to 1, not "
        "only to the bone with its largest weight (default: 1, only to that)",
        label="Bone Weight",
        description="Weight at which a vertex also belongs to a bone that does not have its largest weight. "
        "1: only to the bone with the largest weight. 0: to all bones that move it",
        is_of_objects_alone=True,
    )


@dataclass(frozen=True)
class PairSettings:
    """Filter of the pairs that a contact scan tests.

    A pattern is a shell pattern of names, or "collection:" and a shell pattern of collection names. A pair
    needs one subject of each group; a group without patterns has all. The parent of a subject is its nearest
    ancestor that is a subject, and loose parts of one object count as parent and child. The scene's own
    collection does not count. Obstacles are triangle meshes without an inside, of which two are no pair.
    """

    group_a: tuple[str, ...] = declare(
        (),
        Patterns(),
        "only pairs with an object that matches PATTERN (repeatable: any of them)",
        name="a",
        label="Group A",
        description="Check only pairs with an object of this name, pattern such as Car*, or "
        "collection:Name. Empty: all objects",
    )
    group_b: tuple[str, ...] = declare(
        (),
        Patterns(),
        "only pairs with an object that matches PATTERN (repeatable: any of them); with --a, one object must "
        "match each",
        name="b",
        label="Group B",
        description="Check only pairs whose other object has this name, pattern, or collection:Name. "
        "Empty: all objects",
    )
    ignored: tuple[str, ...] = declare(
        (),
        Patterns(of_pairs=True, metavar="A:B"),
        "skip pairs of objects that match patterns A and B (repeatable)",
        name="ignore",
        label="Ignore",
        description="Pairs to skip, such as Lid:Box or Wheel*:collection:Road: two names or patterns with a "
        "colon between. Separate pairs by commas. Write [:] and [,] for characters that belong to a name",
    )
    ignore_parents: bool = switch(
        "skip pairs of a parent and its child (default: on)",
        "Ignore Parents",
        "Skip pairs of a parent and its child, and of loose parts of one object, which usually "
        "touch where they are joined",
        default=True,
    )
    ignore_collection: bool = switch(
        "skip pairs of objects in the same collection",
        "Ignore Collection",
        "Skip pairs of objects in the same collection, except the scene collection",
    )
    static_pairs: bool = switch(
        "include pairs in which neither object moves",
        "Static Pairs",
        "Include pairs in which neither object moves, such as walls intersecting a floor. "
        "Where nothing moves at all, they always count",
    )
    obstacles: tuple[str, ...] = declare(
        (),
        Patterns(),
        "objects tested as triangle meshes without an inside, not against each other; needs the shape "
        f"{', '.join(OBSTACLE_SHAPES)} (repeatable)",
        label="Obstacles",
        description="Test objects of this name, pattern such as Level*, or collection:Name as meshes without "
        "an inside, against all other objects. Empty: none",
    )
    one_sided: bool = switch(
        "treat the faces of obstacles as single-sided: ignore contacts from behind",
        "Single Sided",
        "Ignore contacts from behind an obstacle's faces",
    )


@dataclass(frozen=True)
class BoundsSettings:
    """Settings of computing bounds.

    `frame` is by default the current one of the scene, and `frames` its frame range: first, last and step,
    which may be fractional: those of `envelope` and `tracks`, and of bones that are enclosed at all frames.
    """

    selection: Selection = field(default_factory=Selection)
    shapes: tuple[BoundShape, ...] = declare(
        DEFAULT_SHAPES,
        Choices(BOUND_SHAPES, "shape"),
        f"shapes to fit: {','.join(BOUND_SHAPES)}; spheres is a sphere tree, compound convex parts",
    )
    fit: FitSettings = field(default_factory=FitSettings)
    frame: float | None = declare(
        None, Number(), "frame to evaluate (default: the current frame of the file)"
    )
    envelope: bool = switch("add a box and a sphere that enclose each object over --frames")
    tracks: bool = switch("add the box and the sphere of each object at each of --frames")
    frames: tuple[float, float, float] | None = declare(
        None, FrameSpan(), "frames of envelopes, tracks and bones (default: the scene's frame range)"
    )


@dataclass(frozen=True)
class ContactSettings(PairSettings):
    """Settings of a contact scan.

    `frames` is by default the frame range of the scene: first, last and step, which may be fractional. With
    "adaptive" motion, the scene is evaluated between frames where objects come close and their motion is not
    linear. Pairs that are closer than `clearance` are in contact.
    """

    selection: Selection = field(default_factory=Selection)
    shape: ShapeName = declare(
        "mesh",
        _SHAPES,
        "shape that is tested for each object; spheres is a sphere tree, compound a box around each convex "
        "part, mesh the triangles",
        label="Shape",
        description="Shape that represents each object in collision checks",
    )
    fit: FitSettings = field(default_factory=FitSettings)
    frames: tuple[float, float, float] | None = declare(
        None, FrameSpan(), "frames to scan (default: the scene's frame range)"
    )
    motion: MotionKind = declare(
        "adaptive",
        _MOTIONS,
        "motion between frames: adaptive follows keyframes, or evaluates the scene between frames where "
        "objects come close; linear interpolates",
        label="Motion",
        description="Motion between frames",
    )
    clearance: float = declare(
        0.0,
        _LENGTH,
        "report pairs that are closer than D as contacts",
        label="Clearance",
        description="Distance below which two objects count as in contact",
    )


ColliderKind: TypeAlias = Literal["box", "sphere", "capsule", "hull"]

COLLIDER_NAME_PATTERNS = {
    "unreal": "{prefix}_{name}_{number}",
    "godot": "{name}_{number}-convcolonly",
    "godot_concave": "{name}_{number}-colonly",
    "unity": "{name}_{component}_{number}",
}
"""Patterns of collider names by the engine that recognizes them, see `colliders.objects.ColliderNames`."""


@dataclass(frozen=True)
class ColliderSettings:
    """Settings of creating collider objects. An object with an override keeps the shape of that.

    A mesh is split into up to `fit.parts` convex parts, each with a collider: by default 1, around all.
    For the pattern of names see `colliders.objects.ColliderNames`.

    kept_kinds : Objects that keep the kind, parts and largest number of vertices of the colliders that they
        have: all of them, those that are not selected, or none.
    replace_edited : Whether colliders that were edited manually are replaced; otherwise, all colliders of
        their object are kept.
    """

    selection: Selection = field(default_factory=Selection)
    fit: FitSettings = FitSettings(parts=1)
    kind: ColliderKind = declare(
        "box",
        choice(
            Item("box", "Oriented Boxes", "A box along the object's own axes", "MESH_CUBE"),
            Item("sphere", "Spheres", "A sphere of 162 vertices around the fitted one", "MESH_UVSPHERE"),
            Item("capsule", "Capsules", "A capsule along one of the object's own axes", "MESH_CAPSULE"),
            Item("hull", "Convex Hulls", "The convex hull of the vertices", "MESH_ICOSPHERE"),
        ),
        label="Kind",
        description="Collider shape. Objects with a custom shape keep it",
    )
    pattern: str = declare(
        COLLIDER_NAME_PATTERNS["unreal"],
        Name(),
        label="Pattern",
        description="Pattern of collider names: {name} of the object, {base} without _LOD1, {number} from "
        "00, {prefix} such as UBX, {component} such as BoxCollider, {kind} such as box",
    )
    collection: str = declare(
        "Colliders",
        Name(),
        label="Collection",
        description="Collection for the colliders. Created if the scene has none of that name",
    )
    max_vertices: int = declare(
        255,
        Number(4, 255, is_whole=True),
        label="Max Vertices",
        description="Maximum number of vertices per hull. Fewer is faster in the engine but looser. "
        "PhysX allows 255",
    )
    kept_kinds: Literal["none", "unselected", "all"] = "none"
    replace_edited: bool = False


@dataclass(frozen=True)
class ColliderCheckSettings:
    """Settings of checking colliders.

    selection : Filter of the colliders, by their names or those of their meshes.
    fit : `modifiers` is the source of the vertices of meshes without settings of their own.
    """

    selection: Selection = field(default_factory=Selection)
    fit: FitSettings = field(default_factory=FitSettings)


ALLOWED_INPUTS = (
    Option(
        "allow_missing",
        Flag(),
        "continue although libraries, data-blocks or files are missing",
        default=False,
    ),
    Option(
        "allow_blocked_drivers",
        Flag(),
        "continue although drivers need scripts, which are blocked",
        default=False,
    ),
)
"""Options of what to accept of a scene, of all commands that read one."""

JOB_OPTIONS: dict[str, dict[str, Option]] = {
    "bounds": options_of(BoundsSettings(), "bounds"),
    "contacts": options_of(ContactSettings(), "contacts"),
    "check-colliders": {
        name: option
        for name, option in options_of(ColliderCheckSettings()).items()
        if name in ("objects", "collection", "modifiers")
    },
}
"""Options of the settings of each command, by name."""

_ENVELOPES = (
    "{shapes} {value}: envelopes and tracks need " + " or ".join(ENVELOPE_SHAPES) + "; add one of them"
)
_ENVELOPE_SHAPES = tuple(f"shapes={name}" for name in ENVELOPE_SHAPES)

JOB_RULES: dict[str, tuple[Rule, ...]] = {
    "bounds": (
        Rule("parts", implies="shapes=compound"),
        Rule("parts_tolerance", needs=("parts", "shapes=compound")),
        Rule("part_shape", needs=("parts", "shapes=compound")),
        Rule("bone_weight", needs=("bones",)),
        Rule("group_threshold", needs=("vertex_group",)),
        Rule("vertex_group", excludes=("bones", "envelope", "tracks")),
        Rule("bone_frames=all", needs=("bones",)),
        Rule(
            "frames",
            needs=("envelope", "tracks", "bone_frames=all"),
            remedy="; for bounds at one frame use {frame}",
        ),
        Rule("envelope", needs=_ENVELOPE_SHAPES, message=_ENVELOPES),
        Rule("tracks", needs=_ENVELOPE_SHAPES, message=_ENVELOPES),
    ),
    "contacts": (
        Rule("parts", implies="shape=compound"),
        Rule("parts_tolerance", implies="shape=compound"),
        Rule("parts", needs=("shape=compound",)),
        Rule("parts_tolerance", needs=("shape=compound",)),
        Rule("bone_weight", needs=("bones",)),
        Rule("one_sided", needs=("obstacles",)),
    ),
    "check-colliders": (),
}
"""Rules between the options of each command, in the order in which they apply."""
