"""Numbers and comments of files for robots."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.formats.export.robotics.text import comment_text, decimal_text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1.0"), (-0.0, "0.0"), (1e-9, "1.0e-09"), (2.5e-7, "2.5e-07"), (1e300, "1.0e+300"), (0.1, "0.1")],
)
def test_numbers_have_a_point(value, text):
    assert decimal_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_as_the_same_number_and_match_the_pattern_of_yaml(value):
    text = decimal_text(value)
    assert float(text) == value
    assert re.fullmatch(r"-?[0-9]+\.[0-9]*([eE][-+][0-9]+)?", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a--b", "a- -b"), ("a-", "a- "), ("---", "- - - "), ("a\nb", "a?b"), ("Würfel 🚗", "Würfel 🚗")],
)
def test_comments_end_no_comment_and_have_one_line(text, expected):
    assert comment_text(text) == expected


@given(st.text())
def test_comments_are_valid_in_xml(text):
    comment = comment_text(text)
    assert "--" not in comment and not comment.endswith("-") and comment.isprintable()
