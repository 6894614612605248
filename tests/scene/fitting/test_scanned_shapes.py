"""Scans test the shapes of documents: at a first contact, those of a document touch, and not before."""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.formats import dumps, parse_document
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import SCANNED_SHAPES, BoundsSettings, FitSettings
from tests.core.compound.meshes_with_notches import L_OUTLINE, L_TRIANGLES, prism, ring
from tests.core.scenes import random_rotations
from tests.scene.building import add_object, add_vertices, open_empty_file
from tests.scene.fitting.document_shapes import least_gaps, moved, placed_solids, world_box_gaps
from tests.scene.sampling import contacts_by_names, go_to, key, matrices_at, scan_scene
from tests.tiers import is_full, times

pytestmark = pytest.mark.usefixtures("empty_file")

END = 20
LANE = 20
TOLERANCE = 5e-5
"""What single precision makes of rotations and of times. Meshes are about one unit large."""
PAIRS_AT_ONCE = times(50, 10)
"""Pairs of a scene: the scene is evaluated for each contact."""
PADDINGS = 0.0, 0.08


@dataclass(frozen=True)
class Fit:
    """A shape that is scanned, the shape of the document that it is, and the settings of both.

    `kind` is empty for boxes that are along the world's axes at each time.
    """

    shape: str
    kind: str
    settings: FitSettings = field(default_factory=FitSettings)


FITS = {
    "sphere": Fit("sphere", "sphere"),
    "box": Fit("aabb", ""),
    "box along objects": Fit("aabb", "obb", FitSettings(axes="object")),
    "smallest box": Fit("aabb", "obb", FitSettings(axes="smallest")),
    "oriented box": Fit("obb", "obb"),
    "oriented smallest box": Fit("obb", "obb", FitSettings(axes="smallest")),
    "oriented box along world": Fit("obb", "", FitSettings(axes="world")),
    "sphere tree": Fit("spheres", "spheres"),
    "shallow sphere tree": Fit("spheres", "spheres", FitSettings(depth=2)),
    "capsule": Fit("capsule", "capsule"),
    "convex parts": Fit("compound", "compound", FitSettings(parts=4, part_shape="box")),
    "convex parts of a depth": Fit(
        "compound", "compound", FitSettings(parts=3, parts_tolerance=0.1, part_shape="box")
    ),
}
SLOW = "smallest box", "oriented smallest box", "capsule", "convex parts", "convex parts of a depth"


def random_triangles(rng) -> np.ndarray:
    """Triangles (t, 3, 3) of a prism with a notch, a ring, or a ball with a regular grid."""
    kind = rng.integers(3)
    if kind == 0:
        return prism(L_OUTLINE, L_TRIANGLES, float(rng.uniform(0.3, 1.5)))
    if kind == 1:
        return ring(1.0, float(rng.uniform(0.15, 0.4)), int(rng.integers(8, 24)), 8)
    rows, count = 6, 12
    polar = np.linspace(0, np.pi, rows)[:, None]
    around = np.linspace(0, 2 * np.pi, count + 1)[None]
    grid = np.stack(
        [np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar) + 0 * around], axis=-1
    )
    corners = [
        (grid[i, j], grid[i + 1, j], grid[i + 1, j + 1], grid[i, j + 1])
        for i in range(rows - 1)
        for j in range(count)
    ]
    return np.array([(a, b, c) for a, b, c, _ in corners] + [(a, c, d) for a, _, c, d in corners])


def random_meshes(rng, count: int) -> list[bpy.types.Mesh]:
    """Meshes around their origins. Several objects share each, because a split takes a fifth of a second."""
    meshes = []
    for number in range(count):
        points, index = np.unique(random_triangles(rng).reshape(-1, 3), axis=0, return_inverse=True)
        item = add_vertices(f"Mesh{number}", points - points.mean(axis=0), index.reshape(-1, 3).tolist())
        meshes.append(item.data)
        bpy.data.objects.remove(item)
    return meshes


def add_item(name: str, mesh, rng) -> bpy.types.Object:
    """Add an object of any rotation and scale; return what moves it: itself, or a parent that shears it."""
    item = mover = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(item)
    turn = Matrix(random_rotations(rng, 1)[0].tolist()).to_4x4()
    size = rng.uniform(0.2, 1.5, 3) * rng.choice([1, 1, -1])
    item.matrix_world = turn @ Matrix.Diagonal((*size.tolist(), 1))
    if rng.integers(3) == 0:
        mover = add_object(f"Parent of {name}")
        mover.scale = rng.uniform(0.5, 1.3, 3)
        item.parent = mover
    return mover


def add_pair(number: int, meshes, rng) -> None:
    """Add an object at rest, and one that moves past or through it, rotates and grows, on a lane."""
    at_rest, mover = (add_item(f"{name}{number}", rng.choice(meshes), rng) for name in "AB")
    lane = LANE * np.array(divmod(number, 7))
    at_rest.location = (0, *lane)
    y, z = lane + rng.uniform(-3, 3, 2)
    key(mover, "location", [(1, (-8, y, z)), (END, (8, y, z))])
    if number % 2:
        angles = np.array(mover.rotation_euler)
        spin = rng.uniform(-2, 2, 3)
        key(mover, "rotation_euler", [(1, angles), (END, angles + spin)])
    if number % 4 == 3:
        size = np.array(mover.scale)
        key(mover, "scale", [(1, size), (END, size * rng.uniform(0.7, 1.5))])


class Truth:
    """Gaps of the shapes of a document at any time, as Blender moves the objects."""

    def __init__(self, fit: Fit, settings: FitSettings) -> None:
        """Make the document of the settings at the first frame, and sample the scene at dense times."""
        self._fit, self._padding = fit, settings.padding
        shapes = ("aabb", fit.kind or "sphere")
        bounds = compute_bounds(bpy.context.scene, BoundsSettings(shapes=shapes, fit=settings))
        document = parse_document(dumps(bounds.document("blender", 6)))
        self._entries = {entry["name"]: entry for entry in document["objects"]}
        self.times = np.linspace(1, END, 20 * (END - 1) + 1)
        self._sampled = matrices_at(self.times)

    def sampled_gaps(self, names: list[str]) -> np.ndarray:
        """Gaps (t,) of two objects at the dense times."""
        return self._gaps(names, [self._sampled[name] for name in names])

    def gap_at(self, names: list[str], time: float) -> float:
        """Gap of two objects at one time."""
        go_to(time)
        matrices = [np.array(bpy.data.objects[name].matrix_world)[None] for name in names]
        return float(self._gaps(names, matrices)[0])

    def _gaps(self, names: list[str], matrices: list[np.ndarray]) -> np.ndarray:
        if not self._fit.kind:
            return world_box_gaps(*map(world_points, names, matrices), self._padding)
        solids = []
        for name, matrix in zip(names, matrices, strict=True):
            first = np.linalg.inv(self._sampled[name][0])
            motion = matrix @ first
            # The padding of a document does not grow with the object.
            solids.append(grown(moved(self.bare(name), motion), self._padding, self._fit.kind))
        return least_gaps(self._fit.kind, *solids)

    def bare(self, name: str):
        """Shapes of an object without the padding."""
        return grown(placed_solids(self._entries[name], self._fit.kind), -self._padding, self._fit.kind)


def grown(solids, padding: float, kind: str):
    """Shapes whose surfaces are moved outward."""
    if kind in ("obb", "compound"):
        return type(solids)(solids.center, solids.axes, solids.half + padding, solids.radius)
    return type(solids)(solids.center, solids.axes, solids.half, solids.radius + padding)


def world_points(name: str, matrices: np.ndarray) -> np.ndarray:
    """Vertices (t, n, 3) of a mesh under matrices (t, 4, 4)."""
    mesh = bpy.data.objects[name].data
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    points = flat.reshape(-1, 3).astype(float)
    return np.einsum("tij,nj->tni", matrices[:, :3, :3], points) + matrices[:, None, :3, 3]


@dataclass
class Score:
    """Pairs with and without a contact about which a scan and a document agree, and others.

    `late` is the greatest depth at a first contact, `early` the greatest gap after its uncertainty.
    """

    touching: int = 0
    apart: int = 0
    grazing: int = 0
    early: float = 0.0
    late: float = 0.0


def compare_scene(fit: Fit, settings: FitSettings, score: Score) -> list[tuple]:
    """Compare all pairs of the scene, add them to the score, and return those that disagree."""
    truth, wrong = Truth(fit, settings), []
    found = contacts_by_names(scan_scene(shape=fit.shape, fit=settings))
    for number in range(PAIRS_AT_ONCE):
        names = [f"A{number}", f"B{number}"]
        gaps = truth.sampled_gaps(names)
        contact = found.get(frozenset(names))
        if contact is None:
            least = float(gaps.min())
            score.grazing += abs(least) <= TOLERANCE
            score.apart += least > TOLERANCE
            if least < -TOLERANCE:
                wrong.append((names, "missed", least))
            continue
        first = contact.first.frame
        at, after = (truth.gap_at(names, first + wait) for wait in (0, contact.first.uncertainty))
        before = gaps[truth.times < first].min(initial=np.inf)
        score.early, score.late = max(score.early, after), max(score.late, -at)
        score.touching += 1
        if not (min(at, before) >= -TOLERANCE and after <= TOLERANCE):
            wrong.append((names, first, at, after, before))
    return wrong


def test_all_shapes_of_scans_are_compared():
    assert {fit.shape for fit in FITS.values()} == {*SCANNED_SHAPES} - {"mesh"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name in SLOW else []) for name in FITS]
)
def test_shapes_of_document_touch_at_first_contact_and_not_before(name):
    fit, count = FITS[name], times(PAIRS_AT_ONCE, full=500)
    rng = np.random.default_rng() if is_full() else np.random.default_rng(7)
    score, wrong = Score(), []
    while score.touching + score.apart < count and not wrong:
        open_empty_file()
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = 1, END
        meshes = random_meshes(rng, 12)
        for number in range(PAIRS_AT_ONCE):
            add_pair(number, meshes, rng)
        go_to(1)
        padding = PADDINGS[(score.touching + score.apart) // PAIRS_AT_ONCE % 2]
        settings = FitSettings(**{**vars(fit.settings), "padding": padding})
        wrong += compare_scene(fit, settings, score)
    print(f"\n{name}: {score}")
    assert not wrong, (len(wrong), score, wrong[:5])
    assert min(score.touching, score.apart) >= count / 10


def test_boxes_with_axes_of_their_own_are_scanned_among_others(add_mesh, object_settings):
    """All are oriented boxes then: those of other objects stay along the world's axes, however these turn."""
    at_rest, turning, other = (add_mesh(name) for name in ("At Rest", "Turning", "Other"))
    other.collision_bounds.use_object_settings, other.collision_bounds.axes = True, "object"
    other.location = (0, 0, 30)
    key(turning, "location", [(1, (-8, 0, 0)), (END, (8, 0, 0))])
    key(turning, "rotation_euler", [(1, (0, 0, 0)), (END, (1, 2, 3))])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, END
    (contact,) = scan_scene(shape="aabb").report.contacts
    go_to(contact.first.frame)
    matrices = [np.array(item.matrix_world)[None] for item in (at_rest, turning)]
    assert abs(world_box_gaps(*map(world_points, ("At Rest", "Turning"), matrices), 0.0)[0]) < TOLERANCE
