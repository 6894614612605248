"""The steps of docs/how-to/web.md run as they are written, and print what the page says."""

from __future__ import annotations

import json

import pytest

import environments
from tests.documented import blocks, by_language

pytestmark = pytest.mark.long

PAGE = "docs/how-to/web.md"


@pytest.fixture
def with_node(user):
    try:
        _, packages = environments.node_packages()
    except environments.MissingProgramError as missing:
        pytest.skip(str(missing))
    (user.folder / "node_modules").symlink_to(packages / "node_modules", target_is_directory=True)
    return user


def test_steps_print_hit_and_contacts(with_node):
    export, install, program, start, printed, export_babylon, babylon = blocks(PAGE)
    with_node.run(export.text)
    assert "npm install three" in with_node.run(install.text)
    with_node.write("main.mjs", program.text)
    lines = with_node.run(start.text).splitlines()
    assert lines[: printed.text.count("\n")] == printed.text.splitlines()
    # The near face of the plate, whose center is at x = -2.8125 m, and which is 1/64 m thick.
    assert f"{-2.8125 - 1 / 128:.3f}" in lines[0]

    with_node.run(export_babylon.text)
    with_node.write("babylon.mjs", babylon.text)
    corner = [float(number) for number in with_node.run("node babylon.mjs").strip("[] \n").split(",")]
    # Babylon.js has the opposite X: the smallest X is that of the far face.
    assert corner[0] == pytest.approx(2.8125 - 1 / 128, abs=2e-6)


def test_document_in_other_axes_is_refused_with_the_remedy(with_node):
    export, _, program, *_ = blocks(PAGE)
    with_node.run(export.text.replace("--preset gltf", ""))
    with_node.write("main.mjs", program.text)
    assert "export it with --preset gltf" in with_node.run("node main.mjs 2>&1 || true")


def test_lines_of_the_reference_attach_the_bounds_to_the_objects_of_a_scene(with_node):
    lines, *_ = by_language("docs/engines.md", "js")  # tests/javascript/test_bones.py runs those about bones
    with_node.run(blocks(PAGE)[0].text)
    begin = """
import { readFile } from "node:fs/promises";
import { Group } from "three";
import { attachCollisionBounds, readCollisionBounds } from "./collision-bounds.three.mjs";
const document = JSON.parse(await readFile("level.json", "utf8"));
const [gltf, crate] = [{ scene: new Group() }, new Group()];
crate.name = "Crate";
gltf.scene.add(crate);
"""
    with_node.write("attach.mjs", f"{begin}{lines.text}console.log(world.box.getSize(crate.scale).x);")
    document = json.loads((with_node.folder / "level.json").read_text("utf-8"))
    (entry,) = [each for each in document["objects"] if each["id"] == "Crate"]
    box = entry["world"]["aabb"]
    assert float(with_node.run("node attach.mjs")) == pytest.approx(box["max"][0] - box["min"][0])
