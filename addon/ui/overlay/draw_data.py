"""Draw data: everything that the overlay draws of one scene, as plain arrays.

Each shape is an instance of a unit mesh, with a matrix and a color. NumPy only, so that it is tested without
a graphics card.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ...core import Aabb, Capsule, Contact, Cylinder, Obb, Shape, Sphere, stacked
from ...core.numeric.arrays import Bools, Floats, Ints, cross, length, perpendicular
from ...scene.jobs.result import Result
from ...scene.live.contact_state import LiveShapes, OwnedShapes
from ...scene.settings import DrawnShape, ShapeName
from .colors import GHOST_COLOR, OverlayColors, faded

_ARROW_HEAD = 0.2
"""Length of an arrow's head, as part of its shaft."""

InstanceRows = NDArray[np.float32]
"""(n, 4, 4): three rows of a matrix from a unit mesh to the world, and a color, red to alpha."""

_NO_ROWS = np.empty((0, 4, 4), dtype=np.float32)
_NO_OWNERS = np.empty(0, dtype=np.int64)

UnitMesh: TypeAlias = Literal["spheres", "boxes", "capsules", "cylinders", "edges"]
"""Fields of `DrawData` that hold the instances of one unit mesh."""

UNIT_MESHES: tuple[UnitMesh, ...] = get_args(UnitMesh)

_UNIT_MESHES: dict[type, UnitMesh] = {
    Sphere: "spheres",
    Aabb: "boxes",
    Obb: "boxes",
    Capsule: "capsules",
    Cylinder: "cylinders",
}


@dataclass(frozen=True)
class Instances:
    """Instances of one unit mesh.

    Attributes
    ----------
    rows : (n, 4, 4) float32
        Matrices and colors; see `InstanceRows`.
    owners : (n,) int
        Index of the subject that each instance belongs to.
    """

    rows: InstanceRows = field(default_factory=lambda: _NO_ROWS)
    owners: Ints = field(default_factory=lambda: _NO_OWNERS)

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: Instances) -> Instances:
        if not len(other):
            return self
        return Instances(np.concatenate([self.rows, other.rows]), np.concatenate([self.owners, other.owners]))

    def of_subjects(self, is_included: Bools) -> Instances:
        """Return the instances of the subjects for which `is_included` (k,) holds."""
        keep = is_included[self.owners]
        return Instances(self.rows[keep], self.owners[keep])

    def with_color(self, color: Sequence[float]) -> Instances:
        """Return the instances in one color."""
        rows = self.rows.copy()
        rows[:, 3] = color
        return Instances(rows, self.owners)


@dataclass(frozen=True)
class DrawData:
    """Everything drawn for one scene.

    Attributes
    ----------
    spheres, boxes, capsules, cylinders : Instances
    edges : Instances
        Lines of hulls, each an instance of the unit segment.
    marker : Instances
        Lines of the marker at the active contact.
    labels : tuple of k str
        Names of subjects.
    label_positions : (k, 3) float32
        Centers of what is labeled, in world space.
    label_sizes : (k, 3) float32
        Half extents of the box around it along the world's axes.
    label_ranks : (k,) int
        The labels of lower ranks take precedence.
    label_owners : (k,) int
        Index of the subject that each label belongs to.
    strong : (n,) bool
        Whether each subject has strong lines; empty if none has.
    """

    spheres: Instances = field(default_factory=Instances)
    boxes: Instances = field(default_factory=Instances)
    capsules: Instances = field(default_factory=Instances)
    cylinders: Instances = field(default_factory=Instances)
    edges: Instances = field(default_factory=Instances)
    marker: Instances = field(default_factory=Instances)
    labels: tuple[str, ...] = ()
    label_positions: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 3), dtype=np.float32))
    label_sizes: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 3), dtype=np.float32))
    label_ranks: Ints = field(default_factory=lambda: _NO_OWNERS)
    label_owners: Ints = field(default_factory=lambda: _NO_OWNERS)
    strong: Bools = field(default_factory=lambda: np.empty(0, dtype=bool))

    @cached_property
    def by_strength(self) -> tuple[DrawData, DrawData]:
        """The shapes of subjects with plain lines, and of those with strong lines."""
        if not self.strong.any():
            return self, DrawData()
        return self.of_subjects(~self.strong), self.of_subjects(self.strong)

    @property
    def by_mesh(self) -> dict[UnitMesh, Instances]:
        """The instances of each unit mesh."""
        return {mesh: getattr(self, mesh) for mesh in UNIT_MESHES}

    def of_subjects(self, is_included: Bools) -> DrawData:
        """Return the data of the subjects for which `is_included` (k,) holds, and the marker."""
        keep = is_included[self.label_owners]
        labels = tuple(label for label, kept in zip(self.labels, keep.tolist(), strict=True) if kept)
        shown: dict[str, Any] = {mesh: part.of_subjects(is_included) for mesh, part in self.by_mesh.items()}
        return replace(
            self,
            **shown,
            labels=labels,
            label_positions=self.label_positions[keep],
            label_sizes=self.label_sizes[keep],
            label_ranks=self.label_ranks[keep],
            label_owners=self.label_owners[keep],
        )

    def drawn_over(self, other: DrawData, spheres: bool, boxes: bool) -> DrawData:
        """Return the data with the spheres of `other` below, or its boxes, or both."""
        return replace(
            self,
            spheres=other.spheres + self.spheres if spheres else self.spheres,
            boxes=other.boxes + self.boxes if boxes else self.boxes,
        )

    def with_ghosts(self, ghosts: DrawData) -> DrawData:
        """Return the data with the shapes of `ghosts`, in the color of ghosts."""
        together: dict[str, Any] = {
            mesh: getattr(self, mesh) + added.with_color(GHOST_COLOR)
            for mesh, added in ghosts.by_mesh.items()
        }
        return replace(self, **together)


def unit_mesh_of(kind: type) -> UnitMesh:
    """Return the unit mesh of a class of shapes. Raises TypeError for a class that cannot be drawn."""
    if kind not in _UNIT_MESHES:
        raise TypeError(f"the overlay cannot draw {kind.__name__}")
    return _UNIT_MESHES[kind]


def draw_data_from_shapes(
    live: LiveShapes,
    drawn: Sequence[DrawnShape],
    checked: ShapeName,
    colors: OverlayColors,
    active: Sequence[int] = (),
) -> DrawData:
    """Make the draw data of live shapes, without labels and marker.

    Strong lines mark contact by form, for those who cannot distinguish the colors. The active pair always has
    them.

    Parameters
    ----------
    live : LiveShapes
        Current shapes of all subjects.
    drawn : sequence of str
        Names of shapes; later ones are drawn below earlier ones.
    checked : str
        Name of the shape checked for contact; all others are faint.
    colors : OverlayColors
        Those of free subjects and of subjects in contact are used.
    active : sequence of int
        Both subjects of the pair of the active row; all others are fainter. Empty without one.

    Raises
    ------
    TypeError
        For shapes that cannot be drawn.
    """
    bright = colors.of_subjects(live.in_contact, active)
    strong = live.in_contact.copy()
    strong[list(active)] = True
    faint = faded(bright)
    instances: dict[str, Any] = {mesh: Instances() for mesh in UNIT_MESHES}
    for name in drawn:
        colored = bright if name == checked else faint
        for mesh, rows, owners in _drawn_as(live, name):
            rows[:, 3] = colored[owners]
            instances[mesh] = Instances(rows, owners) + instances[mesh]
    return DrawData(**instances, strong=strong)


def _drawn_as(live: LiveShapes, name: DrawnShape) -> Iterator[tuple[UnitMesh, InstanceRows, Ints]]:
    """Yield unit mesh, rows and owners of the shapes of one name; convex parts can be of several kinds."""
    shapes = [live.shapes[name]]
    if name == "compound" and live.parts is not None:
        (shape, owners), parts = shapes[0], live.parts
        is_box = ~parts.is_shown[owners]
        shapes = [OwnedShapes(shape[is_box], owners[is_box]), *parts.shapes]
        yield (
            "edges",
            _segment_rows(parts.edges[:, 0], parts.edges[:, 1] - parts.edges[:, 0]),
            parts.edge_owners,
        )
    for shape, owners in shapes:
        yield unit_mesh_of(type(shape)), instance_rows(shape), owners


def _segment_rows(starts: Floats, directions: Floats) -> InstanceRows:
    """Return the matrices from the unit segment to lines (n, 3); colors are zero."""
    rows = np.zeros((len(starts), 4, 4), dtype=np.float32)
    rows[:, :3, 3], rows[:, :3, 2] = starts, directions
    return rows


def draw_data_from_envelopes(result: Result, envelopes: Result, color: Sequence[float]) -> DrawData:
    """Make the draw data, in one color, of the envelopes of all subjects of `result` that have envelopes.

    Raises TypeError for envelopes that are neither spheres nor boxes.
    """
    indices = {subject.id: index for index, subject in enumerate(result.subjects)}
    by_kind: dict[type, list[tuple[int, Shape]]] = {Sphere: [], Aabb: []}
    for entry in envelopes.objects:
        if entry.id in indices:
            for shape in entry.envelope:
                by_kind.setdefault(type(shape), []).append((indices[entry.id], shape))
    instances: dict[UnitMesh, Instances] = {"spheres": Instances(), "boxes": Instances()}
    for kind, owned in by_kind.items():
        if owned:
            mesh = unit_mesh_of(kind)
            rows = instance_rows(stacked([shape for _, shape in owned]))
            owners = np.array([index for index, _ in owned])
            instances[mesh] = instances[mesh] + Instances(rows, owners).with_color(color)
    return DrawData(instances["spheres"], instances["boxes"])


def instance_rows(shape: Shape) -> InstanceRows:
    """Return the matrices from the unit mesh to each of (n,) shapes; colors are zero.

    Raises TypeError for shapes that cannot be drawn.
    """
    unit_mesh_of(type(shape))
    center = shape.center
    rows = np.zeros((len(center), 4, 4), dtype=np.float32)
    rows[:, :3, 3] = center
    if isinstance(shape, Sphere):
        rows[:, [0, 1, 2], [0, 1, 2]] = shape.radius[:, None]
    elif isinstance(shape, Aabb):
        rows[:, [0, 1, 2], [0, 1, 2]] = shape.half_extents
    elif isinstance(shape, Capsule | Cylinder):
        side, reach = perpendicular(shape.axis), shape.half_length
        if isinstance(shape, Capsule):
            reach = reach + shape.radius
        rows[:, :3, 0] = side * shape.radius[:, None]
        rows[:, :3, 1] = cross(shape.axis, side) * shape.radius[:, None]
        rows[:, :3, 2] = shape.axis * reach[:, None]
    else:
        assert isinstance(shape, Obb), "unit_mesh_of accepts no other class"
        rows[:, :3, :3] = shape.rotation * shape.half_extents[:, None, :]
    return rows


def with_labels(data: DrawData, names: Sequence[str], ranks: Ints) -> DrawData:
    """Return the data with a label for each subject of which a shape is drawn.

    A label is about the box around its subject's shapes. `names` and `ranks` (n,) are those of all subjects.
    """
    owners = np.concatenate([instances.owners for instances in data.by_mesh.values()])
    rows = np.concatenate([instances.rows for instances in data.by_mesh.values()])
    # Extents along the world's axes; a matrix of a sphere has one entry in each row.
    half = np.abs(rows[:, :3, :3]).sum(axis=2)
    low, high = np.full((2, len(names), 3), np.inf, dtype=np.float32)
    np.minimum.at(low, owners, rows[:, :3, 3] - half)
    np.minimum.at(high, owners, -rows[:, :3, 3] - half)
    labeled = np.flatnonzero(np.isfinite(low[:, 0]))
    return replace(
        data,
        labels=tuple(names[k] for k in labeled.tolist()),
        label_positions=((low[labeled] - high[labeled]) / 2).astype(np.float32),
        label_sizes=((-high[labeled] - low[labeled]) / 2).astype(np.float32),
        label_ranks=ranks[labeled],
        label_owners=labeled,
    )


def contact_marker(contact: Contact, data: DrawData, color: Sequence[float]) -> Instances:
    """Make the lines of a contact's marker: a cross at its first point, and an arrow along its normal.

    Their size is the geometric mean of the sizes of both subjects in `data`.
    """
    size = float(np.sqrt(_drawn_size(data, contact.a) * _drawn_size(data, contact.b))) or 1.0
    normal = np.asarray(contact.first.normal, dtype=np.float64)
    point = np.asarray(contact.first.point, dtype=np.float64)
    lines = [(point - 0.15 * size * axis, 0.3 * size * axis) for axis in np.eye(3)]
    if length(normal) > 0:
        shaft = normal * size
        side = perpendicular(normal)
        lines.append((point, shaft))
        for across in (side, -side):
            lines.append((point + shaft, _ARROW_HEAD * size * (0.5 * across - normal)))
    rows = _segment_rows(np.array([start for start, _ in lines]), np.array([along for _, along in lines]))
    rows[:, 3] = color
    return Instances(rows, np.full(len(lines), contact.a))


def _drawn_size(data: DrawData, subject: int) -> float:
    """Return the largest half extent of a subject's shapes; 0 if none is drawn."""
    sizes: list[Floats] = []
    for instances in data.by_mesh.values():
        linear = instances.rows[instances.owners == subject, :3, :3].astype(np.float64)
        sizes += list(np.abs(linear).max(axis=(1, 2)))
    return float(max(sizes, default=0.0))
