"""Parts of a compound in glTF files: one collider node for each, below the node of the object."""

from __future__ import annotations

import numpy as np

from addon.core import Sphere, capsule_from_points, obb_from_points, sphere_from_points
from addon.core.compound.convex_parts import Compound
from addon.formats import CONVENTIONS, space_for
from addon.formats.export.gltf import gltf
from tests.formats import samples
from tests.formats.validation.test_hulls_and_trees import CORNERS


def file_of_parts(*extensions: str, keep=(), **changes: object) -> dict:
    entry = samples.bounds("a", "Ball", rotation=(1.0, 0.0, 0.0, 0.0))
    corners = np.array(CORNERS, dtype=float)
    compound = Compound(
        (obb_from_points(corners), sphere_from_points(corners), capsule_from_points(corners + 5))
    )
    world = tuple(shape for shape in entry.world if isinstance(shape, keep)) if keep else ()
    local = tuple(shape for shape in entry.local if isinstance(shape, keep)) if keep else ()
    fields = {**vars(entry), "local": (*local, compound), "world": (*world, compound), **changes}
    space = space_for(CONVENTIONS["gltf"])
    return gltf(samples.document_of([type(entry)(**fields)], space), extensions)


def test_each_part_is_a_collider_below_its_object():
    made = file_of_parts("omi", "khr")
    root, *colliders = made["nodes"]
    assert root["children"] == [1, 2, 3]
    assert [node["name"] for node in colliders] == ["Ball collider", "Ball collider 2", "Ball collider 3"]
    omi, khr = (made["extensions"][name]["shapes"] for name in ("OMI_physics_shape", "KHR_implicit_shapes"))
    bodies = [node["extensions"] for node in colliders]
    used = [omi[body["OMI_physics_body"]["collider"]["shape"]]["type"] for body in bodies]
    assert used == ["box", "sphere", "convex"]
    geometries = [body["KHR_physics_rigid_bodies"]["collider"]["geometry"] for body in bodies]
    assert [khr[each["shape"]]["type"] for each in geometries] == ["box", "sphere", "capsule"]
    assert omi[:2] == khr[:2]


def test_parts_alone_are_no_bounding_volume():
    made = file_of_parts("volumes")
    assert "boundingVolume" not in made["nodes"][0] and "children" not in made["nodes"][0]


def test_custom_sphere_is_written_in_place_of_parts():
    made = file_of_parts("omi", keep=Sphere, override="sphere")
    (shape,) = made["extensions"]["OMI_physics_shape"]["shapes"]
    assert shape["type"] == "sphere" and made["nodes"][0]["children"] == [1]
