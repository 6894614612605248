"""Contacts of a document, and distances at their frames and at some whole frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from addon.scene.settings import FitSettings
from tests.scene.clearances.distances import Moment, shape_gap
from tests.scene.clearances.scenes import END, PLAIN, RandomScan
from tests.scene.mesh_truth.triangles import winding_number

ROUNDING = 2e-5
"""Blender rounds matrices to single precision, and documents the frames."""
DEPTH_TOLERANCE = 0.01
"""Part of the size of the smaller body by which gaps may be off, for want of samples."""

_INSIDE = 0.9
"""Winding number of a point inside of a closed surface, but for rounding."""


@dataclass
class Comparison:
    """Numbers of compared values, and differences.

    Attributes
    ----------
    counts : dict
        Numbers of contacts, of gaps, and of distances that were compared.
    wrong : list of str
    """

    counts: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def count(self, name: str) -> None:
        """Count something."""
        self.counts[name] = self.counts.get(name, 0) + 1


def extent(span: Mapping[str, Any]) -> tuple[float, float]:
    """Frame of the deepest overlap or closest approach, and the gap, negative for a depth."""
    if "closest" in span:
        return span["closest"]["frame"], span["closest"]["gap"]
    return span["deepest"]["frame"], -span["deepest"]["depth"]


class Comparer:
    """Compares the document of a scan of the active scene."""

    def __init__(self, scan: RandomScan, document: dict[str, Any]) -> None:
        named = dict(pairwise(scan.options))
        axes, decimals = named.get("--box-axes", "checked"), int(named["--decimals"])
        padding = float(named.get("--padding", 0))
        self._fit = FitSettings(axes=axes, padding=padding, parts=8, part_shape="box")
        self._unit = float(np.abs(document["space"]["fromBlender"]).max())
        self._step = 10.0**-decimals
        self._obstacle = "A body" if "--obstacles" in named else None
        self._scan, self._document = scan, document
        self._bounds = "aabb" if scan.shape == "mesh" else scan.shape
        self._moments: dict[float, Moment] = {}
        self.result = Comparison()

    def at(self, frame: float) -> Moment:
        if frame not in self._moments:
            self._moments[frame] = Moment(frame, self._bounds, self._fit)
        return self._moments[frame]

    def kind(self, id: str) -> str:
        return self._scan.kinds[id.split("/")[0]]

    def compare(self, rng: np.random.Generator) -> Comparison:
        """Compare all contacts, and all pairs at two whole frames."""
        for contact in self._document["contacts"]:
            self._compare_contact(contact)
        for frame in rng.choice(np.arange(1, END + 1), 2, replace=False).tolist():
            self._compare_frame(float(frame))
        return self.result

    def _compare_contact(self, contact: dict[str, Any]) -> None:
        self.result.count("contacts")
        limit = self._scan.clearance * self._unit
        frame, gap = extent(contact)
        if "closest" in contact:
            self.result.count("contacts with only a gap")
        for span in (contact, *contact["intervals"]):
            _, near = extent(span)
            if near > limit + 1e-12:
                self._say("gap above the clearance", contact, near)
            if span.get("deepest", {}).get("depth", 0) < 0:
                self._say("negative depth", contact, near)
        if self._scan.motion == "linear" and frame != round(frame):
            return
        moment, pair = self.at(frame), (contact["a"], contact["b"])
        size = min(self._size(moment, id) for id in pair)
        tolerance = ROUNDING + self._step / self._unit
        if self._scan.motion != "linear":
            tolerance += DEPTH_TOLERANCE * size
        measured = self._shape_gap(moment, pair)
        if measured is not None:
            self.result.count("gaps compared with shapes")
            if abs(max(gap, 0) / self._unit - measured) > tolerance:
                self._say(f"gap of the shapes is {measured:.6f}, size {size:.2f}", contact, gap / self._unit)
        surfaces = self._mesh_gap(moment, pair)
        if surfaces is not None and self._fit.padding == 0:
            self.result.count("gaps compared with meshes")
            if surfaces < gap / self._unit - tolerance:
                self._say(f"gap of the meshes is {surfaces:.6f}", contact, gap / self._unit)

    def _compare_frame(self, frame: float) -> None:
        """Compare whether pairs are in contact at a whole frame with the distance of their shapes."""
        moment, clearance = self.at(frame), self._scan.clearance
        for contact in self._document["contacts"]:
            pair = contact["a"], contact["b"]
            measured = self._shape_gap(moment, pair)
            if measured is None or abs(measured - clearance) < ROUNDING:
                continue
            self.result.count("whole frames compared")
            spans = [(span["start"], span["end"]) for span in contact["intervals"]]
            is_inside = any(start + 0.02 <= frame <= end - 0.02 for start, end in spans)
            is_outside = not any(start - 1e-6 <= frame <= end + 1e-6 for start, end in spans)
            if measured > clearance and is_inside:
                self._say(f"gap at {frame:g} is {measured:.6f}", contact, spans)
            if measured < clearance and is_outside:
                self._say(f"missed at {frame:g}, where the gap is {measured:.6f}", contact, spans)
        for near in self._document["clearances"]:
            measured = self._shape_gap(moment, (near["a"], near["b"]))
            if measured is not None:
                self.result.count("near misses compared")
                if measured < clearance - ROUNDING:
                    self._say(f"near miss has a gap of {measured:.6f} at {frame:g}", near, near["gap"])

    def _say(self, text: str, pair: Mapping[str, Any], value: object) -> None:
        kinds = f"{self.kind(pair['a'])}, {self.kind(pair['b'])}, {pair.get('motion', 'near miss')}"
        self.result.wrong.append(f"{pair['a']} and {pair['b']} ({kinds}): {text}, written {value}")

    def _size(self, moment: Moment, id: str) -> float:
        points = moment.surfaces[id.split("/")[0]][0]
        return float(np.linalg.norm(np.ptp(points, axis=0)) / 2)

    def _shape_gap(self, moment: Moment, pair: tuple[str, str]) -> float | None:
        """Distance of the shapes; None where those of a document are others than those of a scan."""
        bodies = []
        if self._scan.shape == "mesh":
            return self._solid_gap(moment, pair)
        for id in pair:
            body, kind = id.split("/")[0], self.kind(id)
            is_fitted = self._scan.shape in ("capsule", "spheres", "compound") or self._fit.axes == "smallest"
            if body in self._scan.deforming and is_fitted:
                return None
            is_whole = kind in (*PLAIN, "bent", "array", "child", "instance")
            shape = moment.shape_of(id, body if is_whole else None)
            bodies.append(moment.surfaces[body][1] if id == self._obstacle else shape)
        return shape_gap(*bodies)

    def _mesh_gap(self, moment: Moment, pair: tuple[str, str]) -> float | None:
        """Distance of the meshes; None where a shape encloses something else."""
        kinds = [self.kind(id) for id in pair]
        if any(kind == "loose" or kind.startswith("custom") for kind in kinds):
            return None
        return moment.mesh_gap(*(id.split("/")[0] for id in pair))

    def _solid_gap(self, moment: Moment, pair: tuple[str, str]) -> float | None:
        """Distance of the meshes, 0 where one is inside of the other."""
        distance = self._mesh_gap(moment, pair)
        bodies = [moment.surfaces[id.split("/")[0]] for id in pair]
        if distance:
            for (points, _), (_, corners) in (bodies, bodies[::-1]):
                if abs(winding_number(points[0], corners)) > _INSIDE:
                    return 0.0
        return distance
