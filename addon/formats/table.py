"""Documents as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def bounds_table(document: dict[str, Any]) -> str:
    """One line an object: its world sphere and box, in the document's unit."""
    rows = [["Object", "Sphere radius", "Sphere center", "Box size"]]
    for entry in document["objects"]:
        sphere, box = entry["world"].get("sphere"), entry["world"].get("aabb")
        size = [high - low for low, high in zip(box["min"], box["max"], strict=True)] if box else None
        rows.append(
            [
                entry["name"],
                f"{sphere['radius']:.4f}" if sphere else "-",
                _vector(sphere["center"]) if sphere else "-",
                _vector(size) if size else "-",
            ]
        )
    return _aligned(rows) + "\n"


def contacts_table(document: dict[str, Any]) -> str:
    """One line a pair by first contact, then one line a near miss by gap."""
    names = {entry["id"]: entry["name"] for entry in document["objects"]}
    lines = []
    if document["contacts"]:
        rows = [["First contact", "+/-", "A", "B", "Until", "Depth", ""]]
        for contact in document["contacts"]:
            first = contact["first"]
            more = len(contact["intervals"]) - 1
            notes = [
                *(["tunnelling: between frames only"] if first["tunnelling"] else []),
                *(["in contact from the start"] if first["atStart"] else []),
                *([f"{more} more later"] if more else []),
            ]
            rows.append(
                [
                    f"{first['frame']:.6f}",
                    f"{first['uncertainty']:.6f}",
                    names[contact["a"]],
                    names[contact["b"]],
                    f"{contact['intervals'][0]['end']:.6f}",
                    f"{contact['deepest']['depth']:.4f}",
                    ", ".join(notes),
                ]
            )
        lines.append(_aligned(rows))
    else:
        lines.append("No contacts.")
    if document["clearances"]:
        rows = [["Closest at", "Gap", "A", "B"]]
        rows += [
            [f"{near['frame']:.6f}", f"{near['gap']:.6f}", names[near["a"]], names[near["b"]]]
            for near in document["clearances"]
        ]
        lines += ["", "Near misses", _aligned(rows)]
    return "\n".join(lines) + "\n"


def _vector(values: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.4f}" for value in values) + ")"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns padded to their widest entry; numbers to the right, text to the left."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if cell[:1].isdigit() or cell[:1] == "-" else cell.ljust(width)
            for cell, width in zip(row, widths, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
