"""Fixture of the tests that go through the how-to pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.package.how_to.user import User


@pytest.fixture
def user(tmp_path: Path, scene_path: Path, zip_path: Path, user_home: Path) -> User:
    """Return a reader with the extension and the files of a release, in a new folder."""
    reader = User(tmp_path, user_home)
    reader.copy_release(scene_path, zip_path)
    return reader
