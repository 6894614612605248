"""The manifest follows the rules of the extensions platform, which reviewers check."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.paths import TOP

MANIFEST = tomllib.loads((TOP / "blender_manifest.toml").read_text("utf-8"))

REQUIRED = {
    *("schema_version", "id", "version", "name", "tagline", "maintainer", "type"),
    *("blender_version_min", "license"),
}
OPTIONAL = {
    "website",
    "tags",
    "copyright",
    "permissions",
    "blender_version_max",
    "platforms",
    "wheels",
    "build",
}
# The platform's list for add-ons: docs.blender.org/manual/en/latest/advanced/extensions/tags.html
TAGS = """
3D View, Add Curve, Add Mesh, Animation, Bake, Camera, Compositing, Development, Game Engine, Geometry Nodes,
Grease Pencil, Import-Export, Lighting, Material, Modeling, Mesh, Node, Object, Paint, Pipeline, Physics,
Render, Rigging, Scene, Sculpt, Sequencer, System, Text Editor, Tracking, User Interface, UV
"""
# The licenses of add-ons that the platform accepts, of which this one is used here.
LICENSE = "SPDX:GPL-3.0-or-later"
LONGEST_LINE = 64


def is_short_line(text: str) -> bool:
    """Return whether a text has at most 64 characters, no spaces around it, and no punctuation at its end."""
    return (
        0 < len(text) <= LONGEST_LINE and text == text.strip() and (text[-1].isalnum() or text[-1] in ")]}")
    )


def test_manifest_has_the_required_keys_and_no_unknown_ones():
    assert set(MANIFEST) >= REQUIRED
    assert set(MANIFEST) <= REQUIRED | OPTIONAL


def test_schema_type_and_id_are_those_of_an_add_on():
    assert MANIFEST["schema_version"] == "1.0.0"
    assert MANIFEST["type"] == "add-on"
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", MANIFEST["id"])


def test_version_is_semantic():
    assert re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", MANIFEST["version"])


def test_name_is_a_title_without_the_name_of_blender():
    assert MANIFEST["name"] == MANIFEST["name"].title()
    assert "blender" not in MANIFEST["name"].lower()
    assert "add-on" not in MANIFEST["name"].lower()


def test_tagline_is_short_without_full_stop_and_does_not_repeat_the_name():
    assert is_short_line(MANIFEST["tagline"])
    assert MANIFEST["name"].lower() not in MANIFEST["tagline"].lower()


@pytest.mark.parametrize("line", ["", "Ends with a stop.", " space before", "x" * 65])
def test_check_of_short_lines_refuses(line):
    assert not is_short_line(line)


def test_tags_are_on_the_list_and_used_once():
    allowed = {tag.strip() for tag in TAGS.replace("\n", " ").split(",")}
    assert len(allowed) == 31
    assert MANIFEST["tags"] and set(MANIFEST["tags"]) <= allowed
    assert len(set(MANIFEST["tags"])) == len(MANIFEST["tags"])


def test_oldest_blender_has_extensions_and_three_numbers():
    assert re.fullmatch(r"\d+\.\d+\.\d+", MANIFEST["blender_version_min"])
    assert tuple(map(int, MANIFEST["blender_version_min"].split("."))) >= (4, 2, 0)
    assert "blender_version_max" not in MANIFEST


def test_license_is_accepted_and_its_text_is_in_the_checkout():
    assert MANIFEST["license"] == [LICENSE]
    text = (TOP / "LICENSE").read_text("utf-8")
    assert "GNU GENERAL PUBLIC LICENSE" in text and "Version 3, 29 June 2007" in text


def test_copyright_has_a_year_and_a_name():
    assert MANIFEST["copyright"]
    assert all(re.fullmatch(r"\d{4}(-\d{4})? \S.*", line) for line in MANIFEST["copyright"])


def test_website_is_encrypted_if_there_is_one():
    assert MANIFEST.get("website", "https://").startswith("https://")


def test_permissions_are_known_and_each_has_a_reason():
    assert set(MANIFEST["permissions"]) <= {"files", "network", "clipboard", "camera", "microphone"}
    assert all(is_short_line(reason) for reason in MANIFEST["permissions"].values())
