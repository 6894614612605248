"""Frames of bones in documents: those of the joints that exporters write and engines import.

Exporters convert the matrix of an object on both sides, and its vertices with it. A joint keeps the axes of
its bone, because exporters convert its matrix on the left side only. So an entry of a bone is turned into the
frame whose conversion to the space of the document is the frame of the joint.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...core import Shape
from ...core.numeric.arrays import Bools, Floats
from ..spaces import Space, matrix_from_quaternion, quaternion_from_matrix
from .model import ObjectColumns, ShapeColumn


def in_joint_frames(objects: ObjectColumns, space: Space) -> ObjectColumns:
    """Turn the frames of bones, so that the conversion to `space` results in the frames of joints.

    objects : In Blender's space, with the axes that bones have in Blender.
    space : Space to which the objects will be converted.
    Returns objects : ObjectColumns. Other objects are unchanged, and so are shapes in world space.
    """
    return _turned(objects, space.axes.T @ space.joint_axes)


def from_joint_frames(objects: ObjectColumns, space: Space) -> ObjectColumns:
    """Turn bones that were read from a document of `space` back to the axes that they have in Blender."""
    return _turned(objects, space.joint_axes.T @ space.axes)


def _turned(objects: ObjectColumns, axes: Floats) -> ObjectColumns:
    """Turn the frames of bones by a rotation (3, 3) of their axes."""
    is_bone = np.array([bool(bone) for bone in objects.bone], dtype=bool)
    if np.array_equal(axes, np.eye(3)) or not is_bone.any():
        return objects
    turn = Space("blender", "+Z", "-Y", "right", "blender unit", axes, 1.0, 1.0)
    rotation, scale = objects.rotation.copy(), objects.scale.copy()
    matrices = matrix_from_quaternion(rotation[is_bone][:, [1, 2, 3, 0]]) @ axes.T
    rotation[is_bone] = quaternion_from_matrix(matrices)[:, [3, 0, 1, 2]]
    scale[is_bone] = turn.scale_factors(scale[is_bone])
    return objects._replace(
        rotation=rotation,
        scale=scale,
        local=_turned_columns(objects.local, is_bone, turn),
        local_envelope=_turned_columns(objects.local_envelope, is_bone, turn),
    )


def _turned_columns(
    columns: Mapping[str, ShapeColumn], is_bone: Bools, turn: Space
) -> dict[str, ShapeColumn]:
    """Shapes of several objects, of which those of bones are turned."""
    turned = {}
    for key, (rows, shapes) in columns.items():
        is_turned, result = is_bone[rows], shapes
        if not isinstance(shapes, Shape):
            pairs = zip(shapes, is_turned, strict=True)
            result = [turn.shape(each) if turns else each for each, turns in pairs]
        elif is_turned.any():
            changed, fields = turn.shape(shapes), []
            for name in shapes.field_shapes:
                old, new = getattr(shapes, name), getattr(changed, name)
                fields.append(np.where(is_turned.reshape(-1, *(1,) * (np.ndim(old) - 1)), new, old))
            result = type(shapes).unchecked(*fields)
        turned[key] = ShapeColumn(rows, result)
    return turned
