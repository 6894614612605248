"""Tracks as a document has them: rounded, and made into text, many of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import Aabb, Sphere
from ..core.arrays import CHUNK_ROWS, Ints
from .contents import Track
from .json_text import joined, one_line, rows
from .kept_numbers import AS_THEY_ARE, kept_in
from .number_text import lists_of_numbers
from .rounding import json_number, plain, rounded_aabb, rounded_sphere
from .spaces import Floats, Space


class _Numbers(NamedTuple):
    """Shapes of one kind of several tracks.

    rows : (k,) how many each track has
    fields : their arrays as the document names them, all rows together
    """

    rows: Ints
    fields: dict[str, Floats]


class WrittenTracks(Sequence[dict[str, Any]]):
    """The tracks of a document, sorted by id, each made when it is asked for."""

    def __init__(self, tracks: Sequence[Track], space: Space, decimals: int) -> None:
        ordered = sorted(tracks, key=lambda track: track.id)
        kept = [kept_in(track, space) for track in ordered]
        self._tracks = [own or track for track, own in zip(ordered, kept, strict=True)]
        self._spaces = [AS_THEY_ARE if own else space for own in kept]
        self._decimals = decimals

    def __len__(self) -> int:
        return len(self._tracks)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        track, space = self._tracks[index], self._spaces[index]
        return {
            "object": track.id,
            "space": "world",
            "frames": [json_number(frame) for frame in track.frames.tolist()],
            **{
                kind: {name: plain(values) for name, values in numbers.fields.items()}
                for kind, numbers in self._rounded([track], space).items()
            },
        }

    def texts(self, indent: str) -> Iterator[str]:
        """See `json_text.WrittenInParts`."""
        frames, listed = None, ""
        for tracks, space in self._blocks():
            kinds = {
                kind: self._texts(numbers, indent + "  ")
                for kind, numbers in self._rounded(tracks, space).items()
            }
            for place, track in enumerate(tracks):
                if frames is None or not np.array_equal(frames, track.frames):
                    frames = track.frames
                    listed = one_line([json_number(frame) for frame in frames.tolist()])
                parts = {"object": one_line(track.id), "space": '"world"', "frames": listed}
                for kind, shape in (("sphere", track.sphere), ("aabb", track.aabb)):
                    if shape is not None:
                        own = {name: lists[place] for name, lists in kinds[kind].items()}
                        parts[kind] = joined(own, indent + " ")
                yield joined(parts, indent)

    def _texts(self, numbers: _Numbers, indent: str) -> dict[str, list[str]]:
        """Of each field what each track has of it."""
        return {
            name: [
                rows(line, indent) if values.ndim > 1 else line
                for line in lists_of_numbers(values, self._decimals, numbers.rows)
            ]
            for name, values in numbers.fields.items()
        }

    def _blocks(self) -> Iterator[tuple[list[Track], Space]]:
        """As many tracks at once as are worked on quickest, and the space that these are taken to."""
        block: list[Track] = []
        count = 0
        before = AS_THEY_ARE
        for track, space in zip(self._tracks, self._spaces, strict=True):
            if block and (space is not before or count + len(track.frames) > CHUNK_ROWS // 4):
                yield block, before
                block, count = [], 0
            block.append(track)
            count += len(track.frames)
            before = space
        yield block, before

    def _rounded(self, tracks: Sequence[Track], space: Space) -> dict[str, _Numbers]:
        """Shapes in the document's space, rounded outward, of each kind that any track has."""
        found: dict[str, _Numbers] = {}
        balls = [track.sphere for track in tracks]
        if there := [ball for ball in balls if ball is not None]:
            together = Sphere(
                _joined([ball.center for ball in there]), _joined([ball.radius for ball in there])
            )
            ball = rounded_sphere(space.sphere(together), self._decimals)
            found["sphere"] = _Numbers(_rows(balls), {"centers": ball.center, "radii": ball.radius})
        boxes = [track.aabb for track in tracks]
        if standing := [box for box in boxes if box is not None]:
            both = Aabb(_joined([box.min for box in standing]), _joined([box.max for box in standing]))
            box = rounded_aabb(space.aabb(both), self._decimals)
            found["aabb"] = _Numbers(_rows(boxes), {"mins": box.min, "maxs": box.max})
        return found


def _joined(arrays: Sequence[Floats]) -> Floats:
    return np.concatenate(arrays)


def _rows(shapes: Sequence[Sphere | Aabb | None]) -> Ints:
    return np.array([0 if shape is None else shape.shape[0] for shape in shapes], dtype=np.int64)
