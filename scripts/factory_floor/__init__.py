"""The example scene: seven stations on a factory floor, each with a different kind of contact or near miss.

Orange parts move, blue parts do not. If the motion of a station has a closed form, its module has a function
that computes the result.

Modules in reading order:

- `common`: the frame range, and the distance between parts and floor.
- `meshes`: boxes, prisms and balls; mesh objects and materials.
- `keyframes`: keyframes and their interpolation.
- `projectile`, `paddles`, `arm`, `crate`, `fence`, `struts`, `drone`: the stations.
- `surroundings`: the floor, the light and the camera.
- `factory`: build the scene and bake the physics.

Lengths are in meters, angles in degrees, times in frames (24 per second). Z is up. AABB stands for the
axis-aligned box around an object's evaluated vertices in world space.

Most numbers are small sums of powers of two. Blender's meshes, keyframes and matrices are float32, which
represents these numbers exactly, so the closed forms hold without rounding error.
"""
