"""Documents of the difficult scene, validated by ajv, python-jsonschema and `validate`."""

from __future__ import annotations

import json

import jsonschema
import pytest

from addon.formats import document_problems, dumps, schema
from addon.scene.jobs.bounds import bounds_in_parts
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import BoundsSettings, ContactSettings
from tests.finished import finished
from tests.javascript.conftest import MATRICES, Exported, in_every_space, open_scene
from tests.node.node import run_program

# The scene takes two seconds, and every Blender version exports the same documents, so one is enough.
pytestmark = pytest.mark.long

SETTINGS = {
    "aabb": BoundsSettings(shapes=("aabb",)),
    "obb": BoundsSettings(shapes=("obb",)),
    "spheres over time": BoundsSettings(
        shapes=("sphere",), envelope=True, tracks=True, frames=(-2, 3.5, 1.25)
    ),
    "boxes in time": BoundsSettings(shapes=("aabb",), tracks=True, frame=5.5),
    "envelopes": BoundsSettings(shapes=("sphere", "aabb", "obb"), envelope=True, frames=(2, 9, 2), frame=4),
}
SCANS = {
    "trees": ContactSettings(shape="spheres", frames=(4, 8, 1)),
    "meshes": ContactSettings(shape="mesh", clearance=0.5),
    "linear": ContactSettings(shape="sphere", motion="linear", frames=(1, 12, 3)),
}


@pytest.fixture(scope="module")
def documents(exported: Exported) -> dict[str, dict]:
    scene = open_scene()
    by_name = {f"bounds, {space}": exported.bounds[space] for space in MATRICES}
    for title, by_shape in (("contacts", exported.contacts), ("overlaps", exported.overlaps)):
        for shape, by_space in by_shape.items():
            by_name |= {f"{title} of {shape}, {space}": by_space[space] for space in MATRICES}
    for name, settings in SETTINGS.items():
        for space, document in in_every_space(finished(bounds_in_parts(scene, settings))).items():
            by_name[f"{name}, {space}"] = document
    for name, settings in SCANS.items():
        for space, document in in_every_space(finished(find_contacts(scene, settings))).items():
            by_name[f"{name}, {space}"] = document
    return by_name


def test_ajv_and_python_jsonschema_accept_all_documents(documents, tmp_path):
    path = tmp_path / "input.json"
    texts = [dumps(document) for document in documents.values()]
    path.write_text(json.dumps({"schema": schema(), "texts": texts}), "utf-8")
    reference = jsonschema.Draft202012Validator(schema())
    results = run_program("validate_schema.mjs", path)
    for name, text, violations in zip(documents, texts, results, strict=True):
        assert violations == [], name
        assert reference.is_valid(json.loads(text)), name


def test_documents_are_consistent(documents):
    assert len(documents) == 5 * (1 + 8 + len(SETTINGS) + len(SCANS))
    problems = {name: list(document_problems(document)) for name, document in documents.items()}
    assert {name: listed for name, listed in problems.items() if listed} == {}


@pytest.mark.parametrize("space", MATRICES)
@pytest.mark.parametrize(
    ("path", "factor"),
    [
        (("world", "obb", "halfExtents"), 2),
        (("local", "obb", "halfExtents"), 0.5),
        (("world", "sphere", "radius"), 2),
        (("local", "sphere", "radius"), 2),
        (("world", "sphere", "center"), -1),
        (("transform", "translation"), -1),
        (("transform", "translation"), 100),
    ],
)
def test_wrong_sizes_and_signs_are_found_in_all_objects(exported: Exported, space, path, factor):
    """Objects without a size are excluded, and objects at the origin, where a sign has no effect."""
    document = exported.bounds[space]
    *parents, last = path
    changed = json.loads(dumps(document))
    for entry in changed["objects"]:
        part = entry
        for key in parents:
            part = part[key]
        value = part[last]
        part[last] = [number * factor for number in value] if isinstance(value, list) else value * factor
    found = {problem.split(".")[0] for problem in document_problems(changed)}
    missed = {
        entry["id"] for index, entry in enumerate(changed["objects"]) if f"objects[{index}]" not in found
    }
    at_origin = {"Skinned"} if last in ("center", "translation") else set()
    assert missed <= {"Dot", *at_origin}
