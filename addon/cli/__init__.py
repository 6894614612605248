"""Command line: bounds, contacts and validation without a window.

Modules in reading order:

- `main`: the entry point; turns errors into messages and exit codes.
- `parser`: the options of each command.
- `output_options`: which file is written, in which format and space.
- `values`: converts the values of options from text.
- `commands`: one function for each command.
- `interrupts`: runs a job and stops it on Ctrl-C.
- `progress_line`: progress indicator for a terminal.

May import `core`, `formats` and `scene`. `bpy` and what needs it are imported by a command that opens a
scene: help, usage errors and `validate` run without Blender.

The first Ctrl-C is recorded, and ends the job between two of its parts. During a frame
change, an exception could be raised in the script of a driver or of another add-on, and be lost there.

Options must be written out: an abbreviation in a script would break, or change its meaning, with the next
option that is added. Documented names, messages and exit codes are a contract: docs/command-line.md.
"""
