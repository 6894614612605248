"""Online Manual and F1 open the section of each button and option in the manual of the zip."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from releasing.manual_page import PAGES, manual_page, manual_source
from tests.paths import TOP

LOOK_UP = """
lookup = bpy.types.WM_OT_doc_view_manual._lookup_rna_url
names = [f"bpy.ops.collision_bounds.{name}" for name in dir(bpy.ops.collision_bounds)]
names += [
    f"bpy.types.{cls.__name__}.{prop.identifier}"
    for cls in bpy.types.PropertyGroup.__subclasses__() if cls.__name__.startswith("COLLISION_BOUNDS_PG_")
    for prop in cls.bl_rna.properties
]
"""


@pytest.mark.smoke
def test_each_operator_and_option_opens_a_section_that_exists(in_blender):
    found = in_blender(f"{LOOK_UP}\nanswer({{name: lookup(name, verbose=False) for name in names}})")
    assert len(found) > 100
    pages = {url.partition("#")[0] for url in found.values()}
    assert len(pages) == 1
    page = Path(unquote(urlsplit(pages.pop()).path)).read_text("utf-8")
    anchors = set(re.findall(r' id="([^"]+)"', page))
    assert {url.partition("#")[2] for url in found.values()} <= anchors
    sections = {name.removeprefix("bpy."): url.partition("#")[2] for name, url in found.items()}
    assert sections["ops.collision_bounds.find_contacts"] == "contacts"
    assert sections["ops.collision_bounds.compute_bounds"] == "bounds"
    assert sections["ops.collision_bounds.compute_envelope"] == "swept-bounds"
    assert sections["types.COLLISION_BOUNDS_PG_scene.padding"] == "fit-settings"
    assert sections["types.COLLISION_BOUNDS_PG_object.padding"] == "active-object"
    assert sections["types.COLLISION_BOUNDS_PG_scene.clearance"] == "scan-settings"
    assert sections["types.COLLISION_BOUNDS_PG_object.response"] == "collision-response"
    assert sections["ops.collision_bounds.go_to_contact"] == "the-list"
    assert sections["ops.collision_bounds.create_colliders"] == "colliders"
    assert sections["ops.collision_bounds.export_json"] == "export"
    assert set(sections.values()) == anchors


@pytest.mark.smoke
def test_disabled_extension_opens_nothing_and_manual_of_blender_remains(in_new_blender):
    answers = in_new_blender(
        """
        import addon_utils
        lookup = bpy.types.WM_OT_doc_view_manual._lookup_rna_url
        names = ("bpy.ops.collision_bounds.find_contacts", "bpy.ops.mesh.primitive_cube_add")
        before = [lookup(name, verbose=False) for name in names]
        addon_utils.disable(NAME)
        answer([before, [lookup(name, verbose=False) for name in names]])
        """
    )
    (scan_before, cube_before), (scan_after, cube_after) = answers
    assert scan_before.startswith("file:") and scan_after is None
    assert cube_before == cube_after and "docs.blender.org" in cube_before


def test_page_has_all_words_of_the_source_and_no_marks():
    source = manual_source(TOP / "docs" / "window")
    page = manual_page(source)
    body = page[page.index("<body>") :]
    shown = re.sub(r"<[^>]+>", "", body)
    words = re.findall(r"[A-Za-z]{3,}", re.sub(r"\]\([^)]*\)", "]", source))
    assert re.findall(r"[A-Za-z]{3,}", shown.replace("&lt;", "<").replace("&gt;", ">")) == words
    assert "**" not in shown and "](" not in shown and "`" not in shown
    assert not re.search(r"^#|^- ", shown, re.MULTILINE)


def test_manual_has_all_pages_and_no_link_to_a_missing_section():
    assert set(PAGES) == {path.stem for path in (TOP / "docs" / "window").glob("*.md")}
    page = manual_page(manual_source(TOP / "docs" / "window"))
    links = re.findall(r'href="#([^"]+)"', page)
    assert len(links) > 8
    assert set(links) <= set(re.findall(r' id="([^"]+)"', page))


@pytest.mark.parametrize("block", ["| a | b |", "![picture](x.png)", "```\ncode\n```"])
def test_blocks_that_the_page_cannot_show_are_refused(block):
    with pytest.raises(ValueError, match="the manual cannot contain"):
        manual_page(f"# Title\n\n{block}\n")
