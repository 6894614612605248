"""Labels in bold or italics on pages for users are those of the interface, or of another program."""

from __future__ import annotations

import re

import pytest

from tests.paths import TOP

PAGES = [
    TOP / "README.md",
    *(TOP / "docs" / f"{name}.md" for name in ("guide", "faq", "python")),
    *sorted((TOP / "docs" / "window").glob("*.md")),
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
    "Set all glTF Animation Starting at 0",
    "Include > Visible Objects",
    "Data > Mesh > Apply Modifiers",
    "Animation > Rest & Ranges > Use Current Frame as Object Rest Transformations",
    "Animation > Animation Mode: Scene",
    "Split Animation by Object",
    # Unreal
    "Combine Meshes",
    "Generate Missing Collision",
    "Collision > Simple Collision",
    "Python Editor Script Plugin",
    # Unity
    "Reimport",
    # Godot
    "Debug > Visible Collision Shapes",
    "Animation > FPS",
    "Animation > Trimming",
    "Advanced",
    "Optimizer > Enabled",
}

QUOTED = "\n".join(path.read_text("utf-8") for path in sorted((TOP / "addon").rglob("*.py")))


PRESETS = {path.stem.replace("_", " ") for path in (TOP / "addon" / "presets").rglob("*.py")}


# Labels with values, such as "Find Contacts: {count} Selected".
TEMPLATES = [
    ".+".join(map(re.escape, re.split(r"{\w+}", text)))
    for text in re.findall(r'"((?:[A-Z][a-z]\w*:?|{\w+}:) [^"\n]*{\w+}[^"\n]*)"', QUOTED)
]


def is_known(label: str) -> bool:
    """Return whether the interface has a label, maybe with values, or an option and its item."""
    return (
        label in OTHER_PROGRAMS | PRESETS
        or f'"{label}' in QUOTED
        or (": " in label and all(f'"{part}"' in QUOTED for part in label.split(": ")))
        or any(re.fullmatch(pattern, label) for pattern in TEMPLATES)
    )


def labels(text: str) -> set[str]:
    """Return phrases in bold or italics that begin with a capital and are no sentences."""
    text = text.partition("\n## Features")[0]  # their first words are in bold, too
    text = re.sub(r"^```.*?^```$|`[^`]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    found = re.findall(r"(?<![*\w])\*{1,2}([A-Z][^*\n]*?)\*{1,2}(?![*\w])", "\n".join(paragraphs))
    return {phrase for phrase in found if not phrase.endswith((".", ","))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(TOP).as_posix())
def test_labels_are_in_the_interface(page):
    assert {label for label in labels(page.read_text("utf-8")) if not is_known(label)} == set()
