"""Contents of a page about a run over many files: the files, and the contacts of all of them."""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from addon.formats.wording import message_line, single_line

from .contents import NOTHING, ReportError, Row, add_bounds, contact_rows, loaded, visible

MAX_CONTACTS = 100_000
"""Number of rows above which the contacts of further files are not listed, so that browsers open the page."""

MAX_BOUNDS = 20_000_000
"""Bytes of bounds above which the page has none of further contacts."""

STATES = ("done", "contacts", "failed")


def batch_contents(folder: Path, output: Path) -> dict[str, Any]:
    """Return the contents of the page about the results in a folder.

    Parameters
    ----------
    folder : Path
        Folder of the results, with `summary.json`.
    output : Path
        Of the page: links are relative to it.

    Returns
    -------
    contents : dict
        Values that JSON can represent.

    Raises
    ------
    ReportError
        If there is no summary, or if it has another format.
    """
    summary = _summary(folder / "summary.json")
    files: list[Row] = []
    rows: list[Row] = []
    omitted, bounds_left = 0, MAX_BOUNDS
    time: dict[str, float] = {}
    units: set[str] = set()
    for entry in summary["files"]:
        file = _file_row(entry, len(files), folder, output)
        files.append(file)
        document = _document(folder, entry, file)
        if document is None:
            continue
        found = contact_rows(document, file["name"])
        file["fromBlender"] = document["space"]["fromBlender"]
        file["warnings"] = [each["message"] for each in document.get("warnings", ())]
        if len(rows) + len(found) > MAX_CONTACTS:
            omitted += 1
            continue
        bounds_left = add_bounds(found, document, bounds_left)
        if found:
            time = _joined(time, document["time"])
            units.add(document["space"]["unit"])
        rows += [row | {"id": len(rows) + number, "link": file["link"]} for number, row in enumerate(found)]
    return NOTHING | {
        "kind": "batch",
        "title": message_line(folder.resolve().name),
        "isScan": "contacts" in summary["settings"][:1],
        "tiles": _tiles(files),
        "facts": _facts(summary),
        "notes": _notes(summary, omitted, units),
        "unit": units.pop() if len(units) == 1 else "",
        "time": time or {"frameStart": 0, "frameEnd": 1},
        "rows": rows,
        "files": files,
    }


def _summary(path: Path) -> dict[str, Any]:
    try:
        summary = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ReportError(
            f"{path} does not exist: name the folder of the results of scripts/batch.py"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise ReportError(f"{path}: {error}") from None
    if not isinstance(summary, dict) or summary.get("format") != "collision-bounds-batch":
        raise ReportError(f"{path}: is not a summary of scripts/batch.py")
    checked: dict[str, Any] = visible(summary)
    return checked


def _file_row(entry: Row, number: int, folder: Path, output: Path) -> Row:
    counts = entry["counts"]
    row = {
        "id": number,
        "name": entry["name"],
        "state": entry["state"],
        "reason": entry["reason"],
        "attempts": entry["attempts"],
        "seconds": entry["seconds"],
        "link": _link(folder, entry["output"], output),
        "warnings": [],
    }
    keys = {"objects": "objects", "contacts": "contacts", "newContacts": "new"}
    keys |= {"clearances": "nearMisses", "skipped": "skipped", "warnings": "warningCount"}
    # Only documents have counts.
    return row | {name: counts.get(key, 0) if counts else None for key, name in keys.items()}


def _document(folder: Path, entry: Row, file: Row) -> dict[str, Any] | None:
    """Return the document of a file; None without one. Records in the row why it cannot be read."""
    if not entry["output"] or not entry["output"].endswith(".json"):
        return None
    try:
        return loaded(folder / entry["output"])
    except ReportError as error:
        file["reason"] = f"{file['reason']}; {error}" if file["reason"] else message_line(str(error))
        return None


def _link(folder: Path, output_name: str | None, page: Path) -> str:
    """Return the address of a result relative to the page; empty if there is none, or on another drive."""
    if not output_name:
        return ""
    try:
        relative = os.path.relpath((folder / output_name).resolve(), page.resolve().parent)
    except ValueError:
        return ""
    # Without the dot, a name such as javascript:x would be an address of its own.
    return "./" + quote(PurePosixPath(Path(relative).as_posix()).as_posix())


def _joined(time: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    if not time:
        return {"frameStart": other["frameStart"], "frameEnd": other["frameEnd"]}
    return {
        "frameStart": min(time["frameStart"], other["frameStart"]),
        "frameEnd": max(time["frameEnd"], other["frameEnd"]),
    }


def _tiles(files: list[Row]) -> list[list[Any]]:
    """Return the counts at the top of the page: label, number, and the importance."""
    counts = {state: sum(file["state"] == state for file in files) for state in STATES}
    return [
        ["files", len(files), ""],
        ["done", counts["done"], ""],
        ["with contacts that count", counts["contacts"], "bad" if counts["contacts"] else ""],
        ["failed", counts["failed"], "bad" if counts["failed"] else "good"],
        ["contacts", sum(file["contacts"] or 0 for file in files), ""],
    ]


def _facts(summary: dict[str, Any]) -> list[list[str]]:
    generator = summary["generator"]
    return [
        ["Command", " ".join(summary["settings"])],
        ["Program", f"{generator['name']} {generator['version']}"],
        ["Versions", single_line(str(generator["program"]))],
    ]


def _notes(summary: dict[str, Any], omitted: int, units: set[str]) -> list[str]:
    notes = []
    if not summary["isComplete"]:
        notes.append("The run was stopped: the results are those until then.")
    if omitted:
        notes.append(
            f"The table lists at most {MAX_CONTACTS:,} contacts: those of {omitted} files are not in it."
        )
    if len(units) > 1:
        notes.append(f"The units of the files differ: {', '.join(sorted(units))}.")
    return notes
