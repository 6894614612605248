"""The steps of docs/how-to/ci.md: contacts are accepted, a new one fails the job, and can be accepted."""

from __future__ import annotations

import json
import re

import pytest

from tests.documented import blocks

pytestmark = pytest.mark.long

PAGE = "docs/how-to/ci.md"

MORE = """
import bpy
plate = bpy.data.objects["Plate"]
plate.location.x = bpy.data.objects["Crate"].location.x
plate.location.y = bpy.data.objects["Crate"].location.y
bpy.ops.wm.save_mainfile()
"""
"""An edit that makes another contact: the plate stands where the crate falls."""


def test_steps_find_and_accept_a_new_contact(user):
    show, accept, job, now, accept_again = blocks(PAGE)
    printed = user.run(show.text)
    assert re.search(r"24\.312500.*Plate +Projectile", printed)
    user.run(accept.text)
    accepted = user.folder / "accepted" / "level.json"
    before = json.loads(accepted.read_text("utf-8"))

    lines = re.findall(r"^ +- run: (.+)$", job.text, re.MULTILINE)
    assert len(lines) == 3 and lines[0].startswith("sudo snap install blender")
    user.run("\n".join(lines))
    assert json.loads((user.folder / "now.json").read_text("utf-8"))["extras"]["baseline"]["new"] == []

    user.write("edit.py", MORE)
    user.run("blender assets/level.blend --python-exit-code 3 --python edit.py")
    log = user.run(lines[-1], exit_code=10)
    assert re.search(r"^  New: .*\bPlate\b.*, frames [\d.]+ to [\d.]+$", log, re.MULTILINE)
    found = json.loads((user.folder / "now.json").read_text("utf-8"))
    new = {(entry["a"], entry["b"]) for entry in found["extras"]["baseline"]["new"]}
    assert new and all("Plate" in pair for pair in new)
    assert {"Plate", "Projectile"} <= {entry[key] for entry in before["contacts"] for key in "ab"}
    user.run(now.text)
    user.run(accept_again.text)
    user.run(lines[-1])
