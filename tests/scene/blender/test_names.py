"""Names that are not UTF-8: every function that reads names works, and different names stay different."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from addon.formats.document.conversion import read_document
from addon.scene.blender.instances import full_name_of, name_of
from addon.scene.colliders.make import remove_colliders
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.jobs.result import loaded_report
from addon.scene.settings import BoundsSettings, ColliderSettings
from addon.scene.subjects.subject import identify_subjects, with_current_names
from tests.scene.byte_names import save_scene_with_byte_names
from tests.scene.colliders.creating import make_colliders


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("names") / "stage.blend"
    save_scene_with_byte_names(path)
    return path


@pytest.fixture(autouse=True)
def _opened(file: Path) -> None:
    """Open the file. Tests compare only texts and numbers, because Blender crashes in repr of its objects."""
    bpy.ops.wm.open_mainfile(filepath=str(file))


def raw_names() -> list[str | bytes]:
    """Return the names of all objects, as bpy returns them or reports them in an error."""
    names: list[str | bytes] = []
    for item in bpy.data.objects:
        try:
            names.append(item.name)
        except UnicodeDecodeError as error:
            names.append(error.object)
    return sorted(names, key=ascii)


@pytest.mark.smoke
def test_names_that_are_not_utf8_are_shown_as_bytes_and_full_names_differ():
    assert raw_names() == [r"Bad\xff", "Good", b"Bad\xe9", b"Bad\xff"]
    shown, full = sorted(map(name_of, bpy.data.objects)), sorted(map(full_name_of, bpy.data.objects))
    assert shown == [r"Bad\xe9", r"Bad\xff", r"Bad\xff", "Good"]
    assert full == [r"Bad\xff", "Bad\udce9", "Bad\udcff", "Good"]
    stage = name_of(bpy.context.scene)
    assert stage == r"Stage\xfc"


@pytest.mark.smoke
def test_subjects_are_found_again_and_a_report_finds_them():
    result = compute_bounds(bpy.context.scene, BoundsSettings())
    identities = identify_subjects(result.subjects)
    owners = {identity.owner for identity in identities}
    assert len(owners) == 4 and min(owners) > 0
    assert with_current_names(result.subjects, identities) == list(result.subjects)
    _, missing = loaded_report(bpy.context.scene, read_document(result.document()))
    assert missing == ()


@pytest.mark.smoke
def test_colliders_of_objects_with_such_names():
    for _ in range(2):  # the second time updates those of the first
        made = make_colliders(bpy.context.scene, ColliderSettings())
        assert (made.colliders, made.sources, made.skipped) == (4, 4, [])
    parents = sorted(full_name_of(item.parent) for item in bpy.data.objects if item.parent)
    assert parents == [r"Bad\xff", "Bad\udce9", "Bad\udcff", "Good"]
    removed = remove_colliders(bpy.context.scene)
    assert removed == 4
