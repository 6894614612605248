"""Scans of motion that is known between samples: bumps and jumps within a frame, against exact pieces."""

import numpy as np
import pytest

from addon.core import ScanSettings, scan_contacts
from tests.core.scan.known.paths import random_polylines
from tests.finished import finished


def report_of(motion, frames, **settings):
    return finished(scan_contacts(motion, np.arange(frames), ScanSettings(static_pairs=True, **settings)))


@pytest.mark.parametrize("seed", range(6))
def test_no_contact_is_missed_invented_or_late(seed):
    frames, count = 8, 11
    motion = random_polylines(np.random.default_rng(seed), count, frames - 1, 2.5)
    found = {(contact.a, contact.b): contact.first for contact in report_of(motion, frames).contacts}
    compared = 0
    for a in range(count):
        for b in range(a + 1, count):
            expected = motion.first_contact(a, b, 0, frames - 1)
            assert ((a, b) in found) == (not np.isnan(expected)), (a, b, expected)
            if (a, b) in found:
                first = found[a, b]
                assert first.uncertainty <= 1e-3
                assert abs(first.frame - expected) <= first.uncertainty + 1e-9, (a, b, first, expected)
                compared += 1
    assert compared > 5
