# SPDX-License-Identifier: MIT-0
# SPDX-FileCopyrightText: 2026 Collision Bounds developers
#
# Collision Bounds loader for Godot 4.2 and later: the shapes of a document as AABB and as bodies with collision shapes.
#
#   var level := CollisionBounds.read("res://level.json")
#   for id in level:
#       print(id, CollisionBounds.to_aabb(level[id]["world"]))
#   add_child(CollisionBounds.bodies(level))
#   CollisionBounds.add_to($Level, level, {"Ice": preload("res://ice.tres")})
#   var boxes: Array[AABB] = CollisionBounds.read_tracks("res://level.json")["Crate"]["boxes"]
#
# Export the document with `--preset gltf`: meters, Y up, as in Godot. Errors are reported with push_error.
# `read` and `read_tracks` return an empty dictionary then.
#
# Tested in the project's tests, in Godot 4.6.
class_name CollisionBounds
extends RefCounted

# A Vector3 rounds numbers to single precision. This is more than the rounding error, relative to a size or a
# distance.
const SLACK := 5e-7

# Jolt Physics rounds edges and corners of boxes, cylinders and hulls inward by this radius, so that vertices there would
# be outside with Godot's default of 0.04.
const MARGIN := 0.0

# What happens when something meets an object without the key "collision".
const SOLID := {"response": "solid", "group": 1, "mask": 65535, "material": null}


## Returns the objects of a document by id: dictionaries with "name", "parent", "transform" and shapes, as in the
## document.
static func read(path: String) -> Dictionary:
	var objects := {}
	for entry: Dictionary in _document(path).get("objects", []):
		objects[entry["id"]] = entry
	return objects


## Returns the tracks of a document by the ids of their objects: dictionaries with "frames", "boxes" (an Array of
## AABB), "centers" and "radii" (of spheres). Shapes are in world space, one per frame. Shapes that are not in the
## document have no key. Export the document with `bounds --tracks`.
static func read_tracks(path: String) -> Dictionary:
	var tracks := {}
	for entry: Dictionary in _document(path, true).get("tracks", []):
		tracks[entry["object"]] = _track(entry)
	return tracks


# The document. Empty after an error. Tracks are checked on request only, because there can be many.
static func _document(path: String, with_tracks := false) -> Dictionary:
	var file := FileAccess.open(path, FileAccess.READ)
	if file == null:
		push_error("%s: cannot be opened (%s)" % [path, error_string(FileAccess.get_open_error())])
		return {}
	var parser := JSON.new()
	if parser.parse(file.get_as_text()) != OK:
		push_error("%s: is not JSON (line %d: %s)" % [path, parser.get_error_line(), parser.get_error_message()])
		return {}
	if not parser.data is Dictionary or str(parser.data.get("format")) != "collision-bounds":
		push_error("%s: is not a Collision Bounds document" % path)
		return {}
	var document: Dictionary = parser.data
	if not str(document.get("version")).begins_with("1."):
		push_error("%s: has version %s, but this loader reads version 1" % [path, document.get("version")])
		return {}
	var problems: Array[String] = []
	var preset := _text(_table(document.get("space"), "space", problems).get("preset"), "space.preset", problems)
	if problems.is_empty() and preset != "gltf":
		push_error("%s: is in the space \"%s\": export it with --preset gltf" % [path, preset])
		return {}
	var ids := _check_objects(document.get("objects"), problems)
	if with_tracks:
		_check_tracks(document.get("tracks"), ids, problems)
	if not problems.is_empty():
		push_error("%s: %s" % [path, problems[0]])
		return {}
	return document


## Returns the box of shapes ("world", "local" or "envelope" of an object), or the box around their sphere if they
## have no box.
static func to_aabb(shapes: Dictionary) -> AABB:
	var low: Vector3
	var high: Vector3
	if shapes.has("aabb"):
		low = _vector(shapes["aabb"]["min"])
		high = _vector(shapes["aabb"]["max"])
	elif shapes.has("sphere"):
		var reach := Vector3.ONE * float(shapes["sphere"]["radius"])
		low = _vector(shapes["sphere"]["center"]) - reach
		high = _vector(shapes["sphere"]["center"]) + reach
	else:
		push_error("Collision Bounds: neither a box nor a sphere: export the document with --shapes sphere,aabb")
		return AABB()
	return _box(low, high)


## Returns a collision shape in world space, or in the rotated axes of the object with `group` "local". "box" is the
## oriented box, or the box along the object's own axes if there is no oriented box. "sphere" is the sphere; "capsule",
## "cylinder" and "hull" are those of the document, if it has them.
static func collision_shape(entry: Dictionary, shape := "box", group := "world") -> CollisionShape3D:
	var shapes: Dictionary = entry[group]
	var node: CollisionShape3D
	if shape == "box":
		if shapes.has("obb"):
			node = _box_shape(shapes["obb"])
		elif entry["local"].has("aabb"):
			node = _local_box_shape(entry, group)
	elif shapes.has(shape):
		node = _primitive(shape, shapes[shape])
	if node == null:
		push_error("Collision Bounds: %s has no %s in this document" % [entry["name"], shape])
		return null
	node.name = _node_name(entry["name"])
	return node


## Returns the collision shapes of an object: those of the first of these that the document has: a custom sphere, the
## convex parts, the hull, the leaves of the sphere tree, the capsule, the cylinder, the oriented box, the box along the
## object's own axes, the sphere.
static func collision_shapes(entry: Dictionary, group := "world") -> Array[CollisionShape3D]:
	var shapes: Dictionary = entry[group]
	var nodes: Array[CollisionShape3D] = []
	if entry.get("override") == "sphere" and shapes.has("sphere"):
		nodes.append(_primitive("sphere", shapes["sphere"]))
	elif shapes.has("compound"):
		for part: Dictionary in shapes["compound"]:
			for kind: String in ["hull", "obb", "sphere", "capsule"]:
				if part.has(kind):
					nodes.append(_primitive(kind, part[kind]))
					break
	elif shapes.has("hull"):
		nodes.append(_primitive("hull", shapes["hull"]))
	elif shapes.has("spheres"):
		for ball: Dictionary in shapes["spheres"]:
			if ball["children"].is_empty():
				nodes.append(_primitive("sphere", ball))
	else:
		for kind: String in ["capsule", "cylinder", "obb"]:
			if shapes.has(kind):
				nodes.append(_primitive(kind, shapes[kind]))
				break
		if nodes.is_empty():
			var has_box: bool = entry["local"].has("aabb")
			var node := collision_shape(entry, "box" if has_box else "sphere", group)
			if node != null:
				nodes.append(node)
	for node in nodes:
		node.name = _node_name(entry["name"])
	return nodes


## Returns a body with the collision shapes of an object: a StaticBody3D for a solid, an Area3D for a trigger, null for
## the response "none". The collision layer is the group. Physics materials of solids are taken from a dictionary by
## name, such as {"Ice": preload("res://ice.tres")}.
static func body(entry: Dictionary, materials := {}, group := "world") -> CollisionObject3D:
	var collision: Dictionary = entry.get("collision", SOLID)
	if collision["response"] == "none":
		return null
	var node: CollisionObject3D
	if collision["response"] == "trigger":
		node = Area3D.new()
	else:
		var solid := StaticBody3D.new()
		if materials.has(collision["material"]):
			solid.physics_material_override = materials[collision["material"]]
		node = solid
	node.name = _node_name(entry["name"])
	node.collision_layer = 1 << (int(collision["group"]) - 1)
	node.collision_mask = int(collision["mask"])
	for shape in collision_shapes(entry, group):
		node.add_child(shape, true)
	return node


## Returns a node with the body of each object, at its place in the world. No shape is scaled.
static func bodies(objects: Dictionary, materials := {}) -> Node3D:
	var parent := Node3D.new()
	parent.name = "CollisionBounds"
	for entry: Dictionary in objects.values():
		var node := body(entry, materials)
		if node != null:
			parent.add_child(node, true)
	return parent


## Adds the body of each object below its node, in a scene that was imported from a glTF file, and returns the bodies.
## They move with these nodes, and compensate their scale and shear. Shear is compensated as of the frame of the document,
## at which the file has to be exported. The body of a bone is added to a BoneAttachment3D, in the skeleton of the mesh.
## An instance of a collection, "Gate/Post.0", has the node of "Post" below that of "Gate". Nodes are found by the names
## of their objects and, where several have the name, by their poses. What has no node is reported. So are nodes that had a body
## before, as in a file with colliders, and meshes that are larger than in the document.
static func add_to(root: Node, objects: Dictionary, materials := {}) -> Array[CollisionObject3D]:
	var added: Array[CollisionObject3D] = []
	var places := _places_of(root, objects)
	var used := {}
	var doubled := {}
	var outsized := {}
	for entry: Dictionary in objects.values():
		var node := body(entry, materials, "local")
		if node == null:
			continue
		var scale := _vector(entry["transform"]["scale"])
		var is_flat := scale.x == 0.0 or scale.y == 0.0 or scale.z == 0.0
		var place: Dictionary = {} if is_flat else places.get(_object_id(entry), {})
		var target: Node3D = place.get("node")
		if target != null and entry.has("bone"):
			target = _attachment(root, place, entry, used)
		if target == null:
			var problem := "has no node in %s that can have a body"
			if place.has("is_ambiguous"):
				problem = "has several nodes in %s, and none is where the document has it: export at its frame"
			push_warning("Collision Bounds: %s " % entry["name"] + problem % root.name)
			node.free()
			continue
		node.transform = Transform3D(Basis.from_scale(Vector3.ONE / scale), Vector3.ZERO)
		if not entry.has("bone"):
			node.transform = _rigid_transform(place, entry["transform"])
		for child in target.get_children():
			if child is CollisionObject3D and not used.has(child):
				doubled[target] = true
		if _is_larger(target, entry):
			outsized[target] = true
		target.add_child(node, true)
		node.owner = _owner_in(root)
		for shape in node.get_children():
			shape.owner = node.owner
		added.append(node)
		used[node] = true
	if not doubled.is_empty():
		var remedy := "export it without colliders, or do not call add_to"
		push_warning("Collision Bounds: nodes in %s with a body of the file too: %d: %s" % [root.name, doubled.size(), remedy])
	if not outsized.is_empty():
		var cause := "another frame, modifiers that are not applied, or a root scale"
		push_warning("Collision Bounds: meshes in %s larger than in the document: %d: %s" % [root.name, outsized.size(), cause])
	return added


# Whether the mesh of a whole object is larger than the box of the document, by more than rounding.
static func _is_larger(node: Node3D, entry: Dictionary) -> bool:
	var is_whole: bool = not entry.has("bone") and not entry.has("override") and _object_id(entry) == entry["id"]
	if not is_whole or not node is MeshInstance3D or _skeleton_of(node) != null or not entry["local"].has("aabb"):
		return false
	var box := to_aabb(entry["local"])
	var size: Vector3 = node.get_aabb().size * _vector(entry["transform"]["scale"]).abs()
	var excess := size - box.size
	return maxf(excess.x, maxf(excess.y, excess.z)) > 0.01 * box.size.length()


## Returns a solid body with a collision shape for each object.
static func static_body(objects: Dictionary, shape := "box") -> StaticBody3D:
	var solid := StaticBody3D.new()
	solid.name = "CollisionBounds"
	for entry: Dictionary in objects.values():
		var node := collision_shape(entry, shape)
		if node != null:
			solid.add_child(node, true)
	return solid


# The transform of a body below a node, with which it is only rotated and moved relative to the root.
static func _rigid_transform(place: Dictionary, transform: Dictionary) -> Transform3D:
	var pose: Transform3D = place["pose"]
	var rotation := Basis(_quaternion(transform["rotation"]))
	if _skeleton_of(place["node"]) != null:
		# The node of a mesh with bones has the pose of the skeleton.
		return pose.affine_inverse() * Transform3D(rotation, _vector(transform["translation"]))
	if not _is_sheared(pose.basis):
		return Transform3D(Basis.from_scale(Vector3.ONE / _vector(transform["scale"])), Vector3.ZERO)
	# Sheared axes are no rotation, so the rotation is that of the document.
	return Transform3D(pose.basis.inverse() * rotation, Vector3.ZERO)


static func _is_sheared(basis: Basis) -> bool:
	var x := basis.x.normalized()
	var y := basis.y.normalized()
	var z := basis.z.normalized()
	return maxf(absf(x.dot(y)), maxf(absf(y.dot(z)), absf(z.dot(x)))) > 1e-5


# The place of each object by the id of the object: a dictionary with its "node" and the "pose" of that relative to the root.
# If several nodes could be it, and none has the pose of the document, the key "is_ambiguous" instead.
static func _places_of(root: Node, objects: Dictionary) -> Dictionary:
	var places := _places_by_name(root)
	var candidates := {}
	for entry: Dictionary in objects.values():
		if not candidates.has(_object_id(entry)):
			candidates[_object_id(entry)] = _candidates(places, entry)
	var found := {}
	var taken := {}
	# The name of an instance tells more than that of an object: it has that of the owner, too.
	for is_instance: bool in [true, false]:
		for entry: Dictionary in objects.values():
			var id := _object_id(entry)
			if found.has(id) or candidates[id]["is_instance"] != is_instance:
				continue
			var place := _place_at_pose(candidates[id]["places"], taken, entry)
			if not place.is_empty():
				found[id] = place
				taken[place["node"]] = true
	for is_instance: bool in [true, false]:
		_find_displaced(candidates, is_instance, found, taken)
	return found


# Finds the places of instances, or of other objects, that are elsewhere than in the document, by their names alone.
static func _find_displaced(candidates: Dictionary, is_instance: bool, found: Dictionary, taken: Dictionary) -> void:
	var users := {}
	for named: Dictionary in candidates.values():
		users[named["name"]] = users.get(named["name"], 0) + 1
	for id: String in candidates:
		var named: Dictionary = candidates[id]
		if found.has(id) or named["is_instance"] != is_instance or named["name"] == "":
			continue
		var left := []
		for place: Dictionary in named["places"]:
			# The importer adds a number only if several objects have the name.
			var name := str(place["node"].name)
			var is_numbered: bool = is_instance or (users[named["name"]] > 1 and not users.has(name))
			if not taken.has(place["node"]) and (name == named["name"] or is_numbered):
				left.append(place)
		if left.size() == 1:
			found[id] = left[0]
			taken[left[0]["node"]] = true
		elif left.size() > 1:
			found[id] = {"is_ambiguous": true}


# The place nearest to the pose of an entry, or an empty one if none is there.
static func _place_at_pose(places: Array, taken: Dictionary, entry: Dictionary) -> Dictionary:
	var nearest := {}
	var least := INF
	var expected := _pose_of(entry)
	# There can be thousands of instances of one object, so only those nearby are compared.
	var reach := INF
	if not entry.has("bone"):
		reach = 0.01 * _longest(expected.basis) + 1e-4 * expected.origin.length()
	for k: int in range(_first_from(places, expected.origin.x - reach), places.size()):
		var place: Dictionary = places[k]
		if place["pose"].origin.x > expected.origin.x + reach:
			break
		var pose := _pose_at(place, entry)
		var distance := pose.origin.distance_to(expected.origin)
		if distance < least and not taken.has(place["node"]) and _is_same_pose(pose, expected):
			nearest = place
			least = distance
	return nearest


# The index of the first place whose X is not less than a number.
static func _first_from(places: Array, x: float) -> int:
	var low := 0
	var high := places.size()
	while low < high:
		var middle := floori((low + high) / 2.0)
		if places[middle]["pose"].origin.x < x:
			low = middle + 1
		else:
			high = middle
	return low


static func _is_before(place: Dictionary, other: Dictionary) -> bool:
	return place["pose"].origin.x < other["pose"].origin.x


static func _longest(basis: Basis) -> float:
	return maxf(basis.x.length(), maxf(basis.y.length(), basis.z.length()))


# The pose of a node, or of the joint of a bone, relative to the root.
static func _pose_at(place: Dictionary, entry: Dictionary) -> Transform3D:
	var joint := _joint_of(place, entry, {}) if entry.has("bone") else -1
	return place["pose"] if joint < 0 else _joint_pose(place, joint)


static func _joint_pose(place: Dictionary, joint: int) -> Transform3D:
	var node: Node3D = place["node"]
	# A mesh with bones is below its skeleton.
	return place["pose"] * node.transform.affine_inverse() * _skeleton_of(node).get_bone_global_pose(joint)


# The joint of a bone in the skeleton of a mesh, -1 if there is none. The importer adds a number from 2 on to the name of a
# bone that a node or another bone has: "Hand_2".
static func _joint_of(place: Dictionary, entry: Dictionary, used: Dictionary) -> int:
	var skeleton := _skeleton_of(place["node"])
	# The importer replaces these characters in names of bones.
	var bone := str(entry["bone"]).replace(":", "_").replace("/", "_")
	var found := -1
	var count := 0 if skeleton == null else skeleton.get_bone_count()
	for joint: int in count:
		var name := str(skeleton.get_bone_name(joint))
		var is_numbered := name.begins_with(bone + "_") and name.substr(bone.length() + 1).is_valid_int()
		if used.has([_object_id(entry), joint]) or not (name == bone or is_numbered):
			continue
		if _is_same_pose(_joint_pose(place, joint), _pose_of(entry)):
			return joint
		if found < 0 or name == bone:
			found = joint
	return found


static func _is_same_pose(pose: Transform3D, expected: Transform3D) -> bool:
	var size := _longest(pose.basis)
	if pose.origin.distance_to(expected.origin) > 1e-3 * size + 1e-5 * pose.origin.length():
		return false
	var found := pose.basis
	var axes := expected.basis
	var across := maxf(found.x.distance_to(axes.x), found.y.distance_to(axes.y))
	var difference := maxf(across, found.z.distance_to(axes.z))
	# Shear is not in the document.
	return difference <= 1e-3 * size or _is_sheared(pose.basis)


# The nodes that can be the one of an entry, as "places", with the "name" of the node and whether it "is_instance".
static func _candidates(places: Dictionary, entry: Dictionary) -> Dictionary:
	var whole := _without_part(str(entry["name"]))
	for name: String in [str(entry["name"]), whole]:
		if places.has(_node_name(name)):
			return {"places": places[_node_name(name)], "name": _node_name(name), "is_instance": false}
	# Instances are named after their owner and their object, which can have slashes in their names.
	var number := RegEx.create_from_string("\\.\\d+$").sub(whole, "")
	if number != whole:
		var parts := number.split("/")
		for k: int in range(1, parts.size()):
			var owner := _node_name("/".join(parts.slice(0, k)))
			var name := _node_name("/".join(parts.slice(k)))
			if places.has(owner + "/" + name):
				return {"places": places[owner + "/" + name], "name": name, "is_instance": true}
			# Blender's exporter gives all instances of geometry nodes this name, so only their poses tell them apart.
			if places.has(owner + "/GN Instance"):
				return {"places": places[owner + "/GN Instance"], "name": "", "is_instance": true}
	return {"places": [], "name": _node_name(whole), "is_instance": false}


# Of nodes with a name, those with a mesh, if there are any: a bone can have the name of an object.
static func _meshes_in(places: Array) -> Array:
	var meshes := []
	for place: Dictionary in places:
		if place["node"] is MeshInstance3D:
			meshes.append(place)
	return places if meshes.is_empty() else meshes


# The places of all nodes that can be those of objects, by each name that the object can have, and by the name of each node
# above it and that: "Gate/Post". They are sorted along X.
static func _places_by_name(root: Node) -> Dictionary:
	var places := {}
	var waiting := [{"node": root, "pose": Transform3D.IDENTITY, "above": []}]
	while not waiting.is_empty():
		var parent: Dictionary = waiting.pop_back()
		for child: Node in parent["node"].get_children():
			var names := _original_names(str(child.name))
			var pose: Transform3D = parent["pose"] * _local_pose(child)
			waiting.append({"node": child, "pose": pose, "above": parent["above"] + names})
			if not child is Node3D or child is CollisionObject3D or child is CollisionShape3D:
				continue
			# The importer makes these for bones.
			if child is Skeleton3D or child is BoneAttachment3D:
				continue
			for name: String in names:
				var keys := {name: true}
				for owner: String in parent["above"]:
					keys[owner + "/" + name] = true
				for key: String in keys:
					if not places.has(key):
						places[key] = []
					places[key].append({"node": child, "pose": pose})
	for key: String in places:
		places[key] = _meshes_in(places[key])
		places[key].sort_custom(_is_before)
	return places


# The names that an object can have whose node has this one. The importer adds a number from 2 on to a name that is in use.
static func _original_names(name: String) -> Array:
	var names := [name]
	var base := name
	while base.length() > 1 and base.right(1).is_valid_int():
		var digit := base.right(1)
		base = base.left(base.length() - 1)
		if digit != "0" and name != base + "1":
			names.append(base)
	return names


static func _local_pose(node: Node) -> Transform3D:
	if node is BoneAttachment3D and node.get_parent() is Skeleton3D:
		var skeleton: Skeleton3D = node.get_parent()
		var joint := skeleton.find_bone(node.bone_name)
		if joint >= 0:
			return skeleton.get_bone_global_pose(joint)
	return node.transform if node is Node3D else Transform3D.IDENTITY


# Parts are named after their object: "Crate/part.0", "Crate/shape.1", "Hero/bone.Hand", "Hero/no bone".
static func _without_part(name: String) -> String:
	return RegEx.create_from_string("/((part|shape)\\.\\d+|bone\\..*|no bone)$").sub(name, "")


static func _object_id(entry: Dictionary) -> String:
	return _without_part(str(entry["id"]))


static func _pose_of(entry: Dictionary) -> Transform3D:
	var transform: Dictionary = entry["transform"]
	var basis := Basis(_quaternion(transform["rotation"])) * Basis.from_scale(_vector(transform["scale"]))
	return Transform3D(basis, _vector(transform["translation"]))


static func _skeleton_of(node: Node) -> Skeleton3D:
	var found: Variant = node.get_node_or_null(node.skeleton) if node is MeshInstance3D else null
	return found if found is Skeleton3D else null


# A new attachment to the joint of a bone in the skeleton of a mesh; null if there is no such joint that is not used.
static func _attachment(root: Node, place: Dictionary, entry: Dictionary, used: Dictionary) -> Node3D:
	var joint := _joint_of(place, entry, used)
	if joint < 0:
		return null
	used[[_object_id(entry), joint]] = true
	var skeleton := _skeleton_of(place["node"])
	var attachment := BoneAttachment3D.new()
	attachment.name = _node_name(entry["bone"])
	attachment.bone_name = skeleton.get_bone_name(joint)
	skeleton.add_child(attachment, true)
	attachment.owner = _owner_in(root)
	return attachment


static func _owner_in(root: Node) -> Node:
	return root.owner if root.owner != null else root


# Names of nodes cannot contain . : @ / " %
static func _node_name(name: String) -> String:
	return name.validate_node_name()


static func _primitive(kind: String, shape: Dictionary) -> CollisionShape3D:
	match kind:
		"obb":
			return _box_shape(shape)
		"sphere":
			return _sphere_shape(shape)
		"hull":
			return _hull_shape(shape)
		_:
			return _axial_shape(kind, shape)


static func _sphere_shape(sphere: Dictionary) -> CollisionShape3D:
	var node := CollisionShape3D.new()
	node.position = _vector(sphere["center"])
	var shape := SphereShape3D.new()
	shape.radius = float(sphere["radius"]) + SLACK * (float(sphere["radius"]) + node.position.length())
	node.shape = shape
	return node


static func _box_shape(box: Dictionary) -> CollisionShape3D:
	var node := CollisionShape3D.new()
	node.transform = Transform3D(Basis(_quaternion(box["rotation"])), _vector(box["center"]))
	return _with_box(node, _vector(box["halfExtents"]), 0.0)


static func _local_box_shape(entry: Dictionary, group: String) -> CollisionShape3D:
	var low := _vector(entry["local"]["aabb"]["min"])
	var high := _vector(entry["local"]["aabb"]["max"])
	var node := CollisionShape3D.new()
	node.position = (low + high) / 2.0
	var reach := low.length() + high.length()
	if group == "world":
		# Local shapes include the scale, so they are placed by translation and rotation alone.
		var rotation := Basis(_quaternion(entry["transform"]["rotation"]))
		var translation := _vector(entry["transform"]["translation"])
		node.transform = Transform3D(rotation, translation + rotation * node.position)
		reach += translation.length()
	return _with_box(node, (high - low) / 2.0, reach)


static func _with_box(node: CollisionShape3D, half: Vector3, reach: float) -> CollisionShape3D:
	var shape := BoxShape3D.new()
	shape.margin = MARGIN
	shape.size = 2.0 * (half + Vector3.ONE * SLACK * (reach + 2.0 * half.length() + node.position.length()))
	node.shape = shape
	return node


static func _axial_shape(kind: String, axial: Dictionary) -> CollisionShape3D:
	var node := CollisionShape3D.new()
	node.transform = Transform3D(_basis_along(_vector(axial["axis"])), _vector(axial["center"]))
	var half := float(axial["halfLength"])
	var radius := float(axial["radius"])
	var slack := 2.0 * SLACK * (half + radius + node.position.length())
	if kind == "capsule":
		var capsule := CapsuleShape3D.new()
		capsule.radius = radius + slack
		capsule.height = 2.0 * (half + capsule.radius)
		node.shape = capsule
	else:
		var cylinder := CylinderShape3D.new()
		cylinder.margin = MARGIN
		cylinder.radius = radius + slack
		cylinder.height = 2.0 * (half + slack)
		node.shape = cylinder
	return node


static func _hull_shape(hull: Dictionary) -> CollisionShape3D:
	var vertices: Array = hull["vertices"]
	var node := CollisionShape3D.new()
	# Points near their origin keep more digits in single precision.
	node.position = _vector(vertices[0])
	var points := PackedVector3Array()
	for vertex: Array in vertices:
		points.append(_difference(vertex, vertices[0]))
	var convex := ConvexPolygonShape3D.new()
	convex.margin = MARGIN
	convex.points = points
	node.shape = convex
	return node


static func _track(entry: Dictionary) -> Dictionary:
	var track := {"frames": PackedFloat64Array(entry["frames"])}
	if entry.has("aabb"):
		var boxes: Array[AABB] = []
		for k: int in entry["frames"].size():
			boxes.append(_box(_vector(entry["aabb"]["mins"][k]), _vector(entry["aabb"]["maxs"][k])))
		track["boxes"] = boxes
	if entry.has("sphere"):
		var centers := PackedVector3Array()
		var radii := PackedFloat64Array()
		for k: int in entry["frames"].size():
			var center := _vector(entry["sphere"]["centers"][k])
			var radius := float(entry["sphere"]["radii"][k])
			centers.append(center)
			radii.append(radius + SLACK * (radius + center.length()))
		track["centers"] = centers
		track["radii"] = radii
	return track


## Returns axes whose Y is along a unit vector, as capsules and cylinders are in Godot.
static func _basis_along(axis: Vector3) -> Basis:
	var side := axis.cross(Vector3.RIGHT if absf(axis.x) < 0.7 else Vector3.UP).normalized()
	return Basis(side, axis, side.cross(axis))


static func _box(low: Vector3, high: Vector3) -> AABB:
	return AABB(low, high - low).grow(SLACK * maxf(low.length(), high.length()))


static func _vector(values: Array) -> Vector3:
	return Vector3(values[0], values[1], values[2])


# Computed in double precision, then rounded.
static func _difference(values: Array, origin: Array) -> Vector3:
	return Vector3(values[0] - origin[0], values[1] - origin[1], values[2] - origin[2])


static func _quaternion(values: Array) -> Quaternion:
	return Quaternion(values[0], values[1], values[2], values[3]).normalized()


# Each of these checks a part of the document. It adds a sentence with the path of each broken key to the problems.
# This one returns the ids of the objects.
static func _check_objects(value: Variant, problems: Array[String]) -> Dictionary:
	var ids := {}
	var objects := _list(value, "objects", problems)
	for i: int in objects.size():
		var path := "objects[%d]" % i
		var entry := _table(objects[i], path, problems)
		var id := _text(entry.get("id"), path + ".id", problems)
		if ids.has(id):
			problems.append("%s.id: is used twice" % path)
		ids[id] = true
		_text(entry.get("name"), path + ".name", problems)
		var transform := _table(entry.get("transform"), path + ".transform", problems)
		_check_numbers(transform.get("translation"), 3, path + ".transform.translation", problems)
		_check_rotation(transform.get("rotation"), path + ".transform.rotation", problems)
		_check_numbers(transform.get("scale"), 3, path + ".transform.scale", problems)
		_check_shapes(entry.get("world"), path + ".world", problems)
		_check_shapes(entry.get("local"), path + ".local", problems)
		if entry.has("envelope"):
			var envelope := _table(entry["envelope"], path + ".envelope", problems)
			_check_shapes(envelope, path + ".envelope", problems)
			if envelope.has("local"):
				_check_shapes(envelope["local"], path + ".envelope.local", problems)
		if entry.has("bone"):
			_text(entry["bone"], path + ".bone", problems)
		if entry.has("collision"):
			_check_collision(_table(entry["collision"], path + ".collision", problems), path + ".collision", problems)
	for i: int in objects.size():
		if objects[i] is Dictionary and objects[i].get("parent", "") != null:
			_check_id(objects[i].get("parent", ""), ids, "objects[%d].parent" % i, problems)
	return ids


static func _check_tracks(value: Variant, ids: Dictionary, problems: Array[String]) -> void:
	var tracked := {}
	var tracks := _list(value, "tracks", problems)
	for i: int in tracks.size():
		var path := "tracks[%d]" % i
		var entry := _table(tracks[i], path, problems)
		var id := _text(entry.get("object"), path + ".object", problems)
		_check_id(id, ids, path + ".object", problems)
		if tracked.has(id):
			problems.append("%s.object: is used twice" % path)
		tracked[id] = true
		var frames := _list(entry.get("frames"), path + ".frames", problems)
		for k: int in frames.size():
			_check_number(frames[k], "%s.frames[%d]" % [path, k], problems)
		if entry.has("aabb"):
			var box := _table(entry["aabb"], path + ".aabb", problems)
			var low := _per_frame(box.get("mins"), frames, path + ".aabb.mins", problems)
			var high := _per_frame(box.get("maxs"), frames, path + ".aabb.maxs", problems)
			for k: int in mini(low.size(), high.size()):
				var names := ["%s.aabb.mins[%d]" % [path, k], "%s.aabb.maxs[%d]" % [path, k]]
				_check_box(low[k], high[k], names, problems)
		if entry.has("sphere"):
			var sphere := _table(entry["sphere"], path + ".sphere", problems)
			var centers := _per_frame(sphere.get("centers"), frames, path + ".sphere.centers", problems)
			var radii := _per_frame(sphere.get("radii"), frames, path + ".sphere.radii", problems)
			for k: int in centers.size():
				_check_numbers(centers[k], 3, "%s.sphere.centers[%d]" % [path, k], problems)
			for k: int in radii.size():
				_check_size(radii[k], "%s.sphere.radii[%d]" % [path, k], problems)


static func _check_shapes(value: Variant, path: String, problems: Array[String]) -> void:
	var shapes := _table(value, path, problems)
	if shapes.has("aabb"):
		var box := _table(shapes["aabb"], path + ".aabb", problems)
		_check_box(box.get("min"), box.get("max"), [path + ".aabb.min", path + ".aabb.max"], problems)
	if shapes.has("sphere"):
		var sphere := _table(shapes["sphere"], path + ".sphere", problems)
		_check_numbers(sphere.get("center"), 3, path + ".sphere.center", problems)
		_check_size(sphere.get("radius"), path + ".sphere.radius", problems)
	if shapes.has("obb"):
		var box := _table(shapes["obb"], path + ".obb", problems)
		_check_numbers(box.get("center"), 3, path + ".obb.center", problems)
		if _check_numbers(box.get("halfExtents"), 3, path + ".obb.halfExtents", problems):
			if box["halfExtents"].min() < 0.0:
				problems.append("%s.obb.halfExtents: must not be negative" % path)
		_check_rotation(box.get("rotation"), path + ".obb.rotation", problems)
	for kind: String in ["capsule", "cylinder"]:
		if shapes.has(kind):
			_check_axial(_table(shapes[kind], path + "." + kind, problems), path + "." + kind, problems)
	if shapes.has("hull"):
		_check_hull(_table(shapes["hull"], path + ".hull", problems), path + ".hull", problems)
	if shapes.has("spheres"):
		_check_tree(_list(shapes["spheres"], path + ".spheres", problems), path + ".spheres", problems)
	if shapes.has("compound"):
		var parts := _list(shapes["compound"], path + ".compound", problems)
		for i: int in parts.size():
			var part := _table(parts[i], "%s.compound[%d]" % [path, i], problems)
			if not (part.has("hull") or part.has("obb") or part.has("sphere") or part.has("capsule")):
				problems.append("%s.compound[%d]: must have a hull, obb, sphere or capsule" % [path, i])
			_check_shapes(part, "%s.compound[%d]" % [path, i], problems)


static func _check_collision(collision: Dictionary, path: String, problems: Array[String]) -> void:
	if not _text(collision.get("response"), path + ".response", problems) in ["solid", "trigger", "none"]:
		problems.append("%s.response: must be solid, trigger or none" % path)
	if not _are_indices([collision.get("group")], 1, 17):
		problems.append("%s.group: must be a whole number, 1 to 16" % path)
	if not _are_indices([collision.get("mask")], 0, 65536):
		problems.append("%s.mask: must be a whole number, 0 to 65535" % path)
	if collision.get("material", "") != null:
		_text(collision.get("material"), path + ".material", problems)


static func _check_hull(hull: Dictionary, path: String, problems: Array[String]) -> void:
	var vertices := _list(hull.get("vertices"), path + ".vertices", problems)
	for i: int in vertices.size():
		_check_numbers(vertices[i], 3, "%s.vertices[%d]" % [path, i], problems)
	if vertices.is_empty():
		problems.append("%s.vertices: must not be empty" % path)
	var faces := _list(hull.get("faces"), path + ".faces", problems)
	for i: int in faces.size():
		if not _are_indices(faces[i], 0, vertices.size()) or faces[i].size() != 3:
			problems.append("%s.faces[%d]: must be 3 indices of vertices" % [path, i])


static func _check_tree(nodes: Array, path: String, problems: Array[String]) -> void:
	for i: int in nodes.size():
		var node := _table(nodes[i], "%s[%d]" % [path, i], problems)
		_check_numbers(node.get("center"), 3, "%s[%d].center" % [path, i], problems)
		_check_size(node.get("radius"), "%s[%d].radius" % [path, i], problems)
		if not _are_indices(node.get("children"), i + 1, nodes.size()):
			problems.append("%s[%d].children: must be indices of later nodes" % [path, i])


# Whether a value is a list of whole numbers from `first` on that are less than `end`.
static func _are_indices(value: Variant, first: int, end: int) -> bool:
	if not value is Array:
		return false
	for index: Variant in value:
		if not _is_number(index) or index != floorf(index) or index < first or index >= end:
			return false
	return true


static func _check_axial(axial: Dictionary, path: String, problems: Array[String]) -> void:
	_check_numbers(axial.get("center"), 3, path + ".center", problems)
	if _check_numbers(axial.get("axis"), 3, path + ".axis", problems):
		var length := Vector3(axial["axis"][0], axial["axis"][1], axial["axis"][2]).length()
		if not absf(length - 1.0) < 1e-3:
			problems.append("%s.axis: must have length 1" % path)
	_check_size(axial.get("halfLength"), path + ".halfLength", problems)
	_check_size(axial.get("radius"), path + ".radius", problems)


static func _check_box(low: Variant, high: Variant, paths: Array, problems: Array[String]) -> void:
	var is_low := _check_numbers(low, 3, paths[0], problems)
	var is_high := _check_numbers(high, 3, paths[1], problems)
	if is_low and is_high and (low[0] > high[0] or low[1] > high[1] or low[2] > high[2]):
		problems.append("%s: must not be above max" % paths[0])


static func _check_rotation(value: Variant, path: String, problems: Array[String]) -> void:
	if _check_numbers(value, 4, path, problems):
		var length := Vector4(value[0], value[1], value[2], value[3]).length()
		if not absf(length - 1.0) < 1e-3:
			problems.append("%s: must have length 1" % path)


static func _check_numbers(value: Variant, count: int, path: String, problems: Array[String]) -> bool:
	var is_valid: bool = value is Array and value.size() == count
	if is_valid:
		for number: Variant in value:
			is_valid = is_valid and _is_number(number)
	if not is_valid:
		problems.append("%s: must be %d finite numbers" % [path, count])
	return is_valid


static func _check_number(value: Variant, path: String, problems: Array[String]) -> bool:
	if not _is_number(value):
		problems.append("%s: must be a finite number" % path)
	return _is_number(value)


static func _check_size(value: Variant, path: String, problems: Array[String]) -> void:
	if _check_number(value, path, problems) and value < 0.0:
		problems.append("%s: must not be negative" % path)


static func _check_id(value: Variant, ids: Dictionary, path: String, problems: Array[String]) -> void:
	if not ids.has(value):
		problems.append("%s: is not the id of an object" % path)


static func _is_number(value: Variant) -> bool:
	return (value is float or value is int) and is_finite(value)


# Each of these returns a value of the document, or an empty one if it has another type.
static func _text(value: Variant, path: String, problems: Array[String]) -> String:
	if value is String:
		return value
	problems.append("%s: must be text" % path)
	return ""


static func _list(value: Variant, path: String, problems: Array[String]) -> Array:
	if value is Array:
		return value
	problems.append("%s: must be a list" % path)
	return []


static func _per_frame(value: Variant, frames: Array, path: String, problems: Array[String]) -> Array:
	var items := _list(value, path, problems)
	if items.size() != frames.size():
		problems.append("%s: must have one item per frame" % path)
	return items


static func _table(value: Variant, path: String, problems: Array[String]) -> Dictionary:
	if value is Dictionary:
		return value
	problems.append("%s: must be an object" % path)
	return {}
