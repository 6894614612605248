"""Labels in bold or italics on pages for users are those of the interface, or of another program."""

from __future__ import annotations

import re

import pytest

from tests.paths import TOP

PAGES = [
    TOP / "README.md",
    *(TOP / "docs" / f"{name}.md" for name in ("guide", "window", "faq", "python")),
    *sorted((TOP / "docs" / "how-to").glob("*.md")),
]

OTHER_PROGRAMS = {
    # Blender
    "Install from Disk",
    "Object Types",
    "Mesh",
    "Adjust Last Operation",
    "Online Manual",
    "Preferences > Keymap",
    # Unreal
    "Combine Meshes",
    "Generate Missing Collision",
    "Collision > Simple Collision",
    "Python Editor Script Plugin",
    # Unity
    "Reimport",
    # Godot
    "Debug > Visible Collision Shapes",
}

# Translations are not sources: a label that is renamed may still have its old entry there.
QUOTED = "\n".join(
    path.read_text("utf-8")
    for path in sorted((TOP / "addon").rglob("*.py"))
    if path.parent.name != "translations"
)


PRESETS = {path.stem.replace("_", " ") for path in (TOP / "addon" / "presets").rglob("*.py")}


def is_known(label: str) -> bool:
    """Return whether the interface has a label, or an option and its item with a colon between."""
    return (
        label in OTHER_PROGRAMS | PRESETS
        or f'"{label}' in QUOTED
        or (": " in label and all(f'"{part}"' in QUOTED for part in label.split(": ")))
    )


def labels(text: str) -> set[str]:
    """Return phrases in bold or italics that begin with a capital and are no sentences."""
    text = text.partition("\n## Features")[0]  # their first words are in bold, too
    text = re.sub(r"^```.*?^```$|`[^`]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"(?<![*\w])\*{1,2}([A-Z][^*\n]*?)\*{1,2}(?![*\w])", text)
    return {phrase for phrase in found if not phrase.endswith((".", ","))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(TOP).as_posix())
def test_labels_are_in_the_interface(page):
    assert {label for label in labels(page.read_text("utf-8")) if not is_known(label)} == set()
