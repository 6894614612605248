"""What subjects are made of: whole things, loose parts of one, several taken as one, shapes set by hand.

Read along the walk over what is visible. Ordinary things cost nothing but a look into a dictionary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.arrays import transform_points
from .extraction import Geometry, geometry_of, points_of, triangles_of
from .fitting import FitSettings
from .loose_parts import part_numbers, rows_by_part
from .overrides import override_of
from .own_settings import fit_of, says_something
from .subjects import Subject
from .walk import Visible, is_made_by_nodes, visible

NO_TRIANGLES = np.empty((0, 3), dtype=np.int32)
IDENTITY = np.eye(4)


class Piece(NamedTuple):
    """The geometry of one subject, by its number, and how it is fitted.

    triangles : (t, 3) indices of its vertices, if they were asked for

    Several taken as one are in world space.
    """

    subject: int
    geometry: Geometry
    fit: FitSettings
    triangles: NDArray[np.int32]


class Composition:
    """Puts subjects together from the visible things that they are made of.

    triangles : indices of the subjects whose triangles are wanted
    """

    def __init__(self, subjects: Sequence[Subject], fit: FitSettings, triangles: Container[int] = ()) -> None:
        self._fit = fit
        self._triangles = triangles
        self._alone = {subject.key: index for index, subject in enumerate(subjects)}
        self._parts: dict[object, list[tuple[int, int]]] = defaultdict(list)
        self._member_of: dict[object, int] = {}
        for index, subject in enumerate(subjects):
            if subject.part is not None:
                self._parts[subject.key].append((subject.part, index))
            for key in subject.members:
                self._member_of[key] = index
        self._gathered: dict[int, list[tuple[NDArray[np.float64], NDArray[np.int32]]]] = defaultdict(list)

    def of(self, item: Visible) -> Iterator[Piece]:
        """The subjects that a visible thing is, or has as its parts. What is a member is kept for `rest`."""
        group = self._member_of.get(item.key)
        if group is not None:
            self._gathered[group].append(self._member(item, group in self._triangles))
            return
        index = self._alone.get(item.key)
        if index is None:
            return
        wanted = index in self._triangles
        shown = item.instance.object
        parts = self._parts.get(item.key)
        if parts is None and (is_made_by_nodes(item.key) or not says_something(shown.original)):
            triangles = triangles_of(shown, self._fit.modifiers) if wanted else NO_TRIANGLES
            yield Piece(index, geometry_of(item, self._fit.modifiers), self._fit, triangles)
            return
        fit = fit_of(shown.original, self._fit)
        if parts is not None:
            yield from self._loose(item, parts, fit)
            return
        override = override_of(shown.original)
        if override is None:
            triangles = triangles_of(shown, fit.modifiers) if wanted else NO_TRIANGLES
            yield Piece(index, geometry_of(item, fit.modifiers), fit, triangles)
            return
        matrix = np.array(item.instance.matrix_world, dtype=np.float64)
        yield Piece(index, Geometry(override.points, matrix, override.radius), fit, NO_TRIANGLES)

    def rest(self) -> Iterator[Piece]:
        """Several taken as one, once all of them went by."""
        for index, pieces in self._gathered.items():
            starts = np.cumsum([0, *(len(points) for points, _ in pieces)])
            triangles = [own + start for (_, own), start in zip(pieces, starts, strict=False)]
            points = np.concatenate([own for own, _ in pieces])
            geometry = Geometry(points, IDENTITY)
            yield Piece(index, geometry, self._fit, np.concatenate(triangles).astype(np.int32))
        self._gathered.clear()

    def _loose(self, item: Visible, parts: Sequence[tuple[int, int]], fit: FitSettings) -> Iterator[Piece]:
        shown = item.instance.object
        numbers, geometry = part_numbers(shown, fit.modifiers), geometry_of(item, fit.modifiers)
        triangles = NO_TRIANGLES
        if any(index in self._triangles for _, index in parts):
            triangles = triangles_of(shown, fit.modifiers)
        # There may be fewer parts by now.
        count = max(part for part, _ in parts) + 1
        rows = rows_by_part(numbers, count)
        faces = rows_by_part(numbers[triangles[:, 0]], count)
        for part, index in parts:
            own = np.searchsorted(rows[part], triangles[faces[part]]).astype(np.int32)
            yield Piece(index, geometry._replace(points=geometry.points[rows[part]]), fit, own)

    def _member(self, item: Visible, wanted: bool) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """World positions (n, 3), in double precision, so that they are those that others compute."""
        shown = item.instance.object
        fit, override = self._fit, None
        if not is_made_by_nodes(item.key):
            fit, override = fit_of(shown.original, fit), override_of(shown.original)
        points = points_of(shown, fit.modifiers) if override is None else override.surroundings
        triangles = triangles_of(shown, fit.modifiers) if wanted and override is None else NO_TRIANGLES
        matrix = np.array(item.instance.matrix_world, dtype=np.float64)
        if np.linalg.det(matrix[:3, :3]) < 0:
            triangles = triangles[:, [0, 2, 1]]  # mirrored, they would face inward
        return transform_points(matrix, points), triangles


def read_subjects(
    depsgraph: bpy.types.Depsgraph,
    subjects: Sequence[Subject],
    fit: FitSettings,
    triangles: Container[int] = (),
) -> Iterator[Piece]:
    """The geometry of subjects that are there at the frame `depsgraph` stands at, of some with triangles.

    Settings and overrides of objects are read anew: they may be others than when the subjects were found.
    """
    composition = Composition(subjects, fit, triangles)
    for item in visible(depsgraph):
        yield from composition.of(item)
    yield from composition.rest()
