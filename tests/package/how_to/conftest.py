"""Fixture of the tests that go through the how-to pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.package.how_to.user import User


@pytest.fixture(scope="session")
def user_home(zip_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Home with the extension, installed from its zip by the command of docs/install.md."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("installer")
    User(folder, home).run(f'blender --command extension install-file -r user_default -e "{zip_path}"')
    return home


@pytest.fixture
def user(tmp_path: Path, scene_path: Path, zip_path: Path, user_home: Path) -> User:
    """Return a reader with the extension and the files of a release, in a new folder."""
    reader = User(tmp_path, user_home)
    reader.copy_release(scene_path, zip_path)
    return reader
