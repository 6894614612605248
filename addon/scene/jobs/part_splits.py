"""Splits of meshes into convex parts, ahead of the jobs that need them, so that a window can stop them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

import bpy
import numpy as np

from ...core import Progress
from ..blender.frames import playhead, scene_by_uid
from ..fitting.parts import split_in_steps
from ..progress import JobProgress
from ..settings import FitSettings, Selection
from ..subjects.find import find_subjects
from ..subjects.reader import SubjectGeometry, SubjectReader, in_bone_space

_STEPS = 1000
_SPLITTING = 0.9
"""Share of the splits in a job that follows them."""

_Result = TypeVar("_Result")


def split_meshes(
    scene: bpy.types.Scene, selection: Selection, fit: FitSettings, of_bones: bool = False
) -> Generator[Progress, None, None]:
    """Split the meshes of a selection into convex parts, which are remembered for the next job.

    Nothing in the file changes, whenever it is stopped. Meshes that cannot be split are left to that job.

    fit : with the number of parts and the tolerance
    of_bones : whether parts of bones are split in the space of their bone, as for colliders

    Yields progress after each step of a split. Raises SceneError for a selection that does not exist.
    """
    depsgraph, time = bpy.context.evaluated_depsgraph_get(), playhead(scene)
    subjects, _ = find_subjects(scene, depsgraph, selection)
    pieces = [
        in_bone_space(piece) if of_bones else piece
        for piece in SubjectReader(subjects, fit, range(len(subjects))).singles(depsgraph)
    ]
    for done in split_pieces(pieces, fit):
        yield Progress(int(done * _STEPS), _STEPS, time, "fitting", done)


def split_pieces(pieces: Iterable[SubjectGeometry], fit: FitSettings) -> Generator[float, None, None]:
    """Split subjects that were read, as `split_meshes` does; yields the share done after each step."""
    remaining = [piece for piece in pieces if len(piece.triangles) and np.isfinite(piece.points).all()]
    for number, piece in enumerate(remaining):
        for share in split_in_steps(piece.points, piece.triangles, piece.matrices[0, :3, :3], fit):
            yield (number + share) / len(remaining)


def after_splits(
    scene: bpy.types.Scene,
    splits: Generator[Progress, None, None],
    job: Callable[[bpy.types.Scene], Generator[Progress, None, _Result]],
) -> Generator[Progress, None, _Result]:
    """Run `split_meshes`, then a job of the same scene, as one job; return the result of that."""
    uid, both = scene.session_uid, JobProgress()
    both.begin_phase(_SPLITTING)
    yield from both.track(splits)
    both.begin_phase(1.0)
    return (yield from both.track(job(scene_by_uid(uid))))
