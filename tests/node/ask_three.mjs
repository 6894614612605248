// What three.js says of documents that the loader in docs reads: see volumes.mjs.
import { Vector3 } from "three";
import { readCollisionBounds } from "./collision-bounds.three.mjs";
import { answer } from "./volumes.mjs";

answer({
  read: (document) => readCollisionBounds(document).objects,
  point: ([x, y, z]) => new Vector3(x, y, z),
  // Seen from an object's place, by its quaternion.
  seen: (point, { position, quaternion }) => point.clone().sub(position).applyQuaternion(quaternion.clone().invert()),
  holds: (volume, point) => volume.containsPoint(point),
  overlap: {
    box: (a, b) => a.intersectsBox(b),
    sphere: (a, b) => a.intersectsSphere(b),
    obb: (a, b) => a.intersectsOBB(b),
  },
});
