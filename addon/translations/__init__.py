"""Dictionaries of the interface, one file per language. `ui/texts.py` registers them in Blender.

German is in `de.json`, Japanese in `ja.json`, where commas and full stops are the full-width ones of Blender.

Each has `messages`, from the English text to its translation, sorted by the English text. Both have the same
placeholders. A dictionary contains every text of the interface, also those that Blender knows, because that
depends on its version. Where both have an entry, Blender shows its own.

Words that Blender translates with another meaning are in `meanings`. The properties and texts that use them
have `CONTEXT` as their translation context, in which Blender has no entries.
"""

from __future__ import annotations

import json
from pathlib import Path

CONTEXT = "Collision Bounds"


LANGUAGES: dict[str, dict[str, dict[str, str]]] = {
    language: json.loads(Path(__file__).with_name(f"{language}.json").read_text("utf-8"))
    for language in ("de", "ja")
}
"""Dictionary of each language, by the code of the language alone: it serves all countries, such as ja_JP."""


def dictionaries() -> dict[str, dict[tuple[str, str], str]]:
    """Return the dictionaries as Blender needs them: languages, then contexts and texts."""
    # Labels of operators are translated in a context of their own.
    contexts = "*", "Operator"
    return {
        language: {
            **{(context, text): entry for text, entry in words["messages"].items() for context in contexts},
            **{(CONTEXT, text): entry for text, entry in words["meanings"].items()},
        }
        for language, words in LANGUAGES.items()
    }
