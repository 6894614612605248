"""A release has the same bytes after each run, complete check sums, and a scene that Blender reads."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from releasing import blend_file
from releasing.blend_file import without_run_dependent_bytes
from releasing.source import source_files
from tests.package.command_line import run_commands
from tests.package.test_versions import PYTHONS
from tests.paths import TOP

pytestmark = pytest.mark.long

MAKE = TOP / "scripts" / "releasing" / "make.py"


@pytest.fixture(scope="module")
def oldest() -> Path:
    """Python of the oldest Blender."""
    if "4.2" not in PYTHONS:
        pytest.skip("needs the environment of Blender 4.2 in build/environments: dev.py test creates it")
    return PYTHONS["4.2"]


@pytest.fixture(scope="module")
def releases(oldest, tmp_path_factory) -> list[Path]:
    """Folders of two releases, each with all steps."""
    folders = []
    for name in ("first", "second"):
        folder = tmp_path_factory.mktemp(name)
        scene, target = folder / "factory_floor.blend", folder / "release"
        example = [oldest, TOP / "scripts" / "example_scene.py", scene, "--uncompressed"]
        subprocess.run(example, capture_output=True, check=True)
        done = subprocess.run(
            [sys.executable, MAKE, scene, "-o", target], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        folders.append(target)
    return folders


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_two_releases_have_the_same_bytes(releases):
    first, second = map(content, releases)
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []


def test_scenes_of_two_runs_differ_before_they_are_cleaned(releases):
    scenes = [(folder.parent / "factory_floor.blend").read_bytes() for folder in releases]
    assert scenes[0] != scenes[1]


def test_ends_of_screen_edges_have_one_order(releases):
    """Blender sorts them by their addresses in memory."""
    content = (releases[0].parent / "factory_floor.blend").read_bytes()
    blocks = list(blend_file._blocks(content))
    dna = next(content[each.start : each.start + each.size] for each in blocks if each.code == b"DNA1")
    names = [name for name, _ in blend_file._layout(dna).structs]
    swapped = bytearray(content)
    edges = [block.start for block in blocks if names[block.struct_index] == "ScrEdge"]
    for edge in edges:  # the second edge of an array stays as it is
        swapped[edge + 16 : edge + 32] = content[edge + 24 : edge + 32] + content[edge + 16 : edge + 24]
    assert len(edges) > 10 and bytes(swapped) != content
    assert without_run_dependent_bytes(bytes(swapped)) == without_run_dependent_bytes(content)


def test_check_sums_cover_all_files(releases):
    files = content(releases[0])
    sums = dict(reversed(line.split("  ", 1)) for line in files.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def test_release_has_repository_scene_schema_loaders_and_licenses(releases):
    files = content(releases[0])
    assert (
        files["collision-bounds.schema.json"]
        == (TOP / "addon" / "formats" / "validation" / "schema.json").read_bytes()
    )
    loaders = {
        path.name: path.read_bytes() for path in (TOP / "docs" / "loaders").iterdir() if path.is_file()
    }
    assert "LICENSE" in loaders
    released = {name[8:]: data for name, data in files.items() if name.startswith("loaders/")}
    assert released == loaders
    assert {"LICENSE", "CHANGELOG.md", "factory_floor.blend", "repository/index.html"} <= set(files)


def test_source_is_that_of_the_checkout_with_and_without_git(releases, tmp_path):
    (archive,) = releases[0].glob("collision_bounds-*-source.tar")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
        modes = {entry.name: entry.mode for entry in opened}
    top = tmp_path / archive.stem
    assert source_files(top) == source_files(TOP)
    for path in (Path("scripts/dev.py"), Path("scripts/batch.py"), Path("docs/images/contact.webp")):
        assert (top / path).read_bytes() == (TOP / path).read_bytes()
    assert modes[f"{archive.stem}/.ci/run"] == 0o755 and modes[f"{archive.stem}/README.md"] == 0o644
    # The sources build the same extension.
    command = [sys.executable, top / "scripts" / "build_extension.py", "-o", tmp_path / "built.zip"]
    subprocess.run(command, check=True, capture_output=True)
    (released,) = (releases[0] / "repository").glob("*.zip")
    assert (tmp_path / "built.zip").read_bytes() == released.read_bytes()


@pytest.fixture
def checkout(tmp_path) -> Path:
    """Return a folder with a new repository, and nothing added to it."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("/build\n", "utf-8")
    for name in ("build/left.txt", "addon/new.py", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text", "utf-8")
    return tmp_path


def test_source_has_files_that_are_not_added_to_git_yet(checkout):
    expected = [Path(name) for name in (".gitignore", "README.md", "addon/new.py")]
    assert source_files(checkout) == expected
    subprocess.run(["git", "add", "README.md"], cwd=checkout, check=True)
    assert source_files(checkout) == expected
    (checkout / "README.md").unlink()
    assert source_files(checkout) == [Path(".gitignore"), Path("addon/new.py")]


def test_source_without_files_is_an_error(checkout):
    (checkout / ".gitignore").write_text("*\n", "utf-8")
    with pytest.raises(ValueError, match="has no sources"):
        source_files(checkout)


def test_the_only_zip_next_to_the_other_files_is_the_extension(releases):
    """Blender's Install from Disk lists the zips of a folder, and accepts any zip."""
    (archive,) = releases[0].glob("*.zip")
    assert archive.read_bytes() == (releases[0] / "repository" / archive.name).read_bytes()
    with zipfile.ZipFile(archive) as opened:
        assert "blender_manifest.toml" in opened.namelist()


def test_listing_has_hash_and_size_of_the_zip(releases):
    files = content(releases[0])
    (entry,) = json.loads(files["repository/index.json"])["data"]
    archive = files[f"repository/{entry['archive_url'].removeprefix('./')}"]
    assert entry["archive_hash"] == f"sha256:{hashlib.sha256(archive).hexdigest()}"
    assert entry["archive_size"] == len(archive)
    # The link that is dragged into Blender.
    assert re.search(
        r'href="\./collision_bounds-[\d.]+\.zip\?repository=', files["repository/index.html"].decode()
    )


@pytest.mark.parametrize("version", PYTHONS)
def test_cleaned_scene_gives_the_same_documents(releases, tmp_path, version):
    written = []
    for scene in (releases[0].parent / "factory_floor.blend", releases[0] / "factory_floor.blend"):
        paths = [tmp_path / f"{len(written)}_{command}.json" for command in ("bounds", "contacts")]
        commands = [("bounds", scene, "-q", "--shapes", "sphere,aabb,obb", "-o", paths[0])]
        commands += [("contacts", scene, "-q", "--shape", "aabb", "-o", paths[1])]
        run_commands(PYTHONS[version], commands)
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1]
    assert len(json.loads(written[0][1])["contacts"]) > 3


def test_release_replaces_a_release_and_refuses_other_folders(releases, tmp_path):
    scene = releases[0].parent / "factory_floor.blend"
    before = content(releases[1])
    (releases[1] / "repository" / "collision_bounds-0.0.1.zip").write_bytes(b"of a former release")
    subprocess.run([sys.executable, MAKE, scene, "-o", releases[1]], capture_output=True, check=True)
    assert content(releases[1]) == before
    (tmp_path / "letter.txt").write_text("keep", "utf-8")
    done = subprocess.run(
        [sys.executable, MAKE, scene, "-o", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.strip() == f"{tmp_path} has files but is not a release: choose a new folder"
    assert content(tmp_path) == {"letter.txt": b"keep"}


@pytest.mark.parametrize("data", [b"", b"BLENDER-v300", b"\x28\xb5\x2f\xfd compressed"])
def test_other_files_are_refused(data):
    with pytest.raises(ValueError, match=r"must be an uncompressed \.blend file of Blender 4\.2"):
        without_run_dependent_bytes(data)
