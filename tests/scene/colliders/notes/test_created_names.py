"""Each name that Create Colliders gives passes the check, which notes what an engine does not find by it."""

from __future__ import annotations

import random

import bpy
import pytest

from addon.scene.colliders.objects import FIELDS
from addon.scene.settings import COLLIDER_NAME_PATTERNS
from tests.scene.building import merged_collection, open_empty_file
from tests.scene.colliders.checking import add_cube, check
from tests.scene.colliders.creating import KINDS, colliders, create_colliders, object_names
from tests.tiers import times

pytestmark = pytest.mark.usefixtures("object_settings")

STEMS = ["Crate", "crate", "SM_Crate", "Stuhl ä", "岩", "a", "Crate_01", "Wall.Low", "Crate 2", "T_B"]
PATTERNS = [
    *COLLIDER_NAME_PATTERNS.values(),
    "{prefix}_{base}_{number}",
    "{prefix}_{base}",
    "{prefix}_{name}",
    "{prefix}_{base}{number}",
    "{base}_{component}_{number}",
    "{name}_{component}",
    "{base}_{number}-convcolonly",
    "{base}-convcolonly",
    "{base}-colonly",
    "{base}_{prefix}_{number}",
    "COL_{base}_{kind}_{number}",
]


def random_names(choose: random.Random) -> list[str]:
    """Return names of up to four objects, with levels of detail, copies, dots and the longest names."""
    names = []
    longest = 63 if bpy.app.version < (5, 0) else 255
    for _ in range(choose.randint(1, 4)):
        stem = choose.choice(STEMS) + choose.choice(["", "", "_02", ".b"])
        suffix = choose.choice(["", "", ".001", ".012"])
        if choose.random() < 0.5:
            separator = choose.choice(["_LOD", "_LOD_", "_lod", ".LOD", "-LOD", " LOD", "LOD"])
            first = choose.randint(0, 1)
            names += [f"{stem}{separator}{level}{suffix}" for level in range(first, first + 3)]
        if choose.random() < 0.5:
            names.append(stem + suffix)
        if choose.random() < 0.1:
            # Some of these colliders fit into Blender's longest name, and the others are skipped.
            length = longest - choose.randint(6, 24)
            names.append((stem + "_" + "ö" * longest).encode()[:length].decode(errors="ignore"))
    return names


def random_pattern(choose: random.Random) -> str:
    """Return one of the known patterns, or a random one with the name of the object."""
    if choose.random() < 0.7:
        return choose.choice(PATTERNS)
    fields = [field for field in FIELDS if field not in ("name", "base") and choose.random() < 0.5]
    fields.append(choose.choice(["name", "base"]))
    choose.shuffle(fields)
    joined = choose.choice(["", "_", "-", " ", ".", "__"]).join(f"{{{field}}}" for field in fields)
    return joined + choose.choice(["", "-convcolonly", "_x"])


@pytest.mark.smoke
def test_names_of_random_objects_and_patterns_are_accepted():
    for seed in range(times(150, 10, full=1500)):
        choose = random.Random(seed)
        open_empty_file()
        for name in random_names(choose):
            add_cube(name)
        pattern, kind = random_pattern(choose), choose.choice(list(KINDS))
        sources = object_names()
        created = create_colliders(kind=kind, pattern=pattern)
        bpy.context.view_layer.update()
        found = check()
        assert found.problems == (), (seed, pattern, sorted(sources))
        assert created.colliders == len(found.colliders) == len(colliders()), (seed, pattern)
        # Each belongs to the object that it was created for, whatever other objects are named.
        parents = {item.name: item.parent.name for item in colliders()}
        assert {entry.name: entry.mesh for entry in found.colliders} == parents, (seed, pattern)


def test_base_is_noted_because_unreal_looks_for_a_mesh_of_that_name():
    for level in range(2):
        add_cube(f"Crate_LOD{level}")
    create_colliders(pattern="{prefix}_{base}_{number}")
    found = check()
    assert found.problems == ()
    (note,) = found.notes
    assert (note.name, note.kind) == ("UBX_Crate_00", "name")
    assert note.text == (
        "is found by Unreal for its mesh 'Crate_LOD0' only if your exporter renames the mesh to 'Crate'"
    )
    create_colliders()
    assert check().notes == ()


@pytest.mark.parametrize("pattern", ["{base}_{component}_{number}", "{base}_{number}-convcolonly"])
def test_base_is_not_noted_for_engines_that_take_the_parent(pattern):
    for level in range(2):
        add_cube(f"Crate_LOD{level}")
    create_colliders(pattern=pattern)
    found = check()
    assert (found.problems, found.notes) == ((), ())
    assert [entry.mesh for entry in found.colliders] == ["Crate_LOD0"]


def test_merged_collection_by_base_is_accepted():
    merged_collection("Hall_LOD0", add_cube("Member"))
    create_colliders(pattern="{prefix}_{base}_{number}")
    found = check()
    assert (found.problems, [entry.mesh for entry in found.colliders]) == ((), ["Hall_LOD0"])
    assert [entry.kind for entry in found.notes] == ["name"]


def test_renamed_colliders_and_copies_of_created_ones_are_still_problems():
    add_cube("Crate_LOD0")
    create_colliders(pattern="{prefix}_{base}_{number}")
    (collider,) = colliders()
    copy = collider.copy()
    bpy.context.scene.collection.objects.link(copy)
    assert copy.name == "UBX_Crate_00.001"
    assert [(entry.name, entry.kind) for entry in check().problems] == [("UBX_Crate_00.001", "name")]
    bpy.data.objects.remove(copy)
    collider.name = "UBX_Crate"
    assert [(entry.name, entry.kind) for entry in check().problems] == [("UBX_Crate", "name")]
