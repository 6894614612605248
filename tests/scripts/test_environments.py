"""Lock files contain the pins of pyproject.toml and work on every machine; tasks share environments."""

from __future__ import annotations

import re
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import environments
from environments import REQUIREMENTS, ROOT, TYPES

GROUPS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
INCLUDED_ONLY = {"pytest", "check"}


def pins(group: str) -> list[str]:
    """Return the pins of a dependency group and of those that it includes, without their markers."""
    found = []
    for entry in GROUPS[group]:
        found += pins(entry["include-group"]) if isinstance(entry, dict) else [entry.partition(";")[0]]
    return found


def test_each_group_has_a_lock_file():
    assert {path.stem for path in REQUIREMENTS.glob("*.txt")} - {"debian"} == set(GROUPS) - INCLUDED_ONLY


@pytest.mark.parametrize("group", sorted(set(GROUPS) - INCLUDED_ONLY))
def test_lock_file_has_versions_of_its_group_and_hash_for_each_package(group):
    text = (REQUIREMENTS / f"{group}.txt").read_text("utf-8")
    locked = re.findall(r"^([a-z0-9-]+==[^ ]+)", text, flags=re.MULTILINE)
    assert {pin.lower() for pin in pins(group)} <= set(locked)
    # The lines of a package are continued with backslashes, from its name to its last hash.
    packages = re.split(r"(?<!\\)\n", text.strip())
    assert len(packages) == len(locked)
    assert all("--hash=sha256:" in package for package in packages)


def test_lock_files_contain_no_index_and_no_folder():
    for path in REQUIREMENTS.glob("*.txt"):
        assert not re.search(r"://|--(extra-)?index|--find-links|file:", path.read_text("utf-8")), path.name


@pytest.fixture
def calls_of_uv(monkeypatch, tmp_path):
    """Replace uv by a function that records the first argument of each call."""
    calls = []

    def uv(*arguments: str | Path) -> None:
        calls.append(arguments[0])
        if arguments[0] == "venv":
            time.sleep(0.05)  # so that the other tasks start before the interpreter exists
            python = Path(arguments[-1], environments._PROGRAMS, f"python{environments._SUFFIX}")
            python.parent.mkdir(parents=True)
            python.touch()

    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path / "environments")
    monkeypatch.setattr(environments, "REQUIREMENTS", tmp_path)
    monkeypatch.setattr(environments, "_uv", uv)
    monkeypatch.setattr(environments, "find_python", lambda versions: versions[0])
    (tmp_path / "types-5.2.txt").write_text("ruff==1")
    return calls


def test_parallel_tasks_create_shared_environment_once(calls_of_uv):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: each.ready(), [TYPES["5.2"]] * 4))
    assert calls_of_uv == ["venv", "pip"]


def test_environments_are_updated_only_when_their_lock_file_changes(calls_of_uv, tmp_path):
    TYPES["5.2"].ready()
    TYPES["5.2"].ready()
    assert calls_of_uv == ["venv", "pip"]
    (tmp_path / "types-5.2.txt").write_text("ruff==2")
    TYPES["5.2"].ready()
    assert calls_of_uv == ["venv", "pip", "pip"]


def test_failed_installation_is_retried(calls_of_uv, monkeypatch):
    uv = environments._uv

    def no_network(*arguments: str | Path) -> None:
        if arguments[0] == "pip":
            raise environments.UnavailableError("no network")
        uv(*arguments)

    with monkeypatch.context() as failing:
        failing.setattr(environments, "_uv", no_network)
        with pytest.raises(environments.UnavailableError, match="no network"):
            TYPES["5.2"].ready()
    TYPES["5.2"].ready()
    assert calls_of_uv == ["venv", "pip"]
