"""Tracks of a document: rounded, and converted to text in blocks of many tracks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...core import Aabb, Sphere
from ...core.numeric.arrays import CHUNK_ROWS, Floats, Ints
from ..rounding import json_number, rounded_aabb, rounded_sphere
from ..spaces import Space
from .json_numbers import lists_of_numbers
from .json_writer import compact_json, object_text, rows_text
from .model import Track
from .source_numbers import IDENTITY_SPACE, restore_source_numbers, with_source_numbers


class _ShapeNumbers(NamedTuple):
    """Shapes of one type of several tracks, concatenated.

    counts : (k,) int. Number of shapes of each track.
    fields : dict of str to (n,) or (n, 3) float. Arrays by JSON key.
    """

    counts: Ints
    fields: dict[str, Floats]


class WrittenTracks(Sequence[dict[str, Any]]):
    """Tracks of a document, sorted by id, each converted to a dict on access.

    A document can have very many. `json_parts` writes them without making the dicts.
    """

    def __init__(self, tracks: Sequence[Track], space: Space, decimals: int) -> None:
        ordered = sorted(tracks, key=lambda track: track.id)
        restored = [restore_source_numbers(track, space) for track in ordered]
        self._tracks = [source or track for track, source in zip(ordered, restored, strict=True)]
        self._spaces = [IDENTITY_SPACE if source else space for source in restored]
        self._decimals = decimals

    def __len__(self) -> int:
        return len(self._tracks)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return json.loads(next(self._texts([([self._tracks[index]], self._spaces[index])], "")))

    def texts(self, indent: str) -> Iterator[str]:
        """Yield the JSON text of each track, see `json_writer.JsonEntries`."""
        return self._texts(self._blocks(), indent)

    def _texts(self, blocks: Iterable[tuple[list[Track], Space]], indent: str) -> Iterator[str]:
        """Yield the JSON text of each track of blocks."""
        frames, frames_text = None, ""
        for tracks, space in blocks:
            kinds = {
                kind: self._field_texts(numbers, indent + "  ")
                for kind, numbers in self._rounded(tracks, space).items()
            }
            for index, track in enumerate(tracks):
                # Tracks mostly have the same frames, so keep the text of the last ones.
                if frames is None or not np.array_equal(frames, track.frames):
                    frames = track.frames
                    frames_text = compact_json([json_number(frame) for frame in frames.tolist()])
                entries = {"object": compact_json(track.id), "space": '"world"', "frames": frames_text}
                for kind, shape in (("sphere", track.sphere), ("aabb", track.aabb)):
                    if shape is not None:
                        fields = {key: texts[index] for key, texts in kinds[kind].items()}
                        entries[kind] = object_text(fields, indent + " ")
                yield object_text(entries, indent)

    def _field_texts(self, numbers: _ShapeNumbers, indent: str) -> dict[str, list[str]]:
        """JSON text of each field of each track, by key."""
        return {
            key: [
                rows_text(line, indent) if values.ndim > 1 else line
                for line in lists_of_numbers(values, self._decimals, numbers.counts)
            ]
            for key, values in numbers.fields.items()
        }

    def _blocks(self) -> Iterator[tuple[list[Track], Space]]:
        """Consecutive tracks of one space, in blocks of the size that is converted fastest."""
        block: list[Track] = []
        count = 0
        block_space = IDENTITY_SPACE
        for track, space in zip(self._tracks, self._spaces, strict=True):
            if block and (space is not block_space or count + len(track.frames) > CHUNK_ROWS // 4):
                yield block, block_space
                block, count = [], 0
            block.append(track)
            count += len(track.frames)
            block_space = space
        yield block, block_space

    def _rounded(self, tracks: Sequence[Track], space: Space) -> dict[str, _ShapeNumbers]:
        """Shapes in `space`, rounded outward, for each type that any of the tracks has."""
        numbers: dict[str, _ShapeNumbers] = {}
        spheres = [track.sphere for track in tracks]
        if present := [sphere for sphere in spheres if sphere is not None]:
            merged = Sphere(
                np.concatenate([sphere.center for sphere in present]),
                np.concatenate([sphere.radius for sphere in present]),
            )
            sphere = rounded_sphere(space.sphere(merged), self._decimals)
            numbers["sphere"] = _ShapeNumbers(
                _counts(spheres), {"centers": sphere.center, "radii": sphere.radius}
            )
        boxes = [track.aabb for track in tracks]
        if present_boxes := [box for box in boxes if box is not None]:
            merged_boxes = Aabb(
                np.concatenate([box.min for box in present_boxes]),
                np.concatenate([box.max for box in present_boxes]),
            )
            box = rounded_aabb(space.aabb(merged_boxes), self._decimals)
            numbers["aabb"] = _ShapeNumbers(_counts(boxes), {"mins": box.min, "maxs": box.max})
        return numbers


def _counts(shapes: Sequence[Sphere | Aabb | None]) -> Ints:
    return np.array([0 if shape is None else shape.shape[0] for shape in shapes], dtype=np.int64)


def read_track(entry: Mapping[str, Any], space: Space, to_blender: Space) -> Track:
    """Convert a track of a document to Blender's units, as `read_object`."""
    sphere, box = entry.get("sphere"), entry.get("aabb")
    in_document = Track(
        entry["object"],
        np.array(entry["frames"], dtype=np.float64),
        None if sphere is None else Sphere(_rows(sphere["centers"]), sphere["radii"]),
        None if box is None else Aabb(_rows(box["mins"]), _rows(box["maxs"])),
    )
    in_blender = replace(
        in_document,
        sphere=None if in_document.sphere is None else to_blender.sphere(in_document.sphere),
        aabb=None if in_document.aabb is None else to_blender.aabb(in_document.aabb),
    )
    return with_source_numbers(in_blender, in_document, space)


def _rows(vectors: Any) -> Floats:
    return np.array(vectors, dtype=np.float64).reshape(-1, 3)
