"""Tracks of a document: rounded, and converted to text in blocks of many tracks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.numeric.arrays import CHUNK_ROWS
from ...core.shapes import concatenated
from ..rounding import json_number
from ..shape_members import TRACK_MEMBERS, TRACK_SHAPES, read_track_shapes
from ..spaces import Space
from .json_columns import Column, ListColumn, ObjectColumn, ValueColumn
from .model import Track
from .objects import rounded_fields
from .source_numbers import with_source_numbers
from .written_entries import WrittenEntries


class WrittenTracks(WrittenEntries[Track]):
    """Tracks of a document, sorted by id."""

    def __init__(self, tracks: Sequence[Track], space: Space, decimals: int) -> None:
        longest = max(len(track.frames) for track in tracks)
        # Blocks of the size that is converted fastest.
        block = max(1, CHUNK_ROWS // 2 // max(1, longest))
        super().__init__(sorted(tracks, key=lambda track: track.id), space, block)
        self._decimals = decimals
        self._frames, self._numbers = np.zeros(0), list[float]()

    def _members(self, entries: Sequence[Track], space: Space) -> ObjectColumn:
        numbers = []
        for track in entries:
            # The same list while the frames are the same.
            if not np.array_equal(self._frames, track.frames):
                self._frames, self._numbers = track.frames, list(map(json_number, track.frames.tolist()))
            numbers.append(self._numbers)
        members: dict[str, Column] = {
            "object": ValueColumn([track.id for track in entries]),
            "space": ValueColumn(["world"] * len(entries)),
            "frames": ValueColumn(numbers),
        }
        for key in TRACK_SHAPES:
            shapes = [getattr(track, key) for track in entries]
            rows = [row for row, shape in enumerate(shapes) if shape is not None]
            if rows:
                present = [shapes[row] for row in rows]
                counts = np.array([shape.shape[0] for shape in present])
                fields = rounded_fields(space.shape(concatenated(*present)), self._decimals)
                lists = {TRACK_MEMBERS[name]: ListColumn(*each, counts) for name, each in fields.items()}
                members[key] = ObjectColumn(lists, np.array(rows))
        return ObjectColumn(members)


def read_track(entry: Mapping[str, Any], space: Space, to_blender: Space) -> Track:
    """Convert a track of a document to Blender's units, as `read_objects`."""
    shapes, frames = read_track_shapes(entry), np.array(entry["frames"], dtype=np.float64)
    in_document = Track(entry["object"], frames, shapes.get("sphere"), shapes.get("aabb"))
    in_blender: dict[str, Any] = {key: to_blender.shape(shape) for key, shape in shapes.items()}
    return with_source_numbers(replace(in_document, **in_blender), in_document, space)
