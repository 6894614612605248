"""Translation of the interface: texts that Blender does not translate itself because they contain values.

Blender translates names and descriptions of classes and properties, and texts that are literals in calls of a
layout. Every other text is passed to one of these functions, as a whole sentence with a named placeholder for
each value. They are named as in Blender's own scripts: `iface_` for labels, `tip_` for tooltips, `rpt_` for
reports and error messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.app.translations import pgettext_iface, pgettext_rpt, pgettext_tip

from .. import translations
from ..core import CollisionBoundsError
from ..core.messages import Message

_MEANINGS = frozenset().union(*(words["meanings"] for words in translations.LANGUAGES.values()))


def n_(text: str) -> str:
    """Return a text unchanged: it is translated where it is shown."""
    return text


def iface_(text: str, /, **values: Any) -> str:
    """Translate a text of a label or a button, and fill in its values."""
    translated: Any = pgettext_iface(text)  # the type stubs of Blender 4.2 lack the return type
    return translated.format(**values) if values else translated


def meaning_(text: str) -> str:
    """Translate a label with a word that Blender translates with another meaning, if it is among these."""
    if text in _MEANINGS:
        return pgettext_iface(text, translations.CONTEXT)
    return pgettext_iface(text)


def tip_(text: str, /, **values: Any) -> str:
    """Translate a text of a tooltip, and fill in its values."""
    translated: Any = pgettext_tip(text)  # the type stubs of Blender 4.2 lack the return type
    return translated.format(**values) if values else translated


def rpt_(text: str, /, **values: Any) -> str:
    """Translate a text of a report, and fill in its values."""
    translated: Any = pgettext_rpt(text)  # the type stubs of Blender 4.2 lack the return type
    return translated.format(**values) if values else translated


def iface_count(count: int, one: str, many: str, /, **values: Any) -> str:
    """Translate a label with a number: `one` if the count is 1, else `many`. Both can contain {count}."""
    return iface_(one if count == 1 else many, count=count, **values)


def rpt_count(count: int, one: str, many: str, /, **values: Any) -> str:
    """Translate a report with a number: `one` if the count is 1, else `many`. Both can contain {count}."""
    return rpt_(one if count == 1 else many, count=count, **values)


def translated(text: str) -> str:
    """Translate a message of another layer. A text that is none stays as it is."""
    if isinstance(text, Message):
        values = {
            name: translated(value) if isinstance(value, Message) else value
            for name, value in text.values.items()
        }
        return rpt_(text.template, **values)
    return text


def error_text(error: CollisionBoundsError) -> str:
    """Return the message of an error, translated if it has a template."""
    return translated(error.message)


def joined(parts: Iterable[str]) -> str:
    """Join phrases that stand alone into a list."""
    text, *following = parts
    for part in following:
        text = rpt_("{list}, {item}", list=text, item=part)
    return text


def sentences(parts: Iterable[str]) -> str:
    """Join sentences."""
    text, *following = parts
    for part in following:
        text = rpt_("{text}. {sentence}", text=text, sentence=part)
    return text


def attach() -> None:
    """Register the dictionaries of all languages."""
    bpy.app.translations.register(translations.__name__, translations.dictionaries())


def detach() -> None:
    """Unregister the dictionaries."""
    bpy.app.translations.unregister(translations.__name__)
