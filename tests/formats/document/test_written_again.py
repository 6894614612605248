"""Documents that are written, read and written again are identical to the byte, in every space."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import fields, replace
from fractions import Fraction
from itertools import product
from math import pi

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Capsule,
    Clearance,
    Contact,
    ContactDetails,
    ContactInterval,
    ContactReport,
    Cylinder,
    FirstContact,
    Obb,
    Sphere,
    SphereTree,
    hull_from_points,
)
from addon.core.numeric.arrays import rotation_matrix
from addon.core.scan.report import Clearances, Contacts
from addon.formats import (
    CONVENTIONS,
    Convention,
    ObjectBounds,
    ScannedContacts,
    Track,
    dumps,
    make_document,
    parse_document,
    read_document,
    space_for,
)
from addon.formats.spaces import AXES
from tests.formats import samples
from tests.tiers import times

CUSTOM = [
    Convention("custom", up, forward, handedness, per_meter)
    for up in AXES
    for forward in AXES
    if up[1] != forward[1]
    for handedness in ("right", "left")
    for per_meter in (100.0, 39.37, 0.01)
]
# Common unit scales of scenes. 0.7 and 0.3048 change when they are multiplied by 100 and by 0.01.
LENGTHS = (1.0, 0.5, 0.01, 0.7, 0.3048)
TURNS = [
    *((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (-1, 0, 0, 0), (0, -1, 0, 0)),
    *((0.5, 0.5, 0.5, 0.5), (0.5**0.5, 0.5**0.5, 0, 0), (0, 0.6, 0.8, 0), (0, 0.5**0.5, -(0.5**0.5), 0)),
    *((1e-12, 0.6, -0.8, 0), (-1e-12, -0.6, 0.8, 1e-10), (1e-9, 1, 1e-9, 0)),
]


def written_again(document, convention, decimals=6):
    """Text of a document that is read and written in the same space."""
    loaded = read_document(document)
    return dumps(make_document(loaded, space_for(convention, loaded.scale_length), decimals))


def assert_unchanged(document, convention, decimals, parsed=json.loads):
    first = dumps(document)
    second = written_again(parsed(first), convention, decimals)
    # By lines, because pytest compares long lines very slowly.
    assert second.splitlines() == first.splitlines()
    assert written_again(parsed(second), convention, decimals) == first


class RandomContents:
    """Random shapes, tracks and contacts of all sizes and positions, also flat, round or zero ones."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def lengths(self, count):
        found = self.rng.uniform(0.1, 1, count) * 10.0 ** self.rng.integers(-3, 4)
        # Round numbers as users type them, or zero.
        return found.round(2) if self.rng.random() < 0.3 else found * (self.rng.random(count) < 0.9)

    def positions(self, *shape):
        found = self.rng.normal(size=(*shape, 3)) * 10.0 ** self.rng.integers(-2, 6)
        return found.round(2) if self.rng.random() < 0.3 else found

    def turn(self):
        if self.rng.random() < 0.3:
            return np.array(TURNS[self.rng.integers(len(TURNS))], dtype=float)
        turn = self.rng.normal(size=4)
        return turn / np.linalg.norm(turn)

    def ball(self):
        return Sphere(self.positions(), self.lengths(1)[0])

    def box(self):
        low = self.positions()
        return Aabb(low, low + self.lengths(3))

    def oriented_box(self):
        return Obb(self.positions(), self.lengths(3), rotation_matrix(self.turn()))

    def rod(self, kind):
        axis = rotation_matrix(self.turn())[:, 0]
        return kind(self.positions(), axis, *self.lengths(2))

    def tree(self):
        return SphereTree(self.positions(5), self.lengths(5), [(1, 2), (-1, -1), (3, 4), (-1, -1), (-1, -1)])

    def hull(self):
        place = self.positions() / 100
        return hull_from_points(place + self.rng.normal(size=(12, 3)) * (1 + np.abs(place).max() / 100))

    def shapes(self, with_hull):
        found = [
            self.ball(),
            self.box(),
            self.oriented_box(),
            self.tree(),
            self.rod(Capsule),
            self.rod(Cylinder),
        ]
        return (*found, self.hull()) if with_hull else tuple(found)

    def subject(self, id):
        with_hull = id == "0"
        return ObjectBounds(
            id,
            f"Body {id}",
            "MESH",
            None,
            self.positions(),
            self.turn(),
            self.lengths(3),
            self.shapes(with_hull),
            self.shapes(with_hull),
            envelope=(self.ball(), self.box()),
        )

    def track(self, id):
        low = self.positions(4)
        balls = Sphere(self.positions(4), self.lengths(4))
        return Track(id, np.arange(4) / 3, balls, Aabb(low, low + self.lengths(3)))

    def contact(self, a, b):
        frames = np.sort(self.rng.uniform(-5, 20, 4)).tolist()
        normal = self.rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        first = FirstContact(frames[0], 1e-3 / 3, self.positions(), normal, False, False)
        spans = tuple(ContactInterval(*pair) for pair in (frames[:2], frames[2:]))
        depth = self.lengths(1)[0] * (-1 if self.rng.random() < 0.3 else 1)
        details = (
            ContactDetails(1e-3 / 3, first.point, normal, self.positions() / FPS, frames[1], depth, normal),
            ContactDetails(
                0.0, self.positions(), normal, None, frames[2], min(depth / 3, 3 * depth), -normal
            ),
        )
        return Contact(a, b, first, spans, frames[1], depth, details)

    def document(self, space, decimals, count=4):
        ids = [str(index) for index in range(count)]
        contacts = tuple(self.contact(0, index) for index in range(1, count))
        near = tuple(Clearance(1, index, index / 3, self.lengths(1)[0]) for index in range(2, count))
        report = ContactReport(Contacts.of(contacts), Clearances.of(near))
        return samples.document_of(
            [self.subject(id) for id in ids],
            space,
            decimals,
            scanned=ScannedContacts(report, ids, "obb", frozenset("1"), (), 0.07),
            tracks=[self.track(id) for id in ids],
            linear_ids=["2"],
        )


FPS = samples.TIME.fps


def names(conventions):
    return [
        f"{each.preset} {each.up} {each.forward} {each.handedness} {each.per_meter}" for each in conventions
    ]


def custom_conventions():
    """Return all pairs of axes with each handedness and unit; five of these six are marked long."""
    return [
        pytest.param(convention, marks=[] if index % 6 == index // 6 % 6 else pytest.mark.long)
        for index, convention in enumerate(CUSTOM)
    ]


@pytest.mark.parametrize("convention", custom_conventions(), ids=names(CUSTOM))
def test_random_documents_are_unchanged_in_custom_spaces(convention):
    seed = CUSTOM.index(convention)
    decimals, length = (3, 6, 6, 9)[seed % 4], LENGTHS[seed % 5]
    document = RandomContents(seed).document(space_for(convention, length), decimals)
    assert_unchanged(document, convention, decimals)


def engines():
    """Yield each preset with all decimals and lengths; four of the five lengths are marked long."""
    every = product(enumerate(LENGTHS), enumerate((3, 6, 9)), enumerate(CONVENTIONS))
    for (i, length), (j, decimals), (k, preset) in every:
        marks = [] if (j + k) % len(LENGTHS) == i else pytest.mark.long
        yield pytest.param(length, decimals, preset, marks=marks)


@pytest.mark.parametrize(("length", "decimals", "preset"), list(engines()))
def test_random_documents_are_unchanged_in_spaces_of_engines(preset, decimals, length):
    seed = 1000 + 10 * LENGTHS.index(length) + decimals
    document = RandomContents(seed).document(space_for(preset, length), decimals)
    assert_unchanged(document, preset, decimals)


@pytest.mark.parametrize("preset", CONVENTIONS)
@pytest.mark.parametrize("decimals", [3, 6, 9])
def test_correct_documents_are_unchanged(preset, decimals):
    for document in (samples.document(preset, decimals), samples.document_with_tracks(preset, decimals)):
        assert_unchanged(document, preset, decimals, parse_document)


@pytest.mark.parametrize("preset", ["blender", "unreal"])
def test_oriented_boxes_of_random_rotations_are_unchanged(preset):
    turns = np.random.default_rng(5).normal(size=(times(800, 120), 4))
    # Nearly half turns, and nearly no rotation.
    turns[::4, 0] *= 1e-9
    turns[1::4, 1:] *= 1e-9
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    objects = [samples.bounds(f"{i:04}", "Ball", rotation=tuple(turn)) for i, turn in enumerate(turns)]
    document = samples.document_of(objects, space_for(preset), 6)
    assert_unchanged(document, preset, 6)


def test_changed_objects_are_written_with_changes():
    document = json.loads(dumps(samples.document("unreal")))
    (read, *unchanged) = read_document(document).objects
    larger = Sphere((1, 2, 3), pi)
    changed = replace(read, world=(larger,), local=(larger,))
    objects = [changed, *unchanged]
    made = samples.document_of(objects, space_for("unreal", 0.5))["objects"]
    (written_entry,) = (entry for entry in made if entry["id"] == read.id)
    assert written_entry["world"] == {"sphere": {"center": [50, -100, 150], "radius": 157.079633}}
    assert [entry for entry in made if entry["id"] != read.id] == [
        entry for entry in document["objects"] if entry["id"] != read.id
    ]


PARTS = {
    "translation": np.array([7.0, 8.0, 9.0]),
    "rotation": np.array([0.5, 0.5, -0.5, 0.5]),
    "scale": np.array([7.0, 8.0, 9.0]),
    "local": (Sphere((7, 8, 9), 3),),
    "world": (Sphere((7, 8, 9), 3),),
    "envelope": (Sphere((7, 8, 9), 3),),
}


def freshly_made(entry):
    """Copy an object or track without the numbers of the document that it was read from."""
    parts = {
        field.name: getattr(entry, field.name) for field in fields(entry) if field.name != "source_numbers"
    }
    return type(entry)(**parts)


def written(objects, space, decimals=6, tracks=()):
    return dumps(samples.document_of(objects, space, decimals, tracks=tracks))


def parts_of_engines():
    """Yield all parts in all presets; two of the four presets are marked long."""
    for (i, name), (j, preset) in product(enumerate(PARTS), enumerate(CONVENTIONS)):
        yield pytest.param(name, preset, marks=[] if (i + j) % 2 else pytest.mark.long)


@pytest.mark.parametrize(("name", "preset"), list(parts_of_engines()))
def test_replaced_part_discards_source_numbers(preset, name):
    space = space_for(preset, 0.7)
    reading = read_document(json.loads(dumps(RandomContents(7).document(space, 6))))
    changed = [replace(entry, **{name: PARTS[name]}) for entry in reading.objects]
    # Equal numbers, but another array than the one that was read.
    same = [replace(entry, scale=entry.scale.copy()) for entry in reading.objects]
    for objects in (changed, same):
        assert written(objects, space) == written([freshly_made(entry) for entry in objects], space)
    assert written(changed, space) != written(reading.objects, space)


@pytest.mark.parametrize("preset", CONVENTIONS)
def test_changed_copies_are_written_with_changes(preset):
    space = space_for(preset, 0.7)
    reading = read_document(json.loads(dumps(RandomContents(8).document(space, 6))))
    for copied in (copy.deepcopy, lambda entry: pickle.loads(pickle.dumps(entry))):
        objects, tracks = map(copied, reading.objects), map(copied, reading.tracks)
        objects, tracks = list(objects), list(tracks)
        for entry in objects:
            entry.translation[:] += 7
        for track in tracks:
            track.frames[:] += 7
            track.aabb.max[:] += 7
        fresh = [freshly_made(entry) for entry in objects], [freshly_made(track) for track in tracks]
        assert written(objects, space, tracks=tracks) == written(fresh[0], space, tracks=fresh[1])


@pytest.mark.parametrize("preset", ["gltf", "unity", "unreal"])
@pytest.mark.parametrize("length", [0.35, 0.7000000001, 1.4])
def test_other_unit_scale_discards_source_numbers(preset, length):
    reading = read_document(json.loads(dumps(RandomContents(9).document(space_for(preset, 0.7), 6))))
    space = space_for(preset, length)
    fresh = (
        [freshly_made(entry) for entry in reading.objects],
        [freshly_made(track) for track in reading.tracks],
    )
    again = written(reading.objects, space, tracks=reading.tracks)
    assert again == written(fresh[0], space, tracks=fresh[1])


def test_changed_tracks_are_written_with_changes():
    space = space_for("unity", 0.7)
    reading = read_document(json.loads(dumps(RandomContents(10).document(space, 6))))
    first, *unchanged = reading.tracks
    for changed in (
        replace(first, frames=first.frames + 1),
        replace(first, sphere=first.sphere.padded(0.5)),
        replace(first, aabb=None),
        replace(first, aabb=first.aabb.padded(0.5)),
    ):
        written_tracks = json.loads(written(reading.objects, space, tracks=[changed, *unchanged]))["tracks"]
        fresh = json.loads(written(reading.objects, space, tracks=[freshly_made(changed)]))["tracks"]
        kept = json.loads(written(reading.objects, space, tracks=reading.tracks))["tracks"]
        assert written_tracks == [*fresh, *kept[1:]]
        assert written_tracks[0] != kept[0]


@pytest.mark.smoke
def test_arrays_that_were_read_are_read_only():
    reading = read_document(samples.document_with_tracks("unreal"))
    for entry in reading.objects:
        source = entry.source_numbers.in_document
        for values in (
            entry.translation,
            entry.rotation,
            entry.world[0].min,
            source.scale,
            source.world[0].min,
        ):
            with pytest.raises(ValueError, match="read-only"):
                values[0] = 7
    with pytest.raises(ValueError, match="read-only"):
        reading.tracks[0].frames[0] = 7


def test_fewer_decimals_enclose_shapes_of_document():
    document = json.loads(dumps(samples.document("unreal", 6)))
    rough = json.loads(written_again(document, "unreal", 3))
    for entry, coarse in zip(document["objects"], rough["objects"], strict=True):
        box, around = entry["world"]["aabb"], coarse["world"]["aabb"]
        assert all(a <= b < a + 1.01e-3 for a, b in zip(around["min"], box["min"], strict=True))
        assert all(b <= a < b + 1.01e-3 for a, b in zip(around["max"], box["max"], strict=True))
        ball, larger = entry["world"]["sphere"], coarse["world"]["sphere"]
        pairs = zip(ball["center"], larger["center"], strict=True)
        away = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in pairs)
        assert away <= (Fraction(larger["radius"]) - Fraction(ball["radius"])) ** 2
        assert ball["radius"] <= larger["radius"] < ball["radius"] + 3e-3


@pytest.mark.smoke
def test_other_space_converts_document():
    document = json.loads(dumps(samples.document("unreal", 9)))
    there = json.loads(written_again(document, "unity", 6))
    assert there["space"] == samples.document("unity")["space"]
    # Unreal is 100 (x, -y, z), Unity is (-x, z, -y), by published formulas.
    for entry, other in zip(document["objects"], there["objects"], strict=True):
        x, y, z = np.array(entry["world"]["sphere"]["center"]) / 100
        np.testing.assert_allclose(other["world"]["sphere"]["center"], (-x, z, y), atol=2e-6)
