# Collision Bounds loader for Godot 4.2 and later: the shapes of a document as AABB and as collision shapes.
#
#   var level := CollisionBounds.read("res://level.json")
#   for id in level:
#       print(id, CollisionBounds.to_aabb(level[id]["world"]))
#   add_child(CollisionBounds.static_body(level))
#   var boxes: Array[AABB] = CollisionBounds.read_tracks("res://level.json")["Crate"]["boxes"]
#
# Export the document with `--preset gltf`: meters, Y up, as in Godot. Errors are reported with push_error.
# `read` and `read_tracks` return an empty dictionary then.
#
# Tested with the parser of gdtoolkit, in the project's tests. They do not run it in Godot.
class_name CollisionBounds
extends RefCounted

# A Vector3 rounds numbers to single precision. This is more than the rounding error, relative to a size or a
# distance.
const SLACK := 5e-7


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
	for entry: Dictionary in _document(path).get("tracks", []):
		if not _has_shape_per_frame(entry):
			push_error("%s: is damaged, in its tracks: export it again" % path)
			return {}
		tracks[entry["object"]] = _track(entry)
	return tracks


# The document. Empty after an error.
static func _document(path: String) -> Dictionary:
	var file := FileAccess.open(path, FileAccess.READ)
	if file == null:
		push_error("%s: cannot be opened (%s)" % [path, error_string(FileAccess.get_open_error())])
		return {}
	var parser := JSON.new()
	if parser.parse(file.get_as_text()) != OK:
		push_error("%s: is not JSON (line %d: %s)" % [path, parser.get_error_line(), parser.get_error_message()])
		return {}
	if not parser.data is Dictionary or parser.data.get("format") != "collision-bounds":
		push_error("%s: is not a Collision Bounds document" % path)
		return {}
	var document: Dictionary = parser.data
	if not str(document.get("version")).begins_with("1."):
		push_error("%s: has version %s, but this loader reads version 1" % [path, document.get("version")])
		return {}
	var lists := [document.get("objects"), document.get("tracks")]
	if not document.get("space") is Dictionary or not lists.all(func(list): return list is Array):
		push_error("%s: is damaged: export it again" % path)
		return {}
	var preset := str(document["space"].get("preset"))
	if preset != "gltf":
		push_error("%s: is in the space \"%s\": export it with --preset gltf" % [path, preset])
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


## Returns a collision shape in world space. "box" is the oriented box, or the box along the object's own axes if
## there is no oriented box. "sphere" is the sphere.
static func collision_shape(entry: Dictionary, shape := "box") -> CollisionShape3D:
	var node := CollisionShape3D.new()
	# Names of nodes cannot contain . : @ / " %
	node.name = str(entry["name"]).validate_node_name()
	if shape == "sphere" and entry["world"].has("sphere"):
		var sphere: Dictionary = entry["world"]["sphere"]
		var round_shape := SphereShape3D.new()
		node.position = _vector(sphere["center"])
		round_shape.radius = float(sphere["radius"]) + SLACK * (float(sphere["radius"]) + node.position.length())
		node.shape = round_shape
	elif shape == "box" and (entry["world"].has("obb") or entry["local"].has("aabb")):
		var box := BoxShape3D.new()
		var half: Vector3
		var reach := 0.0
		if entry["world"].has("obb"):
			var oriented: Dictionary = entry["world"]["obb"]
			half = _vector(oriented["halfExtents"])
			node.transform = Transform3D(Basis(_quaternion(oriented["rotation"])), _vector(oriented["center"]))
		else:
			# Local shapes include the scale, so they are placed by translation and rotation alone.
			var low := _vector(entry["local"]["aabb"]["min"])
			var high := _vector(entry["local"]["aabb"]["max"])
			half = (high - low) / 2.0
			var rotation := Basis(_quaternion(entry["transform"]["rotation"]))
			var translation := _vector(entry["transform"]["translation"])
			node.transform = Transform3D(rotation, translation + rotation * ((low + high) / 2.0))
			reach = low.length() + high.length() + translation.length()
		reach += 2.0 * half.length() + node.position.length()
		box.size = 2.0 * (half + Vector3.ONE * SLACK * reach)
		node.shape = box
	else:
		push_error("Collision Bounds: %s has no %s in this document" % [entry["name"], shape])
		node.free()
		return null
	return node


## Returns a body with a collision shape for each object. No shape is scaled.
static func static_body(objects: Dictionary, shape := "box") -> StaticBody3D:
	var body := StaticBody3D.new()
	body.name = "CollisionBounds"
	for entry: Dictionary in objects.values():
		var node := collision_shape(entry, shape)
		if node != null:
			body.add_child(node, true)
	return body


# Returns whether there is one shape for each frame.
static func _has_shape_per_frame(entry: Dictionary) -> bool:
	for kind in ["aabb", "sphere"]:
		for values: Array in entry.get(kind, {}).values():
			if values.size() != entry["frames"].size():
				return false
	return true


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


static func _box(low: Vector3, high: Vector3) -> AABB:
	return AABB(low, high - low).grow(SLACK * maxf(low.length(), high.length()))


static func _vector(values: Array) -> Vector3:
	return Vector3(values[0], values[1], values[2])


static func _quaternion(values: Array) -> Quaternion:
	return Quaternion(values[0], values[1], values[2], values[3]).normalized()
