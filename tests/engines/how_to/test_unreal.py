"""Programs of docs/how-to/unreal.md and docs/engines.md, run with a stub of Unreal's Python."""

from __future__ import annotations

import sys
from typing import ClassVar

import pytest

from tests.documented import blocks
from tests.engines.native import unreal_assets
from tests.engines.native.test_unreal_loader import import_loader
from tests.package.how_to.user import User

pytestmark = pytest.mark.long

PAGE = "docs/how-to/unreal.md"


def test_program_reads_the_document_and_adds_volumes(user: User, monkeypatch):
    (export,) = [block for block in blocks(PAGE) if "--preset unreal" in block.text]
    user.run(export.text)
    (program,) = [block for block in blocks(PAGE) if "collision_bounds_unreal" in block.start]
    monkeypatch.setitem(sys.modules, "collision_bounds_unreal", import_loader(monkeypatch))
    names: dict[str, object] = {}
    exec(program.text.replace("C:/level.json", (user.folder / "level.json").as_posix()), names)
    box = names["bounds"]["Plate"].world.box
    # Centimeters; Y has the opposite direction. The plate is 1/64 m thick, and 1 m wide.
    assert (box.min.x, box.max.x) == pytest.approx((-281.25 - 0.78125, -281.25 + 0.78125), abs=1e-3)
    assert (box.min.y, box.max.y) == pytest.approx((87.5, 187.5), abs=1e-3)
    assert len(names["bounds"]) == 23


class EditorAssetSubsystem:
    """Records the assets that a program saves."""

    saved: ClassVar[list[object]] = []

    def save_loaded_assets(self, assets: list[object]) -> None:
        self.saved.extend(assets)


def test_program_of_the_reference_adds_simple_collision(user: User, monkeypatch):
    page = "docs/engines.md"
    (export,) = [block for block in blocks(page) if "--preset unreal --parts" in block.text]
    user.run(export.text)
    (program,) = [block for block in blocks(page) if "add_simple_collision" in block.text]
    mesh, elsewhere = unreal_assets.StaticMesh(), unreal_assets.StaticMesh()
    assets = {"/Game/Level/Crate": mesh, "/Game/Other/Crate": elsewhere}
    monkeypatch.setattr(unreal_assets.AssetRegistry, "assets", assets)
    monkeypatch.setitem(sys.modules, "collision_bounds_unreal", import_loader(monkeypatch))
    sys.modules["unreal"].EditorAssetSubsystem = EditorAssetSubsystem
    exec(program.text.replace("C:/level.json", (user.folder / "level.json").as_posix()), {})
    assert EditorAssetSubsystem.saved == [mesh]
    geometry = mesh.get_editor_property("body_setup").get_editor_property("agg_geom")
    assert geometry.get_editor_property("convex_elems")
