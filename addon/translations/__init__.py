"""Dictionaries of the interface, one file per language. `ui/translation.py` registers them in Blender.

- `de`: German.
- `ja`: Japanese.

Each has `MESSAGES`, from the English text to its translation, sorted by the English text. Both have the same
placeholders. A dictionary contains every text of the interface, also those that Blender knows, because that
depends on its version. Where both have an entry, Blender shows its own.

`MEANINGS` has words that Blender translates with another meaning. The properties and texts that use them have
`CONTEXT` as their translation context, in which Blender has no entries.
"""

from __future__ import annotations

from types import ModuleType

from . import de, ja

CONTEXT = "Collision Bounds"

LANGUAGES: dict[str, ModuleType] = {"de": de, "ja": ja}
"""Dictionary of each language, by the code of the language alone: it serves all countries, such as ja_JP."""


def dictionaries() -> dict[str, dict[tuple[str, str], str]]:
    """Return the dictionaries as Blender needs them: languages, then contexts and texts."""
    # Labels of operators are translated in a context of their own.
    contexts = "*", "Operator"
    return {
        language: {
            **{(context, text): entry for text, entry in words.MESSAGES.items() for context in contexts},
            **{(CONTEXT, text): entry for text, entry in words.MEANINGS.items()},
        }
        for language, words in LANGUAGES.items()
    }
