"""The commands of docs/install.md: install, update and remove the extension, and run it on a farm."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.paths import TOP
from tests.window.harness import environment_variables, run_blender

pytestmark = pytest.mark.long

PAGE = (TOP / "docs" / "install.md").read_text("utf-8")
CURRENT = tomllib.loads((TOP / "blender_manifest.toml").read_text("utf-8"))["version"]
FORMER = "0.0.9"


def commands(heading: str) -> list[str]:
    """Return the blocks of commands below a heading of the page."""
    section = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return re.findall(r"^```\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL)


def run_commands(home: Path, folder: Path, block: str, address: str = "") -> str:
    """Run commands of the page in a folder, with this Blender and the address of a repository."""
    script = re.sub(r"(https|file):\S+", address, block)
    function = f'blender() {{ "{Path(os.environ["BLENDER"]).absolute()}" "$@"; }}\nset -e\n'
    done = subprocess.run(
        ["bash", "-c", function + script],
        cwd=folder,
        env=environment_variables(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def with_former_version(archive: Path, target: Path) -> None:
    """Write a copy of the zip whose manifest has the former version."""
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(target, "w") as copy:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename == "blender_manifest.toml":
                content = re.sub(rb'(?m)^version = ".*"', f'version = "{FORMER}"'.encode(), content)
            copy.writestr(entry, content)


def installed_version(home: Path, repository: str) -> str | None:
    """Return the version of the installed extension, None without one."""
    manifest = home / "extensions" / repository / "collision_bounds" / "blender_manifest.toml"
    return tomllib.loads(manifest.read_text("utf-8"))["version"] if manifest.is_file() else None


def generate_listing(home: Path, repository: Path) -> None:
    template = TOP / "scripts" / "releasing" / "page.html"
    options = ("--repo-dir", repository, "--html", "--html-template", template)
    ended = run_blender(home, "--command", "extension", "server-generate", *options)
    assert ended.returncode == 0, ended.stderr
    assert "Collision Bounds" in (repository / "index.html").read_text("utf-8")


def files_without_cache(folder: Path) -> list[Path]:
    """Return all files of a folder except the compiled modules of Python."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def new_home(folder: Path, bare: Path, name: str) -> Path:
    shutil.copytree(bare, folder / name, dirs_exist_ok=True)
    return folder / name


def test_repository_installs_updates_and_removes_extension(
    folder: Path, bare: Path, archive: Path, example: Path
) -> None:
    home, repository = new_home(folder, bare, "home with a repository"), folder / "a share" / "repository"
    repository.mkdir(parents=True)
    address = f"{repository.as_uri()}/index.json"
    assert "%20" in address
    with_former_version(archive, repository / f"collision_bounds-{FORMER}.zip")
    generate_listing(home, repository)

    install, update, remove = commands("From a repository")
    run_commands(home, folder, install, address)
    assert installed_version(home, "studio") == FORMER

    # No update before the repository has one.
    run_commands(home, folder, update)
    assert installed_version(home, "studio") == FORMER
    (repository / f"collision_bounds-{FORMER}.zip").unlink()
    shutil.copyfile(archive, repository / f"collision_bounds-{CURRENT}.zip")
    generate_listing(home, repository)
    run_commands(home, folder, update)
    assert installed_version(home, "studio") == CURRENT
    bounds = folder / "from_repository.json"
    command = ("--command", "collision_bounds", "bounds", "-o", bounds)
    ended = run_blender(home, "-b", example, *command)
    assert ended.returncode == 0 and bounds.is_file(), ended.stderr

    run_commands(home, folder, remove)
    assert not (home / "extensions" / "studio" / "collision_bounds").exists()
    bounds.unlink()
    assert run_blender(home, "-b", example, *command).returncode != 0
    assert not bounds.exists()


def test_address_of_a_share_is_accepted(folder: Path, bare: Path, archive: Path) -> None:
    home, repository = new_home(folder, bare, "home with a share"), folder / "another share"
    repository.mkdir()
    shutil.copyfile(archive, repository / f"collision_bounds-{CURRENT}.zip")
    generate_listing(home, repository)
    (add,) = commands("On the share of a studio")
    run_commands(home, folder, add, f"{repository.as_uri()}/index.json")
    listed = run_commands(home, folder, "blender --online-mode --command extension list --sync")
    assert "collision_bounds" in listed


def test_zip_is_installed_from_disk(folder: Path, bare: Path, archive: Path) -> None:
    home = new_home(folder, bare, "home with a zip")
    shutil.copyfile(archive, folder / f"collision_bounds-{CURRENT}.zip")
    (install,) = commands("From disk")
    run_commands(home, folder, install)
    assert installed_version(home, "user_default") == CURRENT


def test_farm_runs_extension_from_a_shared_folder_without_preferences(
    folder: Path, archive: Path, example: Path
) -> None:
    work, home = folder / "farm", folder / "home of a farm node"
    work.mkdir()
    shutil.copyfile(archive, work / f"collision_bounds-{CURRENT}.zip")
    shutil.copyfile(example, work / "level.blend")
    (block,) = commands("On a farm node, or with a read-only home")
    extract, export, run = block.strip().splitlines()
    run_commands(home, work, extract)
    before = files_without_cache(work / "extensions")
    assert len(before) > 100
    run_commands(home, work, f"{export}\n{run}")
    assert (work / "bounds.json").is_file()
    # Nothing is written next to the code, and no preferences.
    assert files_without_cache(work / "extensions") == before
    assert not list(home.rglob("userpref.blend"))
    # Blender enables no add-ons after a scene that it cannot read, and exits with 1.
    (work / "level.blend").write_text("no scene")
    printed = run_commands(home, work, f"{export}\n{run} || echo exit code $?")
    assert "exit code 2" in printed and "level.blend: Blender has no scene file open" in printed


def test_page_names_the_current_version(archive: Path) -> None:
    assert set(re.findall(r"collision_bounds-(\d[\d.]*\d)\.zip", PAGE)) == {CURRENT}


def test_commands_of_the_readme_run_as_written(folder: Path, installed: Path, example: Path) -> None:
    readme = (TOP / "README.md").read_text("utf-8")
    section = re.search(r"^## Command line$(.*?)^## ", readme, re.MULTILINE | re.DOTALL)[1]
    bounds, contacts = re.findall(r"^blender .+$", section, re.MULTILINE)
    work = folder / "readme"
    work.mkdir()
    shutil.copyfile(example, work / "level.blend")
    run_commands(installed, work, bounds)
    assert '"preset": "gltf"' in (work / "bounds.json").read_text("utf-8")
    # The scene has contacts, which this command reports by its exit code.
    code = run_commands(installed, work, f"{contacts} || echo exit code $?")
    assert "exit code 1" in code
