"""Objects and pairs that a job is about: by names, by collection, by parents, and selected in the viewport.

An armature, empty, camera or light that is named stands for the objects with a surface below it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from glob import escape
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np

from ...core import ScanSettings
from ...core.messages import Message, message
from ...core.numeric.arrays import Bools, Ints
from ...core.scan.candidates import PairFilter
from ...formats import SkippedPairs
from ...formats.wording import valid_text
from ..blender.instances import MESH_LIKE, InstanceKey, full_name_of, name_of
from ..blender.missing_inputs import missing_reason
from ..blender.object_settings import collider_owner, entries_of
from ..errors import SceneError
from ..settings import PairSettings, Selection
from .subject import Subject

_WILDCARD = re.compile(r"[*?\[]")
COLLECTION_PREFIX = "collection:"

_COLON = re.compile(r"(?<!\[):|:(?!\])")
_COMMA = re.compile(r"(?<!\[),|,(?!\])")
"""Separators, except those in [:] and [,], by which a shell pattern writes one that belongs to a name."""

_Pairs: TypeAlias = Iterable[tuple[int, int]]


def matches_pattern(pattern: str, *names: str) -> bool:
    """Return whether a shell pattern matches any of the names, case-sensitively.

    A name that is equal to the pattern matches too, whatever brackets it contains. Bytes that are not UTF-8
    are those that `valid_text` shows.
    """
    return any(name == pattern or fnmatchcase(name, pattern) for name in map(valid_text, names))


def would_be_selected(
    selection: Selection, is_owner_selected: Callable[[str], bool], key: InstanceKey
) -> bool:
    """Return by its key whether an instance that is not there yet would be selected.

    is_owner_selected : Made by `owner_filter`.
    """
    owner, name, indices = key
    shown_name = f"{owner}/{name}.0" if indices else name
    return is_owner_selected(owner) and matches_names(selection, shown_name, owner)


def may_match_instances(selection: Selection, owner: str) -> bool:
    """Return whether names may match those of instances that an object shows, given by its full name."""
    name = f"{valid_text(owner)}/"
    starts = [_WILDCARD.split(pattern)[0] for pattern in selection.patterns]
    return not starts or any(name.startswith(start) or start.startswith(name) for start in starts)


def owner_filter(scene: bpy.types.Scene, selection: Selection) -> Callable[[str], bool]:
    """Make a filter that returns by the full name of an owner whether it is selected, names aside.

    Raises SceneError for a collection that does not exist.
    """
    allowed: list[Collection[str]] = []
    if selection.collection is not None:
        collections = [scene.collection, *scene.collection.children_recursive]
        chosen = [entry for entry in collections if name_of(entry) == selection.collection]
        if not chosen:
            problem = f"scene {name_of(scene)!r} has no collection of this name"
            raise SceneError(f"collection {selection.collection!r}: {problem}")
        allowed.append({full_name_of(item) for entry in chosen for item in entry.all_objects})
    if selection.selected_only:
        allowed.append(set(map(full_name_of, selected_objects())))
    if selection.owners is not None:
        allowed.append(selection.owners)
    return lambda owner: all(owner in names for names in allowed)


def selected_objects() -> list[bpy.types.Object]:
    """Return the objects that are selected in the viewport, and the objects of selected colliders."""
    layer = bpy.context.view_layer
    selected = [item for item in layer.objects if item.select_get(view_layer=layer)]
    # A click in front of a mesh selects its collider.
    owners = [owner for item in selected if (owner := collider_owner(item)) is not None]
    return [*selected, *owners]


def selection_of_uids(scene: bpy.types.Scene, uids: Collection[int]) -> Selection:
    """Return the selection of the objects of a scene with these session_uids, whatever is selected now."""
    items = (item for item in scene.objects if item.session_uid in uids)
    return Selection(owners=frozenset(map(full_name_of, items)))


def matches_names(selection: Selection, *names: str) -> bool:
    """Return whether any pattern of the selection matches any of the names; True without patterns."""
    return not selection.patterns or any(matches_pattern(pattern, *names) for pattern in selection.patterns)


_REASONS = {
    "ARMATURE": message("is an armature, which has no surface, and nothing below it has one"),
    "CAMERA": message("is a camera, which has no surface, and nothing below it has one"),
    "EMPTY": message("is an empty, which has no surface, and nothing below it has one"),
    "LATTICE": message("is a lattice, which has no surface, and nothing below it has one"),
    "LIGHT": message("is a light, which has no surface, and nothing below it has one"),
    "LIGHT_PROBE": message("is a light probe, which has no surface, and nothing below it has one"),
    "SPEAKER": message("is a speaker, which has no surface, and nothing below it has one"),
}
"""Reason why nothing stands for an object, by its type, which has no surface."""

_DEFORMING = ("ARMATURE", "LATTICE")
"""Types of modifiers, by which an object is below the armature or lattice that deforms it."""


def objects_below(scene: bpy.types.Scene, pattern: str) -> list[bpy.types.Object] | Message | None:
    """Find the objects with a surface below the objects that a pattern matches, if these have none.

    Below an object are its children, their children, and objects that it deforms.

    Returns objects : The reason if no object is below. None if the pattern matches no object, or one that may
        have a surface or instances.
    """
    items = [item for item in scene.objects if matches_pattern(pattern, name_of(item), full_name_of(item))]
    have_none = all(item.type in _REASONS and item.instance_type == "NONE" for item in items)
    if not items or not have_none or any(map(missing_reason, items)):
        return None
    below = {child for item in items for child in item.children_recursive}
    for item in scene.objects:
        modifiers: Any = item.modifiers
        if any(each.object in items for each in modifiers if each.type in _DEFORMING):
            below.add(item)
    found = [item for item in below if item.type in MESH_LIKE or item.instance_type != "NONE"]
    return sorted(found, key=full_name_of) or _REASONS[items[0].type]


def patterns_with_objects_below(scene: bpy.types.Scene, patterns: Iterable[str]) -> tuple[str, ...]:
    """Replace each pattern of objects without a surface by patterns of the objects below them.

    Raises SceneError if no object is below them.
    """
    replaced: list[str] = []
    for pattern in patterns:
        below = objects_below(scene, pattern)
        if isinstance(below, Message):
            raise SceneError(f"object {pattern!r}: {below}")
        replaced += [pattern] if below is None else [escape(full_name_of(item)) for item in below]
    return tuple(replaced)


class ScanPairs(NamedTuple):
    """Settings of a scan, the pairs that it tests, and the number of those that it does not, by the reason.

    Each pair counts for its first reason, in the order of `SkippedPairs`; reasons without pairs are omitted.
    """

    settings: ScanSettings
    tested: PairFilter
    skipped: dict[str, int]


def make_scan_settings(
    scene: bpy.types.Scene,
    subjects: Sequence[Subject],
    parents: Sequence[str | None],
    settings: PairSettings,
    is_pair_named: bool = False,
    is_obstacle: Bools | None = None,
) -> ScanPairs:
    """Make the settings of a scan from the pair settings of the user, and the ignored pairs of the file.

    parents : Id of the parent of each subject.
    settings : Names and collections of the pairs to test or skip.
    is_pair_named : Whether the subjects are two that the user chose, which are tested although one is the
        other's parent.
    is_obstacle : (n,) bool. Subjects of which two are no pair.
    Raises SceneError: for a pattern that matches no subject, or a pair that is ambiguous.
    """
    patterns = NamePatterns(scene, subjects)
    group_a = patterns.mask("group A", settings.group_a) if settings.group_a else None
    group_b = patterns.mask("group B", settings.group_b) if settings.group_b else None
    ignored = [pair for text in settings.ignored for pair in patterns.pairs(text)]
    if in_file := entries_of("ignored"):
        ignored += _ignored_in_file(subjects, in_file)
    # What each reason skips: pairs, and those of equal labels, which replace the labels before and skip their
    # pairs too.
    skips: list[tuple[SkippedPairs, _Pairs, Ints | None]] = [
        (SkippedPairs.GROUPS, (), None),
        (SkippedPairs.IGNORED, ignored, None),
    ]
    parts: Ints | None = None
    if settings.ignore_parents:
        unnamed: list[tuple[int, int]] = []
        if any(parents) and not is_pair_named:
            # But not those that the groups name, both without a wildcard.
            names = [valid_text(subject.name) for subject in subjects]
            a, b = ([name in group for name in names] for group in (settings.group_a, settings.group_b))
            joined = _with_parents(subjects, parents)
            unnamed = [(i, j) for i, j in joined if not ((a[i] and b[j]) or (a[j] and b[i]))]
        # Label of the object of each loose part, -1 for a whole object.
        numbers: dict[InstanceKey, int] = {}
        keys = (None if each.part is None else each.key for each in subjects)
        labels = [-1 if key is None else numbers.setdefault(key, len(numbers)) for key in keys]
        parts = np.array(labels, dtype=np.int64) if numbers else None
        skips += [(SkippedPairs.PARENTS, unnamed, None), (SkippedPairs.PARTS, (), parts)]
    if settings.ignore_collection:
        skips.append((SkippedPairs.COLLECTIONS, *_collections_of(scene, subjects, parts)))
    scan = ScanSettings(group_a=group_a, group_b=group_b, static_pairs=settings.static_pairs)
    tested, counts = PairFilter(len(subjects), None, None, (), None), dict[str, int]()
    for reason, more, separate in skips:
        separate, before = scan.separate if separate is None else separate, tested.count_pairs()
        scan = replace(scan, ignored=[*scan.ignored, *more], separate=separate)
        tested = PairFilter(len(subjects), group_a, group_b, scan.ignored, separate)
        counts[reason.value] = before - tested.count_pairs()
    if is_obstacle is not None and is_obstacle.any():
        counts[SkippedPairs.OBSTACLES.value] = tested.count_pairs(is_obstacle)
        rows = np.where(is_obstacle, 0, -1)[None]
        scan = replace(scan, separate=rows if scan.separate is None else np.vstack([scan.separate, rows]))
    return ScanPairs(scan, tested, {reason: number for reason, number in counts.items() if number})


def _ignored_in_file(subjects: Sequence[Subject], pairs: Iterable[tuple[str, Any]]) -> _Pairs:
    """Pairs that are ignored by settings of their objects; of an instance, the object that creates it."""
    members: dict[str, list[int]] = defaultdict(list)
    for index, subject in enumerate(subjects):
        members[subject.key[0]].append(index)
    for name, other in pairs:
        # A pair of an object with itself: its instances, each of which does not meet itself.
        yield from (pair for pair in product(members[name], members[other.name]) if pair[0] != pair[1])


def _with_parents(subjects: Sequence[Subject], parents: Sequence[str | None]) -> _Pairs:
    """Pairs of subjects with their parents, and with all parts of a parent that is split by loose parts."""
    index = {subject.id: number for number, subject in enumerate(subjects)}
    parts: dict[InstanceKey, list[int]] = defaultdict(list)
    for number, subject in enumerate(subjects):
        if subject.part is not None:
            parts[subject.key].append(number)
    for child, parent in enumerate(parents):
        # The parent of a bone is often another bone of its object.
        while parent is not None and subjects[index[parent]].key == subjects[child].key:
            parent = parents[index[parent]]
        if parent is not None:
            number = index[parent]
            members = parts[subjects[number].key] if subjects[number].part is not None else [number]
            yield from ((part, child) for part in members)


def split_at_commas(text: str) -> tuple[str, ...]:
    """Split a list of patterns in one line; a comma within a name is written [,]."""
    return tuple(part.strip() for part in _COMMA.split(text) if part.strip())


class NamePatterns(NamedTuple):
    """Converts patterns of names and collections to masks over subjects."""

    scene: bpy.types.Scene
    subjects: Sequence[Subject]

    def mask(self, option: str, patterns: Sequence[str]) -> Bools:
        """Return which subjects (n,) any pattern matches. Raises SceneError for one that matches none."""
        mask = np.zeros(len(self.subjects), dtype=bool)
        for pattern in patterns:
            found = self._matches(pattern)
            text = "{option} {pattern!r}: no object of this scan is in a collection of this name"
            if not found.any() and not pattern.startswith(COLLECTION_PREFIX):
                below = objects_below(self.scene, pattern)
                if isinstance(below, Message):
                    text = "{option} {pattern!r}: {reason}"
                    raise SceneError(message(text, option=option, pattern=pattern, reason=below))
                names = set(map(full_name_of, below or ()))
                found = np.array([subject.key[0] in names for subject in self.subjects], dtype=bool)
                text = "{option} {pattern!r}: no object of this scan has this name"
            if not found.any():
                raise SceneError(message(text, option=option, pattern=pattern))
            mask |= found
        return mask

    def pairs(self, text: str) -> _Pairs:
        """Pairs of indices for "A:B". Of several colons, the one that gives two matches separates them.

        Raises SceneError if no colon does, or more than one.
        """
        readings = [(text[: colon.start()], text[colon.end() :]) for colon in _COLON.finditer(text)]
        readings = [sides for sides in readings if all(sides)]
        if not readings:
            expected = "ignore {text!r}: expected A:B, two names or patterns with a colon between"
            raise SceneError(message(expected, text=text))
        if len(readings) == 1:
            first, second = (self.mask("ignore", [side]) for side in readings[0])
        else:
            fitting = [
                (a, b)
                for a, b in ((self._matches(a), self._matches(b)) for a, b in readings)
                if a.any() and b.any()
            ]
            if len(fitting) != 1:
                problem = "is ambiguous" if fitting else "matches no pair of objects of this scan"
                template = "ignore {text!r}: {problem} (write a colon within a name as [:])"
                raise SceneError(message(template, text=text, problem=problem))
            first, second = fitting[0]
        return product(np.flatnonzero(first).tolist(), np.flatnonzero(second).tolist())

    def _matches(self, pattern: str) -> Bools:
        if pattern.startswith(COLLECTION_PREFIX):
            name_pattern = pattern.removeprefix(COLLECTION_PREFIX)
            collections = [self.scene.collection, *self.scene.collection.children_recursive]
            chosen = [entry for entry in collections if matches_pattern(name_pattern, name_of(entry))]
            members = {full_name_of(item) for entry in chosen for item in entry.all_objects}
            return np.array([subject.key[0] in members for subject in self.subjects], dtype=bool)
        found = (matches_pattern(pattern, subject.name, subject.key[0]) for subject in self.subjects)
        return np.fromiter(found, bool, len(self.subjects))


def _collections_of(
    scene: bpy.types.Scene, subjects: Sequence[Subject], parts: Ints | None
) -> tuple[_Pairs, Ints]:
    """Label of the collection (n,) of each subject, -1 for none, after pairs that labels cannot express.

    A subject has one label but can be in several collections; those beyond the first give pairs.

    parts : Labels of objects whose parts are subjects, which get labels too.
    """
    collections_of: dict[str, list[str]] = defaultdict(list)
    for name, entry in {full_name_of(item): item for item in scene.collection.children_recursive}.items():
        for item in entry.objects:
            collections_of[full_name_of(item)].append(name)
    members: dict[str, list[int]] = defaultdict(list)
    for index, subject in enumerate(subjects):
        for name in collections_of.get(subject.key[0], ()):
            members[name].append(index)
    labels = np.full(len(subjects), -1, dtype=np.int64)
    pairs: list[tuple[int, int]] = []
    for label, inside in enumerate(members.values()):
        labeled_before = [index for index in inside if labels[index] >= 0]
        pairs += product(labeled_before, inside)
        labels[[index for index in inside if labels[index] < 0]] = label
    if parts is not None:
        # Parts of one object are in the same collections, so only parts in none need labels of their own.
        labels = np.where((labels >= 0) | (parts < 0), labels, parts + labels.max() + 1)
    return pairs, labels
