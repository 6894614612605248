"""Definitions of the file formats, compared with the output of their writers."""

from __future__ import annotations

import pytest

from addon.core import (
    CollisionBoundsError,
    capsule_from_points,
    cylinder_from_points,
    hull_from_points,
    sphere_from_points,
)
from addon.core.compound.convex_parts import Compound
from addon.formats import (
    CONVENTIONS,
    FILE_FORMATS,
    FORMAT_NAMES,
    ExportOptions,
    UnknownFormatError,
    file_format,
    file_text,
    format_from_filename,
    space_for,
)
from addon.formats.shape_members import SHAPE_TYPES
from tests.formats import samples
from tests.formats.validation.test_hulls_and_trees import CORNERS, TREE

SHAPES = {
    **{type(shape): shape for shape in samples.bounds("a", "Ball").world},
    type(TREE): TREE,
    SHAPE_TYPES["hull"]: hull_from_points(CORNERS),
    SHAPE_TYPES["capsule"]: capsule_from_points(CORNERS),
    SHAPE_TYPES["cylinder"]: cylinder_from_points(CORNERS),
    Compound: Compound((capsule_from_points(CORNERS), sphere_from_points(CORNERS))),
}


def document_with(name: str, shape: str) -> dict:
    """Return a document for a format, with one object of one shape, without rotation."""
    entry = samples.bounds("a", "Ball", rotation=(1.0, 0.0, 0.0, 0.0))
    local = [part for part in entry.local if isinstance(part, SHAPE_TYPES[shape])] or [
        SHAPES[SHAPE_TYPES[shape]]
    ]
    world = [part for part in entry.world if isinstance(part, SHAPE_TYPES[shape])] or local
    fields = {**vars(entry), "local": tuple(local), "world": tuple(world)}
    space = space_for(file_format(name).convention or CONVENTIONS["blender"])
    return samples.document_of([type(entry)(**fields)], space)


@pytest.mark.smoke
def test_names_are_unique_and_found():
    assert len(set(FORMAT_NAMES)) == len(FILE_FORMATS)
    for each in FILE_FORMATS:
        assert file_format(each.name) is each


def test_unknown_format_raises():
    with pytest.raises(UnknownFormatError, match=r"unknown format 'no format' \(choose from json, csv, "):
        file_format("no format")


def test_unknown_format_of_a_file_raises():
    with pytest.raises(UnknownFormatError):
        file_text({}, "no format")


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        *[("a.json", "json"), ("a.csv", "csv"), ("a.CSV", "csv"), (".csv", "csv"), ("b/a.b.gltf", "gltf")],
        *[("", None), ("-", None), ("a.txt", None), ("a.csv.txt", None), ("acsv", None)],
    ],
)
def test_format_follows_from_the_suffix(filename, name):
    format = format_from_filename(filename)
    assert (None if format is None else format.name) == name


@pytest.mark.parametrize("shape", SHAPE_TYPES)
@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_formats_store_the_shapes_that_they_declare_and_no_others(name, shape):
    document = document_with(name, shape)
    if shape in file_format(name).shapes:
        with_shape = "".join(file_text(document, name))
        for group in ("local", "world"):
            del document["objects"][0][group][shape]
        try:
            without_shape = "".join(file_text(document, name))
        except CollisionBoundsError:
            return
        assert with_shape != without_shape
        return
    try:
        text = "".join(file_text(document, name))
    except CollisionBoundsError:
        return
    for group in ("local", "world"):
        del document["objects"][0][group][shape]
    assert text == "".join(file_text(document, name))


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_formats_store_envelopes_and_tracks_if_they_declare_so(name):
    convention = file_format(name).convention or CONVENTIONS["blender"]
    document = samples.document_with_tracks(convention)
    options = ExportOptions(gltf_extensions=("volumes",))
    text = "".join(file_text(document, name, options))
    without_tracks = {**document, "tracks": []}
    assert ("".join(file_text(without_tracks, name, options)) != text) == (
        "tracks" in file_format(name).contents
    )
    for entry in document["objects"]:
        entry.pop("envelope", None)
    assert ("".join(file_text(document, name, options)) != text) == ("envelope" in file_format(name).contents)
