"""Which pairs of subjects a scan looks at: from patterns, collections and parents to masks and indices."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import bpy
import numpy as np

from ..core import ScanSettings
from ..core.arrays import Bools, Ints
from .errors import SceneError
from .obstacles import MeshObstacles
from .selection import matches
from .subjects import Subject
from .walk import Key

COLLECTION = "collection:"

_COLON = re.compile(r"(?<!\[):|:(?!\])")
_COMMA = re.compile(r"(?<!\[),|,(?!\])")
"""Not those of [:] and [,], which is how a shell pattern may write one that belongs to a name."""

_Pairs: TypeAlias = Iterable[tuple[int, int]]


@dataclass(frozen=True)
class PairSettings:
    """Which pairs matter. A pattern is a shell pattern of names, or "collection:" and one of collections.

    group_a, group_b : patterns; a pair needs one of each. None: everything
    ignored : "A:B", two patterns with a colon between: pairs of these are left out
    ignore_parents : leave out a subject with its parent, the nearest ancestor that is a subject, and loose
        parts of one object
    ignore_collection : leave out pairs that lie in one collection; the scene's own does not count
    static_pairs : keep pairs of which neither ever moves
    obstacles : a pattern; these are checked as the meshes they are, which the spheres of the others bump into
    one_sided : what is behind a face of an obstacle does not touch it
    """

    group_a: str | None = None
    group_b: str | None = None
    ignored: tuple[str, ...] = ()
    ignore_parents: bool = True
    ignore_collection: bool = False
    static_pairs: bool = False
    obstacles: str | None = None
    one_sided: bool = False


def chosen_obstacles(
    scene: bpy.types.Scene, subjects: Sequence[Subject], settings: PairSettings
) -> MeshObstacles:
    """The obstacles among `subjects`, yet without their meshes. Raises SceneError as `chosen_pairs` does."""
    chosen = np.zeros(len(subjects), dtype=bool)
    if settings.obstacles is not None:
        chosen = _Patterns(scene, subjects).mask("obstacles", settings.obstacles)
    return MeshObstacles(subjects, chosen, settings.one_sided)


def chosen_pairs(
    scene: bpy.types.Scene,
    subjects: Sequence[Subject],
    parents: Sequence[str | None],
    settings: PairSettings,
) -> ScanSettings:
    """The choice for `subjects`, with ids of `parents` beside them, as a scan wants it.

    Raises SceneError for a pattern that fits no subject.
    """
    patterns = _Patterns(scene, subjects)
    ignored = [pair for text in settings.ignored for pair in patterns.pairs(text)]
    separate: Ints | None = None
    if settings.ignore_parents:
        ignored += _with_parents(subjects, parents)
        separate = _objects_in_parts(subjects)
    if settings.ignore_collection:
        homes, more = _collections_of(scene, subjects)
        if separate is None:
            separate = homes
        else:
            # Parts of one object are in the same collections; labels beyond those are for parts in none.
            apart = separate + homes.max() + 1
            separate = np.where((homes >= 0) | (separate < 0), homes, apart)
        ignored += more
    return ScanSettings(
        group_a=None if settings.group_a is None else patterns.mask("group A", settings.group_a),
        group_b=None if settings.group_b is None else patterns.mask("group B", settings.group_b),
        ignored=ignored,
        separate=separate,
        static_pairs=settings.static_pairs,
    )


def _with_parents(subjects: Sequence[Subject], parents: Sequence[str | None]) -> _Pairs:
    """Pairs of subjects with their parents, with each part of such as are in loose parts."""
    index = {subject.id: number for number, subject in enumerate(subjects)}
    parts: dict[Key, list[int]] = defaultdict(list)
    for number, subject in enumerate(subjects):
        if subject.part is not None:
            parts[subject.key].append(number)
    for child, parent in enumerate(parents):
        if parent is not None:
            number = index[parent]
            of_one = parts[subjects[number].key] if subjects[number].part is not None else [number]
            yield from ((part, child) for part in of_one)


def _objects_in_parts(subjects: Sequence[Subject]) -> Ints | None:
    """A label (n,) for the object that each loose part is of, -1 for what is whole; None if all are."""
    labels: dict[Key, int] = {}
    each = [
        -1 if subject.part is None else labels.setdefault(subject.key, len(labels)) for subject in subjects
    ]
    return np.array(each, dtype=np.int64) if labels else None


def split_at_commas(text: str) -> tuple[str, ...]:
    """The entries of a list in one line; a comma within a name is written [,]."""
    return tuple(part.strip() for part in _COMMA.split(text) if part.strip())


class _Patterns:
    """Patterns as masks over subjects."""

    def __init__(self, scene: bpy.types.Scene, subjects: Sequence[Subject]) -> None:
        self._scene = scene
        self._subjects = subjects

    def mask(self, option: str, pattern: str) -> Bools:
        """Which subjects (n,) a pattern fits. Raises SceneError when there are none."""
        fits = self._fits(pattern)
        if not fits.any():
            where = "is in a collection of" if pattern.startswith(COLLECTION) else "has"
            raise SceneError(f"{option} {pattern!r}: no object of this scan {where} that name")
        return fits

    def pairs(self, text: str) -> _Pairs:
        """Pairs of indices for "A:B". Names may hold colons themselves: the place that fits is looked for.

        Raises SceneError where nothing fits, or two places do.
        """
        readings = [(text[: colon.start()], text[colon.end() :]) for colon in _COLON.finditer(text)]
        readings = [sides for sides in readings if all(sides)]
        if not readings:
            raise SceneError(f"ignore {text!r}: is not two names with a colon between")
        if len(readings) == 1:
            first, second = (self.mask("ignore", side) for side in readings[0])
        else:
            fitting = [
                (a, b)
                for a, b in ((self._fits(a), self._fits(b)) for a, b in readings)
                if a.any() and b.any()
            ]
            if len(fitting) != 1:
                problem = (
                    "can be read in more than one way" if fitting else "fits no two objects of this scan"
                )
                raise SceneError(f"ignore {text!r}: {problem} (a colon within a name may be written [:])")
            first, second = fitting[0]
        return product(np.flatnonzero(first).tolist(), np.flatnonzero(second).tolist())

    def _fits(self, pattern: str) -> Bools:
        if pattern.startswith(COLLECTION):
            wanted = pattern.removeprefix(COLLECTION)
            collections = [self._scene.collection, *self._scene.collection.children_recursive]
            chosen = [entry for entry in collections if matches(wanted, entry.name)]
            members = {item.name_full for entry in chosen for item in entry.all_objects}
            return np.array([subject.key[0] in members for subject in self._subjects], dtype=bool)
        return np.array(
            [matches(pattern, subject.name, subject.key[0]) for subject in self._subjects], dtype=bool
        )


def _collections_of(scene: bpy.types.Scene, subjects: Sequence[Subject]) -> tuple[Ints, _Pairs]:
    """A label for the collection that each subject is in, -1 for none, and pairs that labels cannot tell.

    A subject has one label but may be in several collections: those beyond the first give pairs.
    """
    homes: dict[str, list[str]] = defaultdict(list)
    for name, entry in {item.name_full: item for item in scene.collection.children_recursive}.items():
        for item in entry.objects:
            homes[item.name_full].append(name)
    members: dict[str, list[int]] = defaultdict(list)
    for index, subject in enumerate(subjects):
        for name in homes.get(subject.key[0], ()):
            members[name].append(index)
    labels = np.full(len(subjects), -1, dtype=np.int64)
    pairs: list[tuple[int, int]] = []
    for label, inside in enumerate(members.values()):
        labelled_before = [index for index in inside if labels[index] >= 0]
        pairs += product(labelled_before, inside)
        labels[[index for index in inside if labels[index] < 0]] = label
    return labels, pairs
