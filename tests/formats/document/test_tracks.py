"""Envelopes and tracks in documents: rounded outward, read back, and written in parts."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from addon.core import Aabb, Sphere
from addon.formats import (
    Track,
    document_problems,
    dumps,
    json_parts,
    parse_document,
    read_document,
    space_for,
)
from tests.formats import samples
from tests.formats.document.test_json_writer import expected
from tests.tiers import times


@pytest.mark.parametrize("preset", ["blender", "gltf"])
@pytest.mark.parametrize("decimals", [3, 6, 9])
def test_written_tracks_are_correct_and_enclose_originals(preset, decimals):
    reading = read_document(parse_document(dumps(samples.document_with_tracks(preset, decimals))))
    entry = reading.objects[0]
    ball, box = samples.ENVELOPE
    (read_box,) = (shape for shape in entry.envelope if isinstance(shape, Aabb))
    (read_ball,) = (shape for shape in entry.envelope if isinstance(shape, Sphere))
    rounding = 1e-12
    step = 4 * 10.0**-decimals
    assert (read_box.min <= box.min + rounding).all()
    assert (read_box.max >= box.max - rounding).all()
    np.testing.assert_allclose(read_box.max, box.max, atol=step)
    assert np.linalg.norm(read_ball.center - ball.center) + ball.radius <= read_ball.radius + rounding
    assert read_ball.radius == pytest.approx(float(ball.radius), abs=step)
    assert reading.objects[1].envelope == ()
    assert reading.linear_ids == ("b",)
    first, second = reading.tracks
    assert (first.id, second.id) == ("a", "b")
    assert second.sphere is None
    assert second.frames.tolist() == [1, pytest.approx(2 + 1 / 3)]
    shift = np.linalg.norm(first.sphere.center - samples.CENTERS, axis=1)
    assert (shift + np.array([1 / 3, 2]) <= first.sphere.radius + rounding).all()
    assert (first.aabb.min <= samples.CENTERS - 1 / 3 + rounding).all()
    assert (first.aabb.max >= samples.CENTERS + 2 / 3 - rounding).all()


@pytest.mark.smoke
def test_text_matches_that_of_plain_lists():
    document = samples.document_with_tracks()
    as_lists = {**document, "tracks": list(document["tracks"])}
    assert dumps(document) == dumps(as_lists)
    assert list(document_problems(json.loads(dumps(document)))) == []
    assert json.loads(dumps(document)) == as_lists


def many_tracks(counts, decimals=6):
    """Return a document with tracks of these frame counts, every third without spheres, every fifth without
    boxes.
    """
    rng = np.random.default_rng(3)
    objects = [samples.bounds(f"{index:04}", f"Body {index}") for index in range(len(counts))]
    tracks = []
    for index, count in enumerate(counts):
        middle = rng.normal(size=(count, 3)) * 10.0 ** (index % 5 - 2)
        ball = Sphere(middle, rng.uniform(0, 1, count)) if index % 3 else None
        box = Aabb(middle - 1e-4, middle + 3) if index % 5 else None
        tracks.append(Track(f"{index:04}", np.arange(count) / (1 + index % 2), ball, box))
    return samples.document_of(objects, space_for("unity"), decimals, tracks=tracks)


@pytest.mark.parametrize("decimals", [3, 9])
@pytest.mark.parametrize("counts", [[0, 1, 2, 3, 0, 5, 7, 9, 12], [300] * 40, [20_000, 1, 3]])
def test_tracks_of_any_length_match_text_of_plain_lists(counts, decimals):
    document = many_tracks(counts, decimals)
    # Converted one by one, so that no block of tracks is rounded at once.
    as_lists = {**document, "tracks": [document["tracks"][index] for index in range(len(counts))]}
    text = dumps(document)
    # By lines, because pytest compares long lines very slowly.
    assert text.splitlines() == dumps(as_lists).splitlines() == expected(as_lists).splitlines()
    assert json.loads(text)["tracks"] == as_lists["tracks"]


def test_memory_of_writing_does_not_grow_with_text():
    one = many_tracks([1, 250])["tracks"].entries[1]
    held = []
    for count in (times(200, 60), times(1000, 300)):
        tracks = [replace(one, id=f"{index:05}") for index in range(count)]
        document = samples.document_of([], space_for("blender"), tracks=tracks)
        tracemalloc.start()
        try:
            length = sum(len(part) for part in json_parts(document))
            held.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert length > count * 10_000
    assert held[1] < 1.1 * held[0]
    assert held[1] < length / 2


def test_tracks_are_written_one_at_a_time():
    parts = list(json_parts(samples.document_with_tracks()))
    holding = [part for part in parts if '"radii"' in part or '"mins"' in part]
    assert len(holding) == 2


def test_change_of_the_frames_of_one_track_changes_no_other():
    (track,) = many_tracks([3])["tracks"].entries
    tracks = [replace(track, id=id) for id in ("first", "second")]
    document = samples.document_of([], space_for("blender"), tracks=tracks)
    before = dumps(document)
    for track in document["tracks"]:
        track["frames"].clear()
    assert [len(track["frames"]) for track in document["tracks"]] == [3, 3]
    first, second = document["tracks"][:]
    first["frames"].clear()
    assert len(second["frames"]) == 3
    assert dumps(document) == before


def test_document_without_tracks_has_empty_list():
    document = samples.document()
    assert document["tracks"] == []
    assert "envelope" not in document["objects"][0]
    assert document["extras"] == {}


@pytest.mark.parametrize("extra", [3, [3], {"a": 1}, ["nobody"], None])
def test_extras_of_other_form_are_ignored(extra):
    document = {**samples.document_with_tracks(), "extras": {"straightBetweenFrames": extra}}
    assert read_document(json.loads(dumps(document))).linear_ids == ()
