"""Runs the command for one file, on this machine or on a worker of a cluster."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from addon.cli import PROGRAM

from .blender_process import BlenderEndedError, BlenderProcess
from .findings import NEW, Findings, findings_of

DONE, CONTACTS, FAILED = "done", "contacts", "failed"
"""States of a file: without contacts, with contacts (with --fail-on-new: new ones), without a result."""
SHARED = "shared"
"""State of a file that is not scanned yet, because its frames can be shared; and of a share that is done.

The share that is done last joins all shares: its state is that of the file.
"""

_ATTEMPTS = 2
_CONTACTS_FOUND = 10
"""Exit code of the command for contacts that count."""
_CAN_BE_SHARED = 11
"""Exit code of the command for a scan that shares can do."""


@dataclass(frozen=True)
class Task:
    """A file, and what to do with it.

    Attributes
    ----------
    name : str
        Name of the file in the run.
    file : str
        Path of the scene file.
    output : str
        Path of the result.
    settings : tuple of str
        The command and its options.
    version : str
        Version of the program, as `program_version` returns it.
    baseline : str or None
        Path of the result of an earlier run, which may not exist; None without --baseline.
    blender : str
        Blender, or a Python with bpy.
    time_limit, memory_limit : float
        Limits of a file, in seconds and megabytes.
    files_per_blender : int
        Number of files after which Blender is started again.
    known : Outcome or None
        Outcome of an earlier run.
    split : int
        Number of shares of the frames of a long animation; 1 to scan all at once.
    share : tuple of int or None
        Number of the share to scan, from 1, and number of shares; None for all frames.
    joined : int
        Number of shares to join; 0 to scan.
    threads : int
        Threads in which Blender evaluates a scene; 0 for one on each core.
    """

    name: str
    file: str
    output: str
    settings: tuple[str, ...]
    version: str
    baseline: str | None
    blender: str
    time_limit: float
    memory_limit: float
    files_per_blender: int
    known: Outcome | None = None
    split: int = 1
    share: tuple[int, int] | None = None
    joined: int = 0
    threads: int = 0

    @property
    def lacks_baseline(self) -> bool:
        """True if an earlier result is requested, but does not exist: all contacts are new."""
        return self.baseline is not None and not Path(self.baseline).is_file()

    @property
    def result(self) -> str:
        """Path of the file that is written. The share that is done last also writes `output`."""
        return self.output if self.share is None else share_path(self.output, *self.share)


@dataclass(frozen=True)
class Outcome:
    """Result of a file, or the reason why it has none.

    Attributes
    ----------
    name : str
        Name of the file in the run.
    state : str
        "done", "contacts" or "failed".
    reason : str
        Why it failed; else the warnings of the command, which can be empty.
    attempts : int
        Number of times that the file was run.
    seconds : float
        Time of the last attempt.
    counts : dict of str to int
        Numbers of objects, contacts and so on in the result; empty if it is no document.
    inputs : dict of str to str
        Hash of each file that was read: the scene first.
    key : str
        Hash of the settings, the version and the baseline.
    output_hash : str
        Hash of the result; empty without one.
    is_reused : bool
        Whether the outcome is that of an earlier run.
    lacks_baseline : bool
        Whether an earlier result was requested that does not exist.
    examples : list of str
        The first contacts, or the first new ones if they were compared: names of the objects, and frames.
    """

    name: str
    state: str
    reason: str
    attempts: int
    seconds: float
    counts: dict[str, int]
    inputs: dict[str, str]
    key: str
    output_hash: str
    is_reused: bool = False
    lacks_baseline: bool = False
    examples: list[str] = field(default_factory=list)


_local = threading.local()
"""The Blender of each thread."""
_all: dict[int, BlenderProcess] = {}
"""The Blenders of this process, by thread."""
_stopped = threading.Event()
"""Set when this process has to end."""


def run_file(task: Task) -> Outcome:
    """Run the command for a file, unless an earlier outcome still holds.

    A file that makes Blender crash, or that exceeds a limit, is tried a second time in a new Blender. The old
    result of a file that fails is removed, so that nobody takes it for a new one.
    """
    key = _key(task)
    if task.known is not None and _holds(task.known, task, key):
        return replace(task.known, is_reused=True)
    start = time.monotonic()
    scene_hash = hash_of_file(task.file)
    answer: dict[str, Any] = {}
    attempt, reason = 0, ""
    while not answer and attempt < _ATTEMPTS:
        attempt, start = attempt + 1, time.monotonic()
        try:
            answer = _run_in_blender(task)
        except BlenderEndedError as error:
            reason = str(error)
    code = answer.get("exitCode")
    if answer:
        reason = _summary(answer["messages"])
    inputs = {task.file: scene_hash, **hashes_of_files(answer.get("linkedFiles", ()))}
    output, share, found, output_hash = Path(task.output), Path(task.result), Findings(), ""
    if code == _CAN_BE_SHARED:
        state = SHARED
        if task.share is not None and share.is_file():
            output_hash = hash_of_file(task.result)
    elif code in (0, _CONTACTS_FOUND) and output.is_file():
        content = output.read_bytes()
        output_hash, found = _hash(content), findings_of(task.output, content, task.lacks_baseline)
        state = CONTACTS if code and _counts_as_new(task, found) else DONE
        key = _key(replace(task, share=None))
    else:
        share.unlink(missing_ok=True)
        state = FAILED
    return Outcome(
        name=task.name,
        state=state,
        reason=reason,
        attempts=attempt,
        seconds=time.monotonic() - start,
        counts=found.counts,
        inputs=inputs,
        key=key,
        output_hash=output_hash,
        lacks_baseline=task.lacks_baseline,
        examples=found.examples,
    )


def _counts_as_new(task: Task, found: Findings) -> bool:
    """Return whether contacts count, of which the command has found some.

    Without an earlier result, the command does not compare them, and counts those that the file accepts.
    """
    return not (task.lacks_baseline and "--fail-on-new" in task.settings) or found.counts.get(NEW) != 0


def share_path(output: str, number: int, count: int) -> str:
    """Return the path of a share of a result."""
    return f"{output}.{number}-of-{count}"


def start_blender(task: Task) -> None:
    """Start the Blender of this thread."""
    with contextlib.suppress(BlenderEndedError):  # the first task has the reason
        _blender(task)


def program_version(task: Task) -> str:
    """Return the version of Blender on the machine that runs this, and a hash of the program's code."""
    digest = hashlib.sha256()
    root = Path(__file__).resolve().parents[2]
    for path in sorted((root / "addon").rglob("*.py")):
        digest.update(path.read_bytes())
    return f"Blender {_blender(task).version}, code {digest.hexdigest()[:16]}"


def kill_blenders() -> None:
    """Kill all Blenders of this process, which starts no others; the threads that wait for them go on."""
    _stopped.set()
    for blender in list(_all.values()):
        blender.kill()


def end_blenders() -> None:
    """End all Blenders of this process, whose threads have ended."""
    kill_blenders()
    for blender in _all.values():
        blender.end()
    _all.clear()


def hash_of_file(path: str) -> str:
    """Return the SHA-256 of a file's content; "missing" for a file that cannot be read."""
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return "missing"


def hashes_of_files(paths: Iterable[str]) -> dict[str, str]:
    """Return the hash of each file."""
    return {path: hash_of_file(path) for path in paths}


def _holds(known: Outcome, task: Task, key: str) -> bool:
    """Return whether a file, what it refers to, the settings and the result are those of an earlier run."""
    if known.state == FAILED or known.key != key or next(iter(known.inputs)) != task.file:
        return False
    if known.output_hash and hash_of_file(task.result) != known.output_hash:
        return False
    return hashes_of_files(known.inputs) == known.inputs


def _key(task: Task) -> str:
    baseline = hash_of_file(task.baseline) if task.baseline else ""
    share = [] if task.share is None else [task.share]
    return _hash(json.dumps([*task.settings, task.version, baseline, *share]).encode())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _run_in_blender(task: Task) -> dict[str, Any]:
    blender = _blender(task)
    command, *options = task.settings
    arguments = [command, task.file, "-o", task.output, "--quiet", *options]
    if command == "contacts":
        arguments += ["--contact-exit-code", str(_CONTACTS_FOUND)]
        if task.baseline and not task.lacks_baseline:
            arguments += ["--baseline", task.baseline]
        elif "--fail-on-new" in arguments:
            arguments.remove("--fail-on-new")  # all contacts are new
    if task.share is not None:
        arguments += ["--frame-share", "{}/{}".format(*task.share), "--join-shares", str(task.share[1])]
        arguments += ["--share-exit-code", str(_CAN_BE_SHARED)]
    elif task.joined:
        arguments += ["--join-shares", str(task.joined)]
    elif task.split > 1:
        arguments += ["--share-exit-code", str(_CAN_BE_SHARED)]
    Path(task.output).parent.mkdir(parents=True, exist_ok=True)
    answer = blender.run(arguments, task.time_limit, task.memory_limit)
    if blender.files_done >= task.files_per_blender or blender.megabytes > task.memory_limit / 2:
        blender.end()
        del _local.blender
    return answer


def _blender(task: Task) -> BlenderProcess:
    """Return the Blender of this thread, started if it has ended."""
    found: BlenderProcess | None = getattr(_local, "blender", None)
    if _stopped.is_set():
        raise BlenderEndedError("stopped")
    if found is None or not found.is_running or found.program != task.blender:
        found = BlenderProcess(task.blender, task.threads)
        _local.blender = _all[threading.get_ident()] = found
    return found


def _summary(messages: str) -> str:
    """Return the messages of the program; without any, the last line, which is that of a traceback."""
    lines = messages.strip().splitlines()
    prefix = f"{PROGRAM}: "
    named = [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]
    return "; ".join(named or lines[-1:])[:1000]
