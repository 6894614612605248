"""Splits of meshes in steps, by the jobs that need them: progress, stops, and parts that are remembered."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.core import convex_parts
from addon.core.compound.convex_parts import convex_parts_in_steps
from addon.core.progress import run_to_end
from addon.scene.colliders.make import colliders_in_parts
from addon.scene.jobs.bounds import bounds_in_parts
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import BoundsSettings, ColliderSettings, ContactSettings, FitSettings, Selection
from tests.core.compound.meshes_with_notches import ring
from tests.scene.building import add_object

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture
def rings(add_mesh) -> list[bpy.types.Object]:
    """Two rings of different proportions, and an object with the mesh of the second."""
    items = []
    for small in np.random.default_rng().uniform(0.2, 0.5, 2).tolist():
        # Not the same in another run of this process, where splits are remembered.
        points, index = np.unique(ring(1, small, 12, 6).reshape(-1, 3), axis=0, return_inverse=True)
        items.append(add_mesh("Ring", points, index.reshape(-1, 3).tolist()))
    copy = add_object("Copy", items[1].data)
    return [*items, copy]


def bounds(fit: FitSettings):
    return bounds_in_parts(bpy.context.scene, BoundsSettings(shapes=("compound",), fit=fit), may_change=True)


def colliders(fit: FitSettings):
    return colliders_in_parts(bpy.context.scene, ColliderSettings(Selection(), fit, "hull"))


@pytest.mark.parametrize("job", [bounds, colliders])
def test_progress_grows_and_known_meshes_take_no_step(rings, job):
    steps = job(FitSettings(parts=4))
    shares = [next(steps).share for _ in range(8)]
    shares += [progress.share for progress in steps]
    assert len(shares) > 12 and shares == sorted(shares) and 0 <= shares[0] < 0.3 and shares[-1] <= 1
    # No mesh is split again, and the copy of the second ring was split with it.
    assert len(list(bounds(FitSettings(parts=4)))) == 5


@pytest.mark.parametrize("job", [bounds, colliders])
def test_stop_changes_nothing(rings, job):
    before = [(item.name, len(item.data.vertices)) for item in bpy.data.objects], len(bpy.data.meshes)
    steps = job(FitSettings(parts=8))
    for _ in range(3):
        next(steps)
    steps.close()
    assert (
        [(item.name, len(item.data.vertices)) for item in bpy.data.objects],
        len(bpy.data.meshes),
    ) == before


def test_colliders_after_splits_are_those_without(rings, monkeypatch):
    fit = FitSettings(parts=5)
    run_to_end(bounds(fit))
    # No mesh is split again.
    monkeypatch.setattr("addon.scene.fitting.parts.convex_parts_in_steps", None)
    assert run_to_end(colliders(fit)).colliders > 6


def scan():
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 3, 5
    fit = FitSettings(parts=4)
    return find_contacts(bpy.context.scene, ContactSettings(shape="compound", fit=fit, static_pairs=True))


@pytest.mark.long
def test_scan_splits_meshes_in_steps_before_its_first_frame(rings):
    bpy.context.scene.frame_set(7)
    steps = list(scan())
    before = [progress for progress in steps if progress.done == 0]
    shares = [progress.share for progress in steps]
    # Esc discards such a scan at once: it has no frame to keep.
    assert len(before) > 16 and steps[: len(before)] == before
    assert shares == sorted(shares) and 0.3 < before[-1].share <= 0.5
    assert len([progress for progress in scan() if progress.done == 0]) < len(before) - 8
    assert bpy.context.scene.frame_current == 7


@pytest.mark.long
def test_scan_that_is_stopped_during_a_split_changes_nothing(rings):
    bpy.context.scene.frame_set(7)
    job = scan()
    while next(job).share < 0.1:
        pass
    job.close()
    assert bpy.context.scene.frame_current == 7 and len(bpy.data.scenes) == 1
    # The split goes on with the meshes that are left, and gives the result of a scan without a stop.
    assert len(run_to_end(scan()).report.contacts) == 3


def test_steps_give_the_parts_of_the_whole_split():
    triangles = ring(1, 0.3, 12, 6)
    expected = convex_parts(triangles, 3)
    found = run_to_end(convex_parts_in_steps(triangles, 3))
    assert len(found) == len(expected)
    for part, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, other)
