"""Command line: bounds, contacts, colliders and validation without a window.

Modules in reading order:

- `process`: runs a command as the last act of its process; every entry point calls it.
- `standard_streams`: standard output and standard error, which may be full, closed or broken.
- `stop_signals`: Ctrl-C and SIGTERM.
- `session_folder`: removes Blender's temporary files.
- `main`: runs a command; turns errors into messages and exit codes.
- `errors`: error of wrong arguments.
- `parser`: the options of each command: those of its settings, and those of files and exit codes.
- `output_options`: which file is written, in which format and space, and whether it can store the request.
- `commands`: one function for each command.
- `input_checks`: inputs that Blender did not read or run: scripts, libraries and files.
- `job_runner`: runs a job and stops it on Ctrl-C.
- `result_writer`: writes the file and the table.
- `progress_line`: progress indicator for a terminal.

May import `core`, `formats` and `scene`. `bpy` and what needs it are imported by a command that opens a
scene: help, usage errors and `validate` run without Blender.

Signals end the process at once. Only the first signal of a scan is recorded, and ends the scan between two
of its parts. Neither raises an exception: it could be raised in a script of Blender, of a driver or of
another add-on, and be lost there.

Options must be written out: an abbreviation in a script would break, or change its meaning, with the next
option that is added. Documented names, messages and exit codes are a contract: docs/command-line.md.
"""

PROGRAM = "collision_bounds"

DONE, CONTACTS_FOUND, BAD_INPUT, INTERNAL_ERROR, STOPPED = 0, 1, 2, 3, 130
"""Exit codes."""
PROBLEMS_FOUND = 1
"""Exit code of a check that has found problems."""
