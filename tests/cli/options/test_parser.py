"""Parsing of options: full names only, suggestions for mistyped ones, and the documentation."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from addon.cli.parser import UsageError, parse_arguments
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


SECTIONS = {
    "## Options of `bounds` and `contacts`": ("bounds", "contacts"),
    "Options of `bounds` only:": ("bounds",),
    "Options of `contacts` only:": ("contacts",),
    "Option of `validate` only:": ("validate",),
}
"""Begin of each table of options on the page, with the commands that have them."""

NOT_SHOWN = {"--frame-share", "--join-shares", "--share-exit-code"}
"""Options that only runs over many files need."""


def rows_of(section: str) -> list[str]:
    """Return the cells with the options of a table of the page, each with its description."""
    page = (TOP / "docs" / "command-line.md").read_text("utf-8")
    table = page.split(section)[1].split("|---|---|\n")[1].split("\n\n")[0]
    return [row.strip("| ") for row in table.splitlines()]


def options_in(text: str) -> set[str]:
    """Return the names of all options in a text."""
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*(?![\w-])", text))


def help_of(command: str, capsys) -> dict[str, str]:
    """Return the lines of the help of a command by the option, the name of each spelling."""
    with pytest.raises(SystemExit):
        parse_arguments([command, "--help"], opens_file=True)
    lines = re.findall(r"^  (-.*?)(?:(?:  |\n) +(.*))?$", capsys.readouterr().out, re.MULTILINE)
    return {name: f"{names} {text}" for names, text in lines for name in options_in(names)}


@pytest.mark.parametrize("command", ["bounds", "contacts", "validate"])
def test_tables_of_the_page_have_the_options_choices_and_defaults_of_the_help(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    shown = help_of(command, capsys)
    rows = {
        name: row.split(" | ", 1)
        for section, commands in SECTIONS.items()
        if command in commands
        for row in rows_of(section)
        for name in options_in(row.split(" | ")[0])
    }
    in_all = {"-h", "--help", *(["-q", "--quiet"] if command == "validate" else [])}
    assert set(rows) == set(shown) - in_all and not set(shown) & NOT_SHOWN
    for name, (options, meaning) in rows.items():
        for choices in re.findall(rf"{name} (\w+(?:\\\|\w+)+)", options):
            assert sorted(choices.split("\\|")) == sorted(re.search(r"\{(.*?)\}", shown[name])[1].split(","))
        default = re.search(r"\(default: `?([\w,.]+)`?\)", meaning)
        assert default is None or f"(default: {default[1]})" in shown[name]


def test_page_has_all_options_of_check_colliders(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    page = (TOP / "docs" / "command-line.md").read_text("utf-8").split("## Checking colliders")[1]
    shown = set(help_of("check-colliders", capsys))
    assert shown - {"-h", "--help", "--output", "--quiet"} <= options_in(page)


def test_options_for_runs_over_many_files_are_on_the_page_about_these():
    page = (TOP / "docs" / "pipelines.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(--[a-z-]+) ", page, re.MULTILINE)) >= NOT_SHOWN
    arguments = shlex.split(
        "contacts a.blend -o a.json --frame-share 1/2 --join-shares 2 --share-exit-code 4"
    )
    options = parse_arguments(arguments, opens_file=True)
    assert (options.frame_share, options.join_shares, options.share_exit_code) == ((0, 2), 2, 4)
