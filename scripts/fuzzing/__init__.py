"""Targets of scripts/fuzz.py: programs and functions that are tried with random and broken input.

To add a target, write a module with a `Target`, and add it to TARGETS. It needs two functions:

- `make(random) -> bytes` makes the input of one case. It must use no other source of random numbers, because
  the seed and the number of a case have to give the same input again.
- `check(content) -> str | None` tries the input. It returns a description of what is wrong, or None. An
  exception that it lets through counts as wrong too, as does a case that takes too long.

Cases run one after another in one process, in the environment of the newest Blender. The fuzzer writes the
input that it found wrong to build/fuzz, and `fuzz.py --target NAME FILE` tries it again. So the input of a
case must have everything that `check` needs. If it is more than one file or text, store it as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping

from .command_line import COMMAND_LINE
from .documents import DOCUMENTS
from .meshes import MESHES
from .target import Target

TARGETS: Mapping[str, Target] = {target.name: target for target in (DOCUMENTS, MESHES, COMMAND_LINE)}
