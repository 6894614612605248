"""Poses of subjects in a scene that is evaluated at their time."""

from __future__ import annotations

import bpy
import numpy as np

from ...core.numeric.arrays import Ints
from ..blender.frames import ObjectReader
from ..blender.instance_table import instances_at, meshes_at
from .frame_poses import (
    CurrentGeometry,
    FramePoses,
    Reading,
    read_deforming,
    read_vertices,
    rows_by_object,
)
from .subject_index import CurrentInstances, SubjectIndex


class ScenePoses:
    """Reads subjects of any kind in the user's scene."""

    def __init__(self, index: SubjectIndex) -> None:
        """Prepare to read subjects, which are indexed as they were at the first frame."""
        self._index = index
        self._objects = ObjectReader(index.uids)

    def read(self, scene: bpy.types.Scene, time: float, subjects: Ints) -> Reading:
        """Read sorted `subjects` (m,) in a scene that is at `time` already."""
        index = self._index
        # With few objects, each array call here takes as long as a part of Blender's own work for a frame.
        rows, present, matrices = self._objects.read(scene, subjects)
        if index.needs_walk:
            present &= ~index.is_walked[subjects]
        reading = Reading(FramePoses(time, present, matrices), {}, [])
        may_deform = present & index.may_deform[subjects]
        if self._objects.has_changed or index.needs_walk:
            self._walk(reading, subjects)
        if may_deform.any():
            items, depsgraph = list(scene.objects), bpy.context.evaluated_depsgraph_get()
            for sharing in rows_by_object(index, subjects, may_deform):
                evaluated = items[rows[sharing[0]]].evaluated_get(depsgraph)
                read_deforming(index, subjects, sharing, evaluated, reading)
        return reading

    def _walk(self, reading: Reading, subjects: Ints) -> None:
        """Fill in the poses of instances and merged objects, and what else is there.

        Adds the vertices of those that may deform to the geometry.
        """
        index, depsgraph, poses = self._index, bpy.context.evaluated_depsgraph_get(), reading.poses
        instances = index.read_instances(depsgraph)
        table, subject_of = instances.table, instances.subject_of
        for row in instances.unknown.tolist():
            key = table.key_of(row)
            # A subject that was renamed has not appeared for the first time.
            if key[2] or table.kinds[table.kind_of[row]].details.owner_uid not in index.own_uids:
                reading.unknown.append(key)
        count = len(index.subjects)
        row_of = np.full(count + 1, -1)
        row_of[subjects] = np.arange(len(subjects))
        rows = np.flatnonzero((row_of[subject_of] >= 0) & np.append(index.is_walked, False)[subject_of])
        places = row_of[subject_of[rows]]
        poses.matrices[places] = table.matrices(rows)
        poses.present[places] = True
        deforming = rows[index.may_deform[subject_of[rows]]]
        for shared, item in meshes_at(depsgraph, table, deforming):
            members = subject_of[shared]
            matrices = poses.matrices[row_of[members]]
            read_vertices(index, members.tolist(), item.instance.object, matrices, reading.geometry)
        if len(instances.assembled):
            self._walk_assembled(depsgraph, instances, reading, row_of)

    def _walk_assembled(
        self, depsgraph: bpy.types.Depsgraph, instances: CurrentInstances, reading: Reading, row_of: Ints
    ) -> None:
        """Fill in the poses of merged objects and of the loose parts of instances.

        row_of : row of each subject in the poses, -1 for none
        """
        index, poses, current = self._index, reading.poses, reading.geometry
        merged = [subject for subject in index.merged if row_of[subject] >= 0]
        assembler = index.assembler(merged)
        for _, item in instances_at(depsgraph, instances.table, instances.assembled.tolist()):
            next(assembler.geometries_of(item), None)
            deforming = []
            for subject in index.assembled_of.get(item.key, ()):
                row = row_of[subject]
                if row < 0 or not index.is_walked[subject] or index.subjects[subject].members:
                    continue
                poses.matrices[row] = np.array(item.instance.matrix_world, dtype=np.float64)
                poses.present[row] = True
                if index.may_deform[subject]:
                    deforming.append(subject)
            if deforming:
                matrices = poses.matrices[row_of[deforming]]
                read_vertices(index, deforming, item.instance.object, matrices, current)
        for source in assembler.merged_geometries():
            subject = source.subject
            poses.matrices[row_of[subject]] = source.geometry.matrix
            poses.present[row_of[subject]] = True
            current[subject] = CurrentGeometry(source.geometry, index.changed_merged(subject, source))
