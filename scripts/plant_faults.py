#!/usr/bin/env python3
"""Plant one-line faults in a copy of the checkout, one at a time. Print the tier that finds each fault.

    build/environments/blender-5.2/bin/python scripts/plant_faults.py [NUMBER ...]

Runs all tests that need no window, first those of the package with the fault, with the Python that runs this
file. The exit code is 1 if no tier finds a fault.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "planted"
FOLDERS = ("core", "formats", "scene", "cli", "ui", "package", "javascript")
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

# File in addon/, text to replace, its replacement, description of the fault.
FAULTS = (
    (
        "core/sweep/closed_forms.py",
        "dot(p, v) - r * s, dot(p, p)",
        "dot(p, v) + r * s, dot(p, p)",
        "wrong sign: growing radii",
    ),
    (
        "core/distance/separating_axis.py",
        "faces[3:] = np.abs(",
        "faces[3:] = -np.abs(",
        "wrong sign: axes of the second box",
    ),
    (
        "core/broad_phase/grid.py",
        "last - first + 1",
        "last - first + [[1], [0]]",
        "broad phase: last column missing",
    ),
    (
        "core/motion/steps.py",
        "start, ending = self.start.aabb(), self.ending.aabb()",
        "start = ending = self.ending.aabb()",
        "interval bound: end only",
    ),
    (
        "core/envelope/halving.py",
        "if refinable.any() else times[:0]",
        "if False else times[:0]",
        "envelope: no sub-frame samples",
    ),
    (
        "core/scan/rounds.py",
        "np.minimum(enter_error, 1.0)",
        "np.zeros_like(enter_error)",
        "contact time: uncertainty of zero",
    ),
    ("formats/spaces.py", "_grown(lengths, moved)", "_grown(lengths, 0 * moved)", "missing margin"),
    ("formats/spaces.py", "(q[..., 1:]) * mirror", "(q[..., 1:])", "left-handed spaces: inverse rotation"),
    ("formats/atomic_write.py", "temporary.unlink()", "pass", "temporary file not deleted"),
    (
        "formats/validation/validate.py",
        'yield f"{path}.frames: must increase"',
        "pass",
        "swallowed error: validation",
    ),
    (
        "formats/export/gltf_collider_nodes.py",
        "to_lists(2 * float32_at_least(sides / 2))",
        "to_lists(float32_at_least(sides / 2))",
        "half size",
    ),
    ("scene/blender/mesh_data.py", 'if modifiers == "base":', "if True:", "modifiers not applied"),
    ("scene/blender/frames.py", "subframe=frame - whole", "subframe=0.0", "no sub-frames"),
    ("scene/blender/frames.py", "and playhead(candidate) != frame", "and False", "playhead not restored"),
    (
        "scene/subjects/selection.py",
        "if parent is not None:",
        "if False:",
        "pairs of parent and child not ignored",
    ),
    (
        "scene/jobs/bounds_table.py",
        "skipped.append(Skipped(subjects[index].name, reason))",
        "pass",
        "skipped object not reported",
    ),
    ("registration.py", "stack.callback(listeners.remove, listener)", "pass", "handler not removed"),
    (
        "scene/live/contact_state.py",
        "and np.array_equal(self.matrices, other.matrices)",
        "",
        "edit not detected",
    ),
    ("ui/operators/command.py", "self.report({level}, ", "len(", "swallowed error: operator"),
    ("cli/main.py", "CONTACTS_FOUND if options", "DONE if options", "wrong exit code"),
)


def plant(file: str, old: str, new: str) -> None:
    """Copy the checkout and replace `old` by `new` in a file. Raises ValueError if the file lacks `old`."""
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
        raise ValueError(f"{file} does not contain {old!r}: choose another fault")
    path.write_text(text.replace(old, new), "utf-8")


def first_failure(package: str, tier: str) -> str:
    """Return the first failing test of a tier, or an empty string."""
    folders = [f"tests/{folder}" for folder in sorted(FOLDERS, key=lambda folder: folder != package)]
    command = [sys.executable, "-m", "pytest", *folders, "--tier", tier, "-x", "-q", "--durations=0"]
    ended = subprocess.run(command, cwd=COPY, capture_output=True, text=True, check=False)
    failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if ended.returncode and not failed:
        raise RuntimeError(ended.stdout[-2000:] + ended.stderr[-2000:])
    return failed[0].partition(" - ")[0] if failed else ""


def main(numbers: list[int]) -> int:
    """Plant the faults with these numbers, counted from 1, or all faults; return the exit code."""
    counts = dict.fromkeys(("quick", "push", "no tier"), 0)
    for number in numbers or range(1, len(FAULTS) + 1):
        file, old, new, name = FAULTS[number - 1]
        plant(file, old, new)
        started = time.monotonic()
        for tier in counts:
            failure = "" if tier == "no tier" else first_failure(file.split("/")[0], tier)
            if failure or tier == "no tier":
                break
        counts[tier] += 1
        print(
            f"{number:2}  {tier:7}  {time.monotonic() - started:4.0f} s  {file}: {name}  {failure}",
            flush=True,
        )
    print(", ".join(f"{tier}: {count}" for tier, count in counts.items()))
    return 1 if counts["no tier"] else 0


if __name__ == "__main__":
    sys.exit(main([int(word) for word in sys.argv[1:]]))
