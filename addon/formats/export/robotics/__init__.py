"""Files for robots and simulators: URDF, MJCF, USD Physics, and spheres for cuRobo.

In reading order:

- `link_shapes`: poses of links as readers compute them, and shapes in the frames of links
- `text`: numbers, comments and names of links
- `links`: all links of a document
- `urdf`, `mjcf`, `usd_physics`, `curobo`: one module for each file format

Decisions:

- Each object is a link (a body, a prim) below that of its parent, so the file keeps Blender's hierarchy.
  Links have no joints that move, because Blender's objects have none.
- A link has one shape. Several would be a union, which is larger than each of them.
- Shapes are converted from the document's world shapes, because these enclose the vertices whatever the
  rounding of the object's rotation is. They grow by all rounding errors that a reader in double precision
  makes while it multiplies the transforms of a link and its ancestors.
- All formats have the same names of links, so that the spheres of cuRobo fit the links of a URDF.
- Files are text that is written here. Libraries of these formats are needed by tests alone.
"""
