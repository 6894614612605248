"""A program with the options of Blender that the documentation uses, for a Python with bpy.

The installed extension runs the commands, as in the application. The window tests run them in the application
itself. Options that this program does not have are an error.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from pathlib import Path

import bpy

NAME = "bl_ext.user_default.collision_bounds"


def run_command(name: str, arguments: list[str]) -> int:
    if name == "extension" and arguments[:4] == ["install-file", "-r", "user_default", "-e"]:
        (archive,) = arguments[4:]
        bpy.ops.extensions.package_install_files(
            filepath=str(Path(archive).resolve()), repo="user_default", enable_on_install=True, overwrite=True
        )
        return 0
    assert name == "collision_bounds", f"unknown command {name}"
    return sys.modules[NAME].registration._run_command(arguments)


def run_script(path: str, exit_code: int) -> int:
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else exit_code
    except BaseException:
        traceback.print_exc()
        return exit_code
    return 0


def main() -> int:
    import addon_utils  # the module bpy adds it

    words, exit_code = sys.argv[1:], 0
    if Path(bpy.utils.user_resource("EXTENSIONS"), "user_default", "collision_bounds").is_dir():
        addon_utils.enable(NAME, default_set=True)
    while words:
        word = words.pop(0)
        if word == "--command":
            return run_command(words[0], words[1:])
        if word == "--python-exit-code":
            exit_code = int(words.pop(0))
        elif word == "--python":
            path = words.pop(0)
            # A script has the arguments of the whole command line, and finds its own after "--".
            return run_script(path, exit_code)
        elif word.endswith(".blend"):
            bpy.ops.wm.open_mainfile(filepath=str(Path(word).resolve()))
        else:
            assert word == "-b", f"unknown option {word}"
    return 0


if __name__ == "__main__":
    code = 1
    try:
        code = main()
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    # As a module, Blender can wait forever when it exits.
    os._exit(code)
