"""Documents: order, exact numbers, rounding outward, and conversion to the declared space."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest

from addon.core import Aabb, ContactMotion, ContactReport, Obb, Sphere
from addon.core.numeric.arrays import rotation_matrix
from addon.core.scan.report import Contacts
from addon.formats import (
    CONVENTIONS,
    ScannedContacts,
    TimeSettings,
    document_problems,
    dumps,
    make_document,
    parse_document,
    read_document,
    space_for,
)
from tests.formats import samples
from tests.paths import TOP


def numbers(value):
    """Yield all numbers of a document."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def test_keys_have_order_of_format():
    document = samples.document()
    assert list(document) == [
        "$schema",
        "format",
        "version",
        "generator",
        "source",
        "space",
        "time",
        "objects",
        "tracks",
        "contacts",
        "clearances",
        "skipped",
        "warnings",
        "extras",
    ]
    entry = document["objects"][0]
    assert list(entry) == ["id", "name", "type", "parent", "transform", "local", "world"]
    assert list(entry["local"]) == list(entry["world"]) == ["aabb", "obb", "sphere"]
    found = document["contacts"][0]
    assert list(found) == ["a", "b", "shape", "motion", "first", "intervals", "deepest"]
    assert list(found["first"]) == [
        "frame",
        "seconds",
        "uncertainty",
        "point",
        "normal",
        "atStart",
        "tunnelling",
    ]


def test_origin_without_a_version_has_that_of_the_extension_and_the_file_is_valid_text():
    origin = replace(samples.ORIGIN, generator_version="", file="caf\udce9.blend")
    document = samples.document_of([], space_for("blender"), origin=origin)
    (version,) = re.findall(r'^version = "(.+)"', (TOP / "blender_manifest.toml").read_text("utf-8"), re.M)
    assert document["generator"]["version"] == version
    assert document["source"]["file"] == r"caf\xe9.blend"


def test_objects_are_sorted_by_name_then_id_and_skipped_by_name():
    document = samples.document()
    assert [(o["name"], o["id"]) for o in document["objects"]] == [
        ("Ball", "a"),
        ("Ball", "b"),
        ("Würfel", "c"),
    ]
    assert [entry["name"] for entry in document["skipped"]] == ["Empty", "Zed"]


@pytest.mark.parametrize("preset", CONVENTIONS)
@pytest.mark.parametrize("decimals", [3, 6, 9])
def test_same_input_gives_same_bytes_and_parsing_keeps_them(preset, decimals):
    text = dumps(samples.document(preset, decimals))
    assert text == dumps(samples.document(preset, decimals))
    read = parse_document(text)
    assert read == samples.document(preset, decimals)
    assert dumps(read) == text
    assert json.loads(text) == read
    assert text.endswith("}\n")
    assert "\r" not in text


@pytest.mark.smoke
@pytest.mark.parametrize("preset", CONVENTIONS)
def test_numbers_have_no_negative_zero_no_nan_and_few_digits(preset):
    text = dumps(samples.document(preset))
    assert "NaN" not in text
    assert "Infinity" not in text
    for value in numbers(json.loads(text)):
        assert value != 0 or math.copysign(1, value) == 1
    # Except rotations, which have nine decimals, and the frame rate, which is not rounded.
    document = samples.document(preset)
    del document["time"]["fps"]
    for entry in document["objects"]:
        del entry["transform"]["rotation"]
    assert all(round(value, 6) == value for value in numbers(document))


@pytest.mark.smoke
def test_text_keeps_non_ascii_characters():
    assert '"name": "Würfel"' in dumps(samples.document())


def test_integers_are_written_without_point():
    time = TimeSettings(24.0, 1, 250, 1, 1.0)
    text = dumps(samples.document_of([], space_for("gltf"), time=time))
    assert (
        '"time": {"fps": 24, "frameStart": 1, "frameEnd": 250, "frameStep": 1, "referenceFrame": 1}' in text
    )


def test_empty_document_is_correct():
    document = samples.document_of([], space_for("blender"))
    assert list(document_problems(document)) == []
    assert document["contacts"] == document["objects"] == document["tracks"] == []


@pytest.mark.parametrize("decimals", [3, 4, 6, 9])
@pytest.mark.parametrize("preset", CONVENTIONS)
def test_written_shapes_enclose_exact_ones(preset, decimals):
    entry = samples.bounds("a", "Ball")
    document = samples.document_of([entry], space_for(preset, 0.5), decimals)
    written = document["objects"][0]["world"]
    # A Blender unit is half a meter, fifty centimeters. In glTF it is a meter.
    scale = {"unreal": Fraction(50), "unity": Fraction(1, 2)}.get(preset, Fraction(1))

    def over(vector):
        # In double precision, as programs that convert vertices do it.
        x, y, z = (Fraction(float(value) * float(scale)) for value in vector)
        published = {"blender": (x, y, z), "gltf": (x, z, -y), "unity": (-x, z, -y), "unreal": (x, -y, z)}
        return published[preset]

    box, turned, ball = entry.world
    assert isinstance(box, Aabb)
    assert isinstance(ball, Sphere)
    assert isinstance(turned, Obb)
    low, high = over(box.min), over(box.max)
    for k in range(3):
        assert Fraction(written["aabb"]["min"][k]) <= min(low[k], high[k])
        assert Fraction(written["aabb"]["max"][k]) >= max(low[k], high[k])
    x, y, z, w = written["obb"]["rotation"]
    for corner in turned.corners():
        away = np.array(over(corner), dtype=float) - written["obb"]["center"]
        seen = np.abs(rotation_matrix([w, x, y, z]).T @ away)
        size = max(float(scale), 1)  # of the rounded numbers
        assert (seen <= np.array(written["obb"]["halfExtents"]) + 1e-14 * size).all()
        assert (seen >= np.array(written["obb"]["halfExtents"]) - 3 / 10**decimals - 1e-8 * size).all()
    slack = Fraction(written["sphere"]["radius"]) - Fraction(float(ball.radius) * float(scale))
    shift = [Fraction(a) - b for a, b in zip(written["sphere"]["center"], over(ball.center), strict=True)]
    assert slack > 0
    assert sum(d * d for d in shift) <= slack**2
    assert slack < Fraction(3, 10**decimals)


@pytest.mark.parametrize("frame", [11 + 1 / 3, -3.7 + 1e-9, 12.0, 11.9999999, 1e5 + 1 / 7])
@pytest.mark.parametrize("decimals", [3, 6, 9])
def test_first_frame_is_not_rounded_up(frame, decimals):
    found = samples.contact(0, 1, (frame, frame + 1 / 7))
    written = samples.document(decimals=decimals, contacts=(found,))["contacts"][0]
    first, (span,) = written["first"], written["intervals"]
    # Frames have at least six decimals, even if lengths have fewer.
    step = 10.0 ** -max(decimals, 6) * 1.01
    assert frame - step < first["frame"] <= frame
    assert span["start"] == first["frame"]
    assert frame + 1 / 7 <= span["end"] < frame + 1 / 7 + step
    assert first["uncertainty"] >= found.first.uncertainty
    # Seconds count from frame 0 at the true rate, and are not late either.
    exact = Fraction(frame) / Fraction(samples.TIME.fps)
    assert exact - Fraction(2 * step) < Fraction(first["seconds"]) <= exact


def test_intervals_that_overlap_after_rounding_are_merged():
    # 0.2 millionths of a frame lie between the first two: rounded outward to six decimals they overlap.
    found = samples.contact(0, 1, (11.5, 12 + 2e-7), (12 + 4e-7, 12.25), (13.0, 13.5))
    # The second one is the deepest.
    deeper = found.details[1]._replace(depth=0.5)
    details = (found.details[0], deeper, found.details[2])
    document = samples.document(contacts=(replace(found, depth=0.5, deepest_frame=12.1, details=details),))
    assert list(document_problems(document)) == []
    first, last = document["contacts"][0]["intervals"]
    assert [(span["start"], span["end"]) for span in (first, last)] == [(11.5, 12.25), (13, 13.5)]
    # It begins as the first one does.
    assert first["point"] == document["contacts"][0]["first"]["point"]
    assert (first["deepest"]["depth"], first["deepest"]["frame"]) == (0.5, 12)


def only_close(found, depth):
    """Return a contact with the depth of its first interval, and half the gap more in others."""
    details = tuple(entry._replace(depth=depth * (1 + k / 2)) for k, entry in enumerate(found.details))
    return replace(found, depth=depth, details=details)


def document_of_close(gap, clearance, preset="blender", decimals=6):
    scanned = ScannedContacts(
        ContactReport(Contacts.of([only_close(samples.contact(), -gap)])),
        ["a", "b", "c"],
        "sphere",
        clearance=clearance,
    )
    objects = [samples.bounds(id, id) for id in "abc"]
    return samples.document_of(objects, space_for(preset, 0.5), decimals, scanned=scanned)


def test_pair_that_only_comes_close_has_a_gap_and_no_depth():
    document = document_of_close(0.03, 0.07, "unity")
    assert list(document_problems(document)) == []
    (found,) = document["contacts"]
    # Half a meter per unit.
    assert found["clearance"] == 0.035 and found["closest"] == {"frame": 11.333333, "gap": 0.015}
    assert [span["closest"]["gap"] for span in found["intervals"]] == [0.015, 0.0225]
    assert set(found["intervals"][0]["closest"]) == {"frame", "gap", "direction"}
    assert "depth" not in json.dumps(found) and "deepest" not in json.dumps(found)


@pytest.mark.parametrize("decimals", [3, 6, 9])
@pytest.mark.parametrize("preset", ["blender", "unity", "unreal"])
def test_no_gap_is_written_above_the_clearance(preset, decimals):
    for clearance in (0.0006, 0.07, 0.3, 1 / 3, 0.123456789):
        document = document_of_close(clearance / 1.5, clearance, preset, decimals)
        assert list(document_problems(document)) == []
        (found,) = document["contacts"]
        gaps = [span["closest"]["gap"] for span in found["intervals"] if "closest" in span]
        assert max(gaps, default=0) <= found["clearance"]


@pytest.mark.parametrize(("overlap", "depth"), [("crosses", 0.25), ("inside", 0.5), ("touches", 0.0)])
def test_kind_of_overlap_and_depth_of_meshes_are_written_and_read(overlap, depth):
    document = samples.document_of_meshes(overlap, depth)
    assert list(document_problems(document)) == []
    (found,) = document["contacts"]
    assert found["deepest"] == {"frame": 11.333333, "depth": depth, "overlap": overlap}
    assert [span["deepest"]["overlap"] for span in found["intervals"]] == [overlap] * 2
    (contact,) = read_document(parse_document(dumps(document))).scanned.report.contacts
    assert contact.overlap == overlap and contact.depth == depth
    assert [each.overlap for each in contact.details] == [overlap] * 2


def test_depth_of_open_meshes_is_null():
    document = samples.document_of_meshes("crosses", math.nan)
    assert list(document_problems(document)) == []
    (found,) = document["contacts"]
    assert found["deepest"] == {"frame": 11.333333, "depth": None, "overlap": "crosses"}
    assert [span["deepest"]["depth"] for span in found["intervals"]] == [None, None]
    reading = read_document(parse_document(dumps(document)))
    (contact,) = reading.scanned.report.contacts
    assert math.isnan(contact.depth) and all(math.isnan(each.depth) for each in contact.details)
    assert json.loads(dumps(make_document(reading, space_for("blender", 1.0))))["contacts"] == [found]


def test_scan_without_a_clearance_writes_none_and_a_depth_of_zero_for_a_touch():
    (found,) = samples.document(contacts=(only_close(samples.contact(), -1e-15),))["contacts"]
    assert "clearance" not in found and found["deepest"]["depth"] == 0 and "closest" not in found


def test_negative_depth_of_an_older_document_is_read_as_a_gap():
    """Documents before version 1.5 have neither `closest` nor the clearance."""
    old = samples.document("unity", contacts=(only_close(samples.contact(), 0.03),))
    old["version"] = "1.4.0"
    contact = old["contacts"][0]
    for entry in (contact, *contact["intervals"]):
        entry["deepest"]["depth"] *= -1
    read = read_document(parse_document(dumps(old)))
    written = json.loads(dumps(make_document(read, space_for("unity", 0.5))))
    (found,) = written["contacts"]
    assert list(document_problems(written)) == []
    assert found["closest"]["gap"] == 0.015 and found["intervals"][1]["closest"]["gap"] == 0.0225


def test_velocity_is_per_second_in_the_unit_of_the_document():
    # Unity with half a meter per unit: (x, y, z) becomes (-x, z, -y) / 2.
    found, (x, y, z) = samples.contact(), samples.contact().details[0].velocity
    (span, _) = samples.document("unity", contacts=(found,))["contacts"][0]["intervals"]
    expected = [Fraction(value) * Fraction(24000, 1001) / 2 for value in (-x, z, -y)]
    assert span["velocity"] == [pytest.approx(float(value), abs=1e-6) for value in expected]
    closing = -sum(float(v) * n for v, n in zip(expected, (-2 / 7, -6 / 7, -3 / 7), strict=True))
    assert span["closingSpeed"] == pytest.approx(closing, abs=1e-4)


def test_gap_of_near_miss_is_rounded_down():
    (near,) = samples.document()["clearances"]
    assert near["gap"] == 0.3
    assert (near["a"], near["b"]) == ("c", "a")


def test_contacts_are_written_in_declared_space():
    # Unity with half a meter per unit: (x, y, z) becomes (-x, z, -y) / 2, directions keep their length.
    written = samples.document("unity")["contacts"][0]
    assert written["first"]["point"] == [0, 0.5, -0.166667]
    assert written["first"]["normal"] == [-0.285714, -0.857143, -0.428571]
    assert written["deepest"]["depth"] == 0.125
    assert samples.document("unity")["clearances"][0]["gap"] == 0.15


def test_each_contact_has_its_own_motion():
    first = samples.contact().first
    contacts = [
        replace(samples.contact(*pair), first=replace(first, motion=motion))
        for pair, motion in zip(((0, 1), (0, 2), (1, 2)), get_args(ContactMotion), strict=True)
    ]
    written = samples.document(contacts=tuple(contacts))["contacts"]
    assert [entry["motion"] for entry in written] == ["linear", "sampled", "proven"]


def test_fractional_frames_are_kept_and_whole_ones_have_no_point():
    time = TimeSettings(24.0, -1.5, 10.0, 0.25, -1.5)
    document = samples.document_of([], space_for("blender"), time=time)
    assert '"frameStart": -1.5, "frameEnd": 10, "frameStep": 0.25' in dumps(document)
    assert parse_document(dumps(document)) == document


def test_rotation_is_written_x_first_with_positive_w():
    entry = samples.document()["objects"][0]
    # The input is (w, x, y, z) = (-0.5, 0.5, 0.1, 0.7): the same rotation with all signs flipped.
    assert entry["transform"]["rotation"] == [-0.5, -0.1, -0.7, 0.5]
    assert math.hypot(*entry["transform"]["rotation"]) == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("preset", CONVENTIONS)
def test_random_unit_quaternions_are_written_with_unit_length(preset, seed):
    quaternion = np.random.default_rng(seed).normal(size=4)
    turned = samples.bounds("a", "Ball", rotation=tuple(quaternion / np.linalg.norm(quaternion)))
    document = samples.document_of([turned], space_for(preset), 3)
    assert list(document_problems(document)) == []


def test_document_with_nan_is_refused():
    document = samples.document()
    document["extras"]["x"] = math.nan
    with pytest.raises(ValueError, match="JSON compliant"):
        dumps(document)


def test_report_without_contacts_gives_empty_lists():
    scanned = ScannedContacts(ContactReport(), ["a"], "aabb")
    document = samples.document_of([samples.bounds("a", "Ball")], space_for("gltf"), scanned=scanned)
    assert document["contacts"] == document["clearances"] == []
