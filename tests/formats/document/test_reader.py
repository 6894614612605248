"""Reading of documents: the contents they were made from, in Blender's space, from every space."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.core import Aabb, Obb, Sphere
from addon.formats import (
    DocumentError,
    Partial,
    document_problems,
    dumps,
    make_document,
    read_document,
    read_file,
    space_for,
)
from tests.formats import samples

MADE = {entry.id: entry for entry in (samples.bounds("c", "Würfel"), samples.bounds("a", "Ball", None, -3.0))}


def shape_of(shapes, kind):
    (found,) = (shape for shape in shapes if isinstance(shape, kind))
    return found


@pytest.mark.smoke
@pytest.mark.parametrize("preset", ["blender", "gltf", "unity"])
def test_shapes_and_transforms_are_read_in_blender_space(preset):
    reading = read_document(samples.document(preset))
    assert reading.scale_length == (0.5 if preset != "gltf" else 1)
    read = {entry.id: entry for entry in reading.objects}
    for id, made in MADE.items():
        assert (read[id].name, read[id].kind, read[id].parent) == (made.name, made.kind, made.parent)
        np.testing.assert_allclose(read[id].translation, made.translation, atol=1e-5)
        np.testing.assert_allclose(read[id].scale, made.scale, atol=1e-5)
        # The same rotation; the sign of a quaternion is arbitrary.
        assert abs(read[id].rotation @ made.rotation) == pytest.approx(1, abs=1e-8)
        for shapes, originals in ((read[id].world, made.world), (read[id].local, made.local)):
            for kind in (Sphere, Aabb, Obb):
                a, b = shape_of(shapes, kind), shape_of(originals, kind)
                for name in b.field_shapes:
                    np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=2e-5)


@pytest.mark.parametrize("preset", ["gltf", "unreal"])
def test_noisy_axes_of_other_programs_are_cleaned(preset):
    document = samples.document(preset)
    exact = read_document(document).objects
    matrix = document["space"]["fromBlender"]
    # The cosine of a right angle in double precision.
    noise = math.cos(math.pi / 2) * max(map(abs, matrix))
    document["space"]["fromBlender"] = [number or noise for number in matrix]
    assert list(document_problems(document)) == []
    for cleaned, other in zip(read_document(document).objects, exact, strict=True):
        assert np.array_equal(cleaned.translation, other.translation)
        assert np.array_equal(cleaned.rotation, other.rotation)
        for kind, name in ((Aabb, "min"), (Sphere, "center"), (Obb, "rotation")):
            found = (getattr(shape_of(entry.world, kind), name) for entry in (cleaned, other))
            assert np.array_equal(*found)


@pytest.mark.parametrize("preset", ["blender", "gltf"])
def test_contacts_and_near_misses_are_read(preset):
    reading = read_document(samples.document(preset))
    made, (contact,) = samples.contact(), reading.scanned.report.contacts
    ids = reading.scanned.ids
    assert (ids[contact.a], ids[contact.b]) == ("a", "b")
    assert contact.first.frame == pytest.approx(made.first.frame, abs=1e-6)
    assert [tuple(span) for span in contact.intervals] == [
        pytest.approx(tuple(span), abs=2e-6) for span in made.intervals
    ]
    np.testing.assert_allclose(contact.first.point, made.first.point, atol=1e-5)
    np.testing.assert_allclose(contact.first.normal, made.first.normal, atol=1e-5)
    assert contact.depth == pytest.approx(made.depth, abs=2e-6)
    assert [each.velocity is None for each in contact.details] == [False, True]
    for found, expected in zip(contact.details, made.details, strict=True):
        numbers = [[*each.point, *each.normal, *each.direction, each.depth] for each in (found, expected)]
        np.testing.assert_allclose(*numbers, atol=1e-5)
        assert found.deepest_frame == pytest.approx(expected.deepest_frame, abs=1e-6)
        assert found.uncertainty == pytest.approx(expected.uncertainty, abs=1e-6)
    np.testing.assert_allclose(contact.details[0].velocity, made.details[0].velocity, atol=1e-5)
    assert (contact.first.tunnelling, contact.first.at_start) == (True, False)
    (near,) = reading.scanned.report.clearances
    assert (ids[near.a], ids[near.b]) == ("c", "a")
    assert (near.frame, near.gap) == (pytest.approx(7 + 1 / 3, abs=1e-6), pytest.approx(0.3, abs=2e-6))


def test_left_handed_space_in_centimeters_is_inverted():
    # Unreal: 100 (x, -y, z), quaternion (-x, y, -z, w), half extents in the same order.
    document = samples.document()
    document["space"].update(
        preset="unreal",
        forward="+Y",
        handedness="left",
        unit="cm",
        metersPerUnit=0.01,
        fromBlender=[100.0, 0, 0, 0, -100.0, 0, 0, 0, 100.0],
    )
    entry = document["objects"][0]
    entry["world"] = {
        "aabb": {"min": [100, -300, 0], "max": [200, -100, 50]},
        "sphere": {"center": [0, 100, 0], "radius": 200},
    }
    entry["local"] = entry["world"]
    entry["transform"]["rotation"] = [-0.6, 0, 0, 0.8]
    document["contacts"][0]["first"]["normal"] = [0, 1, 0]
    reading = read_document(document)
    read = reading.objects[0]
    box, ball = shape_of(read.world, Aabb), shape_of(read.world, Sphere)
    assert (box.min.tolist(), box.max.tolist()) == ([1, 1, 0], [2, 3, 0.5])
    assert (ball.center.tolist(), float(ball.radius)) == ([0, -1, 0], 2)
    assert read.rotation.tolist() == [0.8, 0.6, 0, 0]
    assert reading.scanned.report.contacts[0].first.normal.tolist() == [0, -1, 0]
    assert reading.scale_length == 1


def test_reasons_for_playing_the_scene_are_written_again():
    document = samples.document()
    known, other = (each["id"] for each in document["objects"][:2])
    entry = {"reason": "it is simulated", "ids": [known]}
    for extra, kept in (
        ([entry], [entry]),
        ([{**entry, "ids": [known, "nobody"]}], [entry]),
        ([entry, {**entry, "ids": [other]}], [{**entry, "ids": sorted([known, other])}]),
        (5, None),
        ([5, {"reason": 5, "ids": [known]}, {"reason": "r", "ids": 5}], None),
    ):
        document["extras"] = {"playedInScene": extra}
        written = make_document(read_document(document), space_for("blender"))
        assert written["extras"].get("playedInScene") == kept


def test_vertex_group_is_written_again():
    document = samples.document()
    for extra, kept in (("Hand", "Hand"), ("", ""), (5, None), (["Hand"], None)):
        document["extras"] = {"vertexGroup": extra}
        written = make_document(read_document(document), space_for("blender"))
        assert written["extras"].get("vertexGroup") == kept


def test_partial_scan_is_read_and_unknown_extras_are_ignored():
    document = samples.document()
    assert read_document(document).partial is None
    document["extras"] = {"partial": {"plannedEnd": 250}}
    reading = read_document(document)
    assert reading.partial == Partial(250) and reading.scanned.report.stopped_at == 20
    for strange in (
        {"partial": 7},
        {"partial": {}},
        {"partial": {"plannedEnd": "late"}},
        {"partial": {"plannedEnd": 20}},
        {"mine": 1},
    ):
        document["extras"] = strange
        assert read_document(document).partial is None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe\x00", "not a UTF-8 text file"),
        (b"[]", "must be|is not|object"),
        (b'{"format": "collision-bounds"}', "."),
    ],
)
def test_broken_file_gives_one_sentence_with_its_name(tmp_path, content, expected):
    path = tmp_path / "farm.json"
    path.write_bytes(content)
    with pytest.raises(DocumentError, match=f"^farm.json: .*({expected})") as error:
        read_file(path)
    assert "\n" not in str(error.value)
    with pytest.raises(DocumentError, match=r"^gone\.json: cannot be read"):
        read_file(tmp_path / "gone.json")


def test_file_is_read(tmp_path):
    path = tmp_path / "farm.json"
    path.write_text(dumps(samples.document("gltf")), "utf-8")
    assert len(read_file(path).objects) == 3
