"""Shares of a run, alone and as a job of Open Job Description, together give what one run gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.batch.conftest import SCRIPT, documents
from tests.paths import TOP

TEMPLATE = TOP / "scripts" / "farm_job.yaml"
OPENJD = Path(sys.executable).with_name("openjd")


@pytest.mark.long
def test_shares_are_disjoint_and_are_joined_without_running_files_again(scenes, tmp_path, batch):
    whole, shared = tmp_path / "whole", tmp_path / "shared"
    assert batch("contacts", scenes, "-o", whole).returncode == 0
    names = []
    for index in (1, 2, 3):
        assert batch("contacts", scenes, "-o", shared, "--share", f"{index}/3").returncode == 0
        part = json.loads((shared / f"summary-{index}-of-3.json").read_text("utf-8"))
        names += [entry["name"] for entry in part["files"]]
    assert len(names) == len(set(names)) == 10
    joined = batch("contacts", scenes, "-o", shared, "--fail-on-contact")
    assert joined.returncode == 1  # there are contacts, which the shares did not report
    assert "10 of them unchanged" in joined.stderr
    assert documents(shared) == documents(whole)


def test_job_template_is_valid():
    checked = subprocess.run([OPENJD, "check", TEMPLATE], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.long
def test_job_runs_with_the_tool_of_open_job_description(scenes, tmp_path, batch):
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert batch("contacts", scenes, "-o", whole, "--frames", "2:9").returncode == 0
    values = {"Inputs": scenes, "Output": out, "Frames": "2:9", "Shares": 2}
    values |= {"Python": sys.executable, "Script": SCRIPT}
    parameters = [word for name, value in values.items() for word in ("-p", f"{name}={value}")]
    command = [OPENJD, "run", TEMPLATE, "--step", "Join", "--run-dependencies", *parameters]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert documents(out) == documents(whole)


@pytest.mark.parametrize("share", ["0/2", "3/2", "1", "a/b", "1/2/3", "-1/2"])
def test_share_that_does_not_exist_is_refused(tmp_path, batch, share):
    ran = batch("bounds", tmp_path, "-o", tmp_path / "out", f"--share={share}")
    assert ran.returncode == 2
    assert ran.stderr == f"batch: --share {share}: must be I/N, such as 2/8, with I from 1 to N\n"
