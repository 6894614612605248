"""Files of a release: the repository of the extension, the example scene, the JSON Schema and the loaders.

- `make`: the program that writes all files, called by `dev.py release`
- `blend_file`: removes from a .blend file the bytes that differ between two runs
- `page.html`: the page of the repository, with the table of Blender's `extension server-generate`
"""
