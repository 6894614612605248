"""Output options: axes and formats of the written file."""

from __future__ import annotations

import json

import pytest

from tests.cli.command_line import run


def test_custom_axes_equal_to_preset_give_same_numbers(scene):
    known = json.loads(run("bounds", scene, "-o", "-", "--preset", "unreal").stdout)
    options = (
        "--preset",
        "custom",
        "--up",
        "+Z",
        "--forward",
        "+Y",
        "--handedness",
        "left",
        "--scale",
        "100",
    )
    custom = json.loads(run("bounds", scene, "-o", "-", *options).stdout)
    assert custom["objects"] == known["objects"]
    assert custom["space"] == {**known["space"], "preset": "custom"}


def test_csv_suffix_writes_table(scene, tmp_path):
    table = tmp_path / "bounds.CSV"
    assert run("bounds", scene, "-q", "-o", table).returncode == 0
    assert table.read_text("utf-8").startswith("id,name,type,parent,")


def test_contacts_as_csv(scene):
    done = run("contacts", scene, "-o", "-", "--format", "csv")
    heading, *rows = (line.split(",") for line in done.stdout.splitlines())
    contact, scan = (dict(zip(heading, row, strict=True)) for row in rows)
    assert float(contact["frame"]) == pytest.approx(10, abs=1e-5)
    assert (contact["kind"], scan["kind"], scan["fps"]) == ("contact", "scan", "24")


def test_bounds_as_tileset(scene):
    tiles = json.loads(run("bounds", scene, "-o", "-", "--format", "3dtiles").stdout)
    assert len(tiles["root"]["children"]) == 2 and tiles["asset"]["version"] == "1.1"


@pytest.mark.parametrize(("engine", "half"), [("unity", "m_Extent"), ("unreal", "BoxExtent")])
def test_bounds_as_engine_file(scene, engine, half):
    made = json.loads(run("bounds", scene, "-o", "-", "--format", engine).stdout)
    assert len(made["bounds"]) == 2 and half in made["bounds"][0]["world"]
