#!/usr/bin/env python3
"""Plant one-line faults in a copy of the checkout, one at a time, and print which tier finds each.

    build/environments/blender-5.2/bin/python scripts/plant_faults.py [NUMBER ...]

Runs the tests without a window, those of the fault's own room first, with the Python that runs this file.
Exits with 1 when a fault is found by no tier.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "planted"
FOLDERS = ("core", "formats", "scene", "ui", "package", "javascript")
PARTS = (
    "addon",
    "docs",
    "scripts",
    "tests",
    "pyproject.toml",
    "blender_manifest.toml",
    "LICENSE",
    "README.md",
)

# The file in addon/, what stands there, what is planted instead, and what is wrong then.
FAULTS = (
    (
        "core/sweep/sphere_sphere.py",
        "dot(p, v) - r * s, dot(",
        "dot(p, v) + r * s, dot(",
        "sign: radii that grow",
    ),
    (
        "core/distance/separating_axis.py",
        "faces[3:] = np.abs(",
        "faces[3:] = -np.abs(",
        "sign: axes of the second box",
    ),
    (
        "core/broad_phase/grid.py",
        "last[1] - first[1] + 1",
        "last[1] - first[1] + 0",
        "broad phase: one column short",
    ),
    (
        "core/scan/interval_block.py",
        "self.boxes[:-1].merged(self.ending_boxes).padded(",
        "self.ending_boxes.padded(",
        "interval bound: end alone",
    ),
    (
        "core/envelope/envelopes.py",
        "if samples and refinable.any():",
        "if False:",
        "envelope: no sample between frames",
    ),
    (
        "core/scan/refinement.py",
        "= np.minimum(enter_error, 1.0)",
        "= 0.0",
        "contact time: claimed to be exact",
    ),
    (
        "formats/rounding.py",
        "where(shift > 0, shift + slack, 0)",
        "where(shift > 0, slack, 0)",
        "missing margin",
    ),
    ("formats/spaces.py", "(q[..., 1:]) * mirror", "(q[..., 1:])", "left-handed spaces: turned backwards"),
    ("formats/atomic_write.py", "temporary.unlink()", "pass", "temporary file left behind"),
    (
        "formats/validation/validate.py",
        'yield f"{path}.frames: must grow"',
        "pass",
        "swallowed error: validation",
    ),
    (
        "formats/export/gltf_collider_nodes.py",
        "to_lists(2 * float32_at_least(sides / 2))",
        "to_lists(float32_at_least(sides / 2))",
        "half size",
    ),
    ("scene/blender/mesh_data.py", 'if modifiers == "base":', "if True:", "missing modifiers"),
    ("scene/blender/timeline.py", "subframe=frame - whole", "subframe=0.0", "no sub-frames"),
    ("scene/blender/timeline.py", "and playhead(candidate) != frame", "and False", "playhead not put back"),
    (
        "scene/subjects/pair_filters.py",
        "if parent is not None:",
        "if False:",
        "parents and children not ignored",
    ),
    (
        "scene/jobs/bounds.py",
        'skipped.append(Skipped(subject.name, "no vertices"))',
        "pass",
        "skipped in silence",
    ),
    (
        "ui/overlay/handlers.py",
        "handlers.frame_change_post.remove(_on_frame)",
        "handlers",
        "handler left behind",
    ),
    ("scene/live/staleness.py", " and self.subjects.is_same(other.subjects)", "", "edit not noticed"),
    ("ui/operators/modal_job.py", 'self.report({"ERROR"}, str(error))', "pass", "swallowed error: operator"),
    ("cli/commands.py", "return CONTACTS_FOUND if", "return DONE if", "wrong exit code"),
)


def plant(file: str, old: str, new: str) -> None:
    """Copy the checkout, with `new` in place of `old`. Raises ValueError where that is not found."""
    shutil.rmtree(COPY, ignore_errors=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, COPY / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, COPY / part)
    (COPY / "build").mkdir()
    (COPY / "build" / "environments").symlink_to(ROOT / "build" / "environments")
    path = COPY / "addon" / file
    text = path.read_text("utf-8")
    if old not in text:
        raise ValueError(f"{file}: there is no {old!r} any more, choose another fault")
    path.write_text(text.replace(old, new), "utf-8")


def first_failure(room: str, tier: str) -> str:
    """Return the first test of a tier that fails, or nothing."""
    folders = [f"tests/{folder}" for folder in sorted(FOLDERS, key=lambda folder: folder != room)]
    command = [sys.executable, "-m", "pytest", *folders, "--tier", tier, "-x", "-q", "--durations=0"]
    ended = subprocess.run(command, cwd=COPY, capture_output=True, text=True, check=False)
    failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if ended.returncode and not failed:
        raise RuntimeError(ended.stdout[-2000:] + ended.stderr[-2000:])
    return failed[0].partition(" - ")[0] if failed else ""


def main(numbers: list[int]) -> int:
    """Plant the faults with these numbers, from 1, or all; return the exit code."""
    found = dict.fromkeys(("quick", "push", "no tier"), 0)
    for number in numbers or range(1, len(FAULTS) + 1):
        file, old, new, name = FAULTS[number - 1]
        plant(file, old, new)
        room = file.split("/")[0] if "/" in file else "scene"  # where the command line is tested
        started = time.monotonic()
        for tier in found:
            failure = "" if tier == "no tier" else first_failure(room, tier)
            if failure or tier == "no tier":
                break
        found[tier] += 1
        print(
            f"{number:2}  {tier:7}  {time.monotonic() - started:4.0f} s  {file}: {name}  {failure}",
            flush=True,
        )
    print(", ".join(f"{tier}: {count}" for tier, count in found.items()))
    return 1 if found["no tier"] else 0


if __name__ == "__main__":
    sys.exit(main([int(word) for word in sys.argv[1:]]))
