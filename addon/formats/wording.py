"""How messages say things, alike at every door."""

from __future__ import annotations

_CONTROLS = dict.fromkeys((*range(32), *range(127, 160), *range(0x2028, 0x202F), *range(0x2066, 0x206A)), " ")
"""What breaks a line, or turns the direction of all that follows."""


def counted(number: int, one: str, many: str = "") -> str:
    """Such as "1 object" and "3 objects"; `many` where it is not `one` with an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def on_a_line(name: str) -> str:
    """A name as a terminal can show it in a line: Blender takes line breaks and escapes in names."""
    return name if name.isprintable() else name.translate(_CONTROLS)
