# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of whole scenes against brute force: shapes of the test at every whole frame, and all pairs.

`--motion linear` interpolates center and radius, or minimum and maximum, linearly between whole frames. The
tests do the same on a dense grid of times, for all pairs, including parents with their children and static
pairs. Separations within 1e-5 of zero are not decided, because two correct programs may differ by that much:
documents have six decimals, and the minimal spheres are computed in another way.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.scene.independent.files import load, run_product, sample_files, schema_errors
from tests.scene.independent.motion import Motion, sample_motion
from tests.scene.independent.scenes import make_moving_scene, make_touching_scene

BUILT_FILE = Path("built_moving.blend")
SAMPLE_NAMES = {"RobotExpressive.blend", "06_parent-inverse-anim.blend"}
FILES = [BUILT_FILE, *(path for path in sample_files() if path.name in SAMPLE_NAMES)]
ALL_PAIRS_OPTIONS = ("--motion", "linear", "--static-pairs", "--no-ignore-parents")
SEPARATION_ERROR = 1e-5
STEPS = 64
FRAME_ERROR = 2e-6
"""Error in frames of a frame number with six decimals."""


Sampled = tuple[Path, Motion, float, tuple[str, ...]]
"""A file, its shapes at whole frames, its frame rate, and command-line options of the range."""


@dataclass(frozen=True)
class Pair:
    """Two objects.

    Attributes
    ----------
    names : tuple of str
        Names of the objects.
    whole : (frames,) float64
        Separations at whole frames.
    dense : (t,) float64
        Separations on the dense grid.
    contact : dict or None
        Contact in the document.
    """

    names: tuple[str, str]
    whole: np.ndarray
    dense: np.ndarray
    contact: dict | None

    def __str__(self) -> str:
        return f"{self.names[0]} / {self.names[1]}"


@dataclass(frozen=True)
class Scan:
    """One file and shape: the document, its ids and names, the motion computed by the test, and all pairs."""

    shape: str
    document: dict
    name_of: dict[str, str]
    motion: Motion
    times: np.ndarray
    pairs: list[Pair]
    rate: float

    def contacts(self) -> list[Pair]:
        return [pair for pair in self.pairs if pair.contact is not None]

    def separation(self, pair: Pair, times: np.ndarray | float) -> np.ndarray:
        first, second = (self.motion.names.index(name) for name in pair.names)
        return self.motion.separation(self.shape, first, second, np.atleast_1d(times))

    def separation_error(self, pair: Pair) -> float:
        """Error of the separation at a frame number with six decimals."""
        steepest = float(np.abs(np.diff(pair.dense)).max()) * STEPS
        return SEPARATION_ERROR + FRAME_ERROR * steepest


def pairs_of(motion: Motion, shape: str, times: np.ndarray, written: dict[frozenset, dict]) -> list[Pair]:
    pairs = []
    for first, second in itertools.combinations(range(len(motion.names)), 2):
        names = motion.names[first], motion.names[second]
        whole = motion.separation(shape, first, second, motion.frames)
        dense = motion.separation(shape, first, second, times)
        pairs.append(Pair(names, whole, dense, written.get(frozenset(names))))
    return pairs


def is_in_contact(times: np.ndarray, contact: dict) -> np.ndarray:
    """Return for each time (t,) whether it is in an interval of a contact, ends included."""
    found = np.zeros(len(times), dtype=bool)
    for interval in contact["intervals"]:
        found |= (times >= interval["start"]) & (times <= interval["end"])
    return found


def range_of(path: Path, frames: tuple[int, int] | None) -> object:
    """Return a file and a frame range as a parameter. Tests of all frames of a sample are marked long."""
    marks = () if frames or path == BUILT_FILE else (pytest.mark.long,)
    return pytest.param((path, frames), id=f"{path.name}-{'3:7' if frames else 'all'}", marks=marks)


RANGES = [range_of(path, frames) for frames in (None, (3, 7)) for path in FILES]


@pytest.fixture(scope="module", params=RANGES)
def sampled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sampled:
    source, frames = request.param
    if source == BUILT_FILE:
        source = tmp_path_factory.mktemp("made") / BUILT_FILE
        make_moving_scene(source)
    load(source)
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    motion = sample_motion(*(frames or (scene.frame_start, scene.frame_end)))
    assert len(set(motion.names)) == len(motion.names)
    options = ("--frames", f"{frames[0]}:{frames[1]}") if frames else ()
    return source, motion, rate, options


@pytest.fixture(scope="module", params=["sphere", "aabb"])
def scan(
    request: pytest.FixtureRequest,
    sampled: Sampled,
    tmp_path_factory: pytest.TempPathFactory,
) -> Scan:
    source, motion, rate, options = sampled
    output = tmp_path_factory.mktemp("contacts") / "out.json"
    document = run_product("contacts", source, output, "--shape", request.param, *ALL_PAIRS_OPTIONS, *options)
    name_of = {item["id"]: item["name"] for item in document["objects"]}
    written = {frozenset((name_of[c["a"]], name_of[c["b"]])): c for c in document["contacts"]}
    times = np.linspace(motion.frames[0], motion.frames[-1], STEPS * (len(motion.frames) - 1) + 1)
    pairs = pairs_of(motion, request.param, times, written)
    return Scan(request.param, document, name_of, motion, times, pairs, rate)


def test_each_pair_is_written_once(scan: Scan) -> None:
    """Ids exist, each pair has one entry, and the shape is the requested one."""
    contacts = scan.document["contacts"]
    pairs = [frozenset((contact["a"], contact["b"])) for contact in contacts]
    assert all(len(pair) == 2 for pair in pairs)
    assert len(set(pairs)) == len(pairs) == len(scan.contacts())
    assert {contact["shape"] for contact in contacts} <= {scan.shape}
    assert {contact["motion"] for contact in contacts} <= {"linear"}


def test_overlaps_at_whole_frames_are_contacts(scan: Scan) -> None:
    """Each overlap at a whole frame is a contact that starts no later than that frame."""
    wrong = []
    for pair in scan.pairs:
        overlapping = scan.motion.frames[pair.whole < -SEPARATION_ERROR]
        if not len(overlapping):
            continue
        if pair.contact is None:
            wrong.append(f"{pair}: overlaps at {overlapping[0]}, no contact")
            continue
        first = pair.contact["first"]["frame"]
        before = scan.motion.frames[pair.whole < SEPARATION_ERROR]
        if first > overlapping[0] or (
            before[0] == overlapping[0]
            and first <= overlapping[0] - 1
            and overlapping[0] > scan.motion.frames[0]
        ):
            wrong.append(f"{pair}: overlaps at {overlapping[0]}, first {first}")
    assert not wrong


def test_overlaps_between_frames_are_contacts(scan: Scan) -> None:
    """Overlaps on the dense grid are contacts too."""
    missed = [
        f"{p}: {p.dense.min():.6f}"
        for p in scan.pairs
        if p.dense.min() < -SEPARATION_ERROR and p.contact is None
    ]
    assert not missed


def test_first_contact_is_first_overlap(scan: Scan) -> None:
    """The shapes touch at the written first frame, and are separate before it."""
    wrong = []
    for pair in scan.contacts():
        first = pair.contact["first"]
        tolerance = scan.separation_error(pair)
        separation = float(scan.separation(pair, first["frame"])[0])
        before = pair.dense[scan.times < first["frame"]]
        if (
            separation > tolerance
            or (not first["atStart"] and abs(separation) > tolerance)
            or (before < -tolerance).any()
        ):
            wrong.append(
                f"{pair}: {separation:.7f} at {first['frame']}, least before {before.min(initial=9):.7f}"
            )
    assert not wrong


def test_contact_at_first_frame_is_marked(scan: Scan) -> None:
    """`atStart` is set exactly for pairs that overlap at the first frame, which is then the contact frame."""
    start = scan.motion.frames[0]
    wrong = []
    for pair in scan.contacts():
        first = pair.contact["first"]
        if abs(pair.whole[0]) > SEPARATION_ERROR and first["atStart"] != (pair.whole[0] < 0.0):
            wrong.append(f"{pair}: {pair.whole[0]:.6f} at start, atStart {first['atStart']}")
        if first["atStart"] and first["frame"] != start:
            wrong.append(f"{pair}: at start but {first['frame']}")
    assert not wrong


def test_intervals_are_times_of_overlap(scan: Scan) -> None:
    """A whole frame or time of the dense grid is in an interval exactly if the shapes overlap."""
    wrong = []
    for pair in scan.contacts():
        tolerance = scan.separation_error(pair)
        for name, times, values in (
            ("whole", scan.motion.frames, pair.whole),
            ("dense", scan.times, pair.dense),
        ):
            is_covered = is_in_contact(times, pair.contact)
            wrong += [
                f"{pair}: {name} {t} overlaps outside of intervals"
                for t in times[(values < -tolerance) & ~is_covered]
            ]
            wrong += [
                f"{pair}: {name} {t} is separate in an interval"
                for t in times[(values > tolerance) & is_covered]
            ]
    assert not wrong


def test_intervals_are_sorted_and_start_at_first_contact(scan: Scan) -> None:
    """Intervals are sorted, disjoint and in the frame range. The first one starts at the first contact."""
    low, high = scan.motion.frames[[0, -1]]
    for pair in scan.contacts():
        ends = [edge for item in pair.contact["intervals"] for edge in (item["start"], item["end"])]
        assert ends == sorted(ends), str(pair)
        assert low <= ends[0], str(pair)
        assert ends[-1] <= high, str(pair)
        assert ends[0] == pair.contact["first"]["frame"], str(pair)


def test_tunnelling_is_contact_between_whole_frames(scan: Scan) -> None:
    """The flag is set exactly if the first interval contains no whole frame, as documented."""
    wrong = []
    for pair in scan.contacts():
        interval, first = pair.contact["intervals"][0], pair.contact["first"]
        is_ambiguous = (
            np.abs(scan.motion.frames[:, None] - [interval["start"], interval["end"]]).min() < FRAME_ERROR
        )
        has_whole_frame = np.floor(interval["end"]) >= interval["start"]
        if not is_ambiguous and first["tunnelling"] == has_whole_frame:
            wrong.append(f"{pair}: {interval}, tunnelling {first['tunnelling']}")
        if pair.whole.min() > SEPARATION_ERROR and not first["tunnelling"]:
            wrong.append(f"{pair}: never closer than {pair.whole.min():.6f} at a whole frame, not tunnelling")
    assert not wrong


def test_deepest_overlap_is_at_least_that_of_any_whole_frame(scan: Scan) -> None:
    """The depth is also that of the shapes at the written frame."""
    wrong = []
    for pair in scan.contacts():
        deepest = pair.contact["deepest"]
        depth = -float(scan.separation(pair, deepest["frame"])[0])
        if deepest["depth"] < -pair.whole.min() - SEPARATION_ERROR:
            wrong.append(f"{pair}: {deepest}, whole frames reach {-pair.whole.min():.6f}")
        if abs(deepest["depth"] - depth) > scan.separation_error(pair):
            wrong.append(f"{pair}: {deepest}, but {depth:.6f} at that frame")
    assert not wrong


def test_seconds_depend_on_frame_rate(scan: Scan) -> None:
    """Seconds are frames divided by fps / fps_base, to six decimals of both."""
    for pair in scan.contacts():
        first = pair.contact["first"]
        assert first["seconds"] == pytest.approx(first["frame"] / scan.rate, abs=FRAME_ERROR), str(pair)


def test_first_contact_has_point_on_both_shapes_and_normal(scan: Scan) -> None:
    """The point is on both surfaces, and the normal of spheres points from a to b."""
    for pair in scan.contacts():
        first = pair.contact["first"]
        normal = np.array(first["normal"])
        assert abs(np.linalg.norm(normal) - 1.0) < 4e-6, str(pair)
        if scan.shape == "sphere" and not first["atStart"]:
            assert_sphere_witness(
                scan, pair.contact, np.array(first["point"]), normal, scan.separation_error(pair)
            )
        elif scan.shape == "aabb" and not first["atStart"]:
            assert_aabb_witness(
                scan, pair.contact, np.array(first["point"]), normal, scan.separation_error(pair)
            )


def interpolated(scan: Scan, track: np.ndarray, identifier: str, time: float) -> np.ndarray:
    values = track[:, scan.motion.names.index(scan.name_of[identifier])].reshape(len(scan.motion.frames), -1)
    return np.array([np.interp(time, scan.motion.frames, column) for column in values.T])


def assert_sphere_witness(
    scan: Scan, contact: dict, point: np.ndarray, normal: np.ndarray, tolerance: float
) -> None:
    time = contact["first"]["frame"]
    centers = [interpolated(scan, scan.motion.centers, contact[key], time) for key in "ab"]
    radii = [interpolated(scan, scan.motion.radii, contact[key], time)[0] for key in "ab"]
    for center, radius in zip(centers, radii, strict=True):
        assert abs(np.linalg.norm(point - center) - radius) < 10 * tolerance
    offset = centers[1] - centers[0]
    np.testing.assert_allclose(
        normal, offset / np.linalg.norm(offset), atol=10 * tolerance / np.linalg.norm(offset)
    )


def assert_aabb_witness(
    scan: Scan, contact: dict, point: np.ndarray, normal: np.ndarray, tolerance: float
) -> None:
    time = contact["first"]["frame"]
    for key in "ab":
        low = interpolated(scan, scan.motion.mins, contact[key], time)
        high = interpolated(scan, scan.motion.maxs, contact[key], time)
        assert (point >= low - tolerance).all()
        assert (point <= high + tolerance).all()
    b_min = interpolated(scan, scan.motion.mins, contact["b"], time)
    a_max = interpolated(scan, scan.motion.maxs, contact["a"], time)
    b_max = interpolated(scan, scan.motion.maxs, contact["b"], time)
    a_min = interpolated(scan, scan.motion.mins, contact["a"], time)
    axis = int(np.abs(normal).argmax())
    gap = b_min[axis] - a_max[axis] if normal[axis] > 0 else a_min[axis] - b_max[axis]
    assert abs(gap) < 10 * tolerance


def test_clearances_are_least_gaps_of_pairs_without_contact(scan: Scan) -> None:
    """A written gap is at most that at any whole frame, and is that at the written frame."""
    touching = {frozenset((c["a"], c["b"])) for c in scan.document["contacts"]}
    by_names = {frozenset(pair.names): pair for pair in scan.pairs}
    for clearance in scan.document["clearances"]:
        assert frozenset((clearance["a"], clearance["b"])) not in touching
        pair = by_names[frozenset((scan.name_of[clearance["a"]], scan.name_of[clearance["b"]]))]
        assert clearance["gap"] <= pair.whole.min() + SEPARATION_ERROR, str(pair)
        separation = float(scan.separation(pair, clearance["frame"])[0])
        assert abs(separation - clearance["gap"]) <= scan.separation_error(pair), str(pair)


def test_document_is_valid_for_shipped_schema(scan: Scan) -> None:
    """Other programs validate documents with the schema."""
    assert not schema_errors(scan.document)


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
def test_separation_of_zero_is_contact(motion: str, tmp_path: Path) -> None:
    """Separation 0 is an overlap, as documented. Cube faces at integer coordinates make it exactly 0."""
    source = tmp_path / "touching.blend"
    make_touching_scene(source)
    options = ("--shape", "aabb", "--static-pairs", "--motion", motion)
    document = run_product("contacts", source, tmp_path / "out.json", *options)
    name_of = {item["id"]: item["name"] for item in document["objects"]}
    found = {frozenset((name_of[c["a"]], name_of[c["b"]])): c for c in document["contacts"]}
    assert set(found) == {frozenset(("Still", "Neighbor")), frozenset(("Still", "Visitor"))}
    resting, visiting = found[frozenset(("Still", "Neighbor"))], found[frozenset(("Still", "Visitor"))]
    assert resting["first"]["atStart"]
    assert [(span["start"], span["end"]) for span in resting["intervals"]] == [(1, 9)]
    (span,), first = visiting["intervals"], visiting["first"]
    # The visitor reverses at frame 5. Its curve is flat there, so in the single precision of Blender's
    # matrices it also touches shortly before and after.
    error = 0 if motion == "linear" else 1e-3
    assert visiting["motion"] == ("linear" if motion == "linear" else "proven")
    assert 5 - error <= first["frame"] == span["start"] <= 5
    assert 5 <= span["end"] <= 5 + error
    assert not first["tunnelling"]
    assert resting["deepest"]["depth"] == visiting["deepest"]["depth"] == 0.0
