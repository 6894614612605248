"""The JavaScript libraries in the repository are those of the lock files, with free licenses."""

from __future__ import annotations

import hashlib
import json

import pytest

from environments import GPL_COMPATIBLE_LICENSES, REPORT_LIBRARIES

LOCK = json.loads((REPORT_LIBRARIES / "lock.json").read_text("utf-8"))


@pytest.mark.parametrize("name", sorted(LOCK))
def test_files_of_library_have_the_locked_hashes(name):
    hashes = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (REPORT_LIBRARIES / name).iterdir()
    }
    assert hashes == LOCK[name]["sha256"]
    assert "LICENSE" in hashes


@pytest.mark.parametrize("name", sorted(LOCK))
def test_version_is_that_of_npm_and_license_is_compatible(name):
    locked = json.loads((REPORT_LIBRARIES / "package-lock.json").read_text("utf-8"))["packages"]
    about = locked[f"node_modules/{name}"]
    assert (LOCK[name]["version"], LOCK[name]["license"]) == (about["version"], about["license"])
    assert about["license"] in GPL_COMPATIBLE_LICENSES
    assert "Permission is hereby granted" in (REPORT_LIBRARIES / name / "LICENSE").read_text("utf-8")


def test_only_locked_libraries_are_in_the_folder():
    assert {path.name for path in REPORT_LIBRARIES.iterdir() if path.is_dir()} == set(LOCK)
