"""Text helpers that the command line, the tables and the user interface share."""

from __future__ import annotations

_CONTROLS = dict.fromkeys((*range(32), *range(127, 160), *range(0x2028, 0x202F), *range(0x2066, 0x206A)), " ")
"""Control characters, line separators and characters that change the writing direction, as spaces."""


def pluralized(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, such as "1 object" or "3 objects".

    Parameters
    ----------
    number : int
        The count.
    noun : str
        Singular.
    plural : str, optional
        The singular with an s unless given.
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def single_line(name: str) -> str:
    """Return a name for one line of a terminal: Blender allows line breaks and escapes in names."""
    return name if name.isprintable() else name.translate(_CONTROLS)


def format_duration(seconds: float) -> str:
    """Return a duration such as 1:05 or 2:00:00."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
