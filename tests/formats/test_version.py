"""Tests of the version of the extension, which is that of the manifest, and of that of documents."""

from __future__ import annotations

import re

import pytest

from addon.formats import schema, wording
from tests.formats import samples
from tests.paths import TOP


@pytest.fixture(autouse=True)
def not_cached():
    wording.extension_version.cache_clear()
    yield
    wording.extension_version.cache_clear()


def test_version_of_a_checkout_is_that_of_its_manifest():
    (written,) = re.findall(r'^version = "(.+)"', (TOP / "blender_manifest.toml").read_text("utf-8"), re.M)
    assert wording.extension_version() == written


@pytest.mark.parametrize("folder", [".", "package"])
def test_manifest_is_found_above_the_package_and_in_it(folder, tmp_path, monkeypatch):
    module = tmp_path / "package" / "formats" / "wording.py"
    module.parent.mkdir(parents=True)
    (tmp_path / folder / "blender_manifest.toml").write_text('version = "4.5.6"\n')
    monkeypatch.setattr(wording, "__file__", str(module))
    assert wording.extension_version() == "4.5.6"


def test_missing_manifest_raises(tmp_path, monkeypatch):
    monkeypatch.setattr(wording, "__file__", str(tmp_path / "package" / "formats" / "wording.py"))
    with pytest.raises(FileNotFoundError, match=r"blender_manifest\.toml is neither in"):
        wording.extension_version()


def test_documents_have_the_version_that_the_schema_names():
    assert [samples.document()["version"]] == schema()["properties"]["version"]["examples"]
