// Tests in three.js the volumes that its loader in docs/loaders reads from documents, see volumes.mjs.
import { Line3, Plane, Vector3 } from "three";
import { readCollisionBounds } from "./collision-bounds.three.mjs";
import { testEngine } from "./volumes.mjs";

const segment = ({ center, axis, halfLength }) =>
  new Line3(...[-halfLength, halfLength].map((along) => center.clone().addScaledVector(axis, along)));

testEngine({
  read: (document) => readCollisionBounds(document).objects,
  point: ([x, y, z]) => new Vector3(x, y, z),
  toLocal: (point, { position, quaternion }) => point.clone().sub(position).applyQuaternion(quaternion.clone().invert()),
  contains: (volume, point) => volume.containsPoint(point),
  heightAbove: (a, b, c, point) => new Plane().setFromCoplanarPoints(a, b, c).distanceToPoint(point),
  overlap: {
    box: (a, b) => a.intersectsBox(b),
    sphere: (a, b) => a.intersectsSphere(b),
    obb: (a, b) => a.intersectsOBB(b),
    capsule: (a, b) => segment(a).distanceSqToLine3(segment(b)) <= (a.radius + b.radius) ** 2,
  },
});
