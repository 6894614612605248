"""Tests of the version: it is that of the manifest, in the package or above it."""

from __future__ import annotations

import re

import pytest

from addon.formats import manifest
from tests.paths import TOP


@pytest.fixture(autouse=True)
def not_cached():
    manifest.extension_version.cache_clear()
    yield
    manifest.extension_version.cache_clear()


def test_version_of_a_checkout_is_that_of_its_manifest():
    (written,) = re.findall(r'^version = "(.+)"', (TOP / "blender_manifest.toml").read_text("utf-8"), re.M)
    assert manifest.extension_version() == written


@pytest.mark.parametrize("folder", [".", "package"])
def test_manifest_is_found_above_the_package_and_in_it(folder, tmp_path, monkeypatch):
    module = tmp_path / "package" / "formats" / "manifest.py"
    module.parent.mkdir(parents=True)
    (tmp_path / folder / "blender_manifest.toml").write_text('version = "4.5.6"\n')
    monkeypatch.setattr(manifest, "__file__", str(module))
    assert manifest.extension_version() == "4.5.6"


def test_missing_manifest_raises(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "__file__", str(tmp_path / "package" / "formats" / "manifest.py"))
    with pytest.raises(FileNotFoundError, match=r"blender_manifest\.toml is neither in"):
        manifest.extension_version()
