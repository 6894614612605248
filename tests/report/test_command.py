"""The command `batch.py report`: what it writes, and its errors."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from html_report import batches
from html_report.batches import batch_contents
from html_report.contents import add_bounds, contact_rows
from tests.paths import TOP
from tests.report.documents import hostile_document, small_document, write_batch, write_document


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOP / "scripts" / "batch.py"), "report", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def data_of(page: Path) -> dict:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"))
    assert found
    return json.loads(found[1])


def test_page_has_the_numbers_of_the_document_and_the_curve_of_a_pair(tmp_path):
    document = write_document(tmp_path / "small.json", small_document())
    curve = tmp_path / "curve.csv"
    with curve.open("w", newline="") as stream:
        csv.writer(stream).writerows(
            [["frame", "separation", "unit"], [1, 9, "m"], [10, 0, "m"], [11, "", "m"]]
        )
    ran = run(document, "-o", tmp_path / "page.html", "--separation", "Wall", "Dot", curve)
    assert (ran.returncode, ran.stderr) == (0, "")
    data = data_of(tmp_path / "page.html")
    assert [row["frame"] for row in data["rows"]] == [1, 10, 24.3125, 11]
    (read,) = data["curves"]
    assert (read["frames"], read["lengths"]) == ([1, 10, 11], [9, 0, None])
    again = run(document, "-o", tmp_path / "again.html", "--separation", "Wall", "Dot", curve)
    assert again.returncode == 0
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "page.html").read_bytes()


def test_hostile_texts_end_no_element(tmp_path):
    run(write_document(tmp_path / "in.json", hostile_document()), "-o", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert text.count("<script") == text.count("</script") == 3
    assert "<img" not in text


def test_folder_without_summary_and_other_files_are_refused_with_one_sentence(tmp_path):
    page = tmp_path / "page.html"
    (tmp_path / "other.json").write_text('{"format": "other"}')
    for source in (tmp_path, tmp_path / "missing.json", tmp_path / "other.json"):
        ran = run(source, "-o", page)
        assert ran.returncode == 2
        assert ran.stderr.startswith(f"batch: {source}") and ran.stderr.count("\n") == 1
    assert not page.exists()


def test_curve_of_a_pair_without_contact_is_refused(tmp_path):
    document = write_document(tmp_path / "small.json", small_document())
    curve = tmp_path / "curve.csv"
    curve.write_text("frame,separation,unit\n1,2,m\n")
    ran = run(document, "-o", tmp_path / "page.html", "--separation", "Crate", "Dot", curve)
    assert ran.returncode == 2
    assert "has no contact and no near miss of 'Crate' and 'Dot'" in ran.stderr
    curve.write_text("time,gap\n1,2\n")
    ran = run(document, "-o", tmp_path / "page.html", "--separation", "Wall", "Dot", curve)
    assert ran.stderr == f"batch: {curve}: is not a file of Export Separation\n"


def test_files_without_counts_show_no_numbers(tmp_path):
    folder = write_batch(tmp_path)
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    for entry in summary["files"]:
        entry["counts"], entry["output"] = {}, None
    (folder / "summary.json").write_text(json.dumps(summary), "utf-8")
    assert run(folder, "-o", tmp_path / "page.html").returncode == 0
    files = data_of(tmp_path / "page.html")["files"]
    assert [file["objects"] for file in files] == [file["contacts"] for file in files] == [None] * 5


def test_page_has_the_suffix_of_a_page(tmp_path):
    document = write_document(tmp_path / "small.json", small_document())
    before = document.read_bytes()
    ran = run(document, "-o", document)
    assert ran.returncode == 2 and document.read_bytes() == before
    assert ran.stderr == f"batch: -o {document}: the name of a page ends with .html\n"


@pytest.mark.parametrize("damage", ["missing", "not JSON"])
def test_document_of_a_run_that_cannot_be_read_is_a_reason_in_the_page(tmp_path, damage):
    folder = tmp_path / "results"
    folder.mkdir()
    write_batch(folder)
    path = folder / "quiet.blend.json"
    path.unlink() if damage == "missing" else path.write_text("{")
    assert run(folder, "-o", tmp_path / "page.html").returncode == 0
    files = {file["name"]: file for file in data_of(tmp_path / "page.html")["files"]}
    assert "quiet.blend.json" in files["quiet.blend"]["reason"]
    assert files["show/shot.blend"]["reason"] == ""


def test_page_of_a_run_has_bounds_up_to_a_limit(tmp_path, monkeypatch):
    folder = tmp_path / "results"
    folder.mkdir()
    write_batch(folder)
    rows = batch_contents(folder, tmp_path / "page.html")["rows"]
    assert [row["a"] for row in rows if row["kind"] == "contact" and "bounds" not in row] == []
    (crate, lid), (dot, wall) = (
        row["bounds"]
        for row in rows
        if row.get("file") == "show/shot.blend"
        and row["id"] < 9
        and (row["a"], row["b"]) in (("Crate", "Lid"), ("Dot", "Wall"))
    )
    # Crate and Lid have no track: bounds of the reference frame.
    assert crate == {
        "shape": {"min": [4.5, -0.5, -0.5], "max": [5.5, 0.5, 0.5]},
        "frame": 1,
        "isTracked": False,
    }
    assert (lid["shape"]["min"][0], dot["shape"]["min"][0], dot["frame"]) == (5.0, -1.5, 10)
    assert wall["isTracked"]
    # Boxes stand for meshes, of which documents have no triangles.
    document = small_document()
    for found in document["contacts"]:
        found["shape"] = "mesh"
    rows = contact_rows(document)
    assert add_bounds(rows, document, 10**6) > 0
    assert [row["bounds"] for row in rows if (row["a"], row["b"]) == ("Dot", "Wall")] == [[dot, wall]]
    monkeypatch.setattr(batches, "MAX_BOUNDS", 10)
    assert not any("bounds" in row for row in batch_contents(folder, tmp_path / "page.html")["rows"])
