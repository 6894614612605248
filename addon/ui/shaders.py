"""The shaders that pictures are drawn by: each runs once for every row that a texture holds.

All take `rows`, that texture, and `opacity` and `lift`, in depth towards the viewer.
"""

from __future__ import annotations

import gpu

ROWS_ACROSS = 256
"""Rows of the texture that stand beside one another, of four pixels each: any card takes 1024 pixels."""

_VERTEX = """
vec4 part(int k)
{
  return texelFetch(rows, ivec2((gl_InstanceID % ACROSS) * 4 + k, gl_InstanceID / ACROSS), 0);
}

vec4 lifted(vec4 at)
{
  at.z -= lift * at.w;
  return at;
}

vec4 seen(mat4 places, vec4 local)
{
  return ModelViewProjectionMatrix * (local * places);
}

// Blender sets srgbTarget where colours have to be linear.
vec4 painted()
{
  vec4 result = part(3);
  result.a *= opacity;
  if (srgbTarget) {
    vec3 curve = pow((result.rgb + 0.055) / 1.055, vec3(2.4));
    result.rgb = mix(result.rgb / 12.92, curve, step(vec3(0.04045), result.rgb));
  }
  return result;
}

mat4 placing()
{
  return mat4(part(0), part(1), part(2), vec4(0.0, 0.0, 0.0, 1.0));
}
""".replace("ACROSS", str(ROWS_ACROSS))

# A ribbon is as wide as the line, on the screen, at a right angle to where the line goes. What is behind the
# viewer is drawn up to the plane where the view begins: cut off by the card, a ribbon loses its width.
# Divided by one another, the parts of `across` grow evenly over the screen, also where a ribbon leaves it.
_LINE_VERTEX = """
void main()
{
  mat4 places = placing();
  vec4 at = seen(places, vec4(point, 1.0));
  vec4 moved = seen(places, vec4(along, 0.0));
  float depth = at.z + at.w;
  float slope = moved.z + moved.w;
  if (depth < 0.0 && abs(depth) <= abs(slope)) {
    at -= moved * (depth / slope);
  }
  vec2 way = (moved.xy * at.w - at.xy * moved.w) * viewport;
  float size = length(way);
  way = size > 0.0 ? way / size : vec2(1.0, 0.0);
  float reach = 0.5 * (width + 1.0);
  at.xy += vec2(-way.y, way.x) * (side * reach * 2.0 * at.w) / viewport;
  across = vec2(side * reach, 1.0) * at.w;
  tint = painted();
  gl_Position = lifted(at);
}
"""
# What is small on the screen is one square, in which each pixel finds out how far it is from the lines: a
# hundred narrow triangles cost a processor several times as much. The axes are pixels on the screen.
_SMALL_VERTEX = """
void main()
{
  mat4 places = placing();
  vec4 at = seen(places, vec4(0.0, 0.0, 0.0, 1.0));
  vec2 axes[3];
  for (int k = 0; k < 3; k++) {
    vec4 along = vec4(0.0);
    along[k] = 1.0;
    vec4 moved = seen(places, along);
    axes[k] = (moved.xy - at.xy * (moved.w / at.w)) * viewport * (0.5 / at.w);
  }
  vec2 reach = REACH + 0.5 * (width + 1.0);
  first = LINES(axes[0], axes[1]);
  second = LINES(axes[1], axes[2]);
  third = LINES(axes[2], axes[0]);
  beside = point.xy * reach;
  at.xy += beside * (2.0 * at.w) / viewport;
  tint = painted();
  gl_Position = lifted(at);
}
"""
# A circle seen aslant is an ellipse: here the inverse of its matrix, and half of its narrow way across. Seen
# from its edge it is a line, which has to keep some breadth; from within, no line is farther than that.
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
_BALL_DISTANCE = """
float off(vec4 ellipse)
{
  vec2 at = beside + 0.001;  // in the very middle there is no slope
  vec2 slope = ellipse.xy * at.x + ellipse.yz * at.y;
  float size = dot(at, slope);
  float away = (size - sqrt(size)) * inversesqrt(dot(slope, slope) + 1e-12);
  return min(abs(away), size < 1.0 ? ellipse.w : 1e9);
}

float distance_to_lines()
{
  return min(min(off(first), off(second)), off(third));
}
"""
_EDGE = """
vec4 edge(vec2 along, vec2 unused)
{
  float size = max(length(along), 1e-6);
  return vec4(along / size, size, 0.0);
}
"""
_BOX_DISTANCE = """
float nearest(vec2 from, vec3 edge)
{
  vec2 off = vec2(max(abs(dot(from, edge.xy)) - edge.z, 0.0), from.x * edge.y - from.y * edge.x);
  return dot(off, off);
}

float nearest_of_four(vec4 along, vec4 a, vec4 b)
{
  vec2 sum = a.xy * a.z + b.xy * b.z;
  vec2 rest = a.xy * a.z - b.xy * b.z;
  return min(min(nearest(beside + sum, along.xyz), nearest(beside - sum, along.xyz)),
             min(nearest(beside + rest, along.xyz), nearest(beside - rest, along.xyz)));
}

float distance_to_lines()
{
  return sqrt(min(min(nearest_of_four(first, second, third), nearest_of_four(second, third, first)),
                  nearest_of_four(third, first, second)));
}
"""
_SMALL_BALL_VERTEX = _ELLIPSE + _SMALL_VERTEX.replace("LINES", "ellipse").replace(
    "REACH", "sqrt(axes[0] * axes[0] + axes[1] * axes[1] + axes[2] * axes[2])"
)
_SMALL_BOX_VERTEX = _EDGE + _SMALL_VERTEX.replace("LINES", "edge").replace(
    "REACH", "abs(axes[0]) + abs(axes[1]) + abs(axes[2])"
)
_FACE_VERTEX = """
void main()
{
  tint = painted();
  gl_Position = lifted(seen(placing(), vec4(point, 1.0)));
}
"""
_FRAGMENT = """
void main()
{
  color = vec4(tint.rgb, tint.a * COVERAGE);
}
"""
_LINE_FRAGMENT = _FRAGMENT.replace(
    "COVERAGE", "clamp(0.5 * (width + 1.0) - abs(across.x / across.y), 0.0, 1.0)"
)
_SMALL_FRAGMENT = _FRAGMENT.replace("COVERAGE", "clamp(0.5 * (width + 1.0) - distance_to_lines(), 0.0, 1.0)")
_FACE_FRAGMENT = _FRAGMENT.replace("COVERAGE", "1.0")


def _shader_info(name: str) -> tuple[gpu.types.GPUShaderCreateInfo, gpu.types.GPUStageInterfaceInfo]:
    """What all shaders have in common."""
    info = gpu.types.GPUShaderCreateInfo()
    info.sampler(0, "FLOAT_2D", "rows")
    info.push_constant("MAT4", "ModelViewProjectionMatrix")
    info.push_constant("FLOAT", "opacity")
    info.push_constant("FLOAT", "lift")
    info.push_constant("BOOL", "srgbTarget")
    info.vertex_in(0, "VEC3", "point")
    info.fragment_out(0, "VEC4", "color")
    # The type stubs of Blender 4.2 give no arguments to constructors of the gpu module.
    between = gpu.types.GPUStageInterfaceInfo(name)  # type: ignore[call-arg, unused-ignore]
    between.flat("VEC4", "tint")
    return info, between


def line_shader() -> gpu.types.GPUShader:
    """Ribbons that are `width` pixels wide; needs `viewport`, both sizes in pixels."""
    info, between = _shader_info("collision_bounds_lines")
    info.push_constant("VEC2", "viewport")
    info.push_constant("FLOAT", "width")
    info.vertex_in(1, "VEC3", "along")
    info.vertex_in(2, "FLOAT", "side")
    between.smooth("VEC2", "across")
    info.vertex_out(between)
    info.vertex_source(_VERTEX + _LINE_VERTEX)
    info.fragment_source(_LINE_FRAGMENT)
    return gpu.shader.create_from_info(info)


def _small_shader(name: str, vertex: str, distance: str) -> gpu.types.GPUShader:
    info, between = _shader_info(f"collision_bounds_small_{name}")
    info.push_constant("VEC2", "viewport")
    info.push_constant("FLOAT", "width")
    for axis in ("first", "second", "third"):
        between.flat("VEC4", axis)
    between.smooth("VEC2", "beside")
    info.vertex_out(between)
    info.vertex_source(_VERTEX + vertex)
    info.fragment_source(distance + _SMALL_FRAGMENT)
    return gpu.shader.create_from_info(info)


def face_shader() -> gpu.types.GPUShader:
    """Surfaces."""
    info, between = _shader_info("collision_bounds_faces")
    info.vertex_out(between)
    info.vertex_source(_VERTEX + _FACE_VERTEX)
    info.fragment_source(_FACE_FRAGMENT)
    return gpu.shader.create_from_info(info)


def small_ball_shader() -> gpu.types.GPUShader:
    """The circles of small balls on squares; takes what lines take."""
    return _small_shader("ball", _SMALL_BALL_VERTEX, _BALL_DISTANCE)


def small_box_shader() -> gpu.types.GPUShader:
    """The edges of small boxes on squares; takes what lines take."""
    return _small_shader("box", _SMALL_BOX_VERTEX, _BOX_DISTANCE)
