"""Write all files of a release. The same sources give the same bytes, on any system and at any time.

    python scripts/releasing/make.py SCENE.blend -o FOLDER

The Python that runs it must have `bpy`, whose `extension server-generate` lists the extension. SCENE is the
example scene, saved without compression by the oldest Blender, so that all Blenders open it.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

if str(Path(__file__).resolve().parents[1]) not in sys.path:
    # Python adds the folder of this file to the path, not the one above it.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import build_extension
from releasing.blend_file import without_run_dependent_bytes
from releasing.source import source_contents, write_tar

TOP = build_extension.TOP
SUMS = "SHA256SUMS"
_TEXTS = {
    "LICENSE": "LICENSE",
    "CHANGELOG.md": "CHANGELOG.md",
    "collision-bounds.schema.json": "addon/formats/validation/schema.json",
}
"""Text files of a release, and their paths in the checkout. All loaders and the sources are added to them."""


def make_release(folder: Path, scene: Path) -> None:
    """Write a release to a folder, and replace the release that it contains.

    Parameters
    ----------
    folder : Path
        A new folder, or that of a former release.
    scene : Path
        The example scene, uncompressed.

    Raises
    ------
    ValueError
        If the folder has other content, or the scene is not an uncompressed file of Blender 4.2 to 4.5.
    """
    content = without_run_dependent_bytes(scene.read_bytes())
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / SUMS).is_file():
            raise ValueError(f"{folder} has files but is not a release: choose a new folder")
        shutil.rmtree(folder)
    make_repository(folder / "repository")
    (folder / "factory_floor.blend").write_bytes(content)
    texts = {name: TOP / path for name, path in _TEXTS.items()}
    loaders = TOP / "docs" / "loaders"
    texts |= {f"loaders/{path.name}": path for path in loaders.iterdir() if path.is_file()}
    for name, path in texts.items():
        target = folder / name
        target.parent.mkdir(exist_ok=True)
        # A checkout with Windows line endings must give the same release.
        target.write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
    extension = build_extension.default_path()
    # Users look for the zip in this folder. The repository needs it next to its listing.
    shutil.copyfile(folder / "repository" / extension.name, folder / extension.name)
    name = f"{extension.stem}-source"
    write_tar(folder / f"{name}.tar", source_contents(TOP, name))
    (folder / SUMS).write_text(checksums(folder), "utf-8", newline="\n")


def make_repository(folder: Path) -> None:
    """Write the extension to a folder, with the listing and the page of a repository.

    Raises
    ------
    ValueError
        If Blender refuses a zip.
    """
    folder.mkdir(parents=True, exist_ok=True)
    build_extension.build(folder / build_extension.default_path().name)
    template = Path(__file__).parent / "page.html"
    command = [sys.executable, "-I", str(extension_tool()), "server-generate", "--repo-dir", str(folder)]
    command += ["--html", "--html-template", str(template)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    # The tool also ends with 0 if it has skipped a zip.
    if ended.returncode or "rror" in ended.stdout + ended.stderr:
        raise ValueError(f"Blender could not list the extension: {ended.stdout}{ended.stderr}")


def extension_tool() -> Path:
    """Return the program behind Blender's `--command extension`."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        raise ValueError("this Python has no bpy: use dev.py release")
    return next(Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))


def checksums(folder: Path) -> str:
    """Return a line for each file as `sha256sum --check` reads it, sorted by name."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n"
        for name, path in sorted(files.items())
        if name != SUMS
    )


def main() -> None:
    """Make the release and print its folder."""
    parser = argparse.ArgumentParser(description="Write all files of a release.")
    parser.add_argument("scene", type=Path, metavar="SCENE.blend", help="the example scene, uncompressed")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FOLDER", help="folder of the release"
    )
    options = parser.parse_args()
    try:
        make_release(options.output, options.scene)
    except ValueError as problem:
        sys.exit(str(problem))
    print(options.output)


if __name__ == "__main__":
    main()
