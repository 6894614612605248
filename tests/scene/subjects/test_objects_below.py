"""Armatures, empties and cameras that are named instead of the objects below them."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.errors import SceneError
from addon.scene.settings import ContactSettings, PairSettings
from addon.scene.subjects.selection import patterns_with_objects_below
from tests.cli.command_line import run
from tests.scene.building import CUBE, add_instance, add_object, add_vertices
from tests.scene.sampling import key, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")

BOX = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


@pytest.fixture
def rig() -> bpy.types.Object:
    """Add a rig with a body below it, gloves that it only deforms, a prop two levels below, and a wall."""
    rig = add_object("Rig", bpy.data.armatures.new("Rig"))
    add_vertices("Body", parent=rig)
    gloves = add_vertices("Gloves [new]")
    gloves.modifiers.new("Armature", "ARMATURE").object = rig
    add_vertices("Prop", parent=add_object("Hand"))
    bpy.data.objects["Hand"].parent = rig
    add_vertices("Wall")
    return rig


def expanded(*patterns: str) -> tuple[str, ...]:
    return patterns_with_objects_below(bpy.context.scene, patterns)


def test_objects_that_an_armature_moves_and_deforms_stand_for_it(rig):
    assert expanded("Rig") == ("Body", "Gloves [[]new]", "Prop")
    assert expanded("Hand", "Wall") == ("Prop", "Wall")


def test_pattern_of_objects_with_a_surface_stays(rig):
    add_vertices("Rig base")
    assert expanded("Rig*", "Body", "Nobody") == ("Rig*", "Body", "Nobody")


def test_empty_that_instances_a_collection_stays(rig):
    props = bpy.data.collections.new("Props")
    props.objects.link(add_vertices("Crate"))
    instancer = add_instance("Instancer", props)
    add_vertices("Child", parent=instancer)
    assert expanded("Instancer") == ("Instancer",)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("Camera", "a camera"), ("Sun", "a light"), ("Target", "an empty"), ("Cage", "a lattice")],
)
def test_object_without_anything_below_it_is_named_as_what_it_is(name, kind):
    datas = {
        "Camera": bpy.data.cameras.new("Camera"),
        "Sun": bpy.data.lights.new("Sun", "SUN"),
        "Cage": bpy.data.lattices.new("Cage"),
    }
    add_object(name, datas.get(name))
    add_vertices("Wall")
    with pytest.raises(SceneError) as error:
        expanded(name)
    reason = f"is {kind}, which has no surface, and nothing below it has one"
    assert str(error.value) == f"object {name!r}: {reason}"
    for option, settings in (
        ("group A", {"group_a": (name,)}),
        ("group B", {"group_b": (name,)}),
        ("obstacles", {"obstacles": (name,), "shape": "sphere"}),
    ):
        with pytest.raises(SceneError) as error:
            scan_scene(**settings)
        assert str(error.value) == f"{option} {name!r}: {reason}"


def falling_in_front_of(rig: bpy.types.Object) -> None:
    """Let a cube of side 2 fall from z = 10 to 0 in ten frames, onto all cubes at the origin."""
    for item in bpy.data.objects:
        if item.type == "MESH":
            item.data.clear_geometry()
            item.data.from_pydata(CUBE.tolist(), [], BOX)
    key(add_vertices("Falling", CUBE, BOX), "location", [(1, (0, 0, 10)), (11, (0, 0, 0))])
    bpy.context.scene.frame_end = 11


def test_group_of_a_rig_has_the_objects_below_it(rig):
    """The cubes touch at z = 2, frame 9."""
    falling_in_front_of(rig)
    result = scan_scene(group_a=("Rig",), group_b=("Falling",))
    names = [subject.name for subject in result.subjects]
    found = {
        names[contact.a if names[contact.b] == "Falling" else contact.b] for contact in result.report.contacts
    }
    assert found == {"Body", "Gloves [new]", "Prop"}
    assert [contact.intervals[0].start for contact in result.report.contacts] == pytest.approx([9, 9, 9])


def test_command_line_takes_a_rig_and_repeated_groups(rig, tmp_path):
    falling_in_front_of(rig)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    listed = run("bounds", tmp_path / "rig.blend", "--objects", "Rig")
    assert all(name in listed.stdout for name in ("Body", "Gloves [new]", "Prop"))
    assert "Wall" not in listed.stdout
    ended = run(
        "contacts", tmp_path / "rig.blend", "--a", "Body", "--a", "Wall", "--b", "Falling", "--b", "Nothing*"
    )
    assert ended.returncode == 2
    assert ended.stderr.endswith("group B 'Nothing*': no object of this scan has this name\n")
    ended = run("contacts", tmp_path / "rig.blend", "--a", "Body", "--a", "Wall", "--b", "Falling")
    rows = [line for line in ended.stdout.splitlines() if "Falling" in line]
    assert sorted(name for row in rows for name in ("Body", "Wall", "Prop") if name in row) == [
        "Body",
        "Wall",
    ]


def test_all_patterns_of_obstacles_are_obstacles(rig):
    falling_in_front_of(rig)
    result = scan_scene(shape="sphere", obstacles=("Body", "Wall"))
    assert {each.name for each in result.subjects if each.id in result.scanned.obstacles} == {"Body", "Wall"}


def test_settings_have_no_groups_and_no_obstacles_by_default():
    assert (PairSettings().group_a, PairSettings().group_b, ContactSettings().obstacles) == ((), (), ())
