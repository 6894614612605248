# SPDX-License-Identifier: GPL-3.0-or-later
"""An independent check of the product: it loads files itself, has its own geometry, and shares no code.

The product is called only through its command line, and read only through its JSON document. All computations
are in float64, from Blender's float32 vertices and matrices.

- `files`: the product's commands on a file, the shipped schema, and opening the file in Blender.
- `evaluation`: visible objects and instances as Blender evaluates them.
- `geometry`: minimal spheres, and distances of points to the surfaces of written shapes.
- `motion`: shapes at whole frames, and separations between them.
- `scenes`: scenes with cases that the sample files lack.
"""
