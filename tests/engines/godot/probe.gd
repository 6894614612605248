# Loads imported scenes and documents in Godot, and tests by queries of its physics engine that vertices are inside of
# bodies. Reads `tasks.json` of the project, and writes `results.json`: for each task a list of groups, each with the
# vertices of a mesh, or of a bone, and the bodies that are around them.
extends SceneTree

# Least radius of balls around vertices: relative to the size of the mesh, to the distance from the origin, where single
# precision rounds, and in meters.
const OF_SIZE := 1e-4
const OF_DISTANCE := 1e-6
const LEAST := 1e-5
const GROWTH := 1.25
# Jolt Physics misses some balls whose center is exactly on an edge.
const OFF_CENTER := Vector3(0.036, 0.048, 0.08)
# Part of the way to the middle, for points that are inside also where corners are rounded.
const INWARD := 0.05
# Godot 4.6 imports all shape keys at 0. This is the value of those in the files.
const SHAPE_KEY := 0.7
const TESTED_LAYER := 1 << 20
# A script that fails would otherwise run forever.
const LAST_FRAME := 20000

var _frames := 0
var _loader: GDScript = load("res://collision_bounds.gd")
var _point := PhysicsPointQueryParameters3D.new()
var _ball := PhysicsShapeQueryParameters3D.new()


func _initialize() -> void:
	Engine.physics_ticks_per_second = 1000
	_ball.shape = SphereShape3D.new()
	for query: RefCounted in [_point, _ball]:
		query.collision_mask = TESTED_LAYER
		query.collide_with_areas = true
	_run.call_deferred()


func _process(_delta: float) -> bool:
	_frames += 1
	return _frames > LAST_FRAME


func _run() -> void:
	var results := {}
	for task: Dictionary in _read("tasks.json"):
		var scene := Node3D.new()
		if task.has("scene"):
			scene.free()
			scene = load("res://" + task["scene"]).instantiate()
			for mesh: MeshInstance3D in scene.find_children("*", "MeshInstance3D", true, false):
				for number in mesh.get_blend_shape_count():
					mesh.set_blend_shape_value(number, SHAPE_KEY)
		get_root().add_child(scene)
		var groups := _groups(scene, task)
		await physics_frame
		results[task["name"]] = groups.map(_tested)
		scene.free()
	var file := FileAccess.open("res://results.json", FileAccess.WRITE)
	file.store_string(JSON.stringify(results, "", true, true))
	file.close()
	quit()


func _read(path: String) -> Variant:
	return JSON.parse_string(FileAccess.get_file_as_string("res://" + path))


# Names, vertices in the world and bodies. A document is added to the scene of the task, or to an empty scene.
func _groups(scene: Node3D, task: Dictionary) -> Array:
	var groups: Array = []
	var points: Dictionary = _read(task["points"]) if task.has("points") else {}
	if task.has("document"):
		var objects: Dictionary = _loader.read("res://" + task["document"])
		if task.has("scene"):
			for body: CollisionObject3D in _loader.add_to(scene, objects):
				groups.append(_group(scene, body.get_parent(), [body]))
			return groups
		var bodies: Node3D = _loader.bodies(objects)
		scene.add_child(bodies)
		for i in objects.size():
			var id: String = objects.keys()[i]
			groups.append({"name": id, "above": "", "points": _packed(points[id]), "bodies": [bodies.get_child(i)]})
		return groups
	for above: Node3D in scene.find_children("*", "Node3D", true, false):
		var bodies := above.get_children().filter(func(node: Node) -> bool: return node is CollisionObject3D)
		if task.has("points"):
			if above.has_meta("extras"):
				var id: String = above.get_meta("extras")["id"]
				groups.append({"name": id, "above": "", "points": _packed(points[id]), "bodies": bodies})
		elif above is MeshInstance3D or not bodies.is_empty():
			groups.append(_group(scene, above, bodies))
	return groups


func _group(scene: Node3D, above: Node3D, bodies: Array) -> Dictionary:
	var points := PackedVector3Array()
	if above is MeshInstance3D:
		points = _vertices(above, "")
	elif above is BoneAttachment3D:
		for mesh: MeshInstance3D in scene.find_children("*", "MeshInstance3D", true, false):
			if mesh.skin != null and mesh.get_node_or_null(mesh.skeleton) == above.get_parent():
				points.append_array(_vertices(mesh, above.bone_name))
	return {"name": str(above.name), "above": above.get_class(), "points": points, "bodies": bodies}


# Vertices of a mesh in the world, with its shape keys and bones: all, or those on which a bone has the largest weight.
func _vertices(mesh: MeshInstance3D, bone: String) -> PackedVector3Array:
	var found := PackedVector3Array()
	var skeleton: Skeleton3D = mesh.get_node_or_null(mesh.skeleton) if mesh.skin != null else null
	for surface in mesh.mesh.get_surface_count():
		var arrays := mesh.mesh.surface_get_arrays(surface)
		var vertices := _shaped(mesh, surface, arrays[Mesh.ARRAY_VERTEX])
		if skeleton == null:
			found.append_array(mesh.global_transform * vertices)
			continue
		var count: int = arrays[Mesh.ARRAY_BONES].size() / vertices.size()
		for i in vertices.size():
			var sum := Vector3.ZERO
			var by_bone := {}
			for k in range(i * count, (i + 1) * count):
				var bind: int = arrays[Mesh.ARRAY_BONES][k]
				var weight: float = arrays[Mesh.ARRAY_WEIGHTS][k]
				var joint := mesh.skin.get_bind_bone(bind)
				if joint < 0:
					joint = skeleton.find_bone(mesh.skin.get_bind_name(bind))
				sum += weight * (skeleton.get_bone_global_pose(joint) * mesh.skin.get_bind_pose(bind) * vertices[i])
				var name := skeleton.get_bone_name(joint)
				by_bone[name] = by_bone.get(name, 0.0) + weight
			var total: float = by_bone.values().reduce(func(a: float, b: float) -> float: return a + b)
			var others: Array = by_bone.keys().filter(func(name: String) -> bool: return name != bone)
			var most: float = others.map(func(name: String) -> float: return by_bone[name]).reduce(maxf, 0.0)
			# Equal weights are rounded in the file.
			if bone == "" or by_bone.get(bone, 0.0) > most + 0.01:
				found.append(skeleton.global_transform * (sum / total))
	return found


func _shaped(mesh: MeshInstance3D, surface: int, vertices: PackedVector3Array) -> PackedVector3Array:
	var shaped := vertices.duplicate()
	var shapes: Array = mesh.mesh.surface_get_blend_shape_arrays(surface)
	var is_relative: bool = mesh.mesh.blend_shape_mode == Mesh.BLEND_SHAPE_MODE_RELATIVE
	for number in shapes.size():
		for i in vertices.size():
			var offset: Vector3 = shapes[number][Mesh.ARRAY_VERTEX][i]
			if not is_relative:
				offset -= vertices[i]
			shaped[i] += mesh.get_blend_shape_value(number) * offset
	return shaped


func _tested(group: Dictionary) -> Dictionary:
	var points: PackedVector3Array = group["points"]
	var bodies: Array = group["bodies"]
	var result := {"name": group["name"], "above": group["above"], "points": [], "shapes": []}
	for point in points:
		result["points"].append([point.x, point.y, point.z])
	for body: CollisionObject3D in bodies:
		result["shapes"].append_array(body.find_children("*", "CollisionShape3D", true, false).map(_shape))
	if points.is_empty() or bodies.is_empty():
		return result
	for body: CollisionObject3D in bodies:
		body.collision_layer = TESTED_LAYER
	result.merge(_outside(points, result["shapes"]))
	for body: CollisionObject3D in bodies:
		body.collision_layer = 1
	return result


# What queries of the bodies in the tested layer find: `gap`, the radius with which balls around all points touch a body;
# the number of points that are outside although they are inward of the vertices; and that of points far away inside.
func _outside(points: PackedVector3Array, shapes: Array) -> Dictionary:
	var state := get_root().world_3d.direct_space_state
	var bounds := AABB(points[0], Vector3.ZERO)
	var middle := Vector3.ZERO
	for point in points:
		bounds = bounds.expand(point)
		middle += point / points.size()
	var size := bounds.size.length()
	var distance := maxf(bounds.position.length(), bounds.end.length())
	var radius := OF_SIZE * size + OF_DISTANCE * distance + LEAST
	var found := {"size": size, "distance": distance, "gap": 0.0, "inward": 0, "far": 0}
	var is_surface: bool = shapes.any(func(shape: Dictionary) -> bool: return "Concave" in shape["kind"])
	var farthest := middle
	for i in points.size():
		if points[i].distance_to(middle) > farthest.distance_to(middle):
			farthest = points[i]
		if is_surface:
			# A ray through a corner of the surface could pass between its triangles.
			var gap := size
			for k in range(1, 8):
				if gap > radius:
					gap = minf(gap, _gap_of_surface(points[i], points[(i + k) % points.size()], middle, size))
			found["gap"] = maxf(found["gap"], gap)
			continue
		_ball.shape.radius = maxf(radius, found["gap"])
		_ball.transform.origin = points[i] + OFF_CENTER * _ball.shape.radius
		while state.intersect_shape(_ball, 1).is_empty() and _ball.shape.radius < size:
			_ball.shape.radius *= GROWTH
			_ball.transform.origin = points[i] + OFF_CENTER * _ball.shape.radius
		found["gap"] = _ball.shape.radius
		_point.position = points[i].lerp(middle, INWARD)
		found["inward"] += int(state.intersect_point(_point, 1).is_empty())
	for side: float in [3.0, -3.0]:
		_point.position = middle + side * (farthest - middle)
		found["far"] += state.intersect_point(_point, 1).size()
	return found


# Distance of a point from a surface before it, as seen from outside in the direction of the middle. A surface has no
# inside.
func _gap_of_surface(point: Vector3, other: Vector3, middle: Vector3, size: float) -> float:
	var target := point.lerp((middle + other) / 2.0, 1e-3)
	var start := middle + 4.0 * size * middle.direction_to(target)
	var ray := PhysicsRayQueryParameters3D.create(start, middle, TESTED_LAYER)
	var hit := get_root().world_3d.direct_space_state.intersect_ray(ray)
	return size if hit.is_empty() else target.distance_to(middle) - hit["position"].distance_to(middle)


func _shape(node: CollisionShape3D) -> Dictionary:
	var shape := node.shape
	var basis := node.global_basis
	var columns := [basis.x, basis.y, basis.z, node.global_position]
	var result := {
		"kind": shape.get_class(),
		"columns": columns.map(func(column: Vector3) -> Array: return [column.x, column.y, column.z]),
	}
	if shape is BoxShape3D:
		result["size"] = [shape.size.x, shape.size.y, shape.size.z]
	elif shape is SphereShape3D:
		result["radius"] = shape.radius
	elif shape is CapsuleShape3D or shape is CylinderShape3D:
		result["radius"] = shape.radius
		result["height"] = shape.height
	return result


func _packed(points: Array) -> PackedVector3Array:
	var packed := PackedVector3Array()
	for point: Array in points:
		packed.append(Vector3(point[0], point[1], point[2]))
	return packed
