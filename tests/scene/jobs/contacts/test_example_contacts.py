"""Contacts of the example scene, scanned by the command line, against closed forms of its animation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import run, start
from tests.paths import TOP
from tests.scene.building import load_example

example = load_example()


def build_in_own_process(scene: Path) -> None:
    subprocess.run([sys.executable, TOP / "scripts/example_scene.py", scene], check=True, capture_output=True)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((lambda scene: example.main([str(scene)]), run), id="in process"),
        pytest.param((build_in_own_process, start), id="programs", marks=pytest.mark.long),
    ],
)
def scan_results(request, tmp_path_factory) -> tuple[str, dict[str, Any]]:
    """Scan the example scene like `dev.py demo`. Returns the table and the document."""
    build, scan = request.param
    folder = tmp_path_factory.mktemp("demo")
    scene, report = folder / "factory_floor.blend", folder / "contacts.json"
    build(scene)
    completed = scan("contacts", scene, "--shape", "aabb", "-o", report)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout, json.loads(report.read_text("utf-8"))


def contact_of(document: dict[str, Any], *pair: str) -> dict[str, Any]:
    """Return the only contact of two objects."""
    (contact,) = [entry for entry in document["contacts"] if {entry["a"], entry["b"]} == set(pair)]
    return contact


def test_projectile_is_exact_and_marked_as_tunnelling_in_table_and_document(scan_results):
    table, document = scan_results
    contact = contact_of(document, "Projectile", "Plate")
    reference = example.projectile_contact_frame()
    assert contact["first"]["frame"] == pytest.approx(reference, abs=1e-6)
    assert contact["intervals"][0]["end"] == pytest.approx(example.projectile_release_frame(), abs=1e-6)
    assert contact["first"]["tunnelling"] is True
    (line,) = [line for line in table.splitlines() if re.search(r"Plate +Projectile", line)]
    assert float(line.split()[0]) == pytest.approx(reference, abs=1e-6)
    assert "tunnelling" in line
    assert sum("tunnelling" in line for line in table.splitlines()) == 1


@pytest.mark.parametrize(
    ("pair", "reference"),
    [
        (("Paddle Left", "Paddle Right"), example.paddles_contact_frame()),
        (("Strut A", "Strut B"), example.struts_contact_frame()),
    ],
)
def test_contacts_of_rotating_and_sheared_parts_are_within_uncertainty(scan_results, pair, reference):
    first = contact_of(scan_results[1], *pair)["first"]
    # The single-precision frames of Blender have a resolution of two millionths here.
    assert abs(first["frame"] - reference) <= first["uncertainty"] + 2e-6
    assert not first["tunnelling"]


def test_near_miss_has_gap_and_frame_of_closed_form(scan_results):
    near = example.drone_near_miss()
    (found,) = [
        entry for entry in scan_results[1]["clearances"] if {entry["a"], entry["b"]} == {"Drone", "Mast"}
    ]
    assert found["gap"] == pytest.approx(near.gap, abs=1e-6)
    assert found["frame"] == pytest.approx(near.frame, abs=1e-6)


def test_only_intended_pairs_are_in_contact(scan_results):
    pairs = [sorted((entry["a"], entry["b"])) for entry in scan_results[1]["contacts"]]
    assert sorted(pairs) == [
        ["Arm", "Button"],
        ["Cart", "Fence/Post.3"],
        ["Crate", "Pallet"],
        ["Paddle Left", "Paddle Right"],
        ["Plate", "Projectile"],
        ["Strut A", "Strut B"],
    ]
