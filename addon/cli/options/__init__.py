"""Options of the commands: from words to checked values.

- `values`: converts the values of options from text.
- `output_options`: which file is written, in which format and space.
- `combinations`: options that depend on each other.
- `parser`: the options of each command.
"""
