"""The example scene through the command line, against the closed forms of its own keys."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.cli.command_line import run, start
from tests.paths import TOP


def load_example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_scene", TOP / "scripts" / "example_scene.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


example = load_example()


def start_example(scene: Path) -> None:
    subprocess.run([sys.executable, TOP / "scripts/example_scene.py", scene], check=True, capture_output=True)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((lambda scene: example.main([str(scene)]), run), id="in process"),
        pytest.param((start_example, start), id="programs", marks=pytest.mark.long),
    ],
)
def scanned(request, tmp_path_factory) -> tuple[str, dict[str, Any]]:
    """The table and the document of a scan, as `dev.py demo` makes them."""
    make, scan = request.param
    folder = tmp_path_factory.mktemp("demo")
    scene, report = folder / "factory_floor.blend", folder / "contacts.json"
    make(scene)
    done = scan("contacts", scene, "--shape", "aabb", "-o", report)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(report.read_text("utf-8"))


def contact_of(document: dict[str, Any], *pair: str) -> dict[str, Any]:
    (contact,) = [entry for entry in document["contacts"] if {entry["a"], entry["b"]} == set(pair)]
    return contact


def test_projectile_is_in_table_and_document_to_a_millionth_of_a_frame_and_marked(scanned):
    table, document = scanned
    contact = contact_of(document, "Projectile", "Plate")
    truth = example.projectile_contact_frame()
    assert contact["first"]["frame"] == pytest.approx(truth, abs=1e-6)
    assert contact["intervals"][0]["end"] == pytest.approx(example.projectile_release_frame(), abs=1e-6)
    assert contact["first"]["tunnelling"] is True
    (line,) = [line for line in table.splitlines() if re.search(r"Plate +Projectile", line)]
    assert float(line.split()[0]) == pytest.approx(truth, abs=1e-6)
    assert "tunnelling" in line
    assert sum("tunnelling" in line for line in table.splitlines()) == 1


@pytest.mark.parametrize(
    ("pair", "truth"),
    [
        (("Paddle Left", "Paddle Right"), example.paddles_contact_frame()),
        (("Strut A", "Strut B"), example.struts_contact_frame()),
    ],
)
def test_rotating_and_sheared_parts_are_within_stated_uncertainty(scanned, pair, truth):
    first = contact_of(scanned[1], *pair)["first"]
    # Two millionths are what Blender's single-precision frames resolve to here.
    assert abs(first["frame"] - truth) <= first["uncertainty"] + 2e-6
    assert not first["tunnelling"]


def test_near_miss_has_the_gap_and_the_frame_of_its_closed_form(scanned):
    near = example.drone_near_miss()
    (found,) = [entry for entry in scanned[1]["clearances"] if {entry["a"], entry["b"]} == {"Drone", "Mast"}]
    assert found["gap"] == pytest.approx(near.gap, abs=1e-6)
    assert found["frame"] == pytest.approx(near.frame, abs=1e-6)


def test_only_intended_pairs_are_in_contact(scanned):
    pairs = [sorted((entry["a"], entry["b"])) for entry in scanned[1]["contacts"]]
    assert sorted(pairs) == [
        ["Arm", "Button"],
        ["Cart", "Fence/Post.3"],
        ["Crate", "Pallet"],
        ["Paddle Left", "Paddle Right"],
        ["Plate", "Projectile"],
        ["Strut A", "Strut B"],
    ]
