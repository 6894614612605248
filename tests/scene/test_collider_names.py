"""Names of colliders as Unreal and Godot read them, and as this project writes them for Unity."""

from __future__ import annotations

from typing import get_args

import pytest

from addon.scene.collider_names import Engine, has_blender_suffix, match_source, recognize_name
from addon.scene.colliders import check_rules
from addon.scene.colliders.objects import ColliderNames
from addon.scene.settings import COLLIDER_NAME_PATTERNS, ColliderKind


def matched(collider: str, meshes: tuple[str, ...], parent: str | None = None) -> tuple[str | None, bool]:
    """Return the mesh of a collider, and whether its engine finds that by the name."""
    by_name: dict[str, list[str]] = {}
    for mesh in meshes:
        by_name.setdefault(mesh.lower(), []).append(mesh)
    name = recognize_name(collider)
    assert name is not None
    return tuple(match_source(collider, name, parent, by_name))


@pytest.mark.parametrize(
    ("text", "engine", "kind"),
    [
        ("UBX_Crate_00", "unreal", "box"),
        ("USP_Crate", "unreal", "sphere"),
        ("UCP_Crate_left", "unreal", "capsule"),
        ("UCX_Big_Crate_01", "unreal", "hull"),
        ("Crate_BoxCollider_00", "unity", "box"),
        ("Crate_SphereCollider_00", "unity", "sphere"),
        ("Crate_CapsuleCollider_12", "unity", "capsule"),
        ("Crate_MeshCollider_100", "unity", "hull"),
        ("Crate_00-convcolonly", "godot", "hull"),
        ("Crate-convcol", "godot", "hull"),
        ("Crate-colonly", "godot", "triangles"),
        ("Crate-col", "godot", "triangles"),
        # Godot ignores case, and what Blender and others append.
        ("Crate-ColOnly", "godot", "triangles"),
        ("Crate-colonly.001", "godot", "triangles"),
        ("Crate-convcolonly_002", "godot", "hull"),
    ],
)
def test_names_of_engines_are_recognized_without_defect(text, engine, kind):
    name = recognize_name(text)
    assert name is not None
    assert (name.engine, name.kind, name.defect) == (engine, kind, "")
    assert name.is_certain


@pytest.mark.parametrize("text", ["Crate", "Crate_collision", "col", "Protocol", "SM_UBXY", "BoxCollider"])
def test_other_names_are_not_recognized(text):
    assert recognize_name(text) is None


@pytest.mark.parametrize(
    ("text", "defect"),
    [
        ("ucx_Crate_00", "begins with 'ucx': Unreal needs 'UCX'"),
        ("Ubx_Crate_00", "begins with 'Ubx': Unreal needs 'UBX'"),
        ("UCX-Crate_00", "has no underscore after 'UCX': Unreal needs 'UCX_'"),
        ("UCX Crate", "has no underscore after 'UCX': Unreal needs 'UCX_'"),
        ("UBXCrate", "has no underscore after 'UBX': Unreal needs 'UBX_'"),
        ("Crate_UCX", "has 'UCX' in the middle: Unreal needs 'UCX_' at the start"),
        ("Crate_UCX_00", "has 'UCX' in the middle: Unreal needs 'UCX_' at the start"),
        ("Crate_boxcollider_00", "contains 'boxcollider': the Unity pattern has 'BoxCollider'"),
        ("Crate_BoxCollider", "has no number after 'BoxCollider': the Unity pattern has one, such as _00"),
    ],
)
def test_broken_pattern_is_a_defect(text, defect):
    name = recognize_name(text)
    assert name is not None and name.defect == defect
    assert matched(text, ("Crate",))[0] == "Crate"


def test_only_suffixes_of_blender_are_suffixes():
    assert has_blender_suffix("UCX_Crate_00.001") and has_blender_suffix("A.1234")
    assert not has_blender_suffix("Crate.01") and not has_blender_suffix("Crate_001")


@pytest.mark.parametrize(
    ("collider", "meshes", "parent", "expected"),
    [
        # Between the first and the last underscore, or all that follows the first one.
        ("UCX_Big_Crate_01", ("Crate", "Big_Crate"), None, ("Big_Crate", True)),
        ("UCX_Big_Crate", ("Big_Crate", "Big"), None, ("Big_Crate", True)),
        ("UCX_Big_Crate", ("Big",), None, ("Big", True)),
        ("UCX_big_crate_00", ("Big_Crate",), None, ("Big_Crate", True)),
        # Of two possible meshes, the parent.
        ("UCX_Crate_01", ("Crate", "Crate_01"), "Crate", ("Crate", True)),
        ("UCX_Crate_01", ("Crate", "Crate_01"), None, ("Crate_01", True)),
        # An organizing parent does not matter if the name is right.
        ("UCX_Crate_00", ("Crate", "Root"), "Root", ("Crate", True)),
        ("UCX_Box_00", ("Crate",), "Crate", ("Crate", False)),
        ("UCX_Box_00", ("Crate",), None, (None, False)),
        # Blender has renamed the copies of both.
        ("UCX_Crate_00.001", ("Crate", "Crate.001"), "Crate.001", ("Crate.001", False)),
        ("UCX_Crate.001_00", ("Crate", "Crate.001"), "Crate.001", ("Crate.001", True)),
        ("UCX_Crate.001", ("Crate", "Crate.001"), None, ("Crate.001", True)),
        ("UCX_Crate.001", ("Crate",), None, ("Crate", False)),
        ("Crate_BoxCollider_00", ("Crate",), None, ("Crate", True)),
        ("Crate_BoxCollider_00", ("crate",), None, ("crate", False)),
        ("Crate_00-convcolonly", ("Crate",), None, ("Crate", True)),
        ("Crate-convcolonly.001", ("Crate", "Box"), "Box", ("Crate", True)),
        ("Wall-colonly", (), None, (None, False)),
    ],
)
def test_collider_belongs_to_mesh_by_name_or_by_parent(collider, meshes, parent, expected):
    assert matched(collider, meshes, parent) == expected


def test_messages_name_each_engine():
    assert set(check_rules._ENGINES) == set(get_args(Engine)) - {"custom"}


@pytest.mark.parametrize("naming", COLLIDER_NAME_PATTERNS)
def test_names_of_each_scheme_belong_to_its_engine(naming):
    for kind in get_args(ColliderKind):
        (text,) = ColliderNames(COLLIDER_NAME_PATTERNS[naming], ()).assign("Crate", [kind])
        assert recognize_name(text).engine == naming.partition("_")[0]
        assert matched(text, ("Crate",), "Crate" if naming.startswith("godot") else None)[0] == "Crate"
