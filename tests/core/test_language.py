"""Words and docstring openings that the project avoids, because a newcomer has to read them twice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import TOP

BANNED = """
told, tell, tells, telling, stray, strays, straying, looked at, left out, leave out, leaves out, on show, by
hand, thing, things, whom, news, met, picked, trusted, encounter, encounters, judged, alike, goes by, go by,
hang together, hangs together, hanging together, bump into, bumps into, once more, besides, beside, anew,
door, doors, hurt, hurts, asked, taken as, nothing to tell, for the sake, ours, metre, metres, centre,
centres, colour, colours, neighbour, neighbours
"""
PHRASES = [" ".join(phrase.split()) for phrase in BANNED.split(",")]
NAMES = {"own", "some", "what", "who", "others", "bend", "bends", "way", "ways", "look", "looks"}
OPENING = re.compile(r"(What|Which|Who|Whose|Whether|Those|The same|Of|How|Nor|Such|That)\b")

FILES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "addon/**/*.py", "scripts/**/*.py", "tests/**/*.py")
    for path in TOP.glob(pattern)
    if path != Path(__file__) and "node_modules" not in path.parts
)


def docstrings_and_names(path: Path) -> Iterator[tuple[str, str]]:
    """Docstring and name of each module, class and function, and name of each variable that is assigned."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or "", getattr(node, "name", "")
        elif isinstance(node, ast.arg):
            yield "", node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield "", node.id


@pytest.mark.parametrize("name", [path.relative_to(TOP).as_posix() for path in FILES])
def test_file_has_no_banned_word_name_or_docstring_opening(name):
    words = f" {' '.join(re.findall('[a-z]+', (TOP / name).read_text('utf-8').lower()))} "
    assert {phrase for phrase in PHRASES if f" {phrase} " in words} == set()
    if name.endswith(".py"):
        for docstring, identifier in docstrings_and_names(TOP / name):
            assert not OPENING.match(docstring), docstring
            assert identifier not in NAMES, identifier


def test_phrases_of_two_words_are_found_in_text():
    # The list above is wrapped, so a line may end inside of a phrase.
    assert "by hand" in PHRASES
    assert all(re.fullmatch("[a-z]+( [a-z]+)*", phrase) for phrase in PHRASES)
