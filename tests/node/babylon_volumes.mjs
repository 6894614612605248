// Tests in Babylon.js the volumes that its loader in docs/loaders reads from documents, see volumes.mjs.
import { BoundingInfo } from "@babylonjs/core/Culling/boundingInfo.js";
import { BoundingSphere } from "@babylonjs/core/Culling/boundingSphere.js";
import { Plane } from "@babylonjs/core/Maths/math.plane.js";
import { Vector3 } from "@babylonjs/core/Maths/math.vector.js";
import { readCollisionBounds } from "./collision-bounds.babylon.mjs";
import { testEngine } from "./volumes.mjs";

testEngine({
  read: (document) => readCollisionBounds(document).objects,
  point: ([x, y, z]) => new Vector3(x, y, z),
  toLocal: (point, { position, rotationQuaternion }) =>
    point.subtract(position).applyRotationQuaternion(rotationQuaternion.conjugate()),
  // A box is tested against the box of the point, because intersectsPoint has a tolerance of a millimeter.
  contains: (volume, point) =>
    volume instanceof BoundingSphere
      ? volume.intersectsPoint(point)
      : volume.intersects(new BoundingInfo(point, point), true),
  heightAbove: (a, b, c, point) => Plane.FromPoints(a, b, c).signedDistanceTo(point),
  overlap: {
    box: (a, b) => a.intersects(b, false),
    sphere: (a, b) => BoundingSphere.Intersects(a, b),
    obb: (a, b) => a.intersects(b, true),
  },
});
