"""Messages that can be translated: a sentence in English that remembers its template and its values."""

from __future__ import annotations

from typing import Any


class Message(str):
    """A sentence in English. The interface translates its template, and then fills in its values.

    Attributes
    ----------
    template : str
        The sentence with a placeholder for each value, such as "{name}: has no geometry".
    values : dict
        The value of each placeholder. A value that is a message is translated, too.
    """

    template: str
    values: dict[str, Any]


template = str
"""Marks a text that is the template of a message that is made elsewhere."""


def message(template: str, /, **values: Any) -> Message:
    """Return a sentence whose placeholders have these values, as in `str.format`."""
    result = Message(template.format(**values))
    result.template, result.values = template, values
    return result
