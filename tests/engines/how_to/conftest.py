"""Fixture of the tests that go through pages with programs that need no bpy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import environments
from tests.package.how_to.user import User
from tests.paths import TOP


@pytest.fixture(scope="session")
def user(tmp_path_factory) -> User:
    """Return a reader with the extension and the files of a release."""
    try:
        blender = environments.newest_blender().ready()
    except environments.MissingProgramError as missing:
        pytest.skip(str(missing))
    folder, home, source = (tmp_path_factory.mktemp(name) for name in ("user", "home", "source"))
    archive, scene = source / "extension.zip", source / "scene.blend"
    subprocess.run([sys.executable, str(TOP / "scripts/build_extension.py"), "-o", str(archive)], check=True)
    make = [str(blender), str(TOP / "scripts/example_scene.py"), str(scene)]
    subprocess.run(make, check=True, capture_output=True)
    reader = User(folder, home, blender)
    reader.copy_release(scene, archive)
    reader.run(f'blender --command extension install-file -r user_default -e "{archive}"')
    return reader
