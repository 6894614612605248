"""Checks of docs/math.md: its figures exist, and its tables of pairs agree with the code."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Capsule,
    InvalidShapeError,
    Obb,
    Segment,
    Sphere,
    Triangle,
    TriangleMesh,
    closest_time,
    first_impact,
    minimum_translation,
    overlap_span,
    overlaps,
    separation,
    sphere_tree_from_triangles,
    time_of_impact,
    witness_points,
)
from addon.core.motion import samples
from addon.core.scan import rounds, scan, subdivision
from tests.paths import TOP

DOCS = TOP / "docs"
TEXT = (DOCS / "math.md").read_text(encoding="utf-8")

CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
SHAPES: dict[str, Any] = {
    "Sphere": Sphere([3, 0, 0], 1),
    "Segment": Segment([0, 0, 0], [1, 0, 0]),
    "Triangle": Triangle(*CORNERS),
    "Aabb": Aabb([0, 0, 0], [1, 1, 1]),
    "Obb": Obb([0, 0, 0], [1, 1, 1], np.eye(3)),
    "Capsule": Capsule([0, 0, 0], [0, 0, 1], 1, 1),
    "SphereTree": sphere_tree_from_triangles(CORNERS[None]),
    "TriangleMesh": TriangleMesh(Triangle(*CORNERS[:, None])),
}


def pairs_in_table() -> set[frozenset[str]]:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in TEXT.splitlines() if "|" in line]
    heads = next(row for row in rows if row[0] == "" and row[1:] == list(SHAPES))
    at = rows.index(heads)
    return {
        frozenset((row[0], head))
        for row in rows[at + 2 : at + 2 + 5]
        for head, cell in zip(heads, row, strict=True)
        if cell == "yes"
    }


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("0.0002 frames for the first contact of a pair", samples.FIRST_TOLERANCE),
        ("and 0.005 for later contacts and for all ends", rounds.LATER_TOLERANCE),
        (
            "until their corners deviate from their chords by at most a thousandth of the size",
            rounds.TURN * samples.GRAZE,
        ),
        ("if they are below 1e-4 of the smaller object's size", samples.GRAZE),
        ("or below 2^-21 of the largest coordinate", subdivision._ROUNDING),
        ("halved, down to 2^-13 frame", samples.SHORTEST),
        ("more than eight times as fast as just before and after", samples._ABRUPT),
        ("unless 60 samples of a pair between two frames", 2 * subdivision._MOST_SAMPLES),
        ("or 12,000 parts for proven motion", samples.MOST_UNTIL_CONTACT),
        ("begins with up to 256 intervals together", scan._LONGEST_BLOCK),
    ],
)
def test_limits_that_the_page_names_are_those_of_the_search(sentence, value):
    assert sentence in " ".join(TEXT.split())
    words = {"a thousandth": "0.001", "eight": "8"}
    numbers = [
        words.get(each, each)
        for each in re.findall(r"a thousandth|eight|2\^-\d+|\d[\d.,]*(?:e-\d+)?", sentence)
    ]
    base, _, exponent = numbers[0].replace(",", "").partition("^")
    assert float(base) ** int(exponent or "1") == pytest.approx(value, rel=1e-12)


def test_figures_of_document_are_those_in_folder():
    shown = set(re.findall(r"\]\((images/math/[^)]+)\)", TEXT))
    assert shown == {file.relative_to(DOCS).as_posix() for file in (DOCS / "images" / "math").rglob("*.svg")}


def test_every_link_to_heading_has_target():
    headings = {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", TEXT)) <= headings


@pytest.mark.parametrize("query", [separation, overlaps, witness_points, minimum_translation])
def test_pairs_in_table_are_those_that_support_query(query):
    answered = set()
    for first, second in product(SHAPES, repeat=2):
        try:
            query(SHAPES[first], SHAPES[second])
        except InvalidShapeError:
            continue
        answered.add(frozenset((first, second)))
    assert answered == pairs_in_table()


def moving_pairs_in_table(column: int) -> set[frozenset[str]]:
    """Return the pairs with an entry in a column of the table of motion, such as 'Obb with Sphere or Obb'."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in TEXT.splitlines() if "|" in line]
    at = next(i for i, row in enumerate(rows) if row[:2] == ["pair", "`time_of_impact`, `first_impact`"])
    found = set()
    for row in rows[at + 2 :]:
        first, *partners = [word for word in re.findall(r"\w+", row[0]) if word in SHAPES] or [""]
        if not partners:
            return found
        if row[column]:
            found |= {frozenset((first, other)) for other in partners}
    raise AssertionError("the table does not end")


@pytest.mark.parametrize(
    ("query", "column"), [(time_of_impact, 1), (first_impact, 1), (overlap_span, 2), (closest_time, 3)]
)
def test_moving_pairs_in_table_are_those_that_support_query(query, column):
    answered = set()
    for first, second in product(SHAPES, repeat=2):
        try:
            query(SHAPES[first], SHAPES[first], SHAPES[second], SHAPES[second])
        except InvalidShapeError:
            continue
        answered.add(frozenset((first, second)))
    assert answered == moving_pairs_in_table(column)
