"""Checks that bounds of bones hold the vertices at all frames, by Blender's evaluated meshes."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np

from addon.formats import document_problems, dumps, parse_document
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings, FitSettings, Selection
from tests.scene.blender.parts.rigs import evaluated_vertices, excess, heaviest

SHAPES = ("sphere", "aabb", "obb", "capsule", "cylinder", "hull")


def entries(
    shapes=SHAPES, bone_frames: str = "all", decimals: int = 6, bone_weight: float = 1.0, **settings: object
) -> dict:
    """Bounds of all bones of the scene, by the names of objects and bones."""
    fit = FitSettings(bone_frames=bone_frames)  # type: ignore[arg-type]
    selection = Selection(split_by_bones=True, bone_weight=bone_weight)
    wanted = BoundsSettings(selection, shapes, fit, **settings)  # type: ignore[arg-type]
    result = compute_bounds(bpy.context.scene, wanted)
    document = parse_document(dumps(result.document("blender", decimals)))
    assert list(document_problems(document)) == []
    return {entry["name"]: entry for entry in document["objects"]}


def greatest_excess(shapes: dict, points: np.ndarray) -> float:
    """Greatest distance of points (n, 3) outside of any of the shapes of an object."""
    found = []
    for kind, shape in shapes.items():
        if kind == "aabb":
            found.append(np.maximum(shape["min"] - points, points - shape["max"]).max())
        elif kind == "obb":
            found.append(excess(shape, points))
        elif kind == "hull":
            corners = np.array(shape["vertices"])[np.array(shape["faces"])]
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            normals /= np.linalg.norm(normals, axis=1)[:, None]
            found.append(((points[:, None] - corners[None, :, 0]) * normals).sum(axis=2).max())
        elif kind == "sphere":
            found.append((np.linalg.norm(points - shape["center"], axis=1) - shape["radius"]).max())
        else:
            offset, axis = points - shape["center"], np.array(shape["axis"])
            along = offset @ axis
            if kind == "capsule":
                along = np.clip(along, -shape["halfLength"], shape["halfLength"])
            else:
                found.append((np.abs(along) - shape["halfLength"]).max())
            across = np.linalg.norm(offset - along[:, None] * axis, axis=1)
            found.append((across - shape["radius"]).max())
    return float(max(found))


def vertices_of_bones(
    item: bpy.types.Object, rig: bpy.types.Object, times: Iterable[float], threshold: float = 0.0
) -> dict[str, list[np.ndarray]]:
    """Vertices of each bone at each time in the space of the bone, without its scale at the first one."""
    scene, bones = bpy.context.scene, [bone.name for bone in rig.data.bones if bone.use_deform]
    found: dict[str, list[np.ndarray]] = {}
    scales: dict[str, np.ndarray] = {}
    for time in times:
        scene.frame_set(int(np.floor(time)), subframe=time % 1)
        points, weights = evaluated_vertices(item)
        owners = np.array([heaviest(each, bones) for each in weights])
        for bone in bones:
            held = points[owners == bone]
            if threshold:
                held = points[[each.get(bone, 0) >= threshold for each in weights]]
            matrix = np.array(rig.matrix_world @ rig.pose.bones[bone].matrix)
            scales.setdefault(bone, np.linalg.norm(matrix[:3, :3], axis=0))
            if len(held):
                inside = (np.linalg.inv(matrix) @ np.c_[held, np.ones(len(held))].T).T[:, :3]
                found.setdefault(bone, []).append(inside * scales[bone])
    return found
