"""Run the command line of Collision Bounds from a checkout, without installing the extension.

    python scripts/collision_bounds.py COMMAND SCENE [options]                pip's bpy
    blender -b --python-exit-code 3 --python scripts/collision_bounds.py -- COMMAND SCENE [options]
                                                                              any Blender, 4.2 or later

Blender can also open the scene itself (`blender -b SCENE --python-exit-code ...`). If it cannot, it exits
with 1 and does not run this script.

`--help` after a command lists its options.
"""

# Any Python can parse this file, even Python 2, so that it can say that it is too old.

import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
BAD_INPUT, INTERNAL_ERROR, STOPPED = 2, 3, 130


def inside_blender():  # type: () -> bool
    """Return True if the Blender application runs this script, False in a Python with bpy as a module."""
    bpy = sys.modules.get("bpy")
    return bpy is not None and bool(bpy.app.binary_path)


def main():  # type: () -> int
    """Run the command line of the checkout, as the last act of this process, and return the exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036
        version = "{}.{}".format(*sys.version_info)
        _report("needs Python 3.11 or Blender 4.2, or later, and this is Python " + version)
        return BAD_INPUT
    sys.path.insert(0, TOP)
    from addon.cli.process import prepare_process

    prepare_process()
    try:
        from addon.cli.main import run_process
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        _report("this Python has no NumPy: run " + sys.executable + " -m pip install numpy")
        return BAD_INPUT
    if inside_blender():
        end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
        arguments = sys.argv[end + 1 :]
        opens_file = not _is_scene_of_blender(sys.argv[1:end])
    else:
        arguments, opens_file = sys.argv[1:], True
    return run_process(arguments, opens_file=opens_file)


def _is_scene_of_blender(words):  # type: (list[str]) -> bool
    """Return True if Blender has opened a scene, or its arguments name one: the command names none then."""
    if sys.modules["bpy"].data.filepath:
        return True
    return any(os.path.splitext(word)[1].lower().startswith(".blend") for word in words)  # noqa: PTH122


def _report(message):  # type: (str) -> None
    try:  # noqa: SIM105
        os.write(2, ("collision_bounds: " + message + "\n").encode())
    except OSError:  # there is no standard error
        pass


def _exit_process(exit_code):  # type: (int) -> None
    if inside_blender():
        sys.exit(exit_code)
    # Skip Blender's clean-up: as a module it can wait forever for one of its threads (seen in 4.5). All
    # output is written at this point.
    process = sys.modules.get("addon.cli.process")
    if process:
        process.remove_session_folder()
    os._exit(exit_code)


if __name__ == "__main__":
    try:
        exit_code = main()
    except KeyboardInterrupt:  # before signals are handled
        _report("stopped by Ctrl-C")
        exit_code = STOPPED
    except BaseException:
        import traceback

        # Without this, the exit code would be 1 in Python, which means contacts, and 0 in Blender.
        _report(traceback.format_exc())
        exit_code = INTERNAL_ERROR
    _exit_process(exit_code)
