"""Links of documents: errors, hierarchies that are too deep, sizes at the limits, and bytes."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from addon.core import Aabb, CollisionBoundsError, hull_from_points
from addon.formats import space_for, write_text
from addon.formats.export.robotics.link_shapes import LinkFormat, LinkHull
from addon.formats.export.robotics.links import (
    MAX_LEVELS,
    ROBOTICS_SPACE,
    RoboticsError,
    _parents_first,
    links_from_document,
)
from tests.formats import samples
from tests.formats.export.robotics.robot_files import (
    SHAPES,
    box_part,
    document_of_parts,
    nested_parts,
    read_mjcf,
    read_spheres,
    read_urdf,
    text_of,
    with_shape,
)

FORMATS = ("urdf", "mjcf", "usd", "curobo")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("preset", ["gltf", "unity", "unreal"])
def test_document_in_another_space_raises(name, preset):
    with pytest.raises(RoboticsError, match="needs a document in meters, right-handed, with Z up"):
        text_of(samples.document(preset), name)


@pytest.mark.parametrize(("name", "shape"), [("curobo", "aabb"), ("curobo", "hull"), ("urdf", "hull")])
def test_document_without_a_shape_of_the_format_raises(name, shape):
    with pytest.raises(RoboticsError, match=r"needs one of .*sphere.*, and no object has one"):
        text_of(document_of_parts([box_part("A")], shape), name)


@pytest.mark.parametrize("name", FORMATS)
def test_document_without_objects_is_a_file_without_links(name):
    text = text_of(samples.document_of([], space_for(ROBOTICS_SPACE)), name)
    assert (text.endswith("\n") and "Scene" in text) or name == "curobo"
    if name == "urdf":
        assert read_urdf(text) == ({"world": []}, {})
    if name == "mjcf":
        assert read_mjcf(text) == ({}, {})
    if name == "curobo":
        assert read_spheres(text) == {}


@pytest.mark.parametrize("name", FORMATS)
def test_object_without_shape_of_the_format_keeps_its_children_in_place(name):
    parts = [box_part("A", None, (1, 2, 3)), box_part("B", "A", (5, 2, 3))]
    document = document_of_parts(parts, "sphere")
    document["objects"][0]["world"] = document["objects"][0]["local"] = {}
    text = text_of(document, name)
    if name in ("urdf", "mjcf"):
        solids, parents = (read_urdf if name == "urdf" else read_mjcf)(text)
        assert solids["A"] == [] and parents["B"] == "A"
        np.testing.assert_array_equal(solids["B"][0].translation, (5, 2, 3))
    elif name == "curobo":
        assert list(read_spheres(text)) == ["B"]
    else:
        assert text.index('def Xform "A"') < text.index('def Xform "B"') < text.index("def Sphere")


_HULL = LinkHull(np.zeros(3), hull_from_points(np.eye(4, 3)))


@pytest.mark.parametrize(
    ("name", "part"),
    [*((name, Aabb([-1, -1, -1], [1, 1, 1])) for name in ("urdf", "mjcf", "usd")), ("urdf", _HULL)],
)
def test_unknown_kind_of_shape_is_refused(name, part, monkeypatch):
    document = document_of_parts([box_part("A")], "obb")
    of_links = "addon.formats.export.robotics.links"
    monkeypatch.setattr(f"{of_links}.shapes_in_link", lambda *_: (part,))
    monkeypatch.setattr(f"{of_links}._require_finite", lambda *_: None)
    with pytest.raises(TypeError, match=f"no geometry of {type(part).__name__}"):
        text_of(document, name)


def test_override_sphere_is_written_before_tighter_shapes():
    document = samples.document_of([box_part("A").bounds()], space_for(ROBOTICS_SPACE))
    (link,) = links_from_document(document, LinkFormat("test", frozenset(SHAPES)))
    assert type(link.shapes[0]).__name__ == "LinkHull"
    document["objects"][0]["override"] = "sphere"
    (link,) = links_from_document(document, LinkFormat("test", frozenset(SHAPES)))
    assert type(link.shapes[0]).__name__ == "Sphere"


@pytest.mark.parametrize("name", FORMATS)
def test_custom_shapes_of_an_object_are_shapes_of_one_link(name):
    """Three boxes with one transform, a child of the first, and an object that only has such a name."""
    rotation = np.array((0.8, 0, 0.6, 0))
    parts = []
    for number, offset in enumerate(((-3, 0, 0), (3, 0, 0), (0, 5, 0))):
        part = box_part(f"Chair/shape.{number}", None, (1, 2, 3), rotation)
        parts.append(replace(part, points=part.points + np.array(offset)))
    parts += [box_part("Child", "Chair/shape.0", (9, 0, 0)), box_part("Table/shape.1", None, (0, 0, 40))]
    document = document_of_parts(parts, "sphere" if name == "curobo" else "obb")
    for entry in document["objects"]:
        if entry["id"].startswith("Chair"):
            entry["override"] = "box"
    text = text_of(document, name)
    if name == "usd":
        assert [text.count(f'def Xform "{each}"') for each in ("Chair", "Child", "Table_shape_1")] == [1] * 3
        assert text.count("def Cube") == 5
        return
    if name == "curobo":
        assert {link: len(spheres) for link, spheres in read_spheres(text).items()} == {
            "Chair": 3,
            "Child": 1,
            "Table_shape_1": 1,
        }
        return
    solids, parents = (read_urdf if name == "urdf" else read_mjcf)(text)
    assert {link: len(each) for link, each in solids.items() if link != "world"} == {
        "Chair": 3,
        "Child": 1,
        "Table_shape_1": 1,
    }
    assert parents["Child"] == "Chair"
    for part in parts[:3]:
        distances = [solid.outside(part.world_points()) for solid in solids["Chair"]]
        assert min(each.max() for each in distances) <= 0


@pytest.mark.parametrize(
    ("shapes", "kind"),
    [
        (("hull", "spheres", "obb", "aabb", "sphere"), "mesh"),
        (("spheres", "obb", "aabb", "sphere"), "sphere"),
        (("obb", "aabb", "sphere"), "box"),
        (("aabb", "sphere"), "box"),
    ],
)
def test_tightest_shape_of_an_object_is_written(shapes, kind):
    document = samples.document_of([box_part("A").bounds()], space_for(ROBOTICS_SPACE))
    for group in ("local", "world"):
        entry = document["objects"][0]
        entry[group] = {key: value for key, value in entry[group].items() if key in shapes}
    solids, _ = read_mjcf(text_of(document, "mjcf"))
    assert {solid.kind for solid in solids["A"]} == {kind}
    assert len(solids["A"]) == 1 or "spheres" in shapes


def test_objects_deeper_than_the_limit_are_below_an_ancestor_and_in_place():
    count = MAX_LEVELS + 40
    parts = [box_part(f"P{k:03}", f"P{k - 1:03}" if k else None, (k, 0, 0.25 * k)) for k in range(count)]
    for read, name in ((read_urdf, "urdf"), (read_mjcf, "mjcf")):
        solids, parents = read(text_of(document_of_parts(parts, "aabb"), name))
        level = {"world": -1}
        for part in parts:
            level[part.name] = level[parents[part.name]] + 1
            np.testing.assert_allclose(solids[part.name][0].translation, part.translation, atol=1e-9)
        assert max(level.values()) == MAX_LEVELS
        assert parents["P010"] == "P009" and parents[f"P{count - 1:03}"] == f"P{MAX_LEVELS - 1:03}"


def test_circle_of_parents_is_opened():
    # No valid document has one.
    document = document_of_parts([box_part("A"), box_part("B", "A"), box_part("C", "B")], "aabb")
    document["objects"][0]["parent"] = "C"
    solids, parents = read_urdf(text_of(document, "urdf"))
    assert sorted(solids) == ["A", "B", "C", "world"] and "world" in parents.values()
    assert len(read_mjcf(text_of(document, "mjcf"))[0]) == 3


class _Counted(list):
    """List that counts how often its items are read."""

    reads = 0

    def __getitem__(self, index):
        self.reads += 1
        return super().__getitem__(index)

    def __iter__(self):
        return (self[index] for index in range(len(self)))


@pytest.mark.parametrize("size", [1, 2, 5])
def test_parents_come_first_after_few_steps_for_each_object(size):
    """Circles of a size, each with a tail of two objects that are before and after it in the list."""
    count = 1000
    parents = _Counted()
    for start in range(0, count * (size + 2), size + 2):
        circle = range(start + 1, start + 1 + size)
        parents += [circle[-1], *circle[1:], circle[0], start]
    order = _parents_first(parents)
    assert parents.reads <= 4 * len(parents)
    assert sorted(order) == list(range(len(parents))) and parents.count(None) == count
    place = {row: number for number, row in enumerate(order)}
    assert all(parent is None or place[parent] < place[row] for row, parent in enumerate(parents))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_sizes_are_never_zero_and_numbers_are_finite(name, shape):
    document = document_of_parts([box_part("A", None, (1, 2, 3))], shape)
    for group in ("local", "world"):
        shapes = document["objects"][0][group]
        center = [0.0, 0.0, 0.0] if group == "local" else [1.0, 2.0, 3.0]
        flat = {
            "sphere": {"center": center, "radius": 0.0},
            "spheres": [{"center": center, "radius": 0.0, "children": []}],
            "aabb": {"min": center, "max": [center[0] + 4, *center[1:]]},
            "obb": {"center": center, "halfExtents": [0.0, 2.0, 0.0], "rotation": [0.0, 0.0, 0.0, 1.0]},
        }
        shapes |= {shape: flat[shape]} if shape in flat else {}
    try:
        text = text_of(document, name)
    except RoboticsError:
        assert (name, shape) not in [(name, "sphere"), (name, "spheres")]
        return
    assert not re.search(r"nan|inf\b", text)
    if name == "mjcf" and shape != "hull":
        (solid,) = read_mjcf(text)[0]["A"]
        # A millimeter, or a thousandth of the longest side.
        assert min(solid.sizes) >= 0.0005
    if name == "curobo":
        assert read_spheres(text)["A"][0, 3] == 0.0005


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1e9, 1e15, 1e100])
@pytest.mark.parametrize("name", ["urdf", "mjcf", "usd"])
def test_huge_and_tiny_boxes_are_written(name, size):
    document = document_of_parts([box_part("A"), box_part("B", "A")], "aabb")
    for entry in document["objects"]:
        for group in ("local", "world"):
            entry[group]["aabb"] = {"min": [-size] * 3, "max": [size, size, 2 * size]}
    text = text_of(document, name)
    if name != "usd":
        solids, _ = (read_urdf if name == "urdf" else read_mjcf)(text)
        for part in ("A", "B"):
            corners = size * np.array([(-1, -1, -1), (1, 1, 2)])
            outside = solids[part][0].outside(corners)
            # A picometer is the last decimal.
            assert -1e-12 * (1 + size) <= outside.max() <= 4e-16 * size


@pytest.mark.parametrize("name", ["urdf", "mjcf", "usd"])
def test_numbers_that_overflow_raise_with_the_name_of_the_object(name):
    document = document_of_parts([box_part("A"), box_part("Bad", "A")], "obb")
    document["objects"][1]["world"]["obb"]["halfExtents"] = [1.7e308] * 3
    document["objects"][1]["transform"]["rotation"] = [0.1, 0.7, 0.1, 0.7]
    with pytest.raises(CollisionBoundsError, match="object 'Bad': is too large, or too far"):
        text_of(document, name)


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_names_are_harmless(name):
    hostile = ['"/><x a="', "--><!--", "-", "a\n# b: c", "'''", "\ufffe\u202e", "no", "a b", "a_b", "\\"]
    bounds = [box_part(each).bounds(f"{k}") for k, each in enumerate(hostile)]
    document = with_shape(samples.document_of(bounds, space_for(ROBOTICS_SPACE)), "sphere")
    document["generator"]["name"] = "--> \n)"
    document["source"]["scene"] = '"\n</robot>'
    text = text_of(document, name)
    if name in ("urdf", "mjcf"):
        solids, _ = (read_urdf if name == "urdf" else read_mjcf)(text)
        assert len(set(solids) - {"world"}) == len(hostile)
    elif name == "curobo":
        assert len(read_spheres(text)) == len(hostile)
        assert '  "no":\n' in text


@pytest.mark.parametrize("name", FORMATS)
def test_bytes_are_the_same_for_any_order_of_objects_and_have_lf(name, tmp_path):
    parts = nested_parts(11)
    one, other = (document_of_parts(each, "spheres") for each in (parts, parts[::-1]))
    text = text_of(one, name)
    assert text == text_of(other, name)
    write_text(tmp_path / "file", text)
    data = (tmp_path / "file").read_bytes()
    assert data == text.encode("utf-8") and b"\r" not in data and data.endswith(b"\n")


def test_unrotated_objects_have_the_numbers_of_the_document():
    text = text_of(document_of_parts([box_part("A", None, (0.5, -0.75, 3))], "aabb"), "urdf")
    assert '<box size="2.0 2.0 2.0"/>' in text
    assert '<origin xyz="0.5 -0.75 3.0" rpy="0.0 0.0 0.0"/>' in text
    assert '<origin xyz="0.0 0.0 0.0" rpy="0.0 0.0 0.0"/>' in text


def test_boxes_of_unrotated_objects_are_larger_by_a_picometer_at_most():
    # Half of 0.3 + 1.7 is 1 only in decimals, so the box is rounded outward.
    document = document_of_parts([box_part("A", None, (0.3, -0.7, 0.1))], "aabb")
    low, high = (np.array(document["objects"][0]["world"]["aabb"][key]) for key in ("min", "max"))
    (solid,) = read_urdf(text_of(document, "urdf"))[0]["A"]
    np.testing.assert_allclose(solid.translation, (low + high) / 2, rtol=0, atol=1e-15)
    assert (solid.sizes - (high - low) / 2 >= 0).all() and (solid.sizes <= (high - low) / 2 + 1.01e-12).all()
