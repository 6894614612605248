"""CSV files: each number of the document is in the column of its heading."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

import pytest

from addon.formats.export.csv_table import bounds_csv, contacts_csv, separation_csv
from tests.formats import samples


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


def test_missing_shapes_are_empty_cells():
    document = samples.document()
    for entry in document["objects"]:
        del entry["world"]["sphere"], entry["world"]["obb"]
    (row, *_) = read(bounds_csv(document))
    assert row["sphere_x"] == row["sphere_radius"] == row["obb_rotation_w"] == ""
    assert row["min_x"] != ""


def test_contacts_precede_near_misses():
    document = samples.document()
    contact, near = read(contacts_csv(document))
    (expected,), (clearance,) = document["contacts"], document["clearances"]
    names = {entry["id"]: entry["name"] for entry in document["objects"]}
    assert (contact["kind"], near["kind"]) == ("contact", "clearance")
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
    cells += [row[column] for row in contacts for column in ("a", "a_id")]
    assert cells == [f"'{name}"] * 7
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
