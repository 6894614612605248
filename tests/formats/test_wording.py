"""Text helpers: no character that controls a terminal passes, and long messages are shortened."""

from __future__ import annotations

import sys
from unicodedata import category

import pytest

from addon.formats.wording import message_line, single_line

DANGEROUS = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if category(chr(code)) in ("Cc", "Cs", "Zl", "Zp") or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069
]
"""Control characters, surrogates, separators, and Unicode's explicit directional formatting (UAX #9)."""


@pytest.mark.smoke
def test_characters_that_control_a_terminal_are_shown_as_escapes():
    shown = single_line("".join(DANGEROUS))
    assert len(DANGEROUS) == 65 + 2048 + 2 + 9
    assert shown.isascii() and shown.isprintable()
    assert single_line("a\n\t\x1b[1m\x9b\u202e") == r"a\n\t\x1b[1m\x9b\u202e"


def test_all_other_characters_are_unchanged():
    dangerous = set(DANGEROUS)
    harmless = "".join(char for char in map(chr, range(sys.maxunicode + 1)) if char not in dangerous)
    is_unchanged = single_line(harmless) == harmless and message_line(harmless[-1000:]) == harmless[-1000:]
    assert is_unchanged  # pytest would compare a million characters one by one


@pytest.mark.parametrize("name", [b"caf\xe9.json", b"\xff", "caf\u00e9".encode()])
def test_bytes_of_file_names_are_shown(name):
    text = name.decode("utf-8", "surrogateescape")
    assert single_line(text) == name.decode("utf-8", "backslashreplace")
    single_line(text).encode()


def test_long_message_keeps_its_start_and_end():
    assert message_line("a" * 1000) == "a" * 1000
    assert message_line("start" + "a" * 10**6 + "end") == f"start{'a' * 495} ... {'a' * 497}end"
