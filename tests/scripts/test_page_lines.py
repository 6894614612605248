"""Lines of prose on the pages are short enough to compare two versions of them side by side."""

from __future__ import annotations

import re

import pytest

from tests.documented import PAGES
from tests.paths import TOP

MAX_CHARACTERS = 120


def long_lines(text: str) -> list[str]:
    """Return lines that are too long, except code, tables, headings, quotes, pictures and single words."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "#", ">", "!["))]
    return [line for line in lines if len(line) > MAX_CHARACTERS and len(line.split()) > 2]


@pytest.mark.parametrize("page", PAGES)
def test_prose_is_wrapped(page):
    assert long_lines((TOP / page).read_text("utf-8")) == []
