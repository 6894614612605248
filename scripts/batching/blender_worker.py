"""Script that runs inside of a kept Blender, and runs the commands that `blender_process` sends.

It starts in Blender or in a Python with bpy, connects to the port in its variables, and ends with its parent.
Requests and answers are JSON: no code comes over the connection.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
PORT, KEY = "COLLISION_BOUNDS_PORT", "COLLISION_BOUNDS_KEY"
"""Variables of the environment: the port on this machine, and the key of the connection."""
THREADS = "COLLISION_BOUNDS_THREADS"
"""Variable with the number of threads of Blender; without it, Blender has one for each core."""
TEMPORARY = "TEMP" if sys.platform == "win32" else "TMPDIR"
"""Variable with the folder for temporary files, which the parent creates and removes."""


def run_command(arguments: list[str]) -> dict[str, Any]:
    """Run one command in the state of a Blender that has just started."""
    import bpy

    from addon.cli.main import main

    bpy.ops.wm.read_homefile(use_factory_startup=True)
    messages = io.StringIO()
    with contextlib.redirect_stderr(messages):
        exit_code = main(arguments, opens_file=True, out=io.StringIO())
    linked = sorted(set(_linked_files(Path(arguments[1]))))
    return {"exitCode": exit_code, "messages": messages.getvalue(), "linkedFiles": linked}


def _linked_files(scene: Path) -> Iterator[str]:
    """Yield the files that a scene file refers to: libraries, caches, images, buffers, layers."""
    import bpy

    if scene.suffix == ".blend":
        yield from bpy.utils.blend_paths(absolute=True, packed=False, local=False)
    elif scene.suffix == ".gltf":
        with contextlib.suppress(ValueError, OSError, AttributeError):
            content = json.loads(scene.read_bytes())
            names = [entry.get("uri", "data:") for entry in content.get("buffers", ())]
            yield from (str(scene.parent / unquote(name)) for name in names if not name.startswith("data:"))
    elif scene.suffix in (".usd", ".usda", ".usdc"):
        with contextlib.suppress(Exception):  # a file that cannot be read refers to nothing
            from pxr import Usd

            layers = Usd.Stage.Open(str(scene)).GetUsedLayers()
            yield from (layer.realPath for layer in layers if layer.realPath)


def serve(port: int, key: bytes) -> None:
    """Answer requests until the connection ends."""
    with Client(("127.0.0.1", port), authkey=key) as connection:
        with limited_threads():
            import bpy

        connection.send_bytes(json.dumps({"blender": bpy.app.version_string.split()[0]}).encode())
        while True:
            try:
                request = json.loads(connection.recv_bytes())
            except (EOFError, ConnectionError):
                return
            connection.send_bytes(json.dumps(run_command(request["arguments"])).encode())


@contextlib.contextmanager
def limited_threads() -> Iterator[None]:
    """Limit the threads of pip's bpy, which has no option for them, while it is imported.

    It starts as many threads as there are cores that the process may use. Several Blenders would start more
    threads than there are cores, and these would wait for each other in each frame.
    """
    count = int(os.environ.get(THREADS, "0"))
    if not count or "bpy" in sys.modules or not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:count])
    try:
        yield
    finally:
        for thread in os.listdir("/proc/self/task"):  # noqa: PTH208
            with contextlib.suppress(OSError):  # a thread that has ended
                os.sched_setaffinity(int(thread), cores)


def end_with_parent(parent: int) -> None:
    """End this process when its parent has ended, whatever Blender does at that time."""
    while os.getppid() == parent:
        time.sleep(0.5)
    shutil.rmtree(os.environ[TEMPORARY], ignore_errors=True)
    os._exit(1)


def main() -> None:
    """Connect to the parent and serve it."""
    sys.path.insert(0, str(ROOT))
    threading.Thread(target=end_with_parent, args=(os.getppid(),), daemon=True).start()
    try:
        serve(int(os.environ[PORT]), bytes.fromhex(os.environ[KEY]))
    finally:
        shutil.rmtree(os.environ[TEMPORARY], ignore_errors=True)
        # Skip Blender's clean-up, which can wait forever for one of its threads.
        os._exit(0)


if __name__ == "__main__":
    main()
