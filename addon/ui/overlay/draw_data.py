"""Draw data: everything that the overlay draws of one scene, as plain arrays.

Each shape is made of instances of unit meshes, with a matrix and a color.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import Aabb, Contact, Segment, Shape, Sphere, stacked
from ...core.numeric.arrays import Bools, Floats, Ints, Table, length, perpendicular
from ...scene.jobs.result import Result
from ...scene.live.contact_state import LiveShapes
from ...scene.live.overlap import MeshOverlap
from ...scene.settings import DrawnShape, ShapeName
from ..properties.preferences import preferences
from .unit_meshes import LINES, PARTS, UnitMesh

_ARROW_HEAD = 0.2
"""Length of an arrow's head, as part of its shaft."""

InstanceRows = NDArray[np.float32]
"""(n, 4, 4): three rows of a matrix from a unit mesh to the world, and a color, red to alpha."""

UNIT_MESHES: tuple[UnitMesh, ...] = tuple(LINES)

FAINT = 0.3
"""Opacity of shapes that are not the ones checked for contact."""
ASIDE = 0.3
"""Opacity of the bounds of all subjects but the pair of the active row, while there is one."""
_MANY = 100
"""Number of free subjects from which on each is fainter, so that contacts stand out in a crowd."""
_LEAST = 0.35
"""Opacity of free subjects, however many there are."""
_FIRST_RANK = -1
"""Rank of the label of an overlap, before all names."""
GHOST_COLOR = (1.0, 1.0, 1.0, 0.5)
"""White: the active pair as it was at its first contact."""


class Instances(Table):
    """Instances of unit meshes.

    meshes : (n,) int8. Index in `UNIT_MESHES` of each.
    rows : (n, 4, 4) float32. Matrices and colors; see `InstanceRows`.
    owners : (n,) int. Index of the subject that each instance belongs to.
    """

    meshes: NDArray[np.int8] = field(default_factory=lambda: np.empty(0, dtype=np.int8))
    rows: InstanceRows = field(default_factory=lambda: np.empty((0, 4, 4), dtype=np.float32))
    owners: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(cls, mesh: UnitMesh, centers: Floats, axes: Floats, owners: Ints) -> Instances:
        """Return a unit mesh at each of the centers (n, 3), in black.

        axes : (n, 3, 3) float. Its axes in the world, as columns; or (n, 1) or (n, 3) lengths along X, Y, Z.
        """
        rows = np.zeros((len(centers), 4, 4), dtype=np.float32)
        rows[:, :3, 3] = centers
        if axes.ndim == 2:
            rows[:, range(3), range(3)] = axes
        else:
            rows[:, :3, :3] = axes
        return cls(np.full(len(rows), UNIT_MESHES.index(mesh), dtype=np.int8), rows, owners)

    def with_color(self, color: Any) -> Instances:
        """Return the instances in one color (4,), or each in one of (n, 4)."""
        rows = self.rows.copy()
        rows[:, 3] = color
        return self.replaced(rows=rows)

    def boxes(self, count: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return minima and maxima (count, 3) of boxes around subjects; infinite where none is drawn."""
        centers, half = self.rows[:, :3, 3], np.abs(self.rows[:, :3, :3]).sum(axis=2)
        low, high = np.full((2, count, 3), np.inf, dtype=np.float32)
        np.minimum.at(low, self.owners, centers - half)
        np.minimum.at(high, self.owners, -centers - half)
        return low, -high


class Labels(Table):
    """Names of subjects.

    texts : (k,) object
    positions : (k, 3) float32. Centers of what is labeled, in world space.
    sizes : (k, 3) float32. Half extents of the box around it along the world's axes.
    ranks : (k,) int. The labels of lower ranks take precedence.
    owners : (k,) int. Index of the subject that each label belongs to.
    """

    texts: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, dtype=object))
    positions: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 3), dtype=np.float32))
    sizes: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 3), dtype=np.float32))
    ranks: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    owners: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class DrawData:
    """Everything drawn for one scene.

    instances : Instances. Of one unit mesh, later ones are over earlier ones.
    marker : Lines of the marker at the active contact, and of the overlap of its pair.
    faces : (3 n, 3) float32. Corners of triangles of either mesh of that pair that are inside the other.
    surfaces : Corners (3 m, 3) float32 of the triangles of both, and their color (3,); None for none.
    labels : Labels
    strong : (n,) bool. Whether each subject has strong lines; empty if none has.
    """

    instances: Instances = field(default_factory=Instances)
    marker: Instances = field(default_factory=Instances)
    faces: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 3), dtype=np.float32))
    surfaces: tuple[NDArray[np.float32], Any] | None = None
    labels: Labels = field(default_factory=Labels)
    strong: Bools = field(default_factory=lambda: np.empty(0, dtype=bool))

    @cached_property
    def by_strength(self) -> tuple[DrawData, DrawData]:
        """The shapes of subjects with plain lines, and of those with strong lines."""
        if not self.strong.any():
            return self, DrawData()
        return self.of_subjects(~self.strong), self.of_subjects(self.strong)

    @cached_property
    def by_mesh(self) -> dict[UnitMesh, Instances]:
        meshes = self.instances.meshes
        return {mesh: self.instances.take(meshes == index) for index, mesh in enumerate(UNIT_MESHES)}

    def of_subjects(self, is_included: Bools) -> DrawData:
        """Return the data of the subjects for which `is_included` (k,) holds, and the marker."""
        return replace(
            self,
            instances=self.instances.take(is_included[self.instances.owners]),
            labels=self.labels.take(is_included[self.labels.owners]),
        )


def instances_of(shape: Shape, owners: Ints) -> Instances:
    """Return the instances that make up each of (n,) shapes, in black.

    Raises TypeError for shapes that cannot be drawn.
    """
    if type(shape) not in PARTS:
        raise TypeError(f"the overlay cannot draw {type(shape).__name__}")
    parts = [Instances.of(*part, owners) for part in PARTS[type(shape)](shape)]
    return Instances.concatenate(parts) if len(parts) > 1 else parts[0]


def subject_colors(in_contact: Bools, active: Sequence[int] = ()) -> NDArray[np.float32]:
    """Return the color (n, 4) of each subject, by whether it is in contact (n,).

    While a pair is active, all subjects but its two are fainter. Of many subjects, free ones are fainter.
    """
    chosen = preferences()
    colors = np.where(in_contact[:, None], np.array(chosen.contact_color), np.array(chosen.free_color))
    free_count = np.count_nonzero(~in_contact)
    if free_count > _MANY:
        colors[~in_contact, 3] *= max((_MANY / free_count) ** 0.5, _LEAST)
    if active:
        opacity = np.full(len(colors), ASIDE)
        opacity[list(active)] = 1.0
        colors[:, 3] *= opacity
    return colors.astype(np.float32)


def draw_data_from_shapes(
    live: LiveShapes, drawn: Sequence[DrawnShape], checked: ShapeName, active: Sequence[int] = ()
) -> DrawData:
    """Make the draw data of live shapes, without labels and marker.

    Raises TypeError for shapes that cannot be drawn. Strong lines mark contact by form, for those who cannot
    distinguish the colors. The active pair always has them; while there is one, all other subjects are
    fainter. Of the shapes in `drawn`, later ones are below earlier ones, and all but the one checked for
    contact are faint.
    """
    bright = subject_colors(live.in_contact, active)
    strong = live.in_contact.copy()
    strong[list(active)] = True
    faint = bright * np.array((1, 1, 1, FAINT), dtype=np.float32)
    parts = [Instances()]
    for name in drawn[::-1]:
        colors = bright if name == checked else faint
        # Convex parts can be of several kinds.
        for owned in (*(live.parts if name == "compound" else ()), live.shapes[name]):
            part = instances_of(*owned)
            part.rows[:, 3] = colors[part.owners]
            parts.append(part)
    return DrawData(Instances.concatenate(parts), strong=strong)


_SWEPT: dict[DrawnShape, type[Shape]] = {"sphere": Sphere, "aabb": Aabb}
"""Class of the envelopes that are drawn with the shapes of each name."""


def envelope_instances(result: Result, envelopes: Result, drawn: Sequence[DrawnShape]) -> Instances:
    """Return the envelopes of all subjects of `result` that have envelopes, in black."""
    indices = {subject.id: index for index, subject in enumerate(result.subjects)}
    parts = [Instances()]
    for kind in (kind for name, kind in _SWEPT.items() if name in drawn):
        owned = [
            (indices[entry.id], shape)
            for entry in envelopes.objects
            if entry.id in indices
            for shape in entry.envelope
            if type(shape) is kind
        ]
        if owned:
            owners, shapes = zip(*owned, strict=True)
            parts.append(instances_of(stacked(shapes), np.array(owners)))
    return Instances.concatenate(parts)


def with_labels(
    data: DrawData, names: Sequence[str], live: LiveShapes, active: Sequence[int] = ()
) -> DrawData:
    """Return the data with a label for each subject of which a shape is drawn; `names` (n,) are those of all.

    A label is about the box around its subject's shapes. The active pair comes first, then what is selected,
    then what is in contact.
    """
    ranks: Ints = np.select([live.selected, live.in_contact], [1, 2], 3)
    ranks[list(active)] = 0
    low, high = data.instances.boxes(len(names))
    labeled = np.flatnonzero(np.isfinite(low[:, 0]))
    low, high = low[labeled], high[labeled]
    positions, sizes = ((part / 2).astype(np.float32) for part in (low + high, high - low))
    texts = np.array(names, dtype=object)[labeled]
    return replace(data, labels=Labels(texts, positions, sizes, ranks[labeled], labeled))


def with_overlap(data: DrawData, overlap: MeshOverlap, text: str, owner: int) -> DrawData:
    """Return the data with the overlap of the active pair: curve, surfaces, faces inside, and a label.

    text : The depth, the gap, or that surfaces cross; empty for none.
    owner : Index of the subject that the lines and the label belong to.
    """
    lines = overlap.curve
    if text:
        lines = np.concatenate([lines, overlap.ends[None]])
        position = (overlap.ends if overlap.depth < 0 else overlap.ends[:1]).mean(axis=0)
        label = Labels(
            np.array([text], dtype=object),
            position[None].astype(np.float32),
            np.zeros((1, 3), dtype=np.float32),
            np.array([_FIRST_RANK]),
            np.array([owner]),
        )
        data = replace(data, labels=Labels.concatenate([data.labels, label]))
    segments = instances_of(Segment(lines[:, 0], lines[:, 1]), np.full(len(lines), owner))
    marker = Instances.concatenate([data.marker, segments.with_color(preferences().marker_color)])
    inside, surfaces = (each.reshape(-1, 3).astype(np.float32) for each in (overlap.inside, overlap.surfaces))
    color = preferences().free_color if overlap.depth < 0 else preferences().contact_color
    return replace(data, marker=marker, faces=inside, surfaces=(surfaces, tuple(color)[:3]))


def contact_marker(contact: Contact, instances: Instances) -> Instances:
    """Make the lines of a contact's marker: a cross at its first point, and an arrow along its normal.

    Their size is the geometric mean of the sizes of both subjects, of which these are the instances.
    """
    sides = [contact.a, contact.b]
    low, high = instances.take(np.isin(instances.owners, sides)).boxes(max(sides) + 1)
    # Half the longest side of each; negative where none is drawn.
    longest = np.maximum((high - low)[sides].max(axis=1), 0.0).astype(np.float64) / 2
    size = float(np.sqrt(longest.prod())) or 1.0
    normal = np.asarray(contact.first.normal, dtype=np.float64)
    point = np.asarray(contact.first.point, dtype=np.float64)
    lines = [(point - 0.15 * size * axis, 0.3 * size * axis) for axis in np.eye(3)]
    if length(normal) > 0:
        shaft = normal * size
        side = perpendicular(normal)
        lines.append((point, shaft))
        for across in (side, -side):
            lines.append((point + shaft, _ARROW_HEAD * size * (0.5 * across - normal)))
    starts, directions = (np.array(column) for column in zip(*lines, strict=True))
    marker = instances_of(Segment(starts, starts + directions), np.full(len(lines), contact.a))
    return marker.with_color(preferences().marker_color)
