"""Shares of a scan, joined, give the document of a scan of all frames, byte by byte."""

from __future__ import annotations

import random

import bpy
import pytest

from addon.core.scan import scan
from addon.formats import dumps
from addon.scene.jobs.contacts import find_contacts, scan_frame_share
from addon.scene.jobs.scan_shares import ScanShare, share_as_text, share_from_text
from addon.scene.settings import SCANNED_SHAPES, ContactSettings, FitSettings
from tests.finished import finished
from tests.scene.jobs.shares.random_animations import END, build
from tests.tiers import is_full

pytestmark = pytest.mark.usefixtures("empty_file")


def text_of(result) -> str:
    document = result.document()
    return dumps(document) + result.contacts_table(document)


def whole(settings: ContactSettings) -> str:
    return text_of(finished(find_contacts(bpy.context.scene, settings)))


def share_of(settings: ContactSettings, number: int, count: int) -> ScanShare:
    """Scan one share by a job of its own."""
    shares: list[ScanShare] = []
    job = scan_frame_share(bpy.context.scene, settings, (number, count), shares.append)
    assert finished(job) is None
    return shares[0]


def joined(settings: ContactSettings, count: int) -> tuple[str, list[ScanShare]]:
    """Scan shares, each by a job of its own, store them as text, and join them."""
    # The last share first, because no share may depend on another one.
    texts = [share_as_text(share_of(settings, k, count)) for k in reversed(range(count))]
    shares = [share_from_text(text) for text in reversed(texts)]
    return text_of(finished(find_contacts(bpy.context.scene, settings, shares=shares))), shares


def joined_by_last(settings: ContactSettings, shares: list[ScanShare], last: int) -> str:
    """Scan one of the shares again, by the job that joins all shares when it has scanned its own."""

    def exchange(share: ScanShare) -> list[ScanShare]:
        assert share_as_text(share) == share_as_text(shares[last])
        return shares

    job = scan_frame_share(bpy.context.scene, settings, (last, len(shares)), exchange)
    return text_of(finished(job))


def random_settings(rng: random.Random) -> ContactSettings:
    shape = rng.choice(SCANNED_SHAPES)
    axes = "smallest" if shape == "obb" and rng.random() < 0.5 else "checked"
    return ContactSettings(
        shape=shape,
        fit=FitSettings(axes=axes, padding=rng.choice([0.0, 0.1])),
        motion=rng.choice(["adaptive", "linear"]),
        clearance=rng.choice([0.0, 0.0, 0.3]),
        # Meshes take longest.
        group_a=("Still0",) if shape == "mesh" else (),
        static_pairs=rng.random() < 0.3,
        frames=rng.choice([None, None, (3, END - 5, 0.5), (1, END, 1.7)]),
    )


def assert_equal(settings: ContactSettings, count: int) -> None:
    expected = whole(settings)
    found, shares = joined(settings, count)
    assert not any(share.refusal for share in shares)
    assert found == expected, settings
    assert joined_by_last(settings, shares, random.Random(count).randrange(count)) == expected, settings


# All shapes, kinds of motion and options. Some of the other seeds take a minute each.
SEEDS = range(60) if is_full() else (1, 2, 3, 5, 16, 18, 19, 28, 36, 95)


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_joined_shares_are_the_scan_of_all_frames(seed, monkeypatch):
    rng = build(seed, with_obstacle=seed % 5 == 0)
    monkeypatch.setattr(scan, "SECTION_INTERVALS", rng.randint(2, 14))
    settings = random_settings(rng)
    if seed % 5 == 0:
        settings = ContactSettings(
            **{**vars(settings), "shape": rng.choice(["sphere", "spheres"]), "obstacles": ("Wall",)}
        )
    assert_equal(settings, rng.randint(1, 5))
