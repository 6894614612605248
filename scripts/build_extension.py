"""Build the extension's zip. The same sources give the same bytes, on any system and at any time.

    python scripts/build_extension.py [-o FILE.zip]

Blender requires `__init__.py` in the folder of the manifest, so the contents of `addon/` move to the top of
the zip.
"""

from __future__ import annotations

import argparse
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

from releasing.manual_page import manual_page, manual_source

TOP = Path(__file__).resolve().parents[1]

# A zip entry must have a time. This is the earliest time of the format.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_PERMISSIONS, _PROGRAM = 0o644, 0o755


def contents() -> dict[str, Path]:
    """Return the files of the zip that are in the checkout: names in the zip, and paths."""
    files = {name: TOP / name for name in ("blender_manifest.toml", "LICENSE")}
    for path in (TOP / "addon").rglob("*"):
        if path.is_file() and path.suffix in {".py", ".json"}:
            files[path.relative_to(TOP / "addon").as_posix()] = path
    return files


def default_path() -> Path:
    """Return build/collision_bounds-VERSION.zip."""
    manifest = tomllib.loads((TOP / "blender_manifest.toml").read_text("utf-8"))
    return TOP / "build" / f"{manifest['id']}-{manifest['version']}.zip"


def build(target: Path) -> None:
    """Write the zip to `target`. Create its folder if needed."""
    # A checkout with Windows line endings must give the same zip.
    texts = {name: path.read_bytes().replace(b"\r\n", b"\n") for name, path in contents().items()}
    texts["manual.html"] = manual_page(manual_source(TOP / "docs" / "window")).encode()
    write_zip(target, texts)


def write_zip(target: Path, files: Mapping[str, bytes]) -> None:
    """Write a zip of files by their names, with the same bytes on any system. Create its folder if needed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_STORED  # compressed bytes differ between systems
            entry.create_system = 3  # Unix on every system, because the permissions are in Unix format
            entry.external_attr = (_PROGRAM if content.startswith(b"#!") else _PERMISSIONS) << 16
            archive.writestr(entry, content)


def main() -> None:
    """Build the zip and print its path."""
    parser = argparse.ArgumentParser(description="Build the extension's zip.")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=default_path(),
        metavar="FILE.zip",
        help="path of the zip to write",
    )
    target = parser.parse_args().output
    build(target)
    print(target)


if __name__ == "__main__":
    main()
