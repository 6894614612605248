"""Convert docs/window to the HTML page that the extension opens as its manual, without a network."""

from __future__ import annotations

import html
import re
from pathlib import Path

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Collision Bounds</title>
<style>
body {{ max-width: 48em; margin: 2em auto; padding: 0 1em; font-family: sans-serif; line-height: 1.5; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""

PAGES = ("index", "bounds", "active-object", "contacts", "touching-now", "display", "colliders", "export")
"""Pages of docs/window, in the order of the manual."""


def manual_source(folder: Path) -> str:
    """Return the pages of a folder as one Markdown text without pictures, whose links lead to its sections.

    The manual has no pictures, because they would take most of the extension's size.
    """
    texts = {name: (folder / f"{name}.md").read_text("utf-8") for name in PAGES}
    source = "\n".join(re.sub(r"^!\[.*\n\n", "", text, flags=re.MULTILINE) for text in texts.values())
    source = re.sub(r"\]\([\w-]+\.md#", "](#", source)
    for name, text in texts.items():
        title = text.partition("\n")[0].removeprefix("# ")
        source = source.replace(f"]({name}.md)", f"](#{anchor(title)})")
    return source


def manual_page(text: str) -> str:
    """Return an HTML page of a page in Markdown.

    Parameters
    ----------
    text : str
        Headings, paragraphs and lists, with bold, italic, code and links inside.

    Returns
    -------
    str
        Headings have the anchors that GitHub gives them. Links to other pages are plain text.

    Raises
    ------
    ValueError
        For a table, a picture or a block of code, because the page would show its source.
    """
    parts = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = block.splitlines()
        if block.startswith(("|", "![", "```")):
            raise ValueError(f"the manual cannot contain: {lines[0]}")
        if heading := re.fullmatch(r"(#+) (.+)", block):
            level, title = len(heading[1]), heading[2]
            parts.append(f'<h{level} id="{anchor(title)}">{_inline(title)}</h{level}>')
        elif re.match(r"[-*] ", block):
            items = re.split(r"\n[-*] ", block[2:])
            parts.append("<ul>\n" + "\n".join(f"<li>{_inline(item)}</li>" for item in items) + "\n</ul>")
        else:
            parts.append(f"<p>{_inline(block)}</p>")
    return _PAGE.format(body="\n".join(parts))


def anchor(title: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _inline(text: str) -> str:
    """Return a text with its marks for bold, italic, code and links as HTML."""
    text = html.escape(" ".join(text.split()), quote=False)
    pieces = re.split(r"(`[^`]+`)", text)
    for i, piece in enumerate(pieces):
        if i % 2:
            pieces[i] = f"<code>{piece[1:-1]}</code>"
            continue
        piece = re.sub(r"\[([^\]]+)\]\((#[^)]+)\)", r'<a href="\2">\1</a>', piece)
        piece = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", piece)
        piece = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", piece)
        pieces[i] = re.sub(r"(?<!\w)\*(\S(?:.*?\S)?)\*(?!\w)", r"<i>\1</i>", piece)
    return "".join(pieces)
