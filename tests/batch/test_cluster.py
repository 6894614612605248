"""A Dask scheduler with two workers gives the bytes of a local run, also if a worker is killed."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.batch.conftest import SCRIPT, documents

pytestmark = pytest.mark.long

DASK = Path(sys.executable).with_name("dask")


class Cluster:
    """A scheduler on this machine, and its workers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        contact = folder / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", contact
        )
        end = time.monotonic() + 60
        while not contact.exists() and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(0.2)  # until the file is written completely
        self.address: str = json.loads(contact.read_text())["address"]

    def add_worker(self) -> None:
        number = len(self.workers)
        folder = self.folder / f"worker{number}"
        folder.mkdir()
        worker = self._start(
            "worker", self.address, "--nthreads", "1", "--local-directory", folder, "--no-nanny"
        )
        self.workers.append(worker)

    def _start(self, role: str, *words: str | Path) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{role}{len(self.workers)}.log").open("wb")
        # In another folder than the checkout, as on another machine.
        command = [str(DASK), role, *map(str, words), "--no-dashboard"]
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    with contextlib.ExitStack() as stack:
        running = Cluster(folder)
        stack.callback(running.end)
        running.add_worker()
        running.add_worker()
        yield running


def test_cluster_gives_bytes_of_local_run(scenes, tmp_path, batch, cluster):
    local, remote = tmp_path / "local", tmp_path / "remote"
    assert batch("contacts", scenes, "-o", local).returncode == 0
    ran = batch("contacts", scenes, "-o", remote, "--dask", cluster.address)
    assert ran.returncode == 0, ran.stderr
    assert documents(remote) == documents(local)


def test_killed_worker_loses_nothing(scenes, tmp_path, batch, cluster):
    local, remote = tmp_path / "local", tmp_path / "remote"
    assert batch("contacts", scenes, "-o", local).returncode == 0
    command = [
        sys.executable,
        str(SCRIPT),
        "contacts",
        str(scenes),
        "-o",
        str(remote),
        "--dask",
        cluster.address,
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    process.stderr.readline()  # the first file is done
    # A worker whose Blender runs: between two files it has none.
    workers, blenders = itertools.cycle(psutil.Process(worker.pid) for worker in cluster.workers), []
    while not blenders and process.poll() is None:
        victim = next(workers)
        blenders = victim.children(recursive=True)
    victim.kill()
    errors = process.communicate(timeout=300)[1]
    assert process.returncode == 0, errors
    assert documents(remote) == documents(local)
    gone, alive = psutil.wait_procs(blenders, timeout=10)
    assert gone and not alive, "the Blender of the killed worker still runs"


def test_shares_of_one_animation_on_a_cluster_give_the_bytes_of_one_process(scenes, tmp_path, batch, cluster):
    local, remote = tmp_path / "local", tmp_path / "remote"
    scene, frames = scenes / "show1/shot001.blend", ("--frames", "1:12:0.01")
    assert batch("contacts", scene, "-o", local, *frames).returncode == 0
    words = ("contacts", scene, "-o", remote, *frames, "--split", "3", "--dask", cluster.address)
    ran = batch(*words)
    assert ran.returncode == 0, ran.stderr
    assert documents(remote) == documents(local)


def test_missing_scheduler_and_missing_workers_are_one_sentence(scenes, tmp_path, batch, cluster):
    for worker in cluster.workers:
        worker.kill()
        worker.wait()
    end = time.monotonic() + 30
    ran = batch("bounds", scenes, "-o", tmp_path / "out", "--dask", cluster.address)
    while "has no workers" not in ran.stderr and time.monotonic() < end:
        ran = batch("bounds", scenes, "-o", tmp_path / "out", "--dask", cluster.address)
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1].endswith(f"start one: dask worker {cluster.address}")
    cluster.scheduler.kill()
    cluster.scheduler.wait()
    ran = batch("bounds", scenes, "-o", tmp_path / "out", "--dask", cluster.address)
    assert ran.returncode == 2
    assert f"--dask {cluster.address}: no scheduler answers" in ran.stderr.splitlines()[-1]
