"""Station 5: a cart collides with one of a row of posts, which are instances."""

from __future__ import annotations

from itertools import pairwise

import bpy

from .common import HOVER
from .keyframes import insert_keys, set_interpolation
from .meshes import Part, along_x, box, mesh_object, prism

POST_COUNT = 6
POST_SPACING = 0.5
POST_HEIGHT = 0.75
POST_RADIUS = 1 / 16
FENCE_LOCATION = (2.75, -0.625)
CART_FRAMES = (10, 48)
CART_TRAVEL = 1.25


def build_fence() -> None:
    """Build `Cart`, which collides with the fourth of six posts that geometry nodes place along `Fence`.

    The fence has an empty mesh. Its posts are instances of `Post`, a mesh in the collection `Post Parts`,
    which is excluded from the view layer. Two empties, `Gate Post Near` and `Gate Post Far`, instance the
    same collection. The cart moves along +Y by 1.25 m from frame 10 to frame 48. Its keys are eased.
    """
    post = mesh_object("Post", post_parts())
    parts = bpy.data.collections.new("Post Parts")
    scene = bpy.context.scene
    scene.collection.children.link(parts)
    scene.collection.objects.unlink(post)
    parts.objects.link(post)
    bpy.context.view_layer.layer_collection.children[parts.name].exclude = True

    x, y = FENCE_LOCATION
    fence = bpy.data.objects.new("Fence", bpy.data.meshes.new("Fence"))
    fence.location = (x, y, HOVER)
    scene.collection.objects.link(fence)
    fence.modifiers.new("Posts", "NODES").node_group = fence_nodes(post)

    for name, offset in (("Gate Post Near", -1.0), ("Gate Post Far", -0.5)):
        gate = bpy.data.objects.new(name, None)
        gate.instance_type = "COLLECTION"
        gate.instance_collection = parts
        gate.empty_display_size = 0.1
        gate.location = (x, y + offset, HOVER)
        scene.collection.objects.link(gate)

    body = box((0, 0, 0.25), (0.1875, 0.3125, 0.125), "Mover")
    load = box((0, -0.06, 0.45), (0.14, 0.2, 0.075), "Mover Light")
    wheels = [
        along_x(prism([(sx * 0.2 - 0.03, 0.09), (sx * 0.2 + 0.03, 0.09)], "Dark", (sy * 0.2, 0.09)))
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    cart_x, cart_y = x + 3 * POST_SPACING + 0.03125, y - 1.5
    cart = mesh_object("Cart", [body, load, *wheels], (cart_x, cart_y, HOVER))
    ends = ((cart_x, cart_y, HOVER), (cart_x, cart_y + CART_TRAVEL, HOVER))
    insert_keys(cart, "location", zip(CART_FRAMES, ends, strict=True))
    set_interpolation(cart, "BEZIER")


def post_parts() -> list[Part]:
    """Return a striped post with a foot of twice its radius."""
    foot = prism([(0, 2 * POST_RADIUS), (0.03, 2 * POST_RADIUS)], "Dark")
    heights = [0.03, 0.25, 0.35, 0.55, 0.65, POST_HEIGHT]
    stripes = [
        prism([(low, POST_RADIUS), (high, POST_RADIUS)], "White" if index % 2 else "Target")
        for index, (low, high) in enumerate(pairwise(heights))
    ]
    return [foot, *stripes]


def fence_nodes(post: bpy.types.Object) -> bpy.types.NodeTree:
    """Create geometry nodes that instance the post on a line of points along +X."""
    tree = bpy.data.node_groups.new("Fence Posts", "GeometryNodeTree")
    tree.is_modifier = True
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    line = tree.nodes.new("GeometryNodeMeshLine")
    line.inputs["Count"].default_value = POST_COUNT
    line.inputs["Offset"].default_value = (POST_SPACING, 0, 0)
    source = tree.nodes.new("GeometryNodeObjectInfo")
    source.inputs["Object"].default_value = post
    source.inputs["As Instance"].default_value = True
    instances = tree.nodes.new("GeometryNodeInstanceOnPoints")
    output = tree.nodes.new("NodeGroupOutput")
    for step, node in enumerate((source, line, instances, output)):
        node.location = (200 * step, 0)
    tree.links.new(line.outputs["Mesh"], instances.inputs["Points"])
    tree.links.new(source.outputs["Geometry"], instances.inputs["Instance"])
    tree.links.new(instances.outputs["Instances"], output.inputs["Geometry"])
    return tree
