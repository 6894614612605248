"""Shaders of the overlay: each draws a unit mesh once for every row of a texture of instances.

All have the uniforms `rows`, that texture, `opacity`, and `lift`, an offset in depth towards the viewer.
"""

from __future__ import annotations

import gpu

BACK = 0.4
"""Opacity of lines on the side of a shape that faces away from the viewer."""
ROWS_ACROSS = 256
"""Instances in one line of the texture, four pixels each: every graphics card supports 1024 pixels."""

_VERTEX = """
vec4 instance_pixel(int k)
{
  return texelFetch(rows, ivec2((gl_InstanceID % ACROSS) * 4 + k, gl_InstanceID / ACROSS), 0);
}

vec4 lifted(vec4 at)
{
  at.z -= lift * at.w;
  return at;
}

vec4 to_clip(mat4 to_world, vec4 local)
{
  return ModelViewProjectionMatrix * (local * to_world);
}

// Blender sets srgbTarget where colors have to be linear.
vec4 instance_color()
{
  vec4 result = instance_pixel(3);
  result.a *= opacity;
  if (srgbTarget) {
    vec3 curve = pow((result.rgb + 0.055) / 1.055, vec3(2.4));
    result.rgb = mix(result.rgb / 12.92, curve, step(vec3(0.04045), result.rgb));
  }
  return result;
}

mat4 instance_matrix()
{
  return mat4(instance_pixel(0), instance_pixel(1), instance_pixel(2), vec4(0.0, 0.0, 0.0, 1.0));
}
""".replace("ACROSS", str(ROWS_ACROSS))

# The viewer is a point, or in an orthographic view a direction, whose w is 0. The axes of a shape are at
# right angles, so components along them need no inverse matrix.
_VIEWER = """
vec3 axis_lengths(mat4 to_world)
{
  vec3 squares = to_world[0].xyz * to_world[0].xyz + to_world[1].xyz * to_world[1].xyz
                 + to_world[2].xyz * to_world[2].xyz;
  return max(sqrt(squares), vec3(1e-30));
}

vec3 center_to_viewer(mat4 to_world)
{
  return viewer.xyz - vec3(to_world[0].w, to_world[1].w, to_world[2].w) * viewer.w;
}
"""
# A ribbon is as wide as the line on the screen, at a right angle to its direction. An end behind the viewer
# is moved to the near plane, because a ribbon that the card clips loses its width. The quotient of the two
# parts of `across` is linear on the screen, also where a ribbon leaves it. `facing` is positive in front: it
# is the cosine of the angle between the direction to the viewer and the nearer of two normals.
_LINE_VERTEX = """
float facing_of(mat4 to_world)
{
  vec3 offset = center_to_viewer(to_world);
  vec3 sizes = axis_lengths(to_world);
  vec3 toward = (to_world * vec4(offset, 0.0)).xyz / sizes;
  vec2 along_normals = vec2(dot(normal, toward), dot(other_normal, toward));
  vec2 surface = vec2(dot(normal * normal, sizes), dot(other_normal * other_normal, sizes));
  vec2 both = along_normals - surface * viewer.w;
  return max(both.x, both.y) / max(length(offset), 1e-30);
}

void main()
{
  mat4 to_world = instance_matrix();
  vec4 at = to_clip(to_world, vec4(point, 1.0));
  vec4 moved = to_clip(to_world, vec4(along, 0.0));
  float depth = at.z + at.w;
  float slope = moved.z + moved.w;
  if (depth < 0.0 && abs(depth) <= abs(slope)) {
    at -= moved * (depth / slope);
  }
  vec2 direction = (moved.xy * at.w - at.xy * moved.w) * viewport;
  float size = length(direction);
  direction = size > 0.0 ? direction / size : vec2(1.0, 0.0);
  float reach = 0.5 * (width + 1.0);
  at.xy += vec2(-direction.y, direction.x) * (side * reach * 2.0 * at.w) / viewport;
  across = vec2(side * reach, 1.0) * at.w;
  facing = facing_of(to_world);
  tint = instance_color();
  gl_Position = lifted(at);
}
"""
# A shape that is small on the screen is drawn as a square, in which each pixel computes its distance from
# the lines: a hundred narrow triangles cost a processor several times as much. The axes are in pixels, and
# each is turned to the side that faces the viewer, where `toward` is the cosine of its angle to the viewer.
_SMALL_VERTEX = """
void main()
{
  mat4 to_world = instance_matrix();
  vec4 at = to_clip(to_world, vec4(0.0, 0.0, 0.0, 1.0));
  vec3 offset = center_to_viewer(to_world);
  vec3 toward = (to_world * vec4(offset, 0.0)).xyz / (axis_lengths(to_world) * max(length(offset), 1e-30));
  vec2 axes[3];
  for (int k = 0; k < 3; k++) {
    vec4 along = vec4(0.0);
    along[k] = toward[k] < 0.0 ? -1.0 : 1.0;
    vec4 moved = to_clip(to_world, along);
    axes[k] = (moved.xy - at.xy * (moved.w / at.w)) * viewport * (0.5 / at.w);
  }
  vec2 reach = REACH + 0.5 * (width + 1.0);
  toward = abs(toward);
  first = LINES(axes[0], axes[1]);
  second = LINES(axes[1], axes[2]);
  third = LINES(axes[2], axes[0]);
DEPTHS  from_center = point.xy * reach;
  at.xy += from_center * (2.0 * at.w) / viewport;
  tint = instance_color();
  gl_Position = lifted(at);
}
"""
# A circle projects to an ellipse: the inverse of its matrix, and its minor semi-axis. Seen edge-on it is a
# line, so a minimum width is added. From a pixel inside, no line is farther than the minor semi-axis.
_ELLIPSE = """
vec4 ellipse(vec2 a, vec2 b)
{
  vec3 spread = vec3(a.x * a.x + b.x * b.x, a.x * a.y + b.x * b.y, a.y * a.y + b.y * b.y);
  spread += vec3(0.05, 0.0, 0.05);
  float area = spread.x * spread.z - spread.y * spread.y;
  float middle = 0.5 * (spread.x + spread.z);
  float narrow = sqrt(max(0.0, middle - sqrt(max(0.0, middle * middle - area))));
  return vec4(spread.z / area, -spread.y / area, spread.x / area, narrow);
}
"""
# Along a circle the direction to the viewer is a linear function of the position on the screen.
_DEPTH = """
vec2 depth_slope(vec4 inverse, vec2 a, vec2 b, vec2 toward)
{
  vec2 sum = a * toward.x + b * toward.y;
  return vec2(dot(inverse.xy, sum), dot(inverse.yz, sum));
}
"""
_SPHERE_DEPTHS = """
  depths = vec4(depth_slope(first, axes[0], axes[1], toward.xy),
                depth_slope(second, axes[1], axes[2], toward.yz));
  third_depth = depth_slope(third, axes[2], axes[0], toward.zx);
"""
_SPHERE_DISTANCES = """
vec2 off(vec4 ellipse, vec2 depth)
{
  vec2 at = from_center + 0.001;  // at the center the gradient is zero
  vec2 slope = ellipse.xy * at.x + ellipse.yz * at.y;
  float size = dot(at, slope);
  float away = (size - sqrt(size)) * inversesqrt(dot(slope, slope) + 1e-12);
  away = min(abs(away), size < 1.0 ? ellipse.w : 1e9);
  // The tolerance keeps a circle in front that is seen edge-on, or is the outline.
  return dot(depth, at) < -0.05 ? vec2(1e9, away) : vec2(away, 1e9);
}

vec2 distances_to_lines()
{
  return min(min(off(first, depths.xy), off(second, depths.zw)), off(third, third_depth));
}
"""
# An edge that is seen end-on is a point: it has no length, but a direction all the same.
_EDGE = """
vec4 edge(vec2 along, vec2 unused)
{
  float size = length(along);
  return size > 1e-4 ? vec4(along / size, size, 0.0) : vec4(1.0, 0.0, 0.0, 0.0);
}
"""
# One of the four edges along each axis is at the back, on the side of both other axes that faces away.
_BOX_DISTANCES = """
float nearest(vec2 from, vec3 edge)
{
  vec2 off = vec2(max(abs(dot(from, edge.xy)) - edge.z, 0.0), from.x * edge.y - from.y * edge.x);
  return dot(off, off);
}

vec2 nearest_of_four(vec4 along, vec4 a, vec4 b)
{
  vec2 sum = a.xy * a.z + b.xy * b.z;
  vec2 rest = a.xy * a.z - b.xy * b.z;
  return vec2(min(nearest(from_center - sum, along.xyz),
                  min(nearest(from_center + rest, along.xyz), nearest(from_center - rest, along.xyz))),
              nearest(from_center + sum, along.xyz));
}

vec2 distances_to_lines()
{
  return sqrt(min(min(nearest_of_four(first, second, third), nearest_of_four(second, third, first)),
                  nearest_of_four(third, first, second)));
}
"""
_FACE_VERTEX = """
void main()
{
  tint = instance_color();
  gl_Position = lifted(to_clip(instance_matrix(), vec4(point, 1.0)));
}
"""
_FRAGMENT = """
void main()
{
  color = vec4(tint.rgb, tint.a * COVERAGE);
}
"""
# The tolerance keeps lines in front that lie in a face seen edge-on, or on the outline.
_LINE_FRAGMENT = _FRAGMENT.replace(
    "COVERAGE",
    "clamp(0.5 * (width + 1.0) - abs(across.x / across.y), 0.0, 1.0) * (facing < -0.001 ? BACK : 1.0)",
).replace("BACK", str(BACK))
_SMALL_FRAGMENT = (
    """
float coverage()
{
  vec2 both = clamp(0.5 * (width + 1.0) - distances_to_lines(), 0.0, 1.0);
  return max(both.x, both.y * BACK);
}
""".replace("BACK", str(BACK))
    + _FRAGMENT.replace("COVERAGE", "coverage()")
)


def _shader(
    name: str, vertex: str, fragment: str, varyings: str = "", inputs: str = "", has_lines: bool = True
) -> gpu.types.GPUShader:
    """Create a shader.

    name : Of its varyings.
    vertex, fragment : Sources, without what all shaders have in common.
    varyings : Kind, type and name of each varying but `tint`, such as "smooth VEC2 across".
    inputs : Type and name of each attribute of vertices but `point`.
    has_lines : Whether it has the uniforms `width` and `viewport`, in pixels, and `viewer`.
    """
    info = gpu.types.GPUShaderCreateInfo()
    info.sampler(0, "FLOAT_2D", "rows")
    constants = "MAT4 ModelViewProjectionMatrix, FLOAT opacity, FLOAT lift, BOOL srgbTarget"
    constants += ", VEC2 viewport, FLOAT width, VEC4 viewer" if has_lines else ""
    for constant in constants.split(", "):
        info.push_constant(*constant.split())  # type: ignore[arg-type, call-arg, unused-ignore]
    for number, attribute in enumerate(["VEC3 point", *filter(None, inputs.split(", "))]):
        info.vertex_in(number, *attribute.split())  # type: ignore[arg-type, call-arg, unused-ignore]
    info.fragment_out(0, "VEC4", "color")
    # The type stubs of Blender 4.2 list no arguments of constructors in the gpu module.
    stage = gpu.types.GPUStageInterfaceInfo(f"collision_bounds_{name}")  # type: ignore[call-arg, unused-ignore]
    for varying in ["flat VEC4 tint", *filter(None, varyings.split(", "))]:
        interpolation, *typed = varying.split()
        getattr(stage, interpolation)(*typed)
    info.vertex_out(stage)
    info.vertex_source(_VERTEX + (_VIEWER if has_lines else "") + vertex)
    info.fragment_source(fragment)
    return gpu.shader.create_from_info(info)


def line_shader() -> gpu.types.GPUShader:
    return _shader(
        "lines",
        _LINE_VERTEX,
        _LINE_FRAGMENT,
        "smooth VEC2 across, smooth FLOAT facing",
        "VEC3 along, VEC3 normal, VEC3 other_normal, FLOAT side",
    )


def face_shader() -> gpu.types.GPUShader:
    return _shader("faces", _FACE_VERTEX, _FRAGMENT.replace("COVERAGE", "1.0"), has_lines=False)


_SMALL_VARYINGS = (
    "flat VEC4 first, flat VEC4 second, flat VEC4 third, flat VEC4 depths, flat VEC2 third_depth, "
    "smooth VEC2 from_center"
)


def small_sphere_shader() -> gpu.types.GPUShader:
    """Create the shader of small spheres: circles on squares."""
    reach = "sqrt(axes[0] * axes[0] + axes[1] * axes[1] + axes[2] * axes[2])"
    vertex = _SMALL_VERTEX.replace("LINES", "ellipse").replace("REACH", reach)
    vertex = _ELLIPSE + _DEPTH + vertex.replace("DEPTHS", _SPHERE_DEPTHS)
    return _shader("small_sphere", vertex, _SPHERE_DISTANCES + _SMALL_FRAGMENT, _SMALL_VARYINGS)


def small_box_shader() -> gpu.types.GPUShader:
    """Create the shader of small boxes: edges on squares."""
    reach = "abs(axes[0]) + abs(axes[1]) + abs(axes[2])"
    vertex = _SMALL_VERTEX.replace("LINES", "edge").replace("REACH", reach).replace("DEPTHS", "")
    return _shader("small_box", _EDGE + vertex, _BOX_DISTANCES + _SMALL_FRAGMENT, _SMALL_VARYINGS)
