"""Scene files for runs: good ones that differ, and some that fail in different ways."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

_MAKE = """
    import os, sys
    import bpy

    folder, count = sys.argv[1], int(sys.argv[2])

    def save(name, script=""):
        if script:
            text = bpy.data.texts.new("startup.py")
            text.write(script)
            text.use_module = True
        bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, name))
        bpy.ops.wm.read_factory_settings()

    for number in range(count):
        cube = bpy.data.objects["Cube"]
        cube.location.x = -10
        cube.keyframe_insert("location", frame=1)
        cube.location.x = 10 + number
        cube.keyframe_insert("location", frame=12)
        if number % 3:  # every third file has no contact
            bpy.ops.mesh.primitive_cube_add(location=(0, 0.1 * number, 0))
        bpy.context.scene.frame_end = 12
        os.makedirs(os.path.join(folder, f"show{number % 2}"), exist_ok=True)
        save(os.path.join(f"show{number % 2}", f"shot{number:03}.blend"))
    if len(sys.argv) > 3:
        save("crash.blend", "import os, signal\\nos.kill(os.getpid(), signal.SIGSEGV)\\n")
        save("hang.blend", "import time\\nwhile True: time.sleep(1)\\n")
        save("hungry.blend", "import time\\nused = b'x' * (2 << 30)\\ntime.sleep(60)\\n")
        library = os.path.join(os.path.dirname(folder), "library.blend")
        save(library)
        with bpy.data.libraries.load(library, link=True) as (source, linked):
            linked.objects = ["Cube"]
        bpy.context.collection.objects.link(linked.objects[0])
        save("linked.blend")
        os.remove(library)
        for name in ("broken.blend", "broken.glb"):
            with open(os.path.join(folder, name), "wb") as stream:
                stream.write(b"BLENDER-v402" * 10)
    sys.stdout.flush()
    os._exit(0)
"""


def make_scenes(folder: Path, count: int, *, with_failures: bool = False) -> Path:
    """Save scenes in two subfolders, with failing ones if requested, and return the folder."""
    folder.mkdir(parents=True)
    arguments = [str(folder), str(count), *(["failures"] if with_failures else [])]
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_MAKE), *arguments], check=True, capture_output=True
    )
    return folder
