"""Sweeps of spheres and oriented boxes."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import ImpactStatus, Obb, Sphere, first_impact, time_of_impact
from tests.core import scenes
from tests.core.motions import (
    random_sphere_and_oriented_box,
    rotation_about,
    scaled,
    separation_at,
    take_rows,
)
from tests.core.rotating_boxes import growing
from tests.core.sweep.exact_sweeps import GapMotion
from tests.tiers import times

pytestmark = pytest.mark.filterwarnings("error")

X, Y, Z = np.eye(3)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_spheres_and_translating_boxes_match_exact_rationals(scale):
    # Quarters and quarter turns, so that the local coordinates are exact and GapMotion gives the reference.
    rng = np.random.default_rng(50)
    count = 300
    rotation = np.array(scenes.QUARTER_TURNS)[rng.integers(0, 24, count)]
    center, half = rng.integers(-8, 9, (2, count, 3)) / 4, rng.integers(0, 9, (2, count, 3)) / 4
    positions, radii = rng.integers(-20, 21, (2, count, 3)) / 4, rng.integers(0, 9, (2, count)) / 4
    motion = [Sphere(p, r) for p, r in zip(positions, radii, strict=True)]
    motion += [Obb(c, h, rotation) for c, h in zip(center, half, strict=True)]
    found = first_impact(*scaled(motion, scale))
    assert (found.status == ImpactStatus.EXACT).all()
    assert 50 < (~np.isnan(found.time)).sum() < 250
    for i, time in enumerate(found.time[: times(count, 75)].tolist()):
        seen = [rotation[i].T @ (p[i] - c[i]) for p, c in zip(positions, center, strict=True)]
        truth = GapMotion.of_sphere_and_box(
            *((p, r[i]) for p, r in zip(seen, radii, strict=True)), *((-h[i], h[i]) for h in half)
        )
        assert np.isnan(time) == (truth.first is None)
        if truth.first is not None:
            assert time == pytest.approx(truth.first, abs=1e-7)
            assert abs(truth.f(time)) <= 1e-12 * truth.scale or time == 0


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_spheres_and_rotating_boxes_match_dense_sampling(scale):
    rng = np.random.default_rng(51)
    count = 2000
    ball0, ball1, *_ = random_sphere_and_oriented_box(rng, count)
    box, _ = growing(rng, count)
    motion = scaled([ball0, ball1, *box.samples()], scale)
    found = first_impact(*motion)
    assert (found.status != ImpactStatus.UNRESOLVED).all()
    first = np.full(count, np.nan)
    for t in np.linspace(0, 1, 201):
        center = ball0.center * (1 - t) + ball1.center * t - (box.center + box.shift * t)
        local = np.einsum("nji,nj->ni", box.rotation_at(t), center)
        half = box.half + box.growth * t
        distance = np.linalg.norm(local - np.clip(local, -half, half), axis=1)
        inside = distance <= ball0.radius * (1 - t) + ball1.radius * t - 1e-9
        first = np.where(inside & np.isnan(first), t, first)
    hit = ~np.isnan(first)
    assert hit.sum() > 300
    assert not np.isnan(found.time[hit]).any()
    assert (found.time <= first + 1e-12)[hit].all()
    moving = found.time > 0
    gaps = separation_at(take_rows(motion, moving), found.time[moving])
    assert (np.abs(gaps) <= 1e-12 * scale).all()
    # The point is on the sphere, and the normal points from its center to it.
    ball = take_rows(motion, moving)[:2]
    t = found.time[moving, None]
    center = ball[0].center * (1 - t) + ball[1].center * t
    radius = ball[0].radius[:, None] * (1 - t) + ball[1].radius[:, None] * t
    reach = center + found.normal[moving] * radius
    np.testing.assert_allclose(found.point[moving], reach, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize(
    ("scenario", "ball", "expected"),
    [
        ("inside", ([0, 0, 0], 0.1), 0.0),
        ("touching a face at the start", ([0, 0, 1.5], 0.5), 0.0),
        # The corner, sqrt(2) from the center, is at the top after an eighth of a turn: reach sqrt(2) + 0.25.
        ("touched by the corner at the top of its path", ([0, 0, np.sqrt(2) + 0.25], 0.25 + 1e-12), 0.5),
        ("out of its reach", ([0, 0, np.sqrt(2) + 0.25], 0.25 - 1e-12), np.nan),
        # Three above the center, the face leans away: 3 cos(angle) - 1 = 1.9, closest inside of the face.
        ("touched by a face", ([0, 0, 3], 1.9), np.arccos(2.9 / 3) / (np.pi / 2)),
        # The edge, at distance sqrt(2) and an angle of 45 degrees - angle: 2 + 9 - 6 sqrt(2) cos = 1.7^2.
        (
            "touched by an edge",
            ([0, 0, 3], 1.7),
            (np.pi / 4 - np.arccos((11 - 1.7**2) / np.sqrt(72))) / (np.pi / 2),
        ),
    ],
)
def test_sphere_at_rest_next_to_spinning_box(scenario, ball, expected):
    spin = [Obb([0, 0, 0], [1, 1, 1], rotation_about(X, np.array(angle))) for angle in (0, np.pi / 2)]
    found = time_of_impact(Sphere(*ball), Sphere(*ball), *spin)
    # At the top of its path an edge grazes, so the time has half of its digits.
    assert found == pytest.approx(expected, abs=1e-5 if "top" in scenario else 1e-13, nan_ok=True), scenario


def test_growing_sphere_touches_spinning_box():
    # The face stays 1 from the center, the sphere is 3 away along the axis of rotation: 3 - 1 = 4 t.
    spin = [Obb([0, 0, 0], [1, 1, 1], rotation_about(Z, np.array(angle))) for angle in (0, 3)]
    found = first_impact(Sphere([0, 0, 3], 0), Sphere([0, 0, 3], 4), *spin)
    assert found.time == pytest.approx(0.5, abs=1e-14)
    assert found.status == ImpactStatus.CONSERVATIVE
    np.testing.assert_allclose(found.point, [0, 0, 1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.normal, [0, 0, -1], rtol=0, atol=1e-12)
