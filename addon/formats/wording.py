"""How messages say things, alike at every door."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Such as "1 object" and "3 objects"; `many` where it is not `one` with an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"
