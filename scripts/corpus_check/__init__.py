"""Check of the program on files of other people, for `scripts/corpus.py`.

- `files`: runs the program and the check on one file, each in a process of its own.
- `scene_check`: the check. It runs in Blender, and shares no code with the extension.
- `shape_excess`: distances of points from the shapes of a document.
"""
