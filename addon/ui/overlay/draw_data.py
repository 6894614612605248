"""Draw data: everything that the overlay draws of one scene, as plain arrays.

Each shape is an instance of a unit mesh, with a matrix and a color. NumPy only, so that it is tested without
a graphics card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ...core import Aabb, Capsule, Contact, Cylinder, Obb, Shape, Sphere, stacked
from ...core.numeric.arrays import Bools, Floats, Ints, cross, length, perpendicular
from ...core.numeric.table import Table
from ...scene.jobs.result import Result
from ...scene.live.contact_state import LiveShapes, OwnedShapes
from ...scene.settings import DrawnShape, ShapeName
from ..properties.preferences import preferences

_ARROW_HEAD = 0.2
"""Length of an arrow's head, as part of its shaft."""

InstanceRows = NDArray[np.float32]
"""(n, 4, 4): three rows of a matrix from a unit mesh to the world, and a color, red to alpha."""

UnitMesh: TypeAlias = Literal["spheres", "boxes", "capsules", "cylinders", "edges"]
"""Fields of `DrawData` that hold the instances of one unit mesh."""

UNIT_MESHES: tuple[UnitMesh, ...] = get_args(UnitMesh)


FAINT = 0.3
"""Opacity of shapes that are not the ones checked for contact."""
ASIDE = 0.3
"""Opacity of the bounds of all subjects but the pair of the active row, while there is one."""
_MANY = 100
"""Number of free subjects from which on each is fainter, so that contacts stand out in a crowd."""
_LEAST = 0.35
"""Opacity of free subjects, however many there are."""
GHOST_COLOR = (1.0, 1.0, 1.0, 0.5)
"""White: the active pair as it was at its first contact."""


class OverlayColors(NamedTuple):
    """Colors of free bounds, of bounds in contact, of swept bounds, and of the mark at the active contact.

    Each is red, green, blue and alpha from 0 to 1. `properties/preferences.py` has the defaults.
    """

    free: Sequence[float]
    contact: Sequence[float]
    swept: Sequence[float]
    marker: Sequence[float]

    @classmethod
    def from_preferences(cls) -> OverlayColors:
        """Return the user's colors: blue, red, green and yellow by default."""
        chosen = preferences()
        colors = chosen.free_color, chosen.contact_color, chosen.swept_color, chosen.marker_color
        return cls(*(tuple(color) for color in colors))

    def of_subjects(self, in_contact: Bools, active: Sequence[int] = ()) -> NDArray[np.float32]:
        """Return the color (n, 4) of each subject, by whether it is in contact (n,).

        While a pair is active, all subjects but its two are fainter. Of many subjects, free ones are fainter.
        """
        colors = np.where(in_contact[:, None], np.array(self.contact), np.array(self.free))
        free_count = np.count_nonzero(~in_contact)
        if free_count > _MANY:
            colors[~in_contact, 3] *= max((_MANY / free_count) ** 0.5, _LEAST)
        if active:
            opacity = np.full(len(colors), ASIDE)
            opacity[list(active)] = 1.0
            colors[:, 3] *= opacity
        return colors.astype(np.float32)


class Instances(Table):
    """Instances of one unit mesh.

    rows : (n, 4, 4) float32. Matrices and colors; see `InstanceRows`.
    owners : (n,) int. Index of the subject that each instance belongs to.
    """

    rows: InstanceRows = field(default_factory=lambda: np.empty((0, 4, 4), dtype=np.float32))
    owners: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.rows)

    def with_color(self, color: Any) -> Instances:
        """Return the instances in one color (4,), or each in one of (n, 4)."""
        rows = self.rows.copy()
        rows[:, 3] = color
        return Instances(rows, self.owners)


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

    spheres, boxes, capsules, cylinders : Instances
    edges : Lines of hulls, each an instance of the unit segment.
    marker : Lines of the marker at the active contact.
    labels : Labels
    strong : (n,) bool. Whether each subject has strong lines; empty if none has.
    """

    spheres: Instances = field(default_factory=Instances)
    boxes: Instances = field(default_factory=Instances)
    capsules: Instances = field(default_factory=Instances)
    cylinders: Instances = field(default_factory=Instances)
    edges: Instances = field(default_factory=Instances)
    marker: Instances = field(default_factory=Instances)
    labels: Labels = field(default_factory=Labels)
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
        parts = {**self.by_mesh, "labels": self.labels}
        shown: dict[str, Any] = {name: part.take(is_included[part.owners]) for name, part in parts.items()}
        return replace(self, **shown)

    def added(self, instances: Mapping[UnitMesh, Instances], below: bool = False) -> DrawData:
        """Return the data with further instances, drawn over those of the same mesh, or below them."""
        joined: dict[str, Any] = {}
        for mesh, more in instances.items():
            parts = [part for part in (more, getattr(self, mesh)) if len(part)][:: 1 if below else -1]
            if len(more):
                joined[mesh] = more if len(parts) == 1 else Instances.concatenate(parts)
        return replace(self, **joined)


def _along_axis(shape: Capsule | Cylinder, reach: Floats) -> Floats:
    """Return the columns (n, 3, 3) of radius, radius and `reach` (n,) along the axes of shapes."""
    side, radius = perpendicular(shape.axis), shape.radius[:, None]
    return np.stack([side * radius, cross(shape.axis, side) * radius, shape.axis * reach[:, None]], axis=-1)


_DRAWN: dict[type, tuple[UnitMesh, Callable[[Any], Floats]]] = {
    Sphere: ("spheres", lambda shape: shape.radius[:, None]),
    Aabb: ("boxes", lambda shape: shape.half_extents),
    Obb: ("boxes", lambda shape: shape.rotation * shape.half_extents[:, None]),
    Capsule: ("capsules", lambda shape: _along_axis(shape, shape.half_length + shape.radius)),
    Cylinder: ("cylinders", lambda shape: _along_axis(shape, shape.half_length)),
}
"""Unit mesh of each class, and its axes in the world: as columns (n, 3, 3), or lengths along X, Y and Z."""


def instance_rows(shape: Shape) -> InstanceRows:
    """Return the matrices from the unit mesh to each of (n,) shapes; colors are zero.

    Raises TypeError for shapes that cannot be drawn.
    """
    if type(shape) not in _DRAWN:
        raise TypeError(f"the overlay cannot draw {type(shape).__name__}")
    rows = np.zeros((len(shape.center), 4, 4), dtype=np.float32)
    rows[:, :3, 3] = shape.center
    axes = _DRAWN[type(shape)][1](shape)
    if axes.ndim == 2:
        rows[:, range(3), range(3)] = axes
    else:
        rows[:, :3, :3] = axes
    return rows


def _segment_rows(starts: Floats, directions: Floats) -> InstanceRows:
    """Return the matrices from the unit segment to lines (n, 3); colors are zero."""
    rows = np.zeros((len(starts), 4, 4), dtype=np.float32)
    rows[:, :3, 3], rows[:, :3, 2] = starts, directions
    return rows


def draw_data_from_shapes(
    live: LiveShapes,
    drawn: Sequence[DrawnShape],
    checked: ShapeName,
    colors: OverlayColors,
    active: Sequence[int] = (),
) -> DrawData:
    """Make the draw data of live shapes, without labels and marker.

    Raises TypeError for shapes that cannot be drawn. Strong lines mark contact by form, for those who cannot
    distinguish the colors. The active pair always has them; while there is one, all other subjects are
    fainter. Of the shapes in `drawn`, later ones are below earlier ones, and all but the one checked for
    contact are faint.
    """
    bright = colors.of_subjects(live.in_contact, active)
    strong = live.in_contact.copy()
    strong[list(active)] = True
    faint = bright * np.array((1, 1, 1, FAINT), dtype=np.float32)
    data = DrawData(strong=strong)
    for name in drawn:
        colored = bright if name == checked else faint
        for mesh, instances in _drawn_as(live, name):
            instances.rows[:, 3] = colored[instances.owners]
            data = data.added({mesh: instances}, below=True)
    return data


def _drawn_as(live: LiveShapes, name: DrawnShape) -> Iterator[tuple[UnitMesh, Instances]]:
    """Yield unit mesh and instances of the shapes of one name; convex parts can be of several kinds."""
    shapes = [live.shapes[name]]
    if name == "compound" and live.parts is not None:
        (shape, owners), parts = shapes[0], live.parts
        is_box = ~parts.is_shown[owners]
        shapes = [OwnedShapes(shape[is_box], owners[is_box]), *parts.shapes]
        starts, stops = parts.edges[:, 0], parts.edges[:, 1]
        yield "edges", Instances(_segment_rows(starts, stops - starts), parts.edge_owners)
    for shape, owners in shapes:
        rows = instance_rows(shape)
        yield _DRAWN[type(shape)][0], Instances(rows, owners)


def draw_data_from_envelopes(result: Result, envelopes: Result, color: Sequence[float]) -> DrawData:
    """Make the draw data, in one color, of the envelopes of all subjects of `result` that have envelopes.

    Raises TypeError for envelopes that cannot be drawn.
    """
    indices = {subject.id: index for index, subject in enumerate(result.subjects)}
    data, by_kind = DrawData(), dict[type, list[tuple[int, Shape]]]()
    for entry in envelopes.objects:
        if entry.id in indices:
            for shape in entry.envelope:
                by_kind.setdefault(type(shape), []).append((indices[entry.id], shape))
    for kind, owned in by_kind.items():
        rows = instance_rows(stacked([shape for _, shape in owned]))
        owners = np.array([index for index, _ in owned])
        data = data.added({_DRAWN[kind][0]: Instances(rows, owners).with_color(color)})
    return data


class Additions(NamedTuple):
    """Values drawn in addition to bounds; each is needed only if its option is on.

    Current names of all subjects, both subjects of the active row (empty without one), the active contact,
    its pair at its first frame, envelopes, and the color of the mark at the active contact.
    """

    names: Sequence[str]
    active: Sequence[int]
    contact: Contact | None
    ghosts: DrawData | None
    envelopes: DrawData
    marker_color: Sequence[float]


def compose_draw_data(bounds: DrawData, live: LiveShapes, additions: Additions, display: Any) -> DrawData:
    """Compose the draw data of a scene, with the additions that its display settings show.

    `display` is a COLLISION_BOUNDS_PG_display. `live` has the selected and visible subjects.
    """
    data = bounds.of_subjects(live.selected) if display.only_selected else bounds
    if display.show_names:
        data = with_labels(data, additions.names, label_ranks(live, additions.active))
    if additions.ghosts is not None and display.show_ghosts:
        ghosts = additions.ghosts.by_mesh
        data = data.added({mesh: each.with_color(GHOST_COLOR) for mesh, each in ghosts.items()})
    if additions.contact is not None and display.show_contact:
        # There are no ghosts before the playhead was at the contact: take sizes from current bounds.
        sized_by = data if additions.ghosts is None else additions.ghosts
        data = replace(data, marker=contact_marker(additions.contact, sized_by, additions.marker_color))
    if display.show_envelopes:
        is_shown = live.visible & live.selected if display.only_selected else live.visible
        envelopes = additions.envelopes.of_subjects(is_shown).by_mesh
        switches: dict[UnitMesh, bool] = {"spheres": display.show_spheres, "boxes": display.show_boxes}
        data = data.added({mesh: envelopes[mesh] for mesh, on in switches.items() if on}, below=True)
    return data


def label_ranks(live: LiveShapes, active: Sequence[int]) -> Ints:
    """Return the rank (n,) of each subject's label: the active pair, selected, in contact, then the rest."""
    ranks: Ints = np.select([live.selected, live.in_contact], [1, 2], 3)
    ranks[list(active)] = 0
    return ranks


def with_labels(data: DrawData, names: Sequence[str], ranks: Ints) -> DrawData:
    """Return the data with a label for each subject of which a shape is drawn.

    A label is about the box around its subject's shapes. `names` and `ranks` (n,) are those of all subjects.
    """
    rows, owners = Instances.concatenate([*data.by_mesh.values()])
    # Extents along the world's axes; a matrix of a sphere has one entry in each row.
    half = np.abs(rows[:, :3, :3]).sum(axis=2)
    low, high = np.full((2, len(names), 3), np.inf, dtype=np.float32)
    np.minimum.at(low, owners, rows[:, :3, 3] - half)
    np.minimum.at(high, owners, -rows[:, :3, 3] - half)
    labeled = np.flatnonzero(np.isfinite(low[:, 0]))
    low, high = low[labeled], -high[labeled]
    positions, sizes = ((part / 2).astype(np.float32) for part in (low + high, high - low))
    texts = np.array(names, dtype=object)[labeled]
    return replace(data, labels=Labels(texts, positions, sizes, ranks[labeled], labeled))


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
    rows = _segment_rows(*(np.array(column) for column in zip(*lines, strict=True)))
    return Instances(rows, np.full(len(lines), contact.a)).with_color(color)


def _drawn_size(data: DrawData, subject: int) -> float:
    """Return the largest half extent of a subject's shapes; 0 if none is drawn."""
    rows, owners = Instances.concatenate([*data.by_mesh.values()])
    return float(np.abs(rows[owners == subject, :3, :3]).max(initial=0.0))
