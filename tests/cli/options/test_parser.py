"""Parsing of options: full names only, suggestions for mistyped ones, and the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from addon.cli.options.parser import parse_arguments
from addon.cli.options.values import UsageError
from tests.paths import TOP

TYPED = [
    ("bounds scene.blend --pad 1", "unknown option --pad, did you mean --padding?"),
    ("bounds scene.blend --pad=1", "unknown option --pad, did you mean --padding?"),
    ("bounds --pad 1 scene.blend", "unknown option --pad, did you mean --padding?"),
    ("bounds scene.blend --envelop", "unknown option --envelop, did you mean --envelope?"),
    ("contacts scene.blend --fram -5:10", "unknown option --fram, did you mean --frames?"),
    ("contacts scene.blend --claerance 1", "unknown option --claerance, did you mean --clearance?"),
    (
        "contacts scene.blend --no-ignore-parent",
        "unknown option --no-ignore-parent, did you mean --no-ignore-parents?",
    ),
    ("contacts scene.blend --fail", "unknown option --fail, did you mean --fail-on-contact?"),
    ("contacts scene.blend --xyzzy", "unknown option --xyzzy ("),
    ("contacts scene.blend --x", "unknown option --x ("),
    ("validate a.json --quite", "unknown option --quite, did you mean --quiet?"),
    ("bounds scene.blend -objects Crate", "unknown option -objects, did you mean --objects?"),
    ("bounds scene.blend -output=a.json", "unknown option -output, did you mean --output?"),
    ("bounds scene.blend -quiet", "unknown option -quiet, did you mean --quiet?"),
    ("validate a.json b.json", "unexpected argument 'b.json': only one file per run"),
]


@pytest.mark.parametrize(("typed", "message"), TYPED, ids=[typed for typed, _ in TYPED])
def test_abbreviated_option_is_rejected_and_similar_option_is_suggested(typed, message):
    with pytest.raises(UsageError) as caught:
        parse_arguments(typed.split(), opens_file=True)
    assert str(caught.value).startswith(message)
    assert str(caught.value).count("?") == message.count("?")


def test_values_and_files_named_like_options_are_no_options():
    for word in ("h", "o", "q", "o=1", "objects"):
        assert parse_arguments(["bounds", word, "--objects", word], opens_file=True).objects == [word]
        assert (
            parse_arguments(["bounds", "a.blend", "--format=csv", "-o", word], opens_file=True).output == word
        )
        assert parse_arguments(["validate", word], opens_file=True).file == Path(word)
    assert parse_arguments(["validate", "--", "-objects"], opens_file=True).file == Path("-objects")


def test_short_options_can_be_combined_with_values():
    for typed in ("-qo out.json", "-q -oout.json", "-q -o out.json"):
        options = parse_arguments(["bounds", "scene.blend", *typed.split()], opens_file=True)
        assert options.quiet and options.output == "out.json"


def test_scene_argument_is_rejected_inside_blender():
    with pytest.raises(UsageError, match=r"^scene\.blend: is a second scene file; each run reads one"):
        parse_arguments(["bounds", "scene.blend"], opens_file=False)
    assert parse_arguments(["bounds", "--padding", "-1e-1"], opens_file=False).padding == -0.1


def options_in(text: str) -> set[str]:
    """Return the names of all options in a text."""
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*(?![\w-])", text))


def choices_in(text: str, pattern: str, separator: str) -> set[tuple[str, ...]]:
    """Return options with their choices, such as ("--motion", "adaptive", "linear")."""
    return {(name, *choices.split(separator)) for name, choices in re.findall(pattern, text)}


def test_documentation_has_all_options_and_choices_of_help(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    page = (TOP / "docs" / "command-line.md").read_text("utf-8")
    documented = "\n".join(re.findall(r"^\| (`-.*?`) \| ", page, re.MULTILINE))
    for command in ("bounds", "contacts", "check-colliders", "validate"):
        with pytest.raises(SystemExit):
            parse_arguments([command, "--help"], opens_file=True)
    shown = capsys.readouterr().out
    options = "\n".join(re.findall(r"^  (-.*?)(?:  |$)", shown, re.MULTILINE))
    assert options_in(documented) == options_in(options) - {"-h", "--help"}
    documented_choices = choices_in(documented, r"(--[a-z-]+) (\w+(?:\\\|\w+)+)", "\\|")
    assert documented_choices <= choices_in(options, r"(--[a-z-]+) \{([^}]*)\}", ",")
    assert len(documented_choices) == 9
