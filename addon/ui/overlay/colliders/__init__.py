"""Surfaces of collider objects: drawn translucent over the wires that Blender draws of them.

- `surfaces.py`: triangles with shading, NumPy only.
- `painter.py`: reads colliders, and draws them into 3D views.

Blender draws objects translucent only with a material, which exporters would write into files, or while the
view colors objects by their own color, which is a setting of the user's view. So they are drawn here: nothing
in the file changes.
"""
