"""The subject that each instance is, compared with a dictionary of keys."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.core.progress import run_to_end
from addon.scene.blender.instances import read_instance_table
from addon.scene.settings import FitSettings, Selection
from addon.scene.subjects.find import find_subjects
from addon.scene.subjects.reader import SubjectReader
from tests.scene.blender.test_instance_table import build_mixed_scene
from tests.scene.building import open_empty_file
from tests.scene.jobs.test_many_instances import MAKERS


def subjects_and_table(selection):
    depsgraph = bpy.context.evaluated_depsgraph_get()
    subjects, _ = find_subjects(bpy.context.scene, depsgraph, selection)
    return subjects, run_to_end(read_instance_table(depsgraph, lambda _: None))


def check_matches(subjects, table):
    index_of = {subject.key: index for index, subject in enumerate(subjects)}
    expected = [index_of.get(table.key_of(row), -1) for row in range(len(table.kind_of))]
    assert max(expected) >= 0
    for sequence in (subjects, list(subjects)):
        assert SubjectReader(sequence, FitSettings()).subjects_of(table).tolist() == expected


@pytest.mark.smoke
@pytest.mark.parametrize("patterns", [(), ("Outer*",), ("*.1", "Cube")])
def test_rows_of_mixed_instances_are_the_subjects_with_their_keys(patterns):
    build_mixed_scene()
    check_matches(*subjects_and_table(Selection(patterns)))


def test_instances_that_came_or_went_since_the_subjects_were_found_are_recognized():
    open_empty_file()
    MAKERS["nodes"](300)
    subjects, table = subjects_and_table(Selection())
    open_empty_file()
    MAKERS["nodes"](500)
    more, larger = subjects_and_table(Selection())
    check_matches(subjects, larger)
    check_matches(more, table)
    assert (SubjectReader(subjects, FitSettings()).subjects_of(larger) < 0).sum() == 200


def test_loose_parts_and_members_are_assembled_from_their_rows():
    build_mixed_scene()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    from addon.scene.subjects.subject import Subject

    key, member = ("Cube", "Cube", ()), ("Faces", "Faces", ())
    part = Subject(key, "Cube/part.0", "Cube/part.0", "MESH", None, part=0)
    merged = Subject(member, "Merged", "Merged", "COLLECTION", None, members=(member,))
    table = run_to_end(read_instance_table(depsgraph, lambda _: None))
    matcher = SubjectReader([part, merged], FitSettings())
    assert list(matcher.assembled) == [0, 1]
    assert (matcher.subjects_of(table) == -1).all()
    rows = matcher.assembled_rows(table)
    assert sorted(table.key_of(row) for row in rows.tolist()) == [key, member]
    assert not len(SubjectReader([], FitSettings()).assembled_rows(table)) and np.all(
        SubjectReader([], FitSettings()).subjects_of(table) == -1
    )
