"""JavaScript libraries of the page: where they are, and their text."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

VENDOR = Path(__file__).parent / "vendor"
"""Folder with the libraries, their licenses, versions and hashes. `dev.py libraries` updates it."""

MODULES = ("main", "texts", "table", "contacts", "objects", "files", "timeline", "separation")
VIEW_MODULE = "bounds_view"

TABLE_AND_CHARTS = {
    "tabulator-tables": "tabulator-tables/tabulator_esm.min.mjs",
    "uplot": "uplot/uPlot.esm.js",
}
VIEW = {
    "three": "three/three.module.js",
    "three.core": "three/three.core.js",
    "three/OrbitControls": "three/OrbitControls.js",
}
STYLES = ("tabulator-tables/tabulator_simple.min.css", "uplot/uPlot.min.css")
PACKAGES = {"tabulator-tables": "Tabulator", "uplot": "uPlot", "three": "three.js"}


def javascript_modules(*, has_view: bool) -> dict[str, str]:
    """Return the packed text of each JavaScript module by its name in imports."""
    texts = {}
    for name, file in (TABLE_AND_CHARTS | (VIEW if has_view else {})).items():
        text = (VENDOR / file).read_text("utf-8")
        # An import by a relative path cannot be found from a module without a folder.
        texts[name] = text.replace("'./three.core.js'", "'three.core'")
    for name in (*MODULES, *((VIEW_MODULE,) if has_view else ())):
        texts[f"report/{name}"] = (Path(__file__).parent / "page" / f"{name}.mjs").read_text("utf-8")
    return {name: packed(text) for name, text in texts.items()}


def library_style() -> str:
    """Return the style sheets of the libraries."""
    return "\n".join(_without_source_map((VENDOR / name).read_text("utf-8")) for name in STYLES)


def library_licenses(*, has_view: bool) -> dict[str, str]:
    """Return the text of the license of each library that the page has."""
    names = PACKAGES if has_view else {key: name for key, name in PACKAGES.items() if key != "three"}
    return {title: (VENDOR / package / "LICENSE").read_text("utf-8") for package, title in names.items()}


def packed(text: str) -> str:
    """Return a text compressed by gzip, in base64; the same text gives the same bytes."""
    return base64.b64encode(gzip.compress(text.encode("utf-8"), mtime=0)).decode("ascii")


def _without_source_map(style: str) -> str:
    """Return a style sheet without its last comment, which names a file that the page does not have."""
    return style.partition("/*# sourceMappingURL")[0]
