"""Text tables: columns, alignment, notes and sections."""

from __future__ import annotations

import ctypes
import locale
import math
import sys
import unicodedata
from collections.abc import Iterable
from typing import Any

import pytest

from addon.formats import bounds_table, contacts_table
from tests.formats import samples


def lines(parts: Iterable[str]) -> list[str]:
    table = "".join(parts)
    assert table.endswith("\n")
    rows = table.splitlines()
    assert all(row == row.rstrip() for row in rows)
    return rows


def test_bounds_table_has_one_line_for_each_object():
    rows = lines(bounds_table(samples.document()))
    assert len(rows) == 4
    assert [row.split()[0] for row in rows] == ["Object", "Ball", "Ball", "Würfel"]
    # Radius 1/3 rounded up, center (1/3, -2/3, 0.1), box 2 x 5/3 x 4.
    assert "0.3333" in rows[3]
    assert "(0.3333, -0.6667, 0.1000)" in rows[3]
    assert "(2.0000, 1.6667, 4.0000)" in rows[3]


def test_columns_are_aligned():
    rows = lines(bounds_table(samples.document()))
    starts = {row.index("(") for row in rows[1:]}
    assert starts == {rows[0].index("Sphere center")}
    ends = {row.index("  (") for row in rows[1:]}
    assert ends == {rows[0].index("Sphere radius") + len("Sphere radius")}


NAMES = {
    # Width in terminal columns by the Unicode Standard, annex 11.
    "-Post": 5,
    "1st floor": 9,
    "12": 2,
    "木箱": 4,
    "ｶｷ": 2,
    "나무": 4,
    unicodedata.normalize("NFD", "나무"): 4,
    "Bru\u0308cke": 6,
    "Wand \N{BRICK}": 7,
    "a\N{ZERO WIDTH SPACE}b": 2,
    "Back\\slash": 10,
}


@pytest.mark.smoke
def test_names_are_left_aligned_and_numbers_right_aligned_for_any_names():
    document = samples.document()
    ball = document["objects"][0]
    document["objects"] = [{**ball, "name": name} for name in NAMES]
    header, *rows = lines(bounds_table(document))
    radius = header.index("Sphere radius") + len("Sphere radius")
    assert radius == max(NAMES.values()) + 2 + len("Sphere radius")
    for row, (name, width) in zip(rows, NAMES.items(), strict=True):
        assert row.startswith(name)
        assert row.index("  (") + width - len(name) == radius


def test_names_with_control_characters_stay_on_one_line():
    document = samples.document()
    ball = document["objects"][0]
    odd = [f"a{sign}b" for sign in "\n\r\t\v\x1b\x7f\x85"]
    document["objects"] = [{**ball, "name": name} for name in odd]
    rows = lines(bounds_table(document, odd[:2]))
    shown = [f"a{sign}b" for sign in (r"\n", r"\r", r"\t", r"\x0b", r"\x1b", r"\x7f", r"\x85")]
    assert [row.split("  ")[0] for row in rows[1 : 1 + len(odd)]] == shown
    assert rows[-1].endswith(r": a\nb, a\rb") and len(rows) == len(odd) + 3


@pytest.mark.smoke
@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX C library")
def test_width_of_names_matches_c_library():
    wide = ctypes.CDLL(None).wcwidth
    wide.argtypes = [ctypes.c_wchar]
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        pytest.skip("the locale C.UTF-8 is not installed")
    try:
        assert {name: sum(map(wide, name)) for name in NAMES} == NAMES
    finally:
        locale.setlocale(locale.LC_CTYPE, before)


def test_missing_shapes_are_shown_as_dashes():
    document = samples.document()
    del document["objects"][0]["world"]["sphere"]
    del document["objects"][1]["world"]["aabb"]
    first, second = lines(bounds_table(document))[1:3]
    assert first.split().count("-") == 2
    assert second.split().count("-") == 1


def test_shapes_without_columns_are_named_below_rows_of_dashes():
    document = samples.document()
    complete = "".join(bounds_table(document))
    assert "This table has" not in complete
    for shape in ("sphere", "aabb"):
        del document["objects"][1]["world"][shape]
    rows = lines(bounds_table(document))
    assert rows[2].split()[1:] == ["-", "-", "-"]
    assert rows[-1] == (
        "This table has spheres and boxes along the axes. Only in files (-o FILE): oriented boxes"
    )


def test_contacts_table_has_names_and_notes():
    rows = lines(contacts_table(samples.document()))
    header, found = rows[:2]
    assert "11.333333" in found  # a third after frame 11, rounded down
    assert "11.500000" in found
    # 11.333333 frames at 24000 / 1001 a second, rounded down.
    assert found.split()[1] == "0.472694"
    assert found.split()[3:5] == ["Ball", "Ball"]
    assert found.endswith("tunnelling: between frames only, 1 later interval")
    assert "start" not in found
    assert found.index("0.2500") == header.index("Depth")
    assert found.index("Ball") == header.index("A  ")


def test_near_misses_follow_contacts():
    rows = lines(contacts_table(samples.document()))
    place = rows.index("Near misses")
    assert place > 1
    assert rows[place + 2].split() == ["7.333333", "0.300000", "Würfel", "Ball"]


def test_empty_result_has_message():
    document = samples.document(contacts=())
    document["clearances"] = []
    rate = "23.976 frames per second"
    assert contacts_table(document) == f"No contacts.\n\nScanned: frames -5 to 20, {rate}\n"
    document["time"]["frameStep"] = 0.5
    assert lines(contacts_table(document))[-1] == f"Scanned: frames -5 to 20 in steps of 0.5, {rate}"


@pytest.mark.parametrize(("shape", "tested"), [("sphere", "bounds"), ("mesh", "meshes")])
def test_table_says_whether_bounds_or_meshes_were_scanned(shape, tested):
    document = samples.document()
    for contact in document["contacts"]:
        contact["shape"] = shape
    assert f"Scanned: {tested}, frames -5 to 20" in contacts_table(document)


@pytest.mark.parametrize(
    ("overlap", "depth", "cell"),
    [
        ("crosses", 0.25, "0.2500"),
        ("crosses", 0.0, "crosses"),
        ("crosses", math.nan, "crosses"),
        ("inside", 0.25, "0.2500 inside"),
        ("inside", math.nan, "inside"),
        ("touches", 1e-9, "touches"),
    ],
)
def test_depth_of_meshes_is_shown_with_the_kind_of_the_overlap(overlap, depth, cell):
    header, found = lines(contacts_table(samples.document_of_meshes(overlap, depth)))[:2]
    assert found[header.index("Depth") :].split("  ")[0] == cell


def test_skipped_pairs_are_counted_with_the_remedy_of_each_reason():
    document = samples.document(contacts=())
    counts = {"collections": 2, "groups": 40, "others": 3, "parents": 1, "parts": "many", "static": 5}
    document["clearances"], document["extras"] = [], {"skippedPairs": counts}
    assert lines(contacts_table(document))[-4:] == [
        "Skipped: 40 pairs: not of both groups (tested without --a and --b)",
        "Skipped: 1 pair: parent and child (tested with --no-ignore-parents)",
        "Skipped: 2 pairs: in one collection (tested without --ignore-collection)",
        "Skipped: 5 pairs: neither object moves (tested with --static-pairs)",
    ]
    document["extras"] = {"skippedPairs": [1]}
    assert "Skipped" not in contacts_table(document)


def test_scan_of_one_object_says_that_nothing_can_touch_it():
    document = samples.document(contacts=())
    document["clearances"], document["objects"] = [], document["objects"][:1]
    assert contacts_table(document).startswith("No contacts: only one object was checked.\n")


def with_initial_contact(*spans: tuple[float, float]) -> dict[str, Any]:
    """Return a document with a pair in contact at the first frame, during `spans`, and a later contact."""
    document = samples.document(contacts=(samples.contact(0, 2, *spans), samples.contact()))
    document["contacts"][0]["first"].update(atStart=True, tunnelling=False)
    return document


def test_contacts_at_first_frame_have_separate_section():
    rows = lines(contacts_table(with_initial_contact((-5.0, 4.0), (6.0, 7.0))))
    assert rows[1].split()[0] == "11.333333"
    place = rows.index("In contact at the first frame")
    assert rows[place + 1].split() == ["A", "B", "Until", "Depth"]
    assert rows[place + 2].split(maxsplit=4) == ["Ball", "Würfel", "4.000000", "0.2500", "1 later interval"]
    assert place < rows.index("Near misses")


def test_table_with_only_contacts_at_first_frame_has_message():
    document = with_initial_contact((-5.0, 4.0))
    del document["contacts"][1]
    assert (
        lines(contacts_table(document))[0]
        == "No contact begins during the scan; these pairs are in contact at its first frame."
    )


def test_linear_objects_are_listed_and_pairs_are_marked():
    document = samples.document()
    rows = lines(contacts_table(document, ["Cloth", "Smoke"]))
    assert rows[1].endswith("1 later interval, linear")
    assert rows[-1] == "Linear between frames (simulated, or driven by a simulation): Cloth, Smoke"
    many = lines(contacts_table(document, list("abcdefg")))
    assert many[-1].endswith(": a, b, c, d, e and 2 more")
    # The sample has three objects.
    assert lines(contacts_table(document, list("abc")))[-1].endswith(": all objects")
    document["contacts"][0]["motion"] = "sampled"
    assert lines(contacts_table(document, ["Cloth"]))[1].endswith("1 later interval, sampled")
    # Without linear objects too: what happens between two samples is not known.
    assert lines(contacts_table(document))[1].endswith("1 later interval, sampled")


def test_stopped_scan_has_line_with_its_end():
    document = samples.document()
    assert "Stopped" not in contacts_table(document)
    document["extras"] = {"partial": {"plannedEnd": 250}}
    assert lines(contacts_table(document))[-1] == "Stopped at frame 20 of 250: later contacts unknown"
    document["extras"] = {"partial": {"plannedEnd": 20}}
    assert "Stopped" not in contacts_table(document)


def test_tracks_are_counted_and_linear_objects_listed():
    document = samples.document_with_tracks()
    rows = lines(bounds_table(document, ["Bat"]))
    assert rows[-1] == "Linear between frames (simulated, or driven by a simulation): Bat"
    assert rows[-3] == "2 tracks"
    document["tracks"] = document["tracks"][:1]
    assert lines(bounds_table(document))[-1] == "1 track"
