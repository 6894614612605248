"""`--report` writes the page at the end of a run, whatever its exit code."""

from __future__ import annotations

import json
import re

import pytest


@pytest.mark.long
def test_page_is_written_when_contacts_fail_the_run(scenes, tmp_path, batch):
    page = tmp_path / "out" / "report.html"
    ran = batch("contacts", scenes / "show1", "-o", tmp_path / "out", "--report", page, "--fail-on-contact")
    assert ran.returncode == 1, ran.stderr
    found = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"))
    assert found
    data = json.loads(found[1])
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert [file["name"] for file in data["files"]] == [file["name"] for file in summary["files"]]
    with_contacts = {file["name"] for file in summary["files"] if file["counts"]["contacts"]}
    assert {row["file"] for row in data["rows"] if row["kind"] == "contact"} == with_contacts != set()


def test_page_that_cannot_be_written_is_refused_before_the_run(scenes, tmp_path, batch):
    out = tmp_path / "out"
    ran = batch("bounds", scenes, "-o", out, "--report", tmp_path / "missing" / "report.html")
    assert ran.returncode == 2
    assert ran.stderr.endswith(f"the folder {tmp_path / 'missing'} does not exist\n")
    ran = batch("bounds", scenes, "-o", out, "--report", tmp_path / "report.html", "--share", "1/2")
    assert ran.returncode == 2
    assert ran.stderr.startswith("batch: --report: only valid without --share")
    ran = batch("bounds", scenes, "-o", out, "--report", tmp_path / "report.txt")
    message = f"batch: --report {tmp_path / 'report.txt'}: the name of a page ends with .html\n"
    assert (ran.returncode, ran.stderr) == (2, message)
    assert not out.exists()
