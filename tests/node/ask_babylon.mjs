// What Babylon.js says of documents that the loader in docs reads: see volumes.mjs.
import { BoundingInfo } from "@babylonjs/core/Culling/boundingInfo.js";
import { BoundingSphere } from "@babylonjs/core/Culling/boundingSphere.js";
import { Vector3 } from "@babylonjs/core/Maths/math.vector.js";
import { readCollisionBounds } from "./collision-bounds.babylon.mjs";
import { answer } from "./volumes.mjs";

answer({
  read: (document) => readCollisionBounds(document).objects,
  point: ([x, y, z]) => new Vector3(x, y, z),
  seen: (point, { position, rotationQuaternion }) =>
    point.subtract(position).applyRotationQuaternion(rotationQuaternion.conjugate()),
  // A box is asked whether it meets the box of the one point: its own intersectsPoint allows for a millimetre.
  holds: (volume, point) =>
    volume instanceof BoundingSphere
      ? volume.intersectsPoint(point)
      : volume.intersects(new BoundingInfo(point, point), true),
  overlap: {
    box: (a, b) => a.intersects(b, false),
    sphere: (a, b) => BoundingSphere.Intersects(a, b),
    obb: (a, b) => a.intersects(b, true),
  },
});
