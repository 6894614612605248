"""CSV files: each number of the document is in the column of its heading."""

from __future__ import annotations

import csv
import io

import pytest

from addon.formats.export.csv_table import bounds_csv, contacts_csv
from tests.formats import samples


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


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
