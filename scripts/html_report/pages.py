"""The page: one HTML file from contents, template, style and JavaScript."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from addon.formats import write_text

from .batches import batch_contents
from .contents import document_contents
from .libraries import javascript_modules, library_licenses, library_style
from .separations import separation_curves

PAGE_SUFFIXES = (".html", ".htm")
"""Suffixes of a page."""

_PAGE = Path(__file__).parent / "page"


def write_report(
    source: Path,
    output: Path,
    separations: Sequence[Sequence[str]] = (),
) -> None:
    """Write the page about a document, or about a folder of results.

    Parameters
    ----------
    source : Path
        A document, or a folder with a `summary.json` of `scripts/batch.py`.
    output : Path
        Of the page. It is replaced atomically.
    separations : sequence of (str, str, str), optional
        Two ids, and the file with their separation over time.

    Raises
    ------
    ReportError
        If the source cannot be read.
    OutputError
        If the page cannot be written.
    """
    if source.is_dir():
        contents = batch_contents(source, output)
    else:
        contents = document_contents(source, separation_curves(separations))
    write_text(output, page_text(contents))


def page_text(contents: dict[str, Any]) -> str:
    """Return the page; the same contents give the same bytes."""
    has_view = bool(contents["objects"]) or any("bounds" in row for row in contents["rows"])
    data = json.dumps(contents, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page: str = environment.get_template("page.html.j2").render(
        contents=contents,
        # The data is in a script element, which ends at the next "</script" and has no escapes of its own.
        data=data.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"),
        # A document cannot contain a script with this nonce, because its hash would change.
        nonce=hashlib.sha256(data.encode("utf-8")).hexdigest(),
        modules=json.dumps(javascript_modules(has_view=has_view)),
        start=(_PAGE / "start.js").read_text("utf-8"),
        style=library_style() + (_PAGE / "style.css").read_text("utf-8"),
        licenses=library_licenses(has_view=has_view),
        has_view=has_view,
    )
    return page
