"""Command line: bounds, contacts, colliders and validation without a window.

Modules in reading order:

- `process`: standard streams, which may be full, closed or broken; signals; Blender's temporary files. Runs a
  job, and stops it on Ctrl-C, with its progress in a line of a terminal; writes the file and the table.
- `parser`: the options of each command: those of its settings, and those of files and exit codes; the format
  and space of its output.
- `main`: runs a command as the last act of its process; turns errors into messages and exit codes. Each
  command has a function, which prints warnings too.

May import `core`, `formats` and `scene`. `bpy` and what needs it are imported by a command that opens a
scene: help, usage errors and `validate` run without Blender.

Signals end the process at once. Only the first signal of a scan is recorded, and ends the scan between two
of its parts. Neither raises an exception: it could be raised in a script of Blender, of a driver or of
another add-on, and be lost there. Documented names, messages and exit codes are a contract:
docs/command-line.md.
"""

PROGRAM = "collision_bounds"

DONE, CONTACTS_FOUND, BAD_INPUT, INTERNAL_ERROR, STOPPED = 0, 1, 2, 3, 130
"""Exit codes."""
PROBLEMS_FOUND = 1
"""Exit code of a check that has found problems."""
