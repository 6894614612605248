"""CSV files: each number of the document is in the column of its heading."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable

import pytest

from addon.formats.export.csv_table import bounds_csv, contacts_csv, separation_csv
from tests.formats import samples
from tests.paths import TOP


def read(lines: Iterable[str]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines), newline="")))


@pytest.mark.smoke
@pytest.mark.parametrize("preset", ["blender", "unreal"])
def test_bounds_match_document(preset):
    document = samples.document(preset)
    rows = read(bounds_csv(document))
    assert [row["id"] for row in rows] == [entry["id"] for entry in document["objects"]]
    for row, entry in zip(rows, document["objects"], strict=True):
        world = entry["world"]
        assert (row["name"], row["type"]) == (entry["name"], entry["type"])
        assert (row["parent"] or None) == entry["parent"]
        assert [float(row[f"sphere_{axis}"]) for axis in "xyz"] == world["sphere"]["center"]
        assert float(row["sphere_radius"]) == world["sphere"]["radius"]
        for end in ("min", "max"):
            assert [float(row[f"{end}_{axis}"]) for axis in "xyz"] == world["aabb"][end]
        assert [float(row[f"obb_{axis}"]) for axis in "xyz"] == world["obb"]["center"]
        assert [float(row[f"obb_half_{axis}"]) for axis in "xyz"] == world["obb"]["halfExtents"]
        assert [float(row[f"obb_rotation_{axis}"]) for axis in "xyzw"] == world["obb"]["rotation"]


def test_capsule_and_cylinder_match_document():
    document = samples.document()
    world = document["objects"][1]["world"]
    capsule = {"center": [1.5, -2.5, 3.5], "axis": [0.6, 0.0, 0.8], "halfLength": 4.5, "radius": 0.25}
    cylinder = {"center": [-6.5, 7.5, 8.5], "axis": [0.0, -0.8, 0.6], "halfLength": 9.5, "radius": 0.75}
    world["capsule"], world["cylinder"] = capsule, cylinder
    rows = read(bounds_csv(document))
    for name, shape in (("capsule", capsule), ("cylinder", cylinder)):
        assert [float(rows[1][f"{name}_{axis}"]) for axis in "xyz"] == shape["center"]
        assert [float(rows[1][f"{name}_axis_{axis}"]) for axis in "xyz"] == shape["axis"]
        assert float(rows[1][f"{name}_half_length"]) == shape["halfLength"]
        assert float(rows[1][f"{name}_radius"]) == shape["radius"]
        assert {rows[0][column] for column in rows[0] if column.startswith(name)} == {""}


@pytest.mark.parametrize(("subject", "table"), [("objects", bounds_csv), ("contacts", contacts_csv)])
def test_page_lists_all_columns_in_order(subject, table):
    page = (TOP / "docs" / "format.md").read_text("utf-8")
    lines = page.split(f"| columns of {subject} | value |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    listed = [name for line in lines for name in re.findall("`(\\w+)`", line.split(" | ")[0])]
    assert listed == next(iter(table(samples.document()))).strip().split(",")


def test_missing_shapes_are_empty_cells():
    document = samples.document()
    for entry in document["objects"]:
        del entry["world"]["sphere"], entry["world"]["obb"]
    (row, *_) = read(bounds_csv(document))
    assert row["sphere_x"] == row["sphere_radius"] == row["obb_rotation_w"] == ""
    assert row["min_x"] != ""


def test_contacts_precede_near_misses():
    document = samples.document()
    contact, interval, near, _ = read(contacts_csv(document))
    (expected,), (clearance,) = document["contacts"], document["clearances"]
    names = {entry["id"]: entry["name"] for entry in document["objects"]}
    assert [row["kind"] for row in (contact, interval, near)] == ["contact", "interval", "clearance"]
    assert (contact["a"], contact["a_id"]) == (names[expected["a"]], expected["a"])
    assert (contact["b"], contact["b_id"]) == (names[expected["b"]], expected["b"])
    assert float(contact["frame"]) == expected["first"]["frame"]
    assert float(contact["seconds"]) == expected["first"]["seconds"]
    assert float(contact["uncertainty"]) == expected["first"]["uncertainty"]
    assert float(contact["until"]) == expected["intervals"][0]["end"]
    assert (contact["at_start"], contact["tunnelling"]) == ("false", "true")
    assert float(contact["depth"]) == expected["deepest"]["depth"]
    assert [float(contact[axis]) for axis in "xyz"] == expected["first"]["point"]
    assert [float(contact[f"normal_{axis}"]) for axis in "xyz"] == expected["first"]["normal"]
    assert contact["gap"] == ""
    assert (near["a_id"], near["b_id"]) == (clearance["a"], clearance["b"])
    assert (float(near["frame"]), float(near["gap"])) == (clearance["frame"], clearance["gap"])
    assert near["depth"] == near["x"] == ""


def test_last_rows_have_skipped_pairs_and_the_frames_that_were_scanned():
    document = samples.document(contacts=())
    document["clearances"], document["time"]["frameStep"] = [], 0.5
    document["extras"] = {"skippedPairs": {"static": 12, "ignored": 1, "others": 5}}
    ignored, static, scan = read(contacts_csv(document))
    assert [(row["kind"], row["reason"], row["pairs"]) for row in (ignored, static)] == [
        ("skipped", "ignored", "1"),
        ("skipped", "neither object moves", "12"),
    ]
    assert (scan["kind"], scan["a"], scan["reason"], scan["pairs"]) == ("scan", "", "", "")
    time = document["time"]
    assert (time["frameStart"], time["frameEnd"]) == (-5, 20)
    assert (scan["frame"], scan["until"], scan["frame_step"]) == ("-5", "20", "0.5")
    assert float(scan["fps"]) == pytest.approx(24000 / 1001)
    assert float(scan["seconds"]) == pytest.approx(-5 * 1001 / 24000, abs=1e-6)
    filled = {column for column, cell in scan.items() if cell}
    assert filled == {"kind", "frame", "seconds", "until", "frame_step", "fps"}


def test_later_intervals_have_rows_and_unknown_velocities_are_empty():
    document = samples.document()
    contact, interval, *_ = read(contacts_csv(document))
    first, later = document["contacts"][0]["intervals"]
    assert [float(contact[f"velocity_{axis}"]) for axis in "xyz"] == first["velocity"]
    assert float(contact["closing_speed"]) == first["closingSpeed"]
    assert [float(contact[f"direction_{axis}"]) for axis in "xyz"] == first["deepest"]["direction"]
    assert (interval["a_id"], interval["b_id"]) == (contact["a_id"], contact["b_id"])
    assert (float(interval["frame"]), float(interval["until"])) == (later["start"], later["end"])
    assert float(interval["seconds"]) == pytest.approx(later["start"] / document["time"]["fps"], abs=1e-6)
    assert float(interval["uncertainty"]) == later["uncertainty"]
    assert [float(interval[axis]) for axis in "xyz"] == later["point"]
    assert [float(interval[f"normal_{axis}"]) for axis in "xyz"] == later["normal"]
    assert later["velocity"] is None
    assert {interval[f"velocity_{axis}"] for axis in "xyz"} == {interval["closing_speed"]} == {""}
    assert float(interval["deepest_frame"]) == later["deepest"]["frame"]
    assert float(interval["depth"]) == later["deepest"]["depth"]
    assert [float(interval[f"direction_{axis}"]) for axis in "xyz"] == later["deepest"]["direction"]


def test_kind_of_overlap_has_a_column_and_depth_of_open_meshes_is_empty():
    contact, interval, *_ = read(contacts_csv(samples.document_of_meshes("crosses", math.nan)))
    assert contact["overlap"] == interval["overlap"] == "crosses"
    assert contact["depth"] == interval["depth"] == contact["gap"] == ""
    assert float(contact["direction_y"]) == pytest.approx(6 / 7, abs=1e-6)
    (near,) = (row for row in read(contacts_csv(samples.document())) if row["kind"] == "clearance")
    assert near["overlap"] == ""


def test_intervals_of_documents_before_version_1_2_have_no_rows():
    document = samples.document()
    for span in document["contacts"][0]["intervals"]:
        for key in [*span]:
            if key not in ("start", "end"):
                del span[key]
    contact, near, _ = read(contacts_csv(document))
    assert (contact["kind"], near["kind"]) == ("contact", "clearance")
    assert contact["closing_speed"] == contact["direction_x"] == contact["velocity_z"] == ""


def test_names_with_commas_quotes_and_line_breaks_are_quoted():
    document = samples.document()
    name = 'a, "b"\nc; =SUM(1)'
    document["objects"][0]["name"] = name
    assert read(bounds_csv(document))[0]["name"] == name


FORMULAS = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "\uff1d1",
    "\uff0b1",
    "\uff0d1",
    "\uff201",
    "'=1",
    "'",
)


@pytest.mark.parametrize("name", [*FORMULAS, '=cmd|" /C calc"!A0', "=a,b", "-5.25"])
def test_no_text_begins_like_a_formula_and_one_apostrophe_less_is_the_name(name):
    document = samples.document()
    first, second = document["objects"][:2]
    contact, near = document["contacts"][0], document["clearances"][0]
    for entry in (contact, near):
        entry["a"], entry["b"] = name, second["id"]
    first["id"] = first["name"] = second["parent"] = name
    bounds, contacts = read(bounds_csv(document)), read(contacts_csv(document))
    cells = [bounds[0]["id"], bounds[0]["name"], bounds[1]["parent"]]
    cells += [row[column] for row in contacts[:-1] for column in ("a", "a_id")]
    assert cells == [f"'{name}"] * 9
    # Numbers stay numbers, negative ones too.
    document["objects"][0]["world"]["aabb"]["min"][0] = -1.5
    assert read(bounds_csv(document))[0]["min_x"] == "-1.5"


@pytest.mark.parametrize("name", ["a=1", "a'", "a\rb", 'a"b', " =1", "", "\x1b[31m", "\u202eb"])
def test_other_text_is_unchanged(name):
    document = samples.document()
    document["objects"][0]["name"] = name
    assert read(bounds_csv(document))[0]["name"] == name


def test_texts_that_differ_stay_different():
    document = samples.document()
    ball = document["objects"][0]
    names = [quotes + name for name in FORMULAS for quotes in ("", "'", "''")]
    document["objects"] = [{**ball, "name": name} for name in names]
    written = [row["name"] for row in read(bounds_csv(document))]
    assert [name.removeprefix("'") for name in written] == names


def test_separation_has_a_line_for_each_sample_and_an_empty_cell_for_an_absent_object():
    text = "".join(separation_csv([1.0, 1.5, 2.0], [0.25, None, -1e-12], "m"))
    assert text == "frame,separation,unit\n1.0,0.25,m\n1.5,,m\n2.0,0.0,m\n"
