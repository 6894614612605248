"""Inputs of a run are counted without keeping their names in memory."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from addon.cli.parser import UsageError
from batching import inputs


def touch(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def test_files_of_several_inputs_are_counted_and_names_are_compared(tmp_path):
    for name in ("one/a.blend", "one/deep/b.glb", "two/c.blend", "two/notes.txt", "three/deep/b.glb"):
        touch(tmp_path / name)
    one, two, three = (str(tmp_path / name) for name in ("one", "two", "three"))
    assert inputs.count_inputs([one, two], tmp_path / "out") == 3
    with pytest.raises(UsageError, match=r"three.deep.b\.glb: another file has the name deep/b\.glb too"):
        inputs.count_inputs([one, two, three], tmp_path / "out")
    # The folder of the results is no input.
    assert inputs.count_inputs([one, str(tmp_path)], tmp_path / "three") == 5


def test_name_that_is_too_long_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"999: cannot be read \(File name too long\)"):
        inputs.count_inputs(["9" * 5000], tmp_path / "out")


@pytest.mark.long
def test_memory_does_not_grow_with_the_number_of_files(monkeypatch):
    names = ((f"sequence/shot{number:07}.blend", Path("shot.blend")) for number in range(400_000))
    process = psutil.Process()
    before = process.memory_info().rss
    peak = 0

    def measured():
        nonlocal peak
        for number, each in enumerate(names):
            if number % 50_000 == 0:
                peak = max(peak, process.memory_info().rss)
            yield each

    monkeypatch.setattr(inputs, "find_inputs", lambda *_: measured())
    assert inputs.count_inputs(["one", "two"], Path("out")) == 400_000
    # As entries of a dictionary, the names would need more than 30 MB.
    assert peak - before < 12e6
