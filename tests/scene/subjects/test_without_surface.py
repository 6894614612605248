"""Points, volumes, hair and particles that an object shows with its mesh are skipped with their reason."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.settings import Selection
from addon.scene.subjects.find import find_subjects
from tests.scene.building import Nodes, add_instance, add_vertices

pytestmark = [pytest.mark.smoke, pytest.mark.usefixtures("empty_file")]

FACE = ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])


def add_nodes(item: bpy.types.Object, *names: str, reads_mesh: bool) -> None:
    """Add nodes that join the mesh with what a chain of nodes makes, of the mesh or of nothing."""
    nodes = Nodes(item)
    made = nodes.mesh if reads_mesh else None
    for name in names:
        made = nodes.add(name, {} if made is None else {0: made}).outputs[0]
    nodes.end(nodes.joined(nodes.mesh, made))


def find(selection: Selection = Selection()) -> tuple[list[str], dict[str, str]]:  # noqa: B008
    depsgraph = bpy.context.evaluated_depsgraph_get()
    subjects, skipped = find_subjects(bpy.context.scene, depsgraph, selection)
    return [subject.name for subject in subjects], {entry.name: entry.reason for entry in skipped}


@pytest.mark.parametrize(
    ("node", "reads_mesh", "reason"),
    [
        ("GeometryNodePoints", False, "point clouds have no surface"),
        ("GeometryNodeMeshToPoints", True, "point clouds have no surface"),
        ("GeometryNodeMeshToVolume", True, "volumes have no surface"),
    ],
)
def test_nodes_that_make_more_than_a_mesh_are_said(node, reads_mesh, reason):
    add_nodes(add_vertices("Shore", *FACE), node, reads_mesh=reads_mesh)
    add_vertices("Crate")
    assert find() == (["Crate", "Shore"], {"Shore": reason})
    assert find(Selection(patterns=("Crate",))) == (["Crate"], {})


def test_curves_that_nodes_make_are_said():
    add_nodes(add_vertices("Shore", *FACE), "GeometryNodeCurvePrimitiveLine", reads_mesh=False)
    names, _ = find()
    assert names == ["Shore", "Shore/Shore.0"]  # which has no vertices, and is skipped where they are read


@pytest.mark.parametrize("kind", ["HAIR", "EMITTER"])
@pytest.mark.parametrize("shows", [True, False])
def test_hair_and_particles_are_said_where_they_are_shown(kind, shows):
    item = add_vertices("Fur", *FACE)
    item.modifiers.new("Particles", "PARTICLE_SYSTEM").show_viewport = shows
    item.particle_systems[0].settings.type = kind
    expected = {"Fur": "hair and particles have no surface"} if shows else {}
    assert find() == (["Fur"], expected)


def test_particles_that_are_instances_of_objects_are_subjects_without_a_note():
    item, leaf = add_vertices("Tree", *FACE), add_vertices("Leaf")
    item.modifiers.new("Particles", "PARTICLE_SYSTEM")
    settings = item.particle_systems[0].settings
    settings.type, settings.render_type, settings.instance_object = "HAIR", "OBJECT", leaf
    assert find()[1] == {}


def test_hair_in_an_instanced_collection_is_said():
    parts = bpy.data.collections.new("Parts")
    hair = bpy.data.objects.new("Hair", bpy.data.hair_curves.new("Hair"))
    parts.objects.link(hair)
    parts.objects.link(bpy.data.objects.new("Head", add_vertices("Crate").data))
    add_instance("Doll", parts)
    assert find() == (["Crate", "Doll/Head.0"], {"Doll/Hair": "hair curves have no surface"})
