"""Build the extension's zip: the same bytes from the same sources, wherever and whenever it is built.

    python scripts/build_extension.py [-o FILE.zip]

Blender wants `__init__.py` beside the manifest, so the contents of `addon/` move to the top of the zip.
"""

from __future__ import annotations

import argparse
import tomllib
import zipfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]

# The zip format cannot say "no time"; this is the earliest it has.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o644 << 16


def contents() -> dict[str, Path]:
    """What goes into the zip: name in the zip, file in the checkout."""
    files = {name: TOP / name for name in ("blender_manifest.toml", "LICENSE")}
    for path in (TOP / "addon").rglob("*"):
        if path.is_file() and path.suffix in {".py", ".json"}:
            files[path.relative_to(TOP / "addon").as_posix()] = path
    return files


def default_path() -> Path:
    """build/collision_bounds-VERSION.zip."""
    manifest = tomllib.loads((TOP / "blender_manifest.toml").read_text("utf-8"))
    return TOP / "build" / f"{manifest['id']}-{manifest['version']}.zip"


def build(target: Path) -> None:
    """Write the zip to `target`, making its folder if need be."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        for name, path in sorted(contents().items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_STORED  # compressors differ from system to system
            entry.create_system = 3  # Unix, on every system, since the permissions below are Unix's
            entry.external_attr = _READABLE
            # A checkout with Windows line ends must not make another zip.
            archive.writestr(entry, path.read_bytes().replace(b"\r\n", b"\n"))


def main() -> None:
    """Build and say where."""
    parser = argparse.ArgumentParser(description="Build the extension's zip.")
    parser.add_argument("-o", "--output", type=Path, default=default_path(), metavar="FILE.zip")
    target = parser.parse_args().output
    build(target)
    print(target)


if __name__ == "__main__":
    main()
