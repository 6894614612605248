"""Meshes that an armature bends and nothing else changes: their vertices as points that bones carry.

Blender's armature modifier puts a vertex at the mean of its places in the spaces of its bones, weighted by
its weights. A mesh is such points if an armature modifier is the only one that is shown, with none of its
other methods, and if the mesh's object stays where it is relative to the armature's object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.curves.transforms import Transforms
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.skins.blended_points import BlendedPoints
from ..blender.mesh_data import vertex_positions
from ..blender.parts.weights import GroupWeights, group_weights
from .transform_curves import TransformCurves

MOST_VERTICES = 250_000
"""Vertices of a mesh, at most: Blender's weights are read one vertex after another, so many in a second."""
_LEAST_WEIGHT = 1e-4
"""Sum of weights up to which Blender leaves a vertex where it is."""


class Skin(NamedTuple):
    """A mesh that an armature bends.

    Attributes
    ----------
    subject : int
        Index of the subject whose mesh it is.
    rows : (b,) int64
        Indices of the bones in the transforms, and maybe of the mesh's object, which carries vertices without
        weights.
    points : BlendedPoints
        Vertices, carried by these.
    """

    subject: int
    rows: Ints
    points: BlendedPoints


def bending_armature(item: bpy.types.Object) -> bpy.types.Object | None:
    """Return the armature's object that bends an original mesh object, if nothing else changes the mesh."""
    mesh: Any = item.data
    shown: list[Any] = [modifier for modifier in item.modifiers if modifier.show_viewport]
    if item.type != "MESH" or mesh.is_editmode or (mesh.shape_keys or mesh.animation_data) is not None:
        return None
    if len(mesh.vertices) > MOST_VERTICES:
        return None
    if len(shown) != 1 or shown[0].type != "ARMATURE" or item.parent_type != "OBJECT":
        return None
    modifier = shown[0]
    is_other = (
        modifier.use_bone_envelopes
        or modifier.use_deform_preserve_volume
        or modifier.use_multi_modifier
        or modifier.vertex_group
        or not modifier.use_vertex_groups
    )
    armature: bpy.types.Object | None = modifier.object
    return None if is_other or armature is None or armature.type != "ARMATURE" else armature


def read_skin(
    subject: int, item: bpy.types.Object, armature: bpy.types.Object, known: TransformCurves
) -> Skin | None:
    """Read the vertices and weights of an original mesh object; None if the motion of a bone is unknown.

    Parameters
    ----------
    subject : int
        Index of the subject.
    item, armature : bpy.types.Object
        The mesh's object, and the one that bends it, as `bending_armature` returns it.
    known : TransformCurves
        Curves of both, and of the bones.
    """
    transforms, row = known.transforms(), known.index_of.get(item.session_uid, -1)
    row_of_armature, data = known.index_of.get(armature.session_uid, -1), armature.data
    assert isinstance(data, bpy.types.Armature)
    in_armature = _place_in_armature(transforms, row, row_of_armature)
    if in_armature is None:
        return None
    bones: Any = data.bones
    names = {group.index: group.name for group in item.vertex_groups}
    groups = [number for number, name in names.items() if name in bones and bones[name].use_deform]
    points = vertex_positions(item, "base").astype(np.float64)
    count, weights = group_weights(item, "base", groups)
    used = [place for place, each in enumerate(weights) if len(each.rows)]
    keys = [(armature.session_uid, names[groups[place]]) for place in used]
    if not count or len(points) != count or not all(key in known.index_of for key in keys):
        return None
    if any(bones[name].use_envelope_multiply for _, name in keys):
        return None
    at_rest = [np.array(bones[name].matrix_local, dtype=np.float64) for _, name in keys]
    to_bones = [np.linalg.solve(matrix, in_armature) for matrix in at_rest]
    shares = _shares([weights[place] for place in used], count)
    rows = np.array([*(known.index_of[key] for key in keys), row])
    return _skin(subject, rows, np.array([*to_bones, np.eye(4)]), shares, points)


def _place_in_armature(transforms: Transforms, row: int, armature: int) -> Floats | None:
    """Return the matrix (4, 4) of an object in the space of an armature's object; None if it may change."""
    if min(row, armature) < 0 or (transforms.curve_of[row] >= 0).any():
        return None
    alone = replace(transforms, parent=np.full(len(transforms.parent), -1)).world_matrices(np.zeros(1))[0]
    matrices = alone[[armature, row]].astype(np.float64)
    if transforms.parent[row] == armature:
        return np.asarray(transforms.parent_inverse[row] @ matrices[1])
    # Both may rest without being child and parent.
    is_animated = bool((transforms.curve_of[armature] >= 0).any())
    has_parents = bool((transforms.parent[[row, armature]] >= 0).any())
    if is_animated or has_parents or np.linalg.matrix_rank(matrices[0]) < 4:
        return None
    return np.asarray(np.linalg.solve(*matrices))


class _Shares(NamedTuple):
    """Shares (e,) of bones (e,) in vertices (e,), in the order of vertices; 1 in sum for each of them."""

    vertex: Ints
    bone: Ints
    share: Floats


def _shares(weights: Sequence[GroupWeights], count: int) -> _Shares:
    """Compute the shares of bones (b,) in vertices (count,). What none of them carries, number b does."""
    vertex = np.concatenate([np.empty(0, dtype=np.int64), *(each.rows for each in weights)])
    bone = np.repeat(np.arange(len(weights)), [len(each.rows) for each in weights])
    weight = np.concatenate([np.empty(0), *(each.weights for each in weights)])
    total = np.bincount(vertex, weight, count)
    is_bent: Bools = np.asarray(total > _LEAST_WEIGHT)
    left = np.flatnonzero(~is_bent)
    kept = is_bent[vertex]
    vertex, bone, share = vertex[kept], bone[kept], weight[kept] / total[vertex[kept]]
    vertex, bone = np.append(vertex, left), np.append(bone, np.full(len(left), len(weights)))
    share = np.append(share, np.ones(len(left)))
    order = np.argsort(vertex, kind="stable")
    return _Shares(vertex[order], bone[order], share[order])


def _skin(subject: int, rows: Ints, to_bones: Floats, shares: _Shares, points: Floats) -> Skin:
    """Make a skin of points (n, 3), with matrices (b + 1, 4, 4) to the spaces of its bones and its object."""
    used = np.unique(shares.bone)
    starts = np.searchsorted(shares.vertex, np.arange(len(points)))
    place = np.arange(len(shares.vertex)) - starts[shares.vertex]
    shape = (len(points), int(place.max()) + 1)
    bones, share = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    cell = shares.vertex, place
    bones[cell], share[cell] = np.searchsorted(used, shares.bone), shares.share
    maps = to_bones[used][bones]
    places = np.einsum("njik,nk->nji", maps[..., :3, :3], points) + maps[..., :3, 3]
    return Skin(subject, rows[used], BlendedPoints(bones, share, places, points))
