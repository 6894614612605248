"""With Blender and a release alone: install, compute, find a contact, export; then docs/how-to/unreal.md."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import dev
import environments
from tests.paths import TOP
from tests.window.harness import Recording, drive

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a release, made by the tasks of dev.py."""
    folder = tmp_path_factory.mktemp("release")
    scene, target = folder / "scene.blend", folder / "release"
    try:
        for task in dev.release_tasks():
            words = [
                str(scene) if word.endswith(".blend") else str(target) if word == "build/release" else word
                for word in task.arguments
            ]
            command = [str(task.environment.ready()), *words]
            subprocess.run(command, cwd=TOP, check=True, capture_output=True)
    except environments.MissingProgramError as missing:
        pytest.skip(str(missing))
    return target


@pytest.fixture(scope="module")
def session(folder: Path, release: Path) -> Recording:
    """Record the steps of the README in a window."""
    (archive,) = (release / "repository").glob("*.zip")
    home, scene = folder / "home of a reader", release / "factory_floor.blend"
    return drive("extension/drive_readme.py", scene, home, folder / "reader", more=(archive,))


def test_readme_names_the_buttons_that_are_clicked() -> None:
    section = (TOP / "README.md").read_text("utf-8").partition("## Install")[2].partition("\n## ")[0]
    steps = re.findall(r"^\d\. .*(?:\n   .*)*", section, re.MULTILINE)
    assert len(steps) == 4
    named = re.findall(r"\*\*([^*]+)\*\*", "".join(steps))
    assert named == ["Collision Bounds", "Compute Bounds", "Find Contacts", "Export JSON"]
    # The drive script does the same in this order.
    script = Path(__file__).with_name("drive_readme.py").read_text("utf-8")
    calls = ('open_tab("Collision Bounds")', "compute_bounds", "find_contacts", "export_document(driver")
    places = [script.index(call) for call in calls]
    assert places == sorted(places)


def test_next_scan_is_of_the_pair_that_a_click_has_selected(session: Recording) -> None:
    """docs/faq.md describes it."""
    assert sorted(session.notes["clicked"]["selected"]) == ["Plate", "Projectile"]
    assert session.notes["clicked"]["scope"] == "SELECTED"


def test_reader_installs_computes_finds_the_contact_and_exports_it(session: Recording) -> None:
    assert session.notes["not installed"]["is_registered"] is False
    pairs = [frozenset(pair) for pair in session.notes["found"]["rows"]]
    assert frozenset(("Plate", "Projectile")) in pairs
    # 24.3125: the ball flies 1.6171875 m from frame 20, at 0.375 m per frame.
    frame = session.notes["clicked"]["frame"] + session.notes["clicked"]["sub_frame"]
    assert frame == pytest.approx(20 + 1.6171875 / 0.375, abs=1e-4)
    document = session.document("exported")
    (contact,) = [each for each in document["contacts"] if {each["a"], each["b"]} == {"Plate", "Projectile"}]
    assert contact["first"]["frame"] == pytest.approx(24.3125, abs=1e-6)
    assert contact["first"]["tunnelling"] is True
    assert json.dumps(document["source"]).count("level.blend") == 1
    assert "Traceback" not in session.log


def test_steps_for_unreal_make_hulls_with_its_names_and_an_fbx(session: Recording) -> None:
    assert session.notes["colliders"]["chosen"] == ["hull", "unreal"]
    names = session.notes["colliders"]["names"]
    hulls = [name for name in names if re.fullmatch(r"UCX_.+_00", name)]
    assert len(hulls) == 15 and "UCX_Plate_00" in hulls
    assert session.notes["exported"]["size"] > 50_000
