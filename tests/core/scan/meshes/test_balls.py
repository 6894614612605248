"""Pairs of balls among meshes have the contacts of spheres."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Clearance, Contact, ContactReport, Meshes, ScanSettings, Sphere, scan_contacts
from tests.core.scan.evaluated.test_steps import Sampled
from tests.core.scan.surfaces import balls_and_surfaces, mesh_of
from tests.finished import finished
from tests.tiers import times

COUNT = 9
FAR = mesh_of(np.array([[(900.0, 0, 0), (901, 0, 0), (900, 1, 0)]]))


def spheres_at(seed: int):
    """Return spheres that sway and grow or shrink, as a function of time."""
    rng = np.random.default_rng(seed)
    home, sway = rng.uniform(0, 6, (COUNT, 3)), rng.normal(size=(COUNT, 3)) * 2
    pace, radius = rng.uniform(0.1, 0.9, (COUNT, 1)), rng.uniform(0.3, 1, COUNT)
    growth = rng.uniform(-0.01, 0.03, COUNT)
    return lambda t: Sphere(home + sway * np.sin(pace * t), radius + growth * t)


def reports_of(seed: int, has_surface: bool, settings: ScanSettings) -> tuple[ContactReport, ContactReport]:
    """Return the reports of balls, maybe with a surface far away, and of spheres."""
    spheres = spheres_at(seed)

    def shapes(t: float) -> Meshes:
        return balls_and_surfaces(spheres(t), [FAR]) if has_surface else Meshes.balls(spheres(t))

    found = finished(scan_contacts(Sampled(shapes, COUNT + has_surface), range(20), settings))
    return found, finished(scan_contacts(Sampled(spheres, COUNT), range(20), settings))


def pairs_of(report: ContactReport) -> tuple[list[Contact], list[Clearance]]:
    """Return contacts and near misses in the order of their pairs."""
    contacts, near = report.contacts, report.clearances
    return sorted(contacts, key=lambda c: (c.a, c.b)), sorted(near, key=lambda n: (n.a, n.b))


def numbers_of(report: ContactReport) -> tuple[list, list]:
    """Return all that is known of contacts and near misses: what is compared exactly, and numbers."""
    keys, numbers = [], []
    contacts, clearances = pairs_of(report)
    for contact in contacts:
        keys.append((contact.a, contact.b, contact.first.motion, contact.first.at_start))
        numbers += [contact.first.uncertainty, contact.depth, contact.deepest_frame]
        for span, each in zip(contact.intervals, contact.details, strict=True):
            keys.append(each.velocity is None)
            numbers += [span.start, span.end, each.depth, *each.point, *each.normal, *each.direction]
            numbers += [] if each.velocity is None else [*each.velocity]
    for near in clearances:
        keys.append((near.a, near.b))
        numbers += [near.gap, near.frame]
    return keys, numbers


SEEDS = pytest.mark.parametrize("seed", range(times(4, 2, full=20)))
CLEARANCES = pytest.mark.parametrize("clearance", [0.0, 0.3])
SURFACES = pytest.mark.parametrize("has_surface", [False, True])


@SEEDS
@CLEARANCES
@SURFACES
def test_balls_in_linear_motion_have_all_numbers_of_spheres(seed, has_surface, clearance):
    settings = ScanSettings(motion="linear", clearance=clearance)
    found, expected = reports_of(seed, has_surface, settings)
    assert len(expected.contacts) > 3 and len(expected.contacts) + len(expected.clearances) > 6
    (keys, numbers), (expected_keys, expected_numbers) = numbers_of(found), numbers_of(expected)
    assert keys == expected_keys
    np.testing.assert_allclose(numbers, expected_numbers, rtol=0, atol=1e-9)


@SEEDS
@CLEARANCES
@SURFACES
def test_balls_in_sampled_motion_have_the_contacts_of_spheres(seed, has_surface, clearance):
    # Both are within their uncertainties, and within a hundredth of the smaller size.
    found, expected = reports_of(seed, has_surface, ScanSettings(clearance=clearance))
    (contacts, near), (expected_contacts, expected_near) = pairs_of(found), pairs_of(expected)
    assert len(expected_contacts) > 3 and len(expected_contacts) + len(expected_near) > 6
    assert [(c.a, c.b) for c in contacts] == [(c.a, c.b) for c in expected_contacts]
    radius = spheres_at(seed)(0).radius
    for contact, other in zip(contacts, expected_contacts, strict=True):
        size = 0.02 * min(radius[contact.a], radius[contact.b])
        assert contact.depth == pytest.approx(other.depth, abs=size)
        spans = zip(contact.intervals, contact.details, other.intervals, other.details, strict=True)
        for span, details, other_span, other_details in spans:
            error = details.uncertainty + other_details.uncertainty + 1e-9
            assert abs(span.start - other_span.start) <= error
            assert span.end == pytest.approx(other_span.end, abs=0.01)
            np.testing.assert_allclose(details.normal, other_details.normal, atol=0.01)
    assert [(n.a, n.b) for n in near] == [(n.a, n.b) for n in expected_near]
    for each, other in zip(near, expected_near, strict=True):
        assert each.gap == pytest.approx(other.gap, abs=0.02 * min(radius[each.a], radius[each.b]))
