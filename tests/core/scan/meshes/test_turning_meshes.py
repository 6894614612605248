"""Scans of meshes that turn and swing, compared with many samples and with exact times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pytest

from addon.core import Sample, ScanSettings, scan_contacts
from addon.core.mesh.meshes import Meshes
from tests.core import meshes, scenes
from tests.core.mesh.solids import FAMILIES, Body, bodies_overlap, box, distances, shell
from tests.core.motions import rotation_about
from tests.core.scan.scans import spans
from tests.finished import finished
from tests.tiers import is_quick, times

GRAZE = 2e-4
"""Part of a pair's size within which a graze may count as a contact."""
BEGIN_ERROR, END_ERROR, SHORT_GAP = 1e-3, 5e-3, 5e-3
ORIGIN = (0.0, 0.0, 0.0)
Vector: TypeAlias = np.ndarray | tuple[float, float, float] | list[float]


@dataclass
class Path:
    """A body on a sine and on a parabola that turns about an axis through its origin at a constant rate."""

    body: Body
    center: Vector
    swing: Vector = (0.0, 0.0, 0.0)
    rate: float = 0.0
    phase: float = 0.0
    axis: Vector = (0.0, 0.0, 1.0)
    spin: float = 0.0
    speed: Vector = (0.0, 0.0, 0.0)
    fall: Vector = (0.0, 0.0, 0.0)
    angle: float = 0.0

    def matrix(self, time: np.ndarray) -> np.ndarray:
        """Matrices (..., 4, 4) at times (...)."""
        t = np.asarray(time, dtype=float)[..., None]
        result = np.zeros((*t.shape[:-1], 4, 4))
        result[..., 3, 3] = 1
        result[..., :3, :3] = rotation_about(np.array(self.axis), self.angle + self.spin * t[..., 0])
        result[..., :3, 3] = self.center + np.sin(self.rate * t + self.phase) * self.swing
        result[..., :3, 3] += t * self.speed + t * t / 2 * self.fall
        return result

    @property
    def acceleration(self) -> float:
        """The largest one of any of its points."""
        swing = np.linalg.norm(self.swing) * self.rate**2
        return float(swing + np.linalg.norm(self.fall) + self.body.reach * self.spin**2)


class Known:
    """A motion that is known: paths, and bounds of their deviation by their accelerations."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths
        self.every = Meshes([path.body.mesh for path in paths], np.tile(np.eye(4), (len(paths), 1, 1)))
        self.is_certain = np.ones(len(paths), dtype=bool)
        self.costs, self.grain = np.ones(len(paths)), np.full(len(paths), 2.0**-24)

    def at(self, shapes, times, is_before=False):
        matrices = [self.paths[shape].matrix(time) for shape, time in zip(shapes, times, strict=True)]
        which = self.every[np.asarray(shapes, dtype=np.int64)]
        return Meshes.unchecked(which.nodes, np.array(matrices).reshape(-1, 4, 4), which.margin)

    def are_present(self, shapes, times):
        return np.ones(len(shapes), dtype=bool)

    def bound(self, shapes, begin, end):
        accelerations = np.array([self.paths[shape].acceleration for shape in shapes])
        return (accelerations * (end - begin) ** 2 / 8 * (1 + 1e-9), np.zeros(len(shapes), dtype=bool))

    def breaks(self, shapes, begin, end):
        return np.full(len(shapes), np.inf)


class Sampled:
    """Paths that can only be sampled: at frames, and between them."""

    def __init__(self, paths: list[Path]) -> None:
        self._known = Known(paths)
        self.refinable = np.ones(len(paths), dtype=bool)

    def sample(self, time):
        return self.sample_between(time, np.arange(len(self.refinable))).shapes

    def sample_between(self, time, subjects):
        return Sample(self._known.at(subjects, np.full(len(subjects), time)))


KINDS = [pytest.param(Known, id="known"), pytest.param(Sampled, id="sampled")]


def scanned(motion, last: float, settings: ScanSettings | None = None) -> dict:
    """Contacts by pair."""
    report = finished(scan_contacts(motion, np.arange(last + 1.0), settings))
    return {(contact.a, contact.b): contact for contact in report.contacts}


# --- random motion against many samples ------------------------------------------------------------------


def random_paths(seed: int, names: list[str], side: float) -> list[Path]:
    rng = np.random.default_rng(seed)
    directions = scenes.random_directions(rng, 2 * len(names)).reshape(-1, 2, 3)
    return [
        Path(
            FAMILIES[name],
            rng.uniform(0, side, 3),
            directions[k, 0] * rng.uniform(1, 3),
            rng.uniform(0.1, 0.4),
            rng.uniform(0, 6),
            directions[k, 1],
            rng.uniform(-0.4, 0.4),
        )
        for k, name in enumerate(names)
    ]


def states(a: Path, b: Path, moments: np.ndarray) -> np.ndarray:
    return bodies_overlap(a.body, a.matrix(moments), b.body, b.matrix(moments))


def changes(a: Path, b: Path, moments: np.ndarray) -> tuple[np.ndarray, list[tuple[float, bool]]]:
    """Contact (k,) at moments, and the time of each change, by bisection, with the state after it."""
    touching = states(a, b, moments)
    found = []
    for row in np.flatnonzero(touching[1:] != touching[:-1]):
        low, high = moments[row : row + 2]
        # In 16 parts at a time.
        while high - low > 1e-7:
            parts = np.linspace(low, high, 17)
            changed = int((states(a, b, parts) == touching[row + 1]).argmax())
            low, high = parts[max(changed - 1, 0)], parts[max(changed, 1)]
        found.append((float(high), bool(touching[row + 1])))
    return touching, found


def assert_like_samples(contact, a: Path, b: Path, last: float, late: float) -> int:
    """Compare the intervals of a contact, or of none, with samples of a pair; returns changes in between.

    late : Frames by which a begin may be late.
    """
    moments = np.linspace(0, last, int(last) * 16 + 1)
    touching, found = changes(a, b, moments)
    intervals = [] if contact is None else spans(contact)
    for moment in moments[touching]:
        assert any(begin - late <= moment <= end + END_ERROR for begin, end in intervals), moment
    parted = -np.inf
    for time, is_begin in found:
        if is_begin:
            begun = [row for row, span in enumerate(intervals) if span[0] <= time + late]
            assert begun, (time, intervals)
            (begin, end), uncertainty = intervals[begun[-1]], contact.details[begun[-1]].uncertainty
            # Where meshes part for a short time, the interval may go on.
            is_merged = begin < time <= end + END_ERROR and time - parted <= SHORT_GAP
            assert time - begin <= uncertainty + BEGIN_ERROR or is_merged, (time, parted, intervals)
        else:
            parted = time
            assert any(begin <= time <= end + END_ERROR for begin, end in intervals), (time, intervals)
    if contact is None:
        return len(found)
    size = min(a.body.reach, b.body.reach)
    for (begin, end), details in zip(intervals, contact.details, strict=True):
        within = np.linspace(begin, min(max(end, begin + details.uncertainty + 1e-3), last), 33)
        if not states(a, b, within).any():
            gap = distances(a.body.posed(a.matrix(within)), b.body.posed(b.matrix(within))).min()
            assert gap <= GRAZE * size, (begin, end, gap)
        if end < last:
            # Ends are not much too late.
            assert states(a, b, np.linspace(max(end - END_ERROR, begin), end, 9)).any() or end - begin < 0.01
    return len(found)


NAMES = {
    "convex": ["ball", "box", "egg", "box", "plank"],
    "thin": ["sheet", "plank", "triangle", "sheet", "plank", "triangle"],
    "with cavities and pieces": ["torus", "pieces", "box", "torus", "pieces"],
    "one inside the other": ["large box", "pieces", "egg", "triangle"],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", NAMES)
def test_random_motion_has_the_contacts_of_many_samples(names, kind):
    events, last, most = 0, 4, times(9, 3 if kind is Known else 2)
    for seed in range(times(6, 1, full=40)):
        paths = random_paths(seed, NAMES[names], 2.5)[:most]
        contacts = scanned(kind(paths), last)
        for i, j in zip(*np.triu_indices(len(paths), 1), strict=True):
            contact = contacts.pop((int(i), int(j)), None)
            late = 1e-6 if kind is Known else BEGIN_ERROR
            events += assert_like_samples(contact, paths[i], paths[j], last, late)
        assert not contacts
    # Two bodies may never meet.
    assert events > 0 or is_quick()


# --- known times -----------------------------------------------------------------------------------------


def assert_spans(contact, expected: list[tuple[float, float]]) -> None:
    """Begins are not late and within a thousandth, ends are within a two-hundredth."""
    found = spans(contact)
    assert len(found) == len(expected)
    for (begin, end), (first, last) in zip(found, expected, strict=True):
        assert -BEGIN_ERROR <= begin - first <= 1e-6, (found, expected)
        assert abs(end - last) <= END_ERROR, (found, expected)


UPRIGHT = rotation_about(np.array([1.0, -1, 0]) / np.sqrt(2), np.arccos(1 / np.sqrt(3)))
"""Turns the diagonal of a cube upright."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("linear", "lowest"),
    [
        (np.eye(3), 0.5),
        (rotation_about(np.array([1.0, 0, 0]), np.pi / 4), np.sqrt(0.5)),
        (UPRIGHT, np.sqrt(0.75)),
    ],
    ids=["face", "edge", "corner"],
)
def test_box_that_falls_reaches_the_floor_after_the_time_of_free_fall(linear, lowest, kind):
    floor, height, gravity = Path(Body(box(4, 4, 1)), [0, 0, -1]), 5.3, 0.5
    falling = Path(Body(box(0.5, 0.5, 0.5) @ linear.T), [0.2, 0.1, height], fall=(0, 0, -gravity))
    landing = np.sqrt(2 * (height - lowest) / gravity)
    (contact,) = scanned(kind([floor, falling]), 5).values()
    assert_spans(contact, [(landing, 5.0)])
    assert contact.first.frame - contact.first.uncertainty <= landing
    assert contact.first.point[2] == pytest.approx(0, abs=2e-3)
    assert abs(contact.first.normal[2]) == pytest.approx(1, abs=1e-6)


def bar_and_post(spin: float) -> list[Path]:
    """Make a bar of length 4 and width 0.2 that turns about Z, and a square post next to its axis."""
    bar = Path(Body(box(2, 0.1, 0.1)), ORIGIN, spin=spin)
    return [bar, Path(Body(box(0.2, 0.2, 1)), [1.2, 1.2, 0.03])]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spin", [0.6, 2.3])
def test_bar_that_turns_hits_a_post_twice_a_turn_at_known_angles(spin, kind):
    # Its side, 0.1 from the axis, passes the corner of the post at (1.4, 1.0) first, and (1.0, 1.4) last.
    radius = np.hypot(1.4, 1.0)
    first = np.arctan2(1.0, 1.4) - np.arcsin(0.1 / radius)
    final = np.arctan2(1.4, 1.0) + np.arcsin(0.1 / radius)
    half_turns = np.arange(2 if kind is Known else times(2, 1)) * np.pi
    expected = [((first + turned) / spin, (final + turned) / spin) for turned in half_turns]
    last = np.ceil(expected[-1][1])
    (contact,) = scanned(kind(bar_and_post(spin)), last).values()
    assert_spans(contact, [span for span in expected if span[0] < last])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_solid", [True, False])
def test_plate_that_passes_a_plate_within_a_frame_is_found(is_solid, kind):
    half = 0.01 if is_solid else 0.0
    body = FAMILIES["sheet"] if not is_solid else Body(box(1, 1, half))
    speed, passing = 40.0, 2.43
    moving = Path(body, [0.3, 0.2, -speed * passing], speed=(0, 0, speed), angle=0.4)
    (contact,) = scanned(kind([Path(body, ORIGIN), moving]), 5).values()
    ((begin, end),) = spans(contact)
    assert begin == pytest.approx(passing - 2 * half / speed, abs=1e-6)
    assert end == pytest.approx(passing + 2 * half / speed, abs=1e-6)
    assert contact.first.tunnelling
    assert not contact.first.at_start


def test_plate_that_passes_at_a_distance_of_a_thousandth_is_a_near_miss():
    body = Body(box(1, 1, 0.01))
    moving = Path(body, [2.001, 0.2, -80.0], speed=(0, 0, 40.0))
    report = finished(scan_contacts(Known([Path(body, ORIGIN), moving]), np.arange(6.0)))
    assert not report.contacts
    (near,) = report.clearances
    # Gaps are at most a hundredth of a size too large.
    assert 0.001 - 1e-9 <= near.gap <= 0.001 + 0.01 * np.sqrt(2)
    assert near.frame == pytest.approx(2.0, abs=1e-3)
    (contact,) = scanned(Known([Path(body, ORIGIN), moving]), 5, ScanSettings(clearance=0.002)).values()
    assert spans(contact)[0][0] == pytest.approx(2 - 0.02 / 40, abs=1e-3)


# --- containment, presence and rest ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_ball_that_turns_in_the_cavity_of_a_shell_touches_nothing(kind):
    hollow, ball = Body(shell(3.0, 2.5)), FAMILIES["ball"]
    swinging = Path(ball, ORIGIN, (0.4, 0, 0), 0.8, spin=0.7)
    assert not scanned(kind([Path(hollow, ORIGIN, spin=-0.2), swinging]), 2)
    # The same ball within a solid one.
    (contact,) = scanned(kind([Path(Body(shell(3.0, 2.5)[:32]), ORIGIN, spin=-0.2), swinging]), 2).values()
    assert spans(contact) == [(0.0, 2.0)]
    assert contact.first.at_start


def test_meshes_at_rest_are_counted_but_not_reported():
    paths = [
        Path(FAMILIES["box"], ORIGIN),
        Path(FAMILIES["torus"], [0.5, 0, 0]),
        Path(FAMILIES["egg"], [9, 0, 0]),
    ]
    paths.append(Path(FAMILIES["ball"], [20, 0, 0], speed=(0.1, 0, 0)))
    report = finished(scan_contacts(Known(paths), np.arange(4.0)))
    assert not report.contacts
    assert report.static_overlaps == ((0, 1),)
    assert report.static_pair_count == 3


def test_linear_motion_between_frames_has_exact_times():
    # A box that moves 1 further each frame, with nothing known in between.
    every = Meshes(Body(meshes.cube() * 0.5).mesh, np.tile(np.eye(4), (2, 1, 1)))

    class Frames:
        def sample(self, time: float) -> Meshes:
            matrices = every.matrix.copy()
            matrices[1, 0, 3] = 5.25 - time
            return Meshes.unchecked(every.nodes, matrices, every.margin)

    (contact,) = scanned(Frames(), 8, ScanSettings(motion="linear")).values()
    ((begin, end),) = spans(contact)
    assert begin == pytest.approx(4.25, abs=1e-6)
    assert end == pytest.approx(6.25, abs=1e-6)
    assert contact.first.motion == "linear"
