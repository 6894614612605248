"""Every public function of `addon.formats` gives a valid result or one of its errors, for any argument."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from addon import core, formats
from addon.core.compound.convex_parts import Compound
from tests.argument_errors import Row, failures, missing_rows, result_of_valid_arguments, valid

from . import samples

RECORDS = (
    formats.CollisionResponse,
    formats.Comparison,
    formats.DocumentContents,
    formats.ExportOptions,
    formats.FileFormat,
    formats.InputWarning,
    formats.LoadedDocument,
    formats.ObjectBounds,
    formats.Origin,
    formats.Partial,
    formats.ScannedContacts,
    formats.Skipped,
    formats.SkippedPairs,
    formats.Space,
    formats.TimeSettings,
    formats.Track,
)
"""Classes that only hold their fields, and enumerations."""

UNITY = formats.space_for("unity")
DOCUMENT = samples.document()
GLTF_DOCUMENT = samples.document("gltf")
TEXT = formats.dumps(DOCUMENT)
CONTENTS = formats.read_document(formats.parse_document(TEXT))
POINTS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3], [1, 2, 3]])
BOX = core.aabb_from_points(POINTS)
TREE = core.sphere_tree_from_triangles(POINTS[:3][None])
DOCUMENT_WORDS = {"document": ["not a Collision Bounds document"]}


def files() -> Path:
    """Return a folder that does not exist: no value of these tests may be written anywhere."""
    return Path("/nonexistent/collision-bounds")


def attempt_to_write(path: Any, text: Any) -> None:
    """Write a file; a path that is valid is in a folder that does not exist."""
    try:
        formats.write_text(path, text)
    except formats.OutputError as error:
        if "does not exist" not in str(error):
            raise


def attempt_to_replace(path: Any, text: Any) -> None:
    """Write a file as `attempt_to_write`."""
    try:
        with formats.replaced_after(path, text):
            pass
    except formats.OutputError as error:
        if "does not exist" not in str(error):
            raise


def attempt_to_require(path: Any) -> None:
    """Test a path; one that is valid is in a folder that does not exist."""
    try:
        formats.require_writable(path)
    except formats.OutputError as error:
        if "does not exist" not in str(error):
            raise


def attempt_to_read(read: Any) -> Any:
    """Return a function that reads a file; a path that is valid is of no file."""

    def attempt(path: Any, max_megabytes: Any) -> None:
        try:
            read(path, max_megabytes)
        except formats.DocumentError as error:
            if "No such file" not in str(error):
                raise

    return attempt


PATH = files() / "file.json"
ROWS: dict[str, Row] = {
    "Convention": Row(
        formats.Convention,
        valid(
            preset="custom", up="+Z", forward="-Y", handedness="right", per_meter=2.0, applies_unit_scale=True
        ),
        {"per_meter": ["scale"]},
    ),
    "space_for": Row(formats.space_for, valid(convention="unity", scale_length=0.5)),
    **{
        f"Space.{name}": Row(getattr(UNITY, name), valid(values=POINTS))
        for name in ("vectors", "directions", "scale_factors")
    },
    "Space.quaternion": Row(UNITY.quaternion, valid(wxyz=[1, 0, 0, 0])),
    "Space.shape": Row(UNITY.shape, valid(shape=BOX)),
    "Space.shape of a sphere": Row(UNITY.shape, valid(shape=core.Sphere([0, 0, 0], 1))),
    "Space.shape of an oriented box": Row(UNITY.shape, valid(shape=BOX.oriented())),
    "Space.shape of a compound": Row(UNITY.shape, valid(shape=Compound((core.hull_from_points(POINTS),)))),
    "Space.shape of a hull": Row(UNITY.shape, valid(shape=core.hull_from_points(POINTS))),
    "Space.shape of a tree": Row(UNITY.shape, valid(shape=TREE)),
    "Space.from_document": Row(formats.Space.from_document, valid(declared=DOCUMENT["space"])),
    "Space.from_document of fields": Row(
        lambda **declared: formats.Space.from_document({**DOCUMENT["space"], **declared}),
        valid(fromBlender=DOCUMENT["space"]["fromBlender"], metersPerUnit=1.0),
    ),
    "compare_contacts": Row(
        formats.compare_contacts,
        valid(document=DOCUMENT, baseline=DOCUMENT),
        {"baseline": ["not a Collision Bounds document"]},
    ),
    "make_document": Row(formats.make_document, valid(contents=CONTENTS, space=UNITY, decimals=6)),
    "dumps": Row(formats.dumps, valid(document=DOCUMENT)),
    "dumps of an entry": Row(
        lambda entry: formats.dumps({"a": entry}), valid(entry=1), {"entry": ["document"]}
    ),
    "json_parts": Row(formats.json_parts, valid(document=DOCUMENT)),
    "json_parts of an entry": Row(
        lambda entry: formats.json_parts({"a": [entry]}), valid(entry=1), {"entry": ["document"]}
    ),
    "read_document": Row(
        formats.read_document, valid(document=formats.parse_document(TEXT)), may_be_nan=True
    ),
    "parse_document": Row(formats.parse_document, valid(text=TEXT), {"text": ["not JSON", "document"]}),
    "document_problems": Row(formats.document_problems, valid(document=DOCUMENT)),
    "read_file": Row(attempt_to_read(formats.read_file), valid(path=PATH, max_megabytes=1.0)),
    "load_document": Row(attempt_to_read(formats.load_document), valid(path=PATH, max_megabytes=1.0)),
    "require_writable": Row(attempt_to_require, valid(path=PATH)),
    "write_text": Row(attempt_to_write, valid(path=PATH, text="text")),
    "replaced_after": Row(attempt_to_replace, valid(path=PATH, text="text")),
    "file_format": Row(formats.file_format, valid(name="csv"), {"name": ["format"]}),
    "format_from_filename": Row(formats.format_from_filename, valid(filename="a.csv")),
    "file_text": Row(
        formats.file_text,
        valid(document=GLTF_DOCUMENT, name="gltf", options=formats.ExportOptions()),
        {"name": ["format"], **DOCUMENT_WORDS},
    ),
    "file_text of options": Row(
        lambda name, **options: formats.file_text(GLTF_DOCUMENT, name, formats.ExportOptions(**options)),
        valid(name="gltf", table="bounds", gltf_extensions=("omi",)),
        {"name": ["format"], "gltf_extensions": ["extensions", "extension"]},
    ),
    "gltf": Row(
        formats.gltf, valid(document=GLTF_DOCUMENT, extensions=("khr",)), {"extensions": ["extension"]}
    ),
    "bounds_table": Row(formats.bounds_table, valid(document=DOCUMENT, linear_only=("Ball",))),
    "contacts_table": Row(formats.contacts_table, valid(document=DOCUMENT, linear_only=("Ball",))),
}

CASES = [(name, argument) for name, row in ROWS.items() for argument in row.arguments]


@pytest.mark.parametrize(("name", "argument"), CASES)
def test_every_value_gives_a_valid_result_or_an_error_that_names_the_argument(name, argument):
    found = failures(ROWS[name], argument)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", ROWS)
def test_valid_arguments_of_row_are_accepted(name):
    result_of_valid_arguments(ROWS[name])


def test_every_public_function_has_a_row_with_all_its_parameters():
    assert missing_rows(formats, ROWS, RECORDS) == []
