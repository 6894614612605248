"""Contacts of hundreds of pairs that are moved by keys, drivers, parents and constraints.

The pairs of a scene are far from each other. The reference is the scene sampled at every 1/256 frame, and a
few hundred times more densely where a pair may touch, with bounds computed by code of the tests. For drivers
it is the formula of the driver. Of five pairs, one has a size at which its bounds overlap by a thousandth of
the smaller radius, and one a size at which they miss by as much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import bpy
import numpy as np
import pytest

from addon.scene.settings import Selection
from tests.scene.building import open_empty_file
from tests.scene.sampling import (
    NEAR_KEY,
    Array,
    Gaps,
    Touch,
    Trajectory,
    add_object,
    add_points,
    ball_points,
    box_points,
    compute_gaps,
    contacts_by_names,
    find_touch,
    is_near_key,
    key,
    matrices_at,
    matrices_of,
    refined_times,
    root_between,
    scan_scene,
)
from tests.tiers import is_quick, times

FIRST, LAST = 1, 5
TIMES = np.linspace(FIRST, LAST, times(128, 64, full=256) * (LAST - FIRST) + 1)
PAIRS = times(39, 15, full=132)
SHAPES = ("sphere", "aabb", "obb")
GRAZE = 1e-3
SINGLE = 1e-5
"""Rounding error of a gap in single precision, for coordinates of a few tens."""

Generator = np.random.Generator


@dataclass
class Pair:
    """Two objects that are scanned together.

    Attributes
    ----------
    names : tuple of str
        Names of the objects.
    points : list of (n, 3) float64
        Points of each object.
    shape : str
        Shape of the scan.
    goal : float or None
        Least gap in radii for which the pair is sized; None for any.
    """

    names: tuple[str, str]
    points: list[Array]
    shape: str
    goal: float | None


def random_direction(rng: Generator) -> Array:
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


# ---- Movers

Mover = Callable[[bpy.types.Object, Array, Array, Generator], None]
"""Makes an object move around its home, and pass near `meeting` at some time."""


def spin(item: bpy.types.Object, rng: Generator) -> None:
    """Key a rotation about one axis at a constant rate."""
    rate = rng.uniform(-0.6, 0.6) * (LAST - FIRST)
    start = rng.uniform(0, 6, 3)
    end = start + rate * np.eye(3)[rng.integers(3)]
    key(item, "rotation_euler", [(FIRST, start), (LAST, end)])


def move_by_keys(item: bpy.types.Object, home: Array, meeting: Array, rng: Generator) -> None:
    kinds = ["LINEAR", "BEZIER", "QUAD", "ELASTIC", "SINE", "BACK", "BOUNCE", "EXPO"]
    kind = str(rng.choice(kinds))
    middle = rng.uniform(FIRST + 1, LAST - 1)
    keys = [(FIRST, home + rng.uniform(-2.5, 2.5, 3)), (round(middle, 2), meeting)]
    if rng.random() < 0.6:
        keys.append((LAST, home + rng.uniform(-2.5, 2.5, 3)))
    key(item, "location", keys, kind)
    if rng.random() < 0.6:
        spin(item, rng)
    if rng.random() < 0.3:
        sizes = [(FIRST, rng.uniform(0.6, 1.4, 3)), (LAST, rng.uniform(0.6, 1.4, 3))]
        key(item, "scale", sizes, str(rng.choice(["BEZIER", "QUAD"])))


def move_by_parents(item: bpy.types.Object, home: Array, meeting: Array, rng: Generator) -> None:
    """Add two parents that rotate and are scaled. Rotation below a non-uniform scale shears the object."""
    if item.name.endswith("B") and rng.random() < 0.8:
        item.location = meeting
        return
    root, arm = add_object(f"{item.name} root"), add_object(f"{item.name} arm")
    arm.parent, item.parent = root, arm
    root.location = meeting + rng.uniform(-0.9, 0.9, 3)
    arm.location = rng.uniform(-0.8, 0.8, 3)
    item.location = rng.uniform(-0.8, 0.8, 3)
    is_uniform = item.name.startswith("obb") or rng.random() < 0.5
    root.scale = [rng.uniform(0.7, 1.3)] * 3 if is_uniform else rng.uniform(0.6, 1.4, 3)
    if not is_uniform and rng.random() < 0.5:
        key(arm, "scale", [(FIRST, (1, 1, 1)), (LAST, rng.uniform(0.7, 1.3, 3))], "BEZIER")
    spin(root, rng)
    spin(arm, rng)
    item.rotation_euler = rng.uniform(0, 6, 3)


def move_by_constraint(item: bpy.types.Object, home: Array, meeting: Array, rng: Generator) -> None:
    kind = str(rng.choice(["COPY_LOCATION", "FOLLOW_PATH", "CHILD_OF"]))
    if kind == "FOLLOW_PATH":
        curve = bpy.data.curves.new(f"{item.name} path", "CURVE")
        curve.dimensions = "3D"
        line = curve.splines.new("BEZIER")
        line.bezier_points.add(2)
        middle = (meeting, home + rng.uniform(-2, 2, 3), home + rng.uniform(-2, 2, 3))
        for point, position in zip(line.bezier_points, rng.permutation(middle), strict=True):
            point.co = position
            point.handle_left_type = point.handle_right_type = "AUTO"
        curve.use_path = True
        target = add_object(f"{item.name} path", curve)
    else:
        target = add_object(f"{item.name} guide")
        ends = [(FIRST, home + rng.uniform(-2, 2, 3)), (3, meeting), (LAST, home + rng.uniform(-2, 2, 3))]
        key(target, "location", ends, str(rng.choice(["BEZIER", "SINE", "LINEAR"])))
    constraint = item.constraints.new(kind)
    constraint.target = target
    item.rotation_euler = rng.uniform(0, 6, 3)
    if kind == "FOLLOW_PATH":
        constraint.use_fixed_location = True
        constraint.use_curve_follow = bool(rng.random() < 0.5)
        key(constraint, "offset_factor", [(FIRST, 0.0), (LAST, 1.0)], "BEZIER")
    elif kind == "CHILD_OF":
        spin(target, rng)
        item.location = rng.uniform(-0.5, 0.5, 3)
    elif rng.random() < 0.5:
        spin(item, rng)


# ---- Drivers


def random_formula(home: float, meeting: float, rng: Generator) -> str:
    """Expression of `frame` that is valid in Python, NumPy and as a simple expression of Blender."""
    when = f"(frame - {rng.uniform(FIRST + 1, LAST - 1):.4f})"
    rate = rng.uniform(0.1, 0.9)
    change = rng.choice(
        [
            f"{rng.uniform(-0.6, 0.6):.4f} * {when}",
            f"{rng.uniform(-0.06, 0.06):.4f} * {when} * {when}",
            f"{rng.uniform(0.5, 2):.4f} * sin({rate:.4f} * {when})",
            f"{rng.uniform(0.5, 2):.4f} * (1 - cos({rate:.4f} * {when}))",
            # A pendulum.
            f"2 * sin(0.9 * sin({rate:.4f} * {when}))",
            # Fast at one time, and slow before and after.
            f"4 * {when} / (1 + {when} * {when})",
        ]
    )
    return f"{meeting:.4f} + {change}"


def drive(item: bpy.types.Object, meeting: Array, rng: Generator) -> Callable[[Array], Array]:
    """Drive an object, and return a function that computes its matrices (t, 4, 4) at times."""
    location = [random_formula(0, meeting[axis], rng) for axis in range(3)]
    angle = f"{rng.uniform(-0.5, 0.5):.4f} * frame"
    size = f"1 + {rng.uniform(0, 0.3):.4f} * sin({rng.uniform(0.2, 0.9):.4f} * frame)"
    drivers = [("location", axis, location[axis]) for axis in range(3)]
    drivers += [("rotation_euler", 2, angle), *(("scale", axis, size) for axis in range(3))]
    for path, axis, text in drivers:
        driver = item.driver_add(path, axis).driver
        driver.type = "SCRIPTED"
        driver.expression = text
        assert driver.is_simple_expression

    def matrices(times: Array) -> Array:
        variables = {"sin": np.sin, "cos": np.cos, "frame": times}
        x, y, z, rotation, scale = (eval(text, variables) + 0 * times for text in (*location, angle, size))
        result = np.zeros((len(times), 4, 4))
        result[:, 0, 0] = result[:, 1, 1] = scale * np.cos(rotation)
        result[:, 1, 0] = scale * np.sin(rotation)
        result[:, 0, 1] = -result[:, 1, 0]
        result[:, 2, 2] = scale
        result[:, :3, 3] = np.stack([x, y, z], axis=1)
        result[:, 3, 3] = 1
        return result

    return matrices


# ---- Scenes


def home_of(index: int) -> Array:
    """Center of a cell of a grid around the origin. Cells are so large that pairs do not meet."""
    cell = np.array([index % 6, index // 6 % 5, index // 30 % 5]) - (2.5, 2, 2)
    return cell * 9.0


def add_pairs(rng: Generator) -> tuple[list[Pair], list[list[bpy.types.Object]]]:
    pairs, items = [], []
    for index in range(PAIRS):
        shape = SHAPES[index % 3]
        # The tests compute the minimal oriented box only of boxes.
        boxes = shape == "obb" or (shape == "aabb" and index % 2 == 0)
        points = [
            box_points(rng.uniform(0.25, 0.7, 3)) if boxes else ball_points(rng.uniform(0.25, 0.7))
            for _ in range(2)
        ]
        names = (f"{shape}.{index:03}.A", f"{shape}.{index:03}.B")
        pairs.append(Pair(names, points, shape, {2: -GRAZE, 4: GRAZE}.get(index % 5)))
        items.append([add_points(name, part) for name, part in zip(names, points, strict=True)])
    return pairs, items


@dataclass(frozen=True)
class Scene:
    """Pairs and their poses, which do not depend on the sizes of the objects.

    Attributes
    ----------
    pairs : list of Pair
        Pairs of the scene.
    matrices : dict
        World matrices (t, 4, 4) at TIMES, by name.
    formulas : dict
        Functions that compute world matrices at any times, by name. If empty, Blender is sampled.
    """

    pairs: list[Pair]
    matrices: dict[str, Array]
    formulas: dict[str, Callable[[Array], Array]]

    def gaps(self, pair: Pair, times: Array | None = None) -> Gaps:
        """Gaps of a pair at TIMES, or at any times."""
        if times is None:
            matrices = self.matrices
        elif self.formulas:
            matrices = {name: self.formulas[name](times) for name in pair.names}
        else:
            matrices = matrices_of(pair.names, times)
        trajectories = [
            Trajectory(matrices[name], points) for name, points in zip(pair.names, pair.points, strict=True)
        ]
        return compute_gaps(pair.shape, *trajectories)

    def refined_gaps(self, pair: Pair, factor: float = 1.0) -> tuple[Array, Gaps]:
        """Sample times and gaps, refined twice where a pair scaled by `factor` may touch."""
        times, found = TIMES, self.gaps(pair)
        for _ in range(2):
            added = refined_times(times, found.largest(factor))
            joined = np.concatenate([times, added])
            order = np.argsort(joined, kind="stable")
            times, found = joined[order], found.concatenated(self.gaps(pair, added))[order]
        return times, found

    def first_touch(self, pair: Pair) -> Touch:
        """First touch of a pair."""
        times, found = self.refined_gaps(pair)
        return find_touch(times, found.largest())

    def size_by_goals(self) -> None:
        """Scale the points of pairs that have a goal so that their least gap is the goal."""
        for pair in self.pairs:
            if pair.goal is None:
                continue
            goal = pair.goal * self.radius(pair)
            sampled = self.gaps(pair)
            # The first factor is approximate. It is improved with gaps that are refined at their minima.
            for _ in range(3):

                def gap_above_goal(factor: float, gaps: Gaps = sampled, goal: float = goal) -> float:
                    return float(gaps.largest(factor).min()) - factor * goal

                factor = root_between(0.3, 3.0, gap_above_goal, 1e-3 * abs(goal))
                if factor is None:
                    break
                sampled = self.refined_gaps(pair, factor)[1]
            if factor is None:
                pair.goal = None
                continue
            pair.points = [points * factor for points in pair.points]
            for name, points in zip(pair.names, pair.points, strict=True):
                mesh = bpy.data.objects[name].data
                mesh.vertices.foreach_set("co", points.astype(np.float32).ravel())
                mesh.update()

    @staticmethod
    def radius(pair: Pair) -> float:
        """Smallest half size of both objects."""
        return min(float(np.abs(points).max(axis=0).min()) for points in pair.points)


def build_scene(name: str) -> Scene:
    """Build a scene in an empty file."""
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    rng = np.random.default_rng(list(SCENES).index(name))
    pairs, items = add_pairs(rng)
    formulas = {}
    for index, pair_items in enumerate(items):
        home = home_of(index)
        meeting = home + rng.uniform(-1, 1, 3)
        for item in pair_items:
            if name == "drivers":
                offset = random_direction(rng) * rng.uniform(0, 0.9)
                formulas[item.name] = drive(item, meeting + offset, rng)
            else:
                SCENES[name](item, home, meeting + random_direction(rng) * rng.uniform(0, 0.9), rng)
    matrices = {driven: formula(TIMES) for driven, formula in formulas.items()} or matrices_at(TIMES)
    built = Scene(pairs, matrices, formulas)
    built.size_by_goals()
    return built


SCENES: dict[str, Mover | None] = {
    "keys": move_by_keys,
    "drivers": None,
    "parents": move_by_parents,
    "constraints": move_by_constraint,
}


QUICK = {("keys", "sphere"), ("drivers", "aabb"), ("parents", "aabb"), ("constraints", "aabb")}
"""Cases of the quick tier. Their scans take less than a second; those of oriented boxes take longer."""


@pytest.fixture(scope="module")
def scene_builder() -> Callable[[str], Scene]:
    """Return a function that builds a scene, and caches only the last one: Blender opens one file."""
    return lru_cache(maxsize=1)(build_scene)


@pytest.fixture
def scene(scene_builder: Callable[[str], Scene], name: str) -> Scene:
    return scene_builder(name)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        pytest.param(name, shape, marks=() if (name, shape) in QUICK else pytest.mark.long)
        for name in SCENES
        for shape in SHAPES
    ],
)
def test_contacts_match_densely_sampled_scene(scene, shape):
    found = contacts_by_names(scan_scene(shape=shape, selection=Selection((f"{shape}.*",))))
    wrong, hits, grazes, misses, decided = [], 0, 0, 0, 0
    for pair in scene.pairs:
        if pair.shape != shape:
            continue
        reference, contact = scene.first_touch(pair), found.get(frozenset(pair.names))
        line = f"{pair.names[0]} ({pair.goal}): {reference}, {contact and contact.first}"
        if abs(reference.least) < GRAZE / 2 * scene.radius(pair):
            continue  # Samples cannot decide such a small gap.
        decided += 1
        hits += reference.first is not None
        grazes += pair.goal == -GRAZE
        misses += pair.goal == GRAZE
        if (contact is None) != (reference.first is None):
            wrong.append(line)
        elif contact is not None:
            # A rounding error of a position is a larger error of the time if the two approach slowly.
            single = 1e-6 if reference.slope == 0 else 1e-6 + SINGLE / reference.slope
            late = contact.first.frame - reference.first
            if is_near_key(contact.first.frame, contact.first.frame):
                single += NEAR_KEY
            if (
                abs(late) > 1e-3 + single
                or late > contact.first.uncertainty + single
                or contact.first.motion == "linear"
            ):
                wrong.append(f"late by {late:.2g}, single precision {single:.2g}: {line}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong)
    if is_quick():
        assert decided >= 4 and hits > 0 and grazes + misses > 0
    else:
        # Enough of each kind; in the full tier 500 pairs in all twelve cases.
        assert decided >= PAIRS / 4 and hits > PAIRS / 12 and grazes + misses > 1
