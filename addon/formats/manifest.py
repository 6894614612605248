"""Version of the extension, from its manifest."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path


@cache
def extension_version() -> str:
    """Return the version in the manifest, which is in the package, or above the package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package, package.parent):
        manifest = folder / "blender_manifest.toml"
        if manifest.is_file():
            return str(tomllib.loads(manifest.read_text("utf-8"))["version"])
    raise FileNotFoundError(f"blender_manifest.toml is neither in {package} nor above it")
