"""Hundreds of pairs moved by keys, drivers, parents and constraints: contacts where Blender has them.

Each scene holds pairs in places of their own. The truth is the scene sampled at every 1/256 frame, and a few
hundred times closer where a pair may touch, bounded by the tests' own code; for drivers it is the formula
that the driver was given. Of each five pairs one is sized so that its bounds graze by a thousandth of the
smaller radius, and one so that they miss by as much.
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
from tests.scene.sampled import (
    Array,
    Gaps,
    Path,
    Touch,
    add_object,
    add_points,
    ball_points,
    box_points,
    contacts_by_names,
    gaps,
    key,
    matrices_at,
    matrices_of,
    refined_times,
    root_between,
    scanned,
    touch,
)
from tests.tiers import is_quick, times

FIRST, LAST = 1, 5
TIMES = np.linspace(FIRST, LAST, times(256, 64) * (LAST - FIRST) + 1)
PAIRS = times(132, 15)
SHAPES = ("sphere", "aabb", "obb")
GRAZE = 1e-3
SINGLE = 1e-5
"""Error of a gap between coordinates of a few tens in single precision, after some sums."""

Generator = np.random.Generator


@dataclass
class Pair:
    """Two things by name, the points of each, the shape that they are scanned as.

    goal : the least gap that they are made to have, in radii; None: any
    """

    names: tuple[str, str]
    points: list[Array]
    shape: str
    goal: float | None


def random_direction(rng: Generator) -> Array:
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


# --- how the bodies of a pair are moved ------------------------------------------------------------------

Mover = Callable[[bpy.types.Object, Array, Array, Generator], None]
"""Makes an object move about its home, near `meeting` at some time."""


def spin(item: bpy.types.Object, rng: Generator) -> None:
    """Turn at a constant rate about one axis."""
    rate = rng.uniform(-0.6, 0.6) * (LAST - FIRST)
    start = rng.uniform(0, 6, 3)
    end = start + rate * np.eye(3)[rng.integers(3)]
    key(item, "rotation_euler", [(FIRST, start), (LAST, end)])


def by_keys(item: bpy.types.Object, home: Array, meeting: Array, rng: Generator) -> None:
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


def under_parents(item: bpy.types.Object, home: Array, meeting: Array, rng: Generator) -> None:
    """Two empties above it turn, and are scaled; a child of a turned and scaled parent is sheared."""
    if item.name.endswith("B") and rng.random() < 0.8:
        item.location = meeting
        return
    root, arm = add_object(f"{item.name} root"), add_object(f"{item.name} arm")
    arm.parent, item.parent = root, arm
    root.location = meeting + rng.uniform(-0.9, 0.9, 3)
    arm.location = rng.uniform(-0.8, 0.8, 3)
    item.location = rng.uniform(-0.8, 0.8, 3)
    even = item.name.startswith("obb") or rng.random() < 0.5
    root.scale = [rng.uniform(0.7, 1.3)] * 3 if even else rng.uniform(0.6, 1.4, 3)
    if not even and rng.random() < 0.5:
        key(arm, "scale", [(FIRST, (1, 1, 1)), (LAST, rng.uniform(0.7, 1.3, 3))], "BEZIER")
    spin(root, rng)
    spin(arm, rng)
    item.rotation_euler = rng.uniform(0, 6, 3)


def by_constraint(item: bpy.types.Object, home: Array, meeting: Array, rng: Generator) -> None:
    kind = str(rng.choice(["COPY_LOCATION", "FOLLOW_PATH", "CHILD_OF"]))
    if kind == "FOLLOW_PATH":
        curve = bpy.data.curves.new(f"{item.name} path", "CURVE")
        curve.dimensions = "3D"
        line = curve.splines.new("BEZIER")
        line.bezier_points.add(2)
        middle = (meeting, home + rng.uniform(-2, 2, 3), home + rng.uniform(-2, 2, 3))
        for point, place in zip(line.bezier_points, rng.permutation(middle), strict=True):
            point.co = place
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


# --- drivers, which come with their formula --------------------------------------------------------------


def random_formula(home: float, meeting: float, rng: Generator) -> str:
    """Expression of `frame` that Python, NumPy and Blender's simple expressions have in common."""
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
            # Fast, and back to rest.
            f"4 * {when} / (1 + {when} * {when})",
        ]
    )
    return f"{meeting:.4f} + {change}"


def driven(item: bpy.types.Object, meeting: Array, rng: Generator) -> Callable[[Array], Array]:
    """Drive an object; its matrices (t, 4, 4) at any times, by the formulas."""
    location = [random_formula(0, meeting[axis], rng) for axis in range(3)]
    angle = f"{rng.uniform(-0.5, 0.5):.4f} * frame"
    size = f"1 + {rng.uniform(0, 0.3):.4f} * sin({rng.uniform(0.2, 0.9):.4f} * frame)"
    drives = [("location", axis, location[axis]) for axis in range(3)]
    drives += [("rotation_euler", 2, angle), *(("scale", axis, size) for axis in range(3))]
    for path, axis, text in drives:
        driver = item.driver_add(path, axis).driver
        driver.type = "SCRIPTED"
        driver.expression = text
        assert driver.is_simple_expression

    def matrices(times: Array) -> Array:
        words = {"sin": np.sin, "cos": np.cos, "frame": times}
        x, y, z, turn, scale = (eval(text, words) + 0 * times for text in (*location, angle, size))
        made = np.zeros((len(times), 4, 4))
        made[:, 0, 0] = made[:, 1, 1] = scale * np.cos(turn)
        made[:, 1, 0] = scale * np.sin(turn)
        made[:, 0, 1] = -made[:, 1, 0]
        made[:, 2, 2] = scale
        made[:, :3, 3] = np.stack([x, y, z], axis=1)
        made[:, 3, 3] = 1
        return made

    return matrices


# --- scenes ----------------------------------------------------------------------------------------------


def home_of(index: int) -> Array:
    """Cells of a grid around the origin, far enough apart."""
    cell = np.array([index % 6, index // 6 % 5, index // 30 % 5]) - (2.5, 2, 2)
    return cell * 9.0


def make_pairs(rng: Generator) -> tuple[list[Pair], list[list[bpy.types.Object]]]:
    pairs, bodies = [], []
    for index in range(PAIRS):
        shape = SHAPES[index % 3]
        # The smallest turned box is known for cuboids only.
        boxes = shape == "obb" or (shape == "aabb" and index % 2 == 0)
        points = [
            box_points(rng.uniform(0.25, 0.7, 3)) if boxes else ball_points(rng.uniform(0.25, 0.7))
            for _ in range(2)
        ]
        names = (f"{shape}.{index:03}.A", f"{shape}.{index:03}.B")
        pairs.append(Pair(names, points, shape, {2: -GRAZE, 4: GRAZE}.get(index % 5)))
        bodies.append([add_points(name, part) for name, part in zip(names, points, strict=True)])
    return pairs, bodies


@dataclass(frozen=True)
class Scene:
    """Pairs, and where their bodies are, which sizes do not change: at TIMES, and at any times by formula.

    formulas : by name; empty: Blender is asked
    """

    pairs: list[Pair]
    matrices: dict[str, Array]
    formulas: dict[str, Callable[[Array], Array]]

    def gaps(self, pair: Pair, times: Array | None = None) -> Gaps:
        """At TIMES, or at any times."""
        if times is None:
            matrices = self.matrices
        elif self.formulas:
            matrices = {name: self.formulas[name](times) for name in pair.names}
        else:
            matrices = matrices_of(pair.names, times)
        paths = [Path(matrices[name], points) for name, points in zip(pair.names, pair.points, strict=True)]
        return gaps(pair.shape, *paths)

    def closely(self, pair: Pair, factor: float = 1.0) -> tuple[Array, Gaps]:
        """The same with looks between, and between those, where sizes times `factor` make it matter."""
        times, found = TIMES, self.gaps(pair)
        for _ in range(2):
            new = refined_times(times, found.of(factor))
            both = np.concatenate([times, new])
            order = np.argsort(both, kind="stable")
            times, found = both[order], found.joined(self.gaps(pair, new))[order]
        return times, found

    def touch(self, pair: Pair) -> Touch:
        times, found = self.closely(pair)
        return touch(times, found.of())

    def size_by_goals(self) -> None:
        """Give the pairs that are to graze or to miss by a hair the size that makes them do so."""
        for pair in self.pairs:
            if pair.goal is None:
                continue
            goal = pair.goal * self.radius(pair)
            between = self.gaps(pair)
            # Roughly, then with a closer look at where that has its low points.
            for _ in range(3):

                def missing(factor: float, gaps: Gaps = between, goal: float = goal) -> float:
                    return float(gaps.of(factor).min()) - factor * goal

                factor = root_between(0.3, 3.0, missing, 1e-3 * abs(goal))
                if factor is None:
                    break
                between = self.closely(pair, factor)[1]
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
        return min(float(np.abs(points).max(axis=0).min()) for points in pair.points)


def build(name: str) -> Scene:
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    rng = np.random.default_rng(list(SCENES).index(name))
    pairs, bodies = make_pairs(rng)
    formulas = {}
    for index, both in enumerate(bodies):
        home = home_of(index)
        meeting = home + rng.uniform(-1, 1, 3)
        for item in both:
            if name == "drivers":
                aside = random_direction(rng) * rng.uniform(0, 0.9)
                formulas[item.name] = driven(item, meeting + aside, rng)
            else:
                SCENES[name](item, home, meeting + random_direction(rng) * rng.uniform(0, 0.9), rng)
    at_times = {of: formula(TIMES) for of, formula in formulas.items()} or matrices_at(TIMES)
    made = Scene(pairs, at_times, formulas)
    made.size_by_goals()
    return made


SCENES: dict[str, Mover | None] = {
    "keys": by_keys,
    "drivers": None,
    "parents": under_parents,
    "constraints": by_constraint,
}


QUICK = {("keys", "sphere"), ("drivers", "aabb"), ("parents", "aabb"), ("constraints", "aabb")}
"""Cases of the quick tier, whose scans take less than a second. Those of oriented boxes take longer."""


@pytest.fixture(scope="module")
def built() -> Callable[[str], Scene]:
    """Build a scene unless it is the one that was built last: Blender has one open."""
    return lru_cache(maxsize=1)(build)


@pytest.fixture
def scene(built: Callable[[str], Scene], name: str) -> Scene:
    return built(name)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        pytest.param(name, shape, marks=() if (name, shape) in QUICK else pytest.mark.long)
        for name in SCENES
        for shape in SHAPES
    ],
)
def test_contacts_are_found_where_blender_has_them(scene, shape):
    found = contacts_by_names(scanned(shape=shape, selection=Selection((f"{shape}.*",))))
    wrong, hits, grazes, misses, decided = [], 0, 0, 0, 0
    for pair in scene.pairs:
        if pair.shape != shape:
            continue
        truth, told = scene.touch(pair), found.get(frozenset(pair.names))
        line = f"{pair.names[0]} ({pair.goal}): {truth}, {told and told.first}"
        if abs(truth.least) < GRAZE / 2 * scene.radius(pair):
            continue  # Nothing that samples could decide.
        decided += 1
        hits += truth.first is not None
        grazes += pair.goal == -GRAZE
        misses += pair.goal == GRAZE
        if (told is None) != (truth.first is None):
            wrong.append(line)
        elif told is not None:
            # What single precision leaves of a place is more of a time the slower the two come together.
            single = 1e-6 if truth.slope == 0 else 1e-6 + SINGLE / truth.slope
            late = told.first.frame - truth.first
            if (
                abs(late) > 1e-3 + single
                or late > told.first.uncertainty + single
                or told.first.motion != "adaptive"
            ):
                wrong.append(f"late by {late:.2g}, single precision {single:.2g}: {line}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong)
    if is_quick():
        assert decided >= 4 and hits > 0 and grazes + misses > 0
    else:
        # 500 of all twelve, and enough of each kind to prove something.
        assert decided >= 42 and hits > 12 and min(grazes, misses) > 1
