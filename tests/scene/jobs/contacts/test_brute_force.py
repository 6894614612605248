# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of whole scenes against brute force: own shapes at every whole frame, every pair, no broad phase.

Between whole frames `--motion linear` lets centre and radius, or min and max, go straight. So do the checks
here, on a dense grid, and of all pairs: also of parents and their children, and of what stands still.
Separations within 1e-5 of zero prove nothing: by that much two correct programs may differ after six decimals
and another minimal sphere.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.scene.independent import (
    Motion,
    bpy,
    load,
    make_moving_scene,
    make_touching_scene,
    motion_of,
    run_product,
    sample_files,
    schema_errors,
)

MADE = Path("made_moving.blend")
WANTED = {"RobotExpressive.blend", "06_parent-inverse-anim.blend"}
FILES = [MADE, *(path for path in sample_files() if path.name in WANTED)]
EVERYTHING = ("--motion", "linear", "--static-pairs", "--no-ignore-parents")
DOUBT = 1e-5
STEPS = 64
# What six decimals of a frame number may hide, in frames.
FRAME_DOUBT = 2e-6


# A file, its things' shapes at whole frames, frames a second, options that choose the frames.
Filmed = tuple[Path, Motion, float, tuple[str, ...]]


@dataclass(frozen=True)
class Pair:
    """Two things by name, their separation at whole frames and on the dense grid, and what was written."""

    names: tuple[str, str]
    whole: np.ndarray
    dense: np.ndarray
    contact: dict | None

    def __str__(self) -> str:
        return f"{self.names[0]} / {self.names[1]}"


@dataclass(frozen=True)
class Scan:
    """One file and shape: the document, the product's own ids by name, the checker's motion, every pair."""

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

    def distance_doubt(self, pair: Pair) -> float:
        """Error of the separation at a frame that is written with six decimals."""
        steepest = float(np.abs(np.diff(pair.dense)).max()) * STEPS
        return DOUBT + FRAME_DOUBT * steepest


def pairs_of(motion: Motion, shape: str, times: np.ndarray, written: dict[frozenset, dict]) -> list[Pair]:
    pairs = []
    for first, second in itertools.combinations(range(len(motion.names)), 2):
        names = motion.names[first], motion.names[second]
        whole = motion.separation(shape, first, second, motion.frames)
        dense = motion.separation(shape, first, second, times)
        pairs.append(Pair(names, whole, dense, written.get(frozenset(names))))
    return pairs


def inside(times: np.ndarray, contact: dict) -> np.ndarray:
    """Mask of the times within one of a contact's intervals, ends included."""
    found = np.zeros(len(times), dtype=bool)
    for interval in contact["intervals"]:
        found |= (times >= interval["start"]) & (times <= interval["end"])
    return found


def range_of(path: Path, frames: tuple[int, int] | None) -> object:
    """Return a file and the frames to look at as a parameter. All frames of a sample are long."""
    marks = () if frames or path == MADE else (pytest.mark.long,)
    return pytest.param((path, frames), id=f"{path.name}-{'3:7' if frames else 'all'}", marks=marks)


RANGES = [range_of(path, frames) for frames in (None, (3, 7)) for path in FILES]


@pytest.fixture(scope="module", params=RANGES)
def filmed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Filmed:
    source, frames = request.param
    if source == MADE:
        source = tmp_path_factory.mktemp("made") / MADE
        make_moving_scene(source)
    load(source)
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    motion = motion_of(*(frames or (scene.frame_start, scene.frame_end)))
    assert len(set(motion.names)) == len(motion.names)
    options = ("--frames", f"{frames[0]}:{frames[1]}") if frames else ()
    return source, motion, rate, options


@pytest.fixture(scope="module", params=["sphere", "aabb"])
def scan(
    request: pytest.FixtureRequest,
    filmed: Filmed,
    tmp_path_factory: pytest.TempPathFactory,
) -> Scan:
    source, motion, rate, options = filmed
    output = tmp_path_factory.mktemp("contacts") / "out.json"
    document = run_product("contacts", source, output, "--shape", request.param, *EVERYTHING, *options)
    name_of = {item["id"]: item["name"] for item in document["objects"]}
    written = {frozenset((name_of[c["a"]], name_of[c["b"]])): c for c in document["contacts"]}
    times = np.linspace(motion.frames[0], motion.frames[-1], STEPS * (len(motion.frames) - 1) + 1)
    pairs = pairs_of(motion, request.param, times, written)
    return Scan(request.param, document, name_of, motion, times, pairs, rate)


def test_each_pair_is_written_once(scan: Scan) -> None:
    """Ids are known, a pair is one entry, the shape is the one asked for."""
    contacts = scan.document["contacts"]
    pairs = [frozenset((contact["a"], contact["b"])) for contact in contacts]
    assert all(len(pair) == 2 for pair in pairs)
    assert len(set(pairs)) == len(pairs) == len(scan.contacts())
    assert {contact["shape"] for contact in contacts} <= {scan.shape}
    assert {contact["motion"] for contact in contacts} <= {"linear"}


def test_overlaps_at_whole_frames_are_contacts(scan: Scan) -> None:
    """Nothing that a plain look at each frame shows is missed, and it is no later than seen there."""
    wrong = []
    for pair in scan.pairs:
        seen = scan.motion.frames[pair.whole < -DOUBT]
        if not len(seen):
            continue
        if pair.contact is None:
            wrong.append(f"{pair}: overlaps at {seen[0]}, no contact")
            continue
        first = pair.contact["first"]["frame"]
        before = scan.motion.frames[pair.whole < DOUBT]
        if first > seen[0] or (
            before[0] == seen[0] and first <= seen[0] - 1 and seen[0] > scan.motion.frames[0]
        ):
            wrong.append(f"{pair}: overlaps at {seen[0]}, first {first}")
    assert not wrong


def test_overlaps_between_frames_are_contacts(scan: Scan) -> None:
    """Overlaps between whole frames are found too: the dense grid is an independent search for them."""
    missed = [f"{p}: {p.dense.min():.6f}" for p in scan.pairs if p.dense.min() < -DOUBT and p.contact is None]
    assert not missed


def test_contacts_are_real(scan: Scan) -> None:
    """At the written first frame the shapes touch; before it they are apart, and it is not invented."""
    wrong = []
    for pair in scan.contacts():
        first = pair.contact["first"]
        doubt = scan.distance_doubt(pair)
        there = float(scan.separation(pair, first["frame"])[0])
        before = pair.dense[scan.times < first["frame"]]
        if there > doubt or (not first["atStart"] and abs(there) > doubt) or (before < -doubt).any():
            wrong.append(f"{pair}: {there:.7f} at {first['frame']}, least before {before.min(initial=9):.7f}")
    assert not wrong


def test_contact_at_first_frame_is_marked(scan: Scan) -> None:
    """`atStart` exactly where the first whole frame shows the overlap; the frame is then that one."""
    start = scan.motion.frames[0]
    wrong = []
    for pair in scan.contacts():
        first = pair.contact["first"]
        if abs(pair.whole[0]) > DOUBT and first["atStart"] != (pair.whole[0] < 0.0):
            wrong.append(f"{pair}: {pair.whole[0]:.6f} at start, atStart {first['atStart']}")
        if first["atStart"] and first["frame"] != start:
            wrong.append(f"{pair}: at start but {first['frame']}")
    assert not wrong


def test_intervals_are_the_times_of_overlap(scan: Scan) -> None:
    """Each whole frame and each time of the dense grid is inside an interval exactly when shapes overlap."""
    wrong = []
    for pair in scan.contacts():
        doubt = scan.distance_doubt(pair)
        for name, times, values in (
            ("whole", scan.motion.frames, pair.whole),
            ("dense", scan.times, pair.dense),
        ):
            covered = inside(times, pair.contact)
            wrong += [f"{pair}: {name} {t} overlaps outside" for t in times[(values < -doubt) & ~covered]]
            wrong += [f"{pair}: {name} {t} is apart inside" for t in times[(values > doubt) & covered]]
    assert not wrong


def test_intervals_are_in_order_and_start_at_the_first_contact(scan: Scan) -> None:
    """Sorted, disjoint, within the scene's range, the first one from the first contact on."""
    low, high = scan.motion.frames[[0, -1]]
    for pair in scan.contacts():
        ends = [edge for item in pair.contact["intervals"] for edge in (item["start"], item["end"])]
        assert ends == sorted(ends), str(pair)
        assert low <= ends[0], str(pair)
        assert ends[-1] <= high, str(pair)
        assert ends[0] == pair.contact["first"]["frame"], str(pair)


def test_tunnelling_is_a_contact_that_no_whole_frame_shows(scan: Scan) -> None:
    """By the contract's words: the flag is set exactly when the first interval holds no whole frame."""
    wrong = []
    for pair in scan.contacts():
        interval, first = pair.contact["intervals"][0], pair.contact["first"]
        near = np.abs(scan.motion.frames[:, None] - [interval["start"], interval["end"]]).min() < FRAME_DOUBT
        holds = np.floor(interval["end"]) >= interval["start"]
        if not near and first["tunnelling"] == holds:
            wrong.append(f"{pair}: {interval}, tunnelling {first['tunnelling']}")
        if pair.whole.min() > DOUBT and not first["tunnelling"]:
            wrong.append(f"{pair}: never nearer than {pair.whole.min():.6f} at a whole frame, not tunnelling")
    assert not wrong


def test_deepest_overlap_is_at_least_that_of_any_whole_frame(scan: Scan) -> None:
    """And the depth is the one that the shapes have at the written frame."""
    wrong = []
    for pair in scan.contacts():
        deepest = pair.contact["deepest"]
        there = -float(scan.separation(pair, deepest["frame"])[0])
        if deepest["depth"] < -pair.whole.min() - DOUBT:
            wrong.append(f"{pair}: {deepest}, whole frames reach {-pair.whole.min():.6f}")
        if abs(deepest["depth"] - there) > scan.distance_doubt(pair):
            wrong.append(f"{pair}: {deepest}, but {there:.6f} there")
    assert not wrong


def test_seconds_follow_the_scenes_rate(scan: Scan) -> None:
    """Seconds count from frame 0 at fps / fps_base; half a sixth decimal each for frame and seconds."""
    for pair in scan.contacts():
        first = pair.contact["first"]
        assert first["seconds"] == pytest.approx(first["frame"] / scan.rate, abs=FRAME_DOUBT), str(pair)


def test_first_contact_has_a_point_on_both_shapes_and_a_normal(scan: Scan) -> None:
    """At a first touch both surfaces pass through the point; the spheres' normal goes from a to b."""
    for pair in scan.contacts():
        first = pair.contact["first"]
        normal = np.array(first["normal"])
        assert abs(np.linalg.norm(normal) - 1.0) < 4e-6, str(pair)
        if scan.shape == "sphere" and not first["atStart"]:
            check_sphere_witness(
                scan, pair.contact, np.array(first["point"]), normal, scan.distance_doubt(pair)
            )
        elif scan.shape == "aabb" and not first["atStart"]:
            check_aabb_witness(
                scan, pair.contact, np.array(first["point"]), normal, scan.distance_doubt(pair)
            )


def interpolated(scan: Scan, track: np.ndarray, identifier: str, time: float) -> np.ndarray:
    values = track[:, scan.motion.names.index(scan.name_of[identifier])].reshape(len(scan.motion.frames), -1)
    return np.array([np.interp(time, scan.motion.frames, column) for column in values.T])


def check_sphere_witness(
    scan: Scan, contact: dict, point: np.ndarray, normal: np.ndarray, doubt: float
) -> None:
    time = contact["first"]["frame"]
    centres = [interpolated(scan, scan.motion.centres, contact[key], time) for key in "ab"]
    radii = [interpolated(scan, scan.motion.radii, contact[key], time)[0] for key in "ab"]
    for centre, radius in zip(centres, radii, strict=True):
        assert abs(np.linalg.norm(point - centre) - radius) < 10 * doubt
    way = centres[1] - centres[0]
    np.testing.assert_allclose(normal, way / np.linalg.norm(way), atol=10 * doubt / np.linalg.norm(way))


def check_aabb_witness(
    scan: Scan, contact: dict, point: np.ndarray, normal: np.ndarray, doubt: float
) -> None:
    time = contact["first"]["frame"]
    for key in "ab":
        low = interpolated(scan, scan.motion.mins, contact[key], time)
        high = interpolated(scan, scan.motion.maxs, contact[key], time)
        assert (point >= low - doubt).all()
        assert (point <= high + doubt).all()
    ahead = interpolated(scan, scan.motion.mins, contact["b"], time)
    behind = interpolated(scan, scan.motion.maxs, contact["a"], time)
    back = interpolated(scan, scan.motion.maxs, contact["b"], time)
    front = interpolated(scan, scan.motion.mins, contact["a"], time)
    axis = int(np.abs(normal).argmax())
    touching = ahead[axis] - behind[axis] if normal[axis] > 0 else front[axis] - back[axis]
    assert abs(touching) < 10 * doubt


def test_clearances_are_pairs_that_stay_apart(scan: Scan) -> None:
    """A written gap is no larger than any whole frame shows and no smaller than the dense grid allows."""
    touching = {frozenset((c["a"], c["b"])) for c in scan.document["contacts"]}
    by_names = {frozenset(pair.names): pair for pair in scan.pairs}
    for clearance in scan.document["clearances"]:
        assert frozenset((clearance["a"], clearance["b"])) not in touching
        pair = by_names[frozenset((scan.name_of[clearance["a"]], scan.name_of[clearance["b"]]))]
        assert clearance["gap"] <= pair.whole.min() + DOUBT, str(pair)
        there = float(scan.separation(pair, clearance["frame"])[0])
        assert abs(there - clearance["gap"]) <= scan.distance_doubt(pair), str(pair)


def test_document_fits_the_shipped_schema(scan: Scan) -> None:
    """The schema is what other programs check against."""
    assert not schema_errors(scan.document)


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
def test_touching_counts(motion: str, tmp_path: Path) -> None:
    """By the contract separation 0 is an overlap; cube faces at whole coordinates make it exactly 0."""
    source = tmp_path / "touching.blend"
    make_touching_scene(source)
    document = run_product("contacts", source, tmp_path / "out.json", "--static-pairs", "--motion", motion)
    name_of = {item["id"]: item["name"] for item in document["objects"]}
    found = {frozenset((name_of[c["a"]], name_of[c["b"]])): c for c in document["contacts"]}
    assert set(found) == {frozenset(("Still", "Beside")), frozenset(("Still", "Visitor"))}
    resting, visiting = found[frozenset(("Still", "Beside"))], found[frozenset(("Still", "Visitor"))]
    assert resting["first"]["atStart"]
    assert resting["intervals"] == [{"start": 1, "end": 9}]
    (span,), first = visiting["intervals"], visiting["first"]
    # The visitor turns round at frame 5. Its curve is so flat there that single precision, in which Blender
    # keeps matrices, has it touch a little before and after.
    early = 0 if motion == "linear" else 1e-3
    assert visiting["motion"] == motion
    assert 5 - early <= first["frame"] == span["start"] <= 5
    assert 5 <= span["end"] <= 5 + early
    assert not first["tunnelling"]
    assert resting["deepest"]["depth"] == visiting["deepest"]["depth"] == 0.0
