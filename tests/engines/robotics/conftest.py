"""Fixtures with the difficult and the animated scene as files for robots and simulators."""

from __future__ import annotations

from pathlib import Path

import pytest

from addon.formats.export.robotics.text import link_names
from tests.engines.from_blender import Exported, export_difficult_scene, in_blender

SHAPES = ("sphere", "aabb", "obb", "hull", "spheres", "capsule", "cylinder", "compound")

_FILES = """
precise = ("--decimals", "9")
export_document("blender.json", "bounds", "--shapes", "aabb", *precise)
for shape in SHAPES:
    for suffix in ("urdf", "xml", "usda", "yml"):
        if (suffix, shape) == ("urdf", "hull") or (suffix == "yml" and "sphere" not in shape):
            continue
        # URDF stores no hulls.
        parts = ("--part-shape", "box") if (suffix, shape) == ("urdf", "compound") else ()
        export_document(f"{shape}.{suffix}", "bounds", "--shapes", shape, *parts, *precise)
for shape in ("obb", "sphere", "spheres"):
    options = ("--shape", shape, "--frames", "1:1", "--no-ignore-parents", *precise)
    export_document(shape + "_contacts.json", "contacts", *options)
"""


class RobotFiles(Exported):
    """Files of the difficult scene: `sphere.urdf`, `obb.xml`, `hull.usda`, `spheres.yml` and so on."""

    def links(self) -> dict[str, dict]:
        """Objects of the document by the names of their links, in the order of the document."""
        objects = self.document("blender.json")["objects"]
        return dict(zip(link_names(entry["name"] for entry in objects), objects, strict=True))


@pytest.fixture(scope="session")
def robots(tmp_path_factory) -> RobotFiles:
    """Return the files of all formats and shapes, the vertices, and pairs in `obb_contacts.json` etc."""
    exported = export_difficult_scene(f"SHAPES = {SHAPES}\n" + _FILES, tmp_path_factory.mktemp("robots"))
    return RobotFiles(exported.folder, exported.vertices)


_FREE = """
for shape in ("sphere", "obb", "capsule"):
    options = ("--frame", "1", "--shapes", shape, "--decimals", "9")
    export_document(shape + ".xml", "bounds", *options, "--free-joints")
    for suffix in (".urdf", ".usda"):
        export_document(shape + suffix, "bounds", *options)
"""


@pytest.fixture(scope="session")
def free_bodies(tmp_path_factory) -> Path:
    """Return a folder with `sphere.xml`, `obb.urdf`, `capsule.usda` etc. of the animated scene at frame 1.

    Bodies of `.xml` can move.
    """
    from tests.engines import from_blender

    folder = tmp_path_factory.mktemp("free")
    in_blender(from_blender.MOVING + from_blender.SETUP + _FREE, folder)
    return folder
