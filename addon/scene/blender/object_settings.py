"""Per-object and per-collection bounds settings, read from the property groups of `object_properties`.

In a Blender without the extension these properties do not exist, and the settings of the job apply.
Overrides are boxes and spheres that the user sets, and that replace the vertices of an object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import aabb_from_points, sphere_from_points
from ...core.numeric.arrays import UNIT_BOX_CORNERS, Bools, length
from ...core.numeric.geodesic import geodesic_directions
from ...formats.document.model import DEFAULT_RESPONSE, CollisionResponse
from ...formats.wording import valid_text
from ..collider_names import ColliderName, recognize_name
from ..settings import FitSettings
from .instances import full_name_of, name_of, visible_instances
from .mesh_data import vertex_positions

SETTINGS_PROPERTY = "collision_bounds"
"""Name of the property group on objects and collections, in files and for scripts."""

FIT_OPTIONS = ("bone_frames", "padding", "modifiers", "axes", "depth")
"""Options of `FitSettings` that an object has settings of its own for, by the same names."""


def decimal_from_float32(value: float) -> float:
    """Shortest decimal number that a single-precision value stands for: 0.01, not 0.0099999998."""
    return float(str(np.float32(value)))


def meters_per_unit(scene: bpy.types.Scene) -> float:
    """Return the length of a Blender unit in meters.

    Without a unit system, it is 1, as for Blender's FBX exporter, because the unit scale has no effect then.
    """
    units = scene.unit_settings
    return 1.0 if units.system == "NONE" else decimal_from_float32(units.scale_length)


def has_own_settings(item: bpy.types.Object) -> bool:
    """Return whether an original object has settings or an override of its settings."""
    settings: Any = getattr(item, SETTINGS_PROPERTY, None)
    return settings is not None and (settings.use_object_settings or settings.override != "none")


def object_fit_settings(item: bpy.types.Object, fit: FitSettings) -> FitSettings:
    """Fit settings of an original object: its own, or the very object `fit` if it has none."""
    settings = _own_settings(item)
    return fit if settings is None else _own_fit(fit, *[getattr(settings, name) for name in FIT_OPTIONS])


def _own_settings(item: bpy.types.Object) -> Any:
    """Return the settings that an original object is fitted with; None if those of the job apply."""
    settings: Any = getattr(item, SETTINGS_PROPERTY, None)
    return settings if settings is not None and settings.use_object_settings else None


@lru_cache(maxsize=1024)
def _own_fit(fit: FitSettings, *values: Any) -> FitSettings:
    """Replace the values of `FIT_OPTIONS`; cached, because the overlay reads them every frame."""
    options = dict(zip(FIT_OPTIONS, values, strict=True))
    options["padding"] = decimal_from_float32(options["padding"])
    if options["axes"] == "checked":
        del options["axes"]
    return replace(fit, **options)


def object_padding(item: bpy.types.Object) -> float:
    """Return the padding of an object that has settings of its own, as animated at this frame."""
    return decimal_from_float32(getattr(item, SETTINGS_PROPERTY).padding)


def is_padding_animated(item: bpy.types.Object) -> bool:
    """Return whether the padding of an object's own settings may be animated."""
    return _own_settings(item) is not None and item.animation_data is not None


COLLIDER_PROPERTY = "collision_bounds_collider"
"""Custom property that marks colliders of `scene.colliders`, and holds the name of their source."""


def is_marked_collider(item: bpy.types.Object) -> bool:
    """Return whether an original object is a collider that was created here."""
    properties: Any = item  # its text may not be UTF-8, so it is not read
    return COLLIDER_PROPERTY in properties


def is_collider(item: bpy.types.Object) -> bool:
    """Return whether an original object is a collider and so is no subject: created here, or by its name.

    A name that an engine reads as a collider, such as UCX_Crate_00, is enough. A name with a defect, such as
    UCXCrate, needs a mesh that it can belong to.
    """
    if is_marked_collider(item):
        return True
    if item.type != "MESH" or (name := recognize_name(name_of(item))) is None or not name.is_separate:
        return False
    return name.is_certain or _named_mesh(item, name) is not None


def _named_mesh(item: bpy.types.Object, name: ColliderName) -> bpy.types.Object | None:
    """Return the first other mesh object that the name of a collider can stand for."""
    for each in (*name.sources, *name.similar):
        mesh: bpy.types.Object | None = bpy.data.objects.get(each)
        if mesh is not None and mesh != item and mesh.type == "MESH":
            return mesh
    return None


def collider_owner(item: bpy.types.Object) -> bpy.types.Object | None:
    """Return the object that a collider belongs to: of a bone, the mesh. None for other objects."""
    properties: Any = item
    if not is_collider(item):
        return None
    if not is_marked_collider(item):
        name = recognize_name(name_of(item))
        return item.parent if name is None else _named_mesh(item, name) or item.parent
    if item.parent is not None and item.parent_type != "BONE":
        return item.parent
    try:
        source = str(properties[COLLIDER_PROPERTY])
    except UnicodeDecodeError:
        return None
    return bpy.data.objects.get(source)


VERTEX_COLLIDER_PROPERTY = "collision_bounds_vertices"
"""Custom property of colliders around vertices that the user chose; Create Colliders keeps them."""


def bounds_for(item: bpy.types.Object) -> str:
    """Return what is a subject: an original "object", each of its "loose_parts" or "bones".

    With an override it is the object.
    """
    settings: Any = getattr(item, SETTINGS_PROPERTY, None)
    has_own = settings is not None and settings.use_object_settings and settings.override == "none"
    return str(settings.bounds_for) if has_own else "object"


def is_merged_collection(collection: bpy.types.Collection | None) -> bool:
    """Return whether everything in a collection is merged into one subject."""
    settings: Any = getattr(collection, SETTINGS_PROPERTY, None)
    return settings is not None and settings.merge_bounds


def entries_of(name: Literal["accepted", "ignored"]) -> list[tuple[str, Any]]:
    """Return the entries of a list in the settings of all objects, each with the full name of its object.

    The name of an entry is the full name of the other object of a pair.
    """
    return [
        (full_name_of(item), entry)
        for item in bpy.data.objects
        if (settings := getattr(item, SETTINGS_PROPERTY, None)) is not None
        for entry in getattr(settings, name)
    ]


def collision_response(item: bpy.types.Object) -> CollisionResponse:
    """Return what engines do when something meets an original object."""
    settings: Any = getattr(item, SETTINGS_PROPERTY, None)
    if settings is None:
        return DEFAULT_RESPONSE
    mask = sum(1 << bit for bit, is_set in enumerate(settings.collision_mask) if is_set)
    material = valid_text(settings.physics_material.strip()) or None
    return CollisionResponse(settings.response, settings.collision_group, mask, material)


def may_sweep(fit: FitSettings) -> bool:
    """Return whether there may be an object whose bones are to be swept."""
    return fit.bone_frames == "all" or any(
        bounds_for(item) == "bones" and object_fit_settings(item, fit).bone_frames == "all"
        for item in bpy.data.objects
    )


OverrideShape: TypeAlias = Literal["box", "sphere"]


class Override(NamedTuple):
    """A shape in object space that replaces the vertices of an object.

    center : (3,) float32
    half_extents : (3,) float32. Half sizes of a box; of a sphere all three are the radius.
    """

    shape: OverrideShape
    center: NDArray[np.float32]
    half_extents: NDArray[np.float32]

    @property
    def points(self) -> NDArray[np.float32]:
        """Points (n, 3) that bounds are fitted to: corners of the box, or center of the sphere."""
        return self.center[None] if self.shape == "sphere" else self.corners

    @property
    def radius(self) -> float:
        """Radius of the balls around these points; 0 for a box."""
        return float(self.half_extents[0]) if self.shape == "sphere" else 0.0

    @property
    def enclosing_points(self) -> NDArray[np.float32]:
        """Points (n, 3) whose hull encloses the shape; around a sphere they are 0.5 % farther out."""
        if self.shape == "box":
            return self.corners
        sphere = geodesic_directions(8)
        points = sphere.vectors / sphere.covering_cosine * (1 + 1e-6)
        return self.center + points.astype(np.float32) * self.half_extents

    @property
    def corners(self) -> NDArray[np.float32]:
        """Corners (8, 3) of the box, or of the box around the sphere."""
        return self.center + UNIT_BOX_CORNERS.astype(np.float32) * self.half_extents


def read_overrides(item: bpy.types.Object) -> tuple[Override, ...]:
    """Read all overrides of an original object. If there are several, each is a subject."""
    settings: Any = getattr(item, SETTINGS_PROPERTY, None)
    if settings is None or settings.override == "none":
        return ()
    overrides = []
    entries = [(settings.override, settings), *((entry.shape, entry) for entry in settings.more_shapes)]
    for shape, entry in entries:
        half_extents = (entry.radius,) * 3 if shape == "sphere" else entry.half_extents
        overrides.append(Override(shape, *np.array([entry.center, half_extents], dtype=np.float32)))
    return tuple(overrides)


def override_around(points: NDArray[np.float32], shape: OverrideShape) -> Override:
    """Fit an override to points (n, 3) in object space, without padding.

    All points are inside: the size is rounded outward to single precision.

    Raises EmptyGeometryError or NonFiniteGeometryError.
    """
    if shape == "sphere":
        center = sphere_from_points(points).center.astype(np.float32)
        extent = np.full(3, length(points.astype(np.float64) - center).max())
    else:
        box = aabb_from_points(points)
        center = box.center.astype(np.float32)
        extent = np.maximum(box.max - center, center - box.min)
    half = extent.astype(np.float32)
    return Override(shape, center, np.where(half < extent, np.nextafter(half, np.float32(np.inf)), half))


def points_outside(overrides: Sequence[Override], points: NDArray[np.float32]) -> Bools:
    """Return which points (n, 3) in object space are outside all overrides, by more than rounding."""
    is_outside = np.ones(len(points), dtype=bool)
    for override in overrides:
        offset = points.astype(np.float64) - override.center
        slack = 1e-6 * float(np.abs(override.corners).max())
        if override.shape == "sphere":
            is_outside &= length(offset) > override.radius + slack
        else:
            is_outside &= (np.abs(offset) > override.half_extents + slack).any(axis=1)
    return is_outside


def objects_outside_override(depsgraph: bpy.types.Depsgraph, fit: FitSettings) -> frozenset[str]:
    """Full names of visible objects that have vertices outside their overrides."""
    names = set()
    for item in visible_instances(depsgraph):
        overrides = read_overrides(item.instance.object.original)
        if overrides and not item.key[2]:
            modifiers = object_fit_settings(item.instance.object.original, fit).modifiers
            if points_outside(overrides, vertex_positions(item.instance.object, modifiers)).any():
                names.add(item.key[0])
    return frozenset(names)
