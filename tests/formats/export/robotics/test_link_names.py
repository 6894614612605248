"""Names of links: valid identifiers, unique, and unchanged where possible."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.formats.export.robotics.text import RESERVED_NAMES, link_names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Crate", "Crate"),
        ("Crate.001", "Crate_001"),
        ("Würfel", "Wurfel"),
        ("3D Box", "_3D_Box"),
        ('a/b:c "d"', "a_b_c__d_"),
        ("Parent/Child.0", "Parent_Child_0"),
        ("<&>'", "____"),
        ("箱🚗", "__"),
        ("", "_"),
        ("²", "_2"),
        ("٣", "_"),
        ("x\x00\n\x1b", "x___"),
        ("world", "world_2"),
        ("collision", "collision_2"),
        ("n" * 500, "n" * 120),
    ],
)
def test_names_become_identifiers(name, expected):
    assert link_names([name]) == [expected]


def test_valid_name_is_kept_although_another_name_becomes_equal():
    assert link_names(["a b", "a_b", "a-b"]) == ["a_b_2", "a_b", "a_b_3"]
    assert link_names(["Ball", "Ball", "Ball_2"]) == ["Ball", "Ball_3", "Ball_2"]


NAMES = st.one_of(st.text(max_size=4), st.sampled_from(["a", "a_2", "a b", "world", "1"]))


@given(st.lists(NAMES, max_size=9))
def test_names_are_unique_identifiers(names):
    found = link_names(names)
    assert len(found) == len(names) == len(set(found))
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII) for name in found)
    assert not RESERVED_NAMES & set(found)
