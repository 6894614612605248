// Bounds in 3D: the selected objects as surfaces, all of them as lines.
import * as THREE from "three";
import { OrbitControls } from "three/OrbitControls";
import { button, color, element, menu, number, onColors } from "report/texts";

/** Blender's axes to those of three.js. */
const FROM_BLENDER = new THREE.Matrix4().set(1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1);
const NAMES = { aabb: "boxes", obb: "oriented boxes", sphere: "spheres", spheres: "sphere trees", capsule: "capsules", cylinder: "cylinders", hull: "hulls", mesh: "meshes" };
/** Shape that is drawn for a row: documents have no triangles, so boxes stand for meshes. */
const drawnShape = (row) => (row.shape === "mesh" ? "aabb" : row.shape);
/** Lines of objects that are not selected: more would be slow without a graphics card. */
const MOST_LINES = 15000;

export function makeView(section, contents) {
  const holder = section.querySelector(".canvas");
  const caption = section.querySelector(".caption");
  const isRun = contents.kind === "batch";
  const hasShape = (name) => (isRun ? contents.rows.some((row) => row.bounds && drawnShape(row) === name) : contents.objects.some((entry) => entry.world[name]));
  const shapes = Object.keys(NAMES).filter(hasShape);
  const stage = makeStage(holder);
  if (!isRun) stage.orient(contents.fromBlender);
  const state = { shape: shapes[0], indices: [], row: null };

  const update = (fits) => {
    release(stage.selection);
    const parts = isRun ? (state.row?.bounds ?? []) : state.indices.map((index) => shapeOf(contents, index, state.shape, state.row));
    parts.forEach((part, order) => part && stage.selection.add(...solid(part.shape, state.shape, color(order ? "second" : "first"))));
    if (state.row?.point && parts.length === 2 && parts.some(Boolean)) stage.selection.add(...marker(state.row, stage.sizeOf(stage.selection)));
    release(stage.context);
    const context = all.checked && !isRun ? nearestOutlines(contents.objects, state) : null;
    if (context) stage.context.add(context.lines);
    caption.textContent = sentence(contents, state, parts, shapes);
    const { drawn = 0, found = 0 } = context ?? {};
    section.querySelector(".count").textContent = drawn < found ? `lines of the nearest ${drawn} of ${found} objects` : "";
    section.dataset.shown = parts.filter(Boolean).length;
    if (fits) stage.fit(isRun || state.indices.length ? stage.selection : stage.context);
    stage.draw();
  };
  const all = element("input", { type: "checkbox", checked: true });
  all.addEventListener("change", () => update(false));
  const { label, select } = menu("Shape", shapes, (name) => {
    state.shape = name;
    update(true);
  });
  for (const option of select.options) option.textContent = NAMES[option.value];
  const form = section.querySelector(".filters");
  // The page of a run has the bounds of each pair alone.
  if (!isRun) form.append(label, element("label", { className: "check" }, all, "All objects"));
  form.append(button("Fit", "Show the selection as a whole", () => update(true)));
  addKeys(holder, stage);
  onColors(() => update(false));
  update(true);
  return {
    stage,
    showPair(row) {
      if (isRun) stage.orient(contents.files.find((file) => file.name === row.file).fromBlender);
      const usable = shapes.includes(drawnShape(row)) ? drawnShape(row) : state.shape;
      Object.assign(state, { indices: row.objects ?? [], row, shape: usable });
      select.value = usable;
      update(true);
    },
    showObject(index) {
      Object.assign(state, { indices: [index], row: null });
      if (!contents.objects[index].world[state.shape]) {
        state.shape = shapes.find((name) => contents.objects[index].world[name]) ?? state.shape;
        select.value = state.shape;
      }
      update(true);
    },
  };
}

function makeStage(holder) {
  const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
  holder.append(renderer.domElement);
  const scene = new THREE.Scene();
  scene.add(new THREE.HemisphereLight(0xffffff, 0x8899aa, 2.2));
  const sun = new THREE.DirectionalLight(0xffffff, 1.2);
  sun.position.set(1, 2, 1.5);
  scene.add(sun);
  const root = new THREE.Group();
  root.matrixAutoUpdate = false;
  // From the space of the document to Blender's, which can mirror and scale, then to that of three.js.
  const orient = ([a, b, c, d, e, f, g, h, i]) => {
    const space = new THREE.Matrix4().set(a, b, c, 0, d, e, f, 0, g, h, i, 0, 0, 0, 0, 1);
    root.matrix.multiplyMatrices(FROM_BLENDER, space.invert());
    root.updateMatrixWorld(true);
  };
  const selection = new THREE.Group();
  const context = new THREE.Group();
  root.add(selection, context);
  scene.add(root);
  const camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
  const controls = new OrbitControls(camera, renderer.domElement);
  let waits = false;
  const draw = () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      renderer.render(scene, camera);
    });
  };
  controls.addEventListener("change", draw);
  new ResizeObserver(() => {
    const { clientWidth: width, clientHeight: height } = holder;
    if (!width || !height) return;
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    renderer.setSize(width, height);
    renderer.render(scene, camera);
  }).observe(holder);
  const sizeOf = (group) => new THREE.Box3().setFromObject(group).getSize(new THREE.Vector3()).length();
  const fit = (group) => {
    root.updateMatrixWorld(true);
    const box = new THREE.Box3().setFromObject(group);
    if (box.isEmpty()) return;
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    const radius = Math.max(sphere.radius, 1e-6);
    const direction = new THREE.Vector3(0.7, 0.55, 1).normalize();
    const distance = radius / Math.sin((camera.fov / 2) * (Math.PI / 180)) / Math.min(1, camera.aspect);
    camera.position.copy(sphere.center).addScaledVector(direction, distance * 1.1);
    camera.near = distance / 200;
    camera.far = distance * 200;
    camera.updateProjectionMatrix();
    controls.target.copy(sphere.center);
    controls.update();
  };
  return { renderer, scene, camera, controls, selection, context, draw, fit, orient, sizeOf, root };
}

/** Shape of an object at the first contact if its track has it, else that of the reference frame. */
function shapeOf(contents, index, name, row) {
  const track = row ? contents.tracks[index] : undefined;
  if (track?.[name]) {
    const after = track.frames.findIndex((frame) => frame > row.frame);
    const at = (after < 0 ? track.frames.length : after) - 1;
    if (at >= 0) {
      const { centers, radii, mins, maxs } = track[name];
      const shape = name === "sphere" ? { center: centers[at], radius: radii[at] } : { min: mins[at], max: maxs[at] };
      return { shape, frame: track.frames[at], isTracked: true };
    }
  }
  const shape = contents.objects[index].world[name];
  return shape ? { shape, frame: contents.time.referenceFrame, isTracked: false } : null;
}

function sentence(contents, state, parts, shapes) {
  const isRun = contents.kind === "batch";
  if (isRun && !parts.some(Boolean)) return "The page has no bounds of this pair: write the page of its document.";
  const reference = isRun ? parts.find((part) => part && !part.isTracked)?.frame : contents.time.referenceFrame;
  if (!state.row) return `Bounds at frame ${number(reference)}. Drag to rotate, scroll to zoom.`;
  const known = parts.filter(Boolean);
  const text = [];
  if (known.length < parts.length) text.push(`The document has no ${NAMES[state.shape]} of both objects.`);
  if (known.length && known.every((part) => part.isTracked)) {
    const frames = [...new Set(known.map((part) => number(part.frame)))].join(" and ");
    text.push(`Bounds at frame ${frames}, the last frame of the tracks up to the first contact, at ${number(state.row.frame)}.`);
  } else if (state.row.frame === reference) {
    text.push(`Bounds at frame ${number(reference)}, at which the contact begins.`);
  } else {
    text.push(`Bounds at frame ${number(reference)}, not at frame ${number(state.row.frame)} of the ${state.row.kind}: the document has their places at that time only with tracks.`);
  }
  if (state.row.shape && !shapes.includes(state.row.shape)) text.push(`The contact was tested with ${NAMES[state.row.shape]}.`);
  if (state.row.point) text.push("The ball marks the contact point, the arrow the normal.");
  return text.join(" ");
}

function marker(row, size) {
  const point = new THREE.Vector3(...row.point);
  // Sizes are those on the screen, and the group can scale.
  const length = Math.max(size * 0.12, 1e-6);
  const ball = new THREE.Mesh(new THREE.SphereGeometry(length * 0.12, 16, 12), new THREE.MeshBasicMaterial({ color: color("contact"), depthTest: false, transparent: true }));
  ball.position.copy(point);
  ball.renderOrder = 2;
  const arrow = new THREE.ArrowHelper(new THREE.Vector3(...row.normal), point, length, color("contact"), length * 0.3, length * 0.16);
  arrow.traverse((child) => {
    // Transparent, so that it is drawn after the surfaces, over them.
    if (child.material) Object.assign(child.material, { depthTest: false, transparent: true });
    child.renderOrder = 2;
  });
  return [ball, arrow];
}

/** Translucent surface and its lines. */
function solid(shape, name, tint) {
  const surface = new THREE.Mesh(
    geometry(shape, name),
    new THREE.MeshLambertMaterial({ color: tint, transparent: true, opacity: 0.45, depthWrite: false, side: THREE.DoubleSide }),
  );
  const edges = new THREE.BufferGeometry();
  edges.setAttribute("position", new THREE.Float32BufferAttribute(outline(shape, name, 48), 3));
  return [surface, new THREE.LineSegments(edges, new THREE.LineBasicMaterial({ color: tint }))];
}

function geometry(shape, name) {
  if (name === "aabb") {
    const half = shape.max.map((value, axis) => (value - shape.min[axis]) / 2);
    return box(half, new THREE.Quaternion(), shape.min.map((value, axis) => value + half[axis]));
  }
  if (name === "obb") return box(shape.halfExtents, new THREE.Quaternion(...shape.rotation), shape.center);
  if (name === "sphere") return new THREE.SphereGeometry(shape.radius, 48, 24).translate(...shape.center);
  if (name === "capsule" || name === "cylinder") return alongAxis(shape, name);
  if (name === "hull") return indexed(shape.vertices, shape.faces);
  const leaves = leavesOf(shape);
  const detail = leaves.length > 64 ? [12, 8] : [24, 16];
  return merged(leaves.map((leaf) => new THREE.SphereGeometry(leaf.radius, ...detail).translate(...leaf.center)));
}

function box(half, rotation, center) {
  return new THREE.BoxGeometry(...half.map((value) => value * 2)).applyQuaternion(rotation).translate(...center);
}

function alongAxis({ axis, center, halfLength, radius }, name) {
  const made = name === "capsule" ? new THREE.CapsuleGeometry(radius, 2 * halfLength, 12, 32) : new THREE.CylinderGeometry(radius, radius, 2 * halfLength, 32);
  return made.applyQuaternion(turnTo(axis)).translate(...center);
}

function turnTo(axis) {
  return new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...axis));
}

function indexed(vertices, faces) {
  const made = new THREE.BufferGeometry();
  made.setAttribute("position", new THREE.Float32BufferAttribute(vertices.flat(), 3));
  made.setIndex(faces.flat());
  const flat = made.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

function merged(parts) {
  const flat = parts.map((part) => part.toNonIndexed());
  const made = new THREE.BufferGeometry();
  for (const name of ["position", "normal"]) {
    const arrays = flat.map((part) => part.getAttribute(name).array);
    const joined = new Float32Array(arrays.reduce((sum, each) => sum + each.length, 0));
    let at = 0;
    for (const each of arrays) {
      joined.set(each, at);
      at += each.length;
    }
    made.setAttribute(name, new THREE.BufferAttribute(joined, 3));
  }
  return made;
}

function leavesOf(tree) {
  return tree.filter((node) => node.children.length === 0);
}

const entriesByShape = new Map();

/** Shape and center of each object that has a shape, and its lines once they were drawn. */
function entriesOf(objects, name) {
  if (!entriesByShape.has(name)) {
    const shapes = objects.map(({ world }) => world[name]).filter(Boolean);
    entriesByShape.set(name, shapes.map((shape) => ({ shape, center: centerOf(shape, name) })));
  }
  return entriesByShape.get(name);
}

/** Lines of the objects nearest to the selected ones, up to a limit. */
function nearestOutlines(objects, { shape, indices }) {
  const entries = entriesOf(objects, shape);
  const selected = indices.map((index) => objects[index].world[shape]).filter(Boolean).map((each) => centerOf(each, shape));
  const centers = selected.length ? selected : entries.map(({ center }) => center);
  const middle = [0, 1, 2].map((axis) => centers.reduce((sum, center) => sum + center[axis], 0) / centers.length);
  const distance = ({ center: [x, y, z] }) => Math.hypot(x - middle[0], y - middle[1], z - middle[2]);
  const inOrder = entries.map((entry) => [distance(entry), entry]).sort((a, b) => a[0] - b[0]);
  const parts = [];
  let drawn = 0;
  let size = 0;
  while (drawn < inOrder.length && size < MOST_LINES * 6) {
    const entry = inOrder[drawn++][1];
    const part = (entry.lines ??= outline(entry.shape, shape, objects.length > 1000 ? 12 : 32));
    parts.push(part);
    size += part.length;
  }
  const positions = new Float32Array(size);
  let at = 0;
  for (const part of parts) {
    positions.set(part, at);
    at += part.length;
  }
  const made = new THREE.BufferGeometry();
  made.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  const material = new THREE.LineBasicMaterial({ color: color("quiet"), transparent: true, opacity: 0.45 });
  return { lines: new THREE.LineSegments(made, material), drawn, found: entries.length };
}

function centerOf(shape, name) {
  if (name === "aabb") return shape.min.map((value, axis) => (value + shape.max[axis]) / 2);
  if (name === "hull") return shape.vertices[0];
  return name === "spheres" ? shape[0].center : shape.center;
}

/** Remove the children of a group, and free their geometry on the graphics card. */
function release(group) {
  group.traverse((child) => {
    child.geometry?.dispose();
    // Materials are not disposed: their shaders would be compiled again for the next selection.
  });
  group.clear();
}

/** Ends of line segments, as a flat list. */
function outline(shape, name, segments) {
  if (name === "aabb") {
    const half = shape.max.map((value, axis) => (value - shape.min[axis]) / 2);
    return boxLines(half, new THREE.Quaternion(), shape.min.map((value, axis) => value + half[axis]));
  }
  if (name === "obb") return boxLines(shape.halfExtents, new THREE.Quaternion(...shape.rotation), shape.center);
  if (name === "sphere") return sphereLines(shape, segments);
  if (name === "spheres") return leavesOf(shape).flatMap((leaf) => sphereLines(leaf, 16));
  if (name === "hull") {
    const edges = new Map();
    for (const [i, j, k] of shape.faces) {
      for (const [from, to] of [[i, j], [j, k], [k, i]]) edges.set(`${Math.min(from, to)} ${Math.max(from, to)}`, [from, to]);
    }
    return [...edges.values()].flatMap(([from, to]) => [...shape.vertices[from], ...shape.vertices[to]]);
  }
  return axialLines(shape, name === "capsule", segments);
}

function boxLines(half, rotation, center) {
  const offset = new THREE.Vector3(...center);
  const corners = [...Array(8).keys()].map((bits) =>
    new THREE.Vector3(...half.map((value, axis) => (bits & (1 << axis) ? value : -value))).applyQuaternion(rotation).add(offset).toArray(),
  );
  const lines = [];
  for (let from = 0; from < 8; from++) {
    for (const bit of [1, 2, 4]) if (!(from & bit)) lines.push(...corners[from], ...corners[from | bit]);
  }
  return lines;
}

/** Arc around `center` from angle `start` to `end`, in the plane of the vectors u and v. */
function arc(center, u, v, radius, [start, end], segments) {
  const point = (angle) => center.map((value, axis) => value + radius * (Math.cos(angle) * u[axis] + Math.sin(angle) * v[axis]));
  const lines = [];
  for (let step = 0; step < segments; step++) {
    lines.push(...point(start + ((end - start) * step) / segments), ...point(start + ((end - start) * (step + 1)) / segments));
  }
  return lines;
}

const [X, Y, Z] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
const TURN = [0, 2 * Math.PI];

function sphereLines({ center, radius }, segments) {
  return [[X, Y], [Y, Z], [Z, X]].flatMap(([u, v]) => arc(center, u, v, radius, TURN, segments));
}

function axialLines({ axis, center, halfLength, radius }, isCapsule, segments) {
  const turn = turnTo(axis);
  const [u, v] = [X, Z].map((vector) => new THREE.Vector3(...vector).applyQuaternion(turn).toArray());
  const ends = [-1, 1].map((side) => center.map((value, at) => value + side * halfLength * axis[at]));
  const lines = ends.flatMap((end) => arc(end, u, v, radius, TURN, segments));
  for (const [direction, side] of [[u, 1], [u, -1], [v, 1], [v, -1]]) {
    for (const end of ends) lines.push(...end.map((value, at) => value + side * radius * direction[at]));
  }
  if (isCapsule) {
    for (const direction of [u, v]) {
      lines.push(...arc(ends[0], direction, axis, radius, [Math.PI, 2 * Math.PI], segments / 2));
      lines.push(...arc(ends[1], direction, axis, radius, [0, Math.PI], segments / 2));
    }
  }
  return lines;
}

function addKeys(holder, { camera, controls, draw }) {
  holder.addEventListener("keydown", (event) => {
    const turns = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] };
    const zooms = { "+": 1 / 1.2, "=": 1 / 1.2, "-": 1.2 };
    if (event.ctrlKey || event.metaKey || !(event.key in turns || event.key in zooms)) return;
    event.preventDefault();
    const offset = camera.position.clone().sub(controls.target);
    if (event.key in zooms) offset.multiplyScalar(zooms[event.key]);
    else {
      const angles = new THREE.Spherical().setFromVector3(offset);
      angles.theta += turns[event.key][0];
      angles.phi += turns[event.key][1];
      offset.setFromSpherical(angles.makeSafe());
    }
    camera.position.copy(controls.target).add(offset);
    controls.update();
    draw();
  });
}
