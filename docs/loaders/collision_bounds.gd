# Collision Bounds in Godot 4.2 and later: a document's shapes as AABB, and as collision shapes of bodies.
#
#   var level := CollisionBounds.read("res://level.json")
#   for id in level:
#       print(id, CollisionBounds.to_aabb(level[id]["world"]))
#   add_child(CollisionBounds.static_body(level))
#   var boxes: Array[AABB] = CollisionBounds.read_tracks("res://level.json")["Crate"]["boxes"]
#
# Write the document with `--preset gltf`: metres with Y up, as Godot has it. What goes wrong is told by push_error,
# and there are no objects, or tracks, then.
#
# Checked by: the parser of gdtoolkit, in the project's tests. It has not been run in Godot there.
class_name CollisionBounds
extends RefCounted

# Numbers are rounded to single precision on their way into a Vector3: this much of a size or a
# distance is more than that loses.
const SLACK := 5e-7


## The objects of a document, by id: dictionaries with "name", "parent", "transform" and shapes as in the document.
static func read(path: String) -> Dictionary:
	var objects := {}
	for entry: Dictionary in _document(path).get("objects", []):
		objects[entry["id"]] = entry
	return objects


## The tracks of a document, by the ids of their objects, of `bounds --tracks`: dictionaries with "frames", and with
## what was asked for of "boxes" (an Array of AABB), "centers" and "radii" (of spheres), in the world, one each frame.
static func read_tracks(path: String) -> Dictionary:
	var tracks := {}
	for entry: Dictionary in _document(path).get("tracks", []):
		if not _is_even(entry):
			push_error("%s: is damaged, in its tracks: write it again" % path)
			return {}
		tracks[entry["object"]] = _track(entry)
	return tracks


# The document, or nothing at all if that is not what it is.
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
		push_error("%s: is of version %s, and this reads version 1" % [path, document.get("version")])
		return {}
	var lists := [document.get("objects"), document.get("tracks")]
	if not document.get("space") is Dictionary or not lists.all(func(list): return list is Array):
		push_error("%s: is damaged: write it again" % path)
		return {}
	var preset := str(document["space"].get("preset"))
	if preset != "gltf":
		push_error("%s: is in the space \"%s\": write it with --preset gltf" % [path, preset])
		return {}
	return document


## The box of shapes ("world", "local" or "envelope" of an object), or around their sphere if they have no box.
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
		push_error("Collision Bounds: neither a box nor a sphere: write the document with --shapes sphere,aabb")
		return AABB()
	return _box(low, high)


## A collision shape in the world: "box" is the oriented box, or else the one along the object's axes; "sphere".
static func collision_shape(entry: Dictionary, shape := "box") -> CollisionShape3D:
	var node := CollisionShape3D.new()
	# Names of nodes have none of . : @ / " %
	node.name = str(entry["name"]).validate_node_name()
	if shape == "sphere" and entry["world"].has("sphere"):
		var ball: Dictionary = entry["world"]["sphere"]
		var round_shape := SphereShape3D.new()
		node.position = _vector(ball["center"])
		round_shape.radius = float(ball["radius"]) + SLACK * (float(ball["radius"]) + node.position.length())
		node.shape = round_shape
	elif shape == "box" and (entry["world"].has("obb") or entry["local"].has("aabb")):
		var box := BoxShape3D.new()
		var half: Vector3
		var reach := 0.0
		if entry["world"].has("obb"):
			var turned: Dictionary = entry["world"]["obb"]
			half = _vector(turned["halfExtents"])
			node.transform = Transform3D(Basis(_quaternion(turned["rotation"])), _vector(turned["center"]))
		else:
			# Local shapes have the scale in them: place and rotation alone put them into the world.
			var low := _vector(entry["local"]["aabb"]["min"])
			var high := _vector(entry["local"]["aabb"]["max"])
			half = (high - low) / 2.0
			var turn := Basis(_quaternion(entry["transform"]["rotation"]))
			var place := _vector(entry["transform"]["translation"])
			node.transform = Transform3D(turn, place + turn * ((low + high) / 2.0))
			reach = low.length() + high.length() + place.length()
		reach += 2.0 * half.length() + node.position.length()
		box.size = 2.0 * (half + Vector3.ONE * SLACK * reach)
		node.shape = box
	else:
		push_error("Collision Bounds: %s has no %s in this document" % [entry["name"], shape])
		node.free()
		return null
	return node


## A body with a collision shape for each object, none of them scaled.
static func static_body(objects: Dictionary, shape := "box") -> StaticBody3D:
	var body := StaticBody3D.new()
	body.name = "CollisionBounds"
	for entry: Dictionary in objects.values():
		var node := collision_shape(entry, shape)
		if node != null:
			body.add_child(node, true)
	return body


# Whether there are as many shapes as frames.
static func _is_even(entry: Dictionary) -> bool:
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


static func _vector(told: Array) -> Vector3:
	return Vector3(told[0], told[1], told[2])


static func _quaternion(told: Array) -> Quaternion:
	return Quaternion(told[0], told[1], told[2], told[3]).normalized()
