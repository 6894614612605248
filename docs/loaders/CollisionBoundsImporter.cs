// SPDX-License-Identifier: MIT-0
// SPDX-FileCopyrightText: 2026 Collision Bounds developers
//
// Collision Bounds importer for Unity: colliders of the objects of a model that have collider names.
//
// Copy this file into a folder named Editor. Unity then runs it for each FBX and .blend file that it imports. Files of
// importers that do not call OnPostprocessModel, such as those for glTF, need a call of your own:
//
//   CollisionBounds.ColliderImporter.Convert(root);
//
// Each object with one of these names loses its renderer, and gets a collider instead:
//
//   UBX_Crate_00, Crate_BoxCollider_00         BoxCollider
//   USP_Crate_00, Crate_SphereCollider_00      SphereCollider
//   UCP_Crate_00, Crate_CapsuleCollider_00     CapsuleCollider
//   UCX_Crate_00, Crate_MeshCollider_00, Crate_00-convcolonly     convex MeshCollider
//   Crate_00-colonly                           MeshCollider with the triangles of the object
//
// Boxes, spheres and capsules are fitted to the vertices, along the axes of the object: all vertices are inside.
//
// Tested with Mono and its compiler, in the project's tests, with substitutes for the few classes of Unity that this
// file uses. They do not run it in Unity.
using System;
using System.Text.RegularExpressions;
using UnityEditor;
using UnityEngine;

namespace CollisionBounds
{
    public class ColliderImporter : AssetPostprocessor
    {
        const double RoundingError = 1e-6; // relative to a size or a coordinate; single precision has 6e-8

        static readonly Regex Prefix = new Regex("^(UBX|USP|UCP|UCX)_.");
        static readonly Regex Component = new Regex(@"._(Box|Sphere|Capsule|Mesh)Collider(_\d+)?$");
        static readonly Regex Suffix = new Regex(".-(convcolonly|colonly)$");

        void OnPostprocessModel(GameObject root)
        {
            Convert(root);
        }

        /// Replace the meshes of all objects with collider names by colliders. Returns their number.
        public static int Convert(GameObject root)
        {
            int count = 0;
            foreach (MeshFilter filter in root.GetComponentsInChildren<MeshFilter>(true))
            {
                string kind = KindOf(filter.gameObject.name);
                if (kind == null || filter.sharedMesh == null || filter.sharedMesh.vertices.Length == 0)
                    continue;
                AddCollider(filter.gameObject, kind, filter.sharedMesh);
                var renderer = filter.gameObject.GetComponent<MeshRenderer>();
                if (renderer != null)
                    UnityEngine.Object.DestroyImmediate(renderer);
                UnityEngine.Object.DestroyImmediate(filter);
                count++;
            }
            return count;
        }

        /// Kind of the collider with a name: Box, Sphere, Capsule, Mesh or Triangles. Null for another name.
        public static string KindOf(string name)
        {
            Match match = Prefix.Match(name);
            if (match.Success)
                return new[] { "Box", "Sphere", "Capsule", "Mesh" }[
                    Array.IndexOf(new[] { "UBX", "USP", "UCP", "UCX" }, match.Groups[1].Value)];
            match = Component.Match(name);
            if (match.Success)
                return match.Groups[1].Value;
            match = Suffix.Match(name);
            return !match.Success ? null : match.Groups[1].Value == "colonly" ? "Triangles" : "Mesh";
        }

        static void AddCollider(GameObject item, string kind, Mesh mesh)
        {
            if (kind == "Mesh" || kind == "Triangles")
            {
                MeshCollider collider = item.AddComponent<MeshCollider>();
                collider.convex = kind == "Mesh";
                collider.sharedMesh = mesh;
                return;
            }
            double[][] points = Array.ConvertAll(mesh.vertices, v => new double[] { v.x, v.y, v.z });
            var center = new float[3];
            var half = new double[3];
            double largest = 0;
            for (int k = 0; k < 3; k++)
            {
                double low = points[0][k], high = points[0][k];
                foreach (double[] point in points)
                {
                    low = Math.Min(low, point[k]);
                    high = Math.Max(high, point[k]);
                }
                center[k] = (float)(low / 2 + high / 2);
                half[k] = Math.Max(high - center[k], center[k] - low);
                largest = Math.Max(largest, Math.Max(Math.Abs(low), Math.Abs(high)));
            }
            double margin = RoundingError * largest;
            var middle = new Vector3(center[0], center[1], center[2]);
            if (kind == "Box")
            {
                BoxCollider collider = item.AddComponent<BoxCollider>();
                collider.center = middle;
                collider.size = new Vector3(
                    (float)(2 * (half[0] + margin)), (float)(2 * (half[1] + margin)), (float)(2 * (half[2] + margin)));
            }
            else if (kind == "Sphere")
            {
                SphereCollider collider = item.AddComponent<SphereCollider>();
                collider.center = middle;
                collider.radius = (float)(Reach(points, center, 0, 0) + margin);
            }
            else
            {
                int along = half[0] >= half[1] && half[0] >= half[2] ? 0 : half[1] >= half[2] ? 1 : 2;
                // The segment has the length at which round ends would touch the ends of the box.
                double wide = Math.Max(half[(along + 1) % 3], half[(along + 2) % 3]);
                double segment = Math.Max(0, half[along] - wide);
                CapsuleCollider collider = item.AddComponent<CapsuleCollider>();
                collider.center = middle;
                collider.direction = along;
                collider.radius = (float)(Reach(points, center, along, segment) + margin);
                collider.height = (float)(2 * (segment + collider.radius)); // includes both ends
            }
        }

        /// Greatest distance of points from a segment along an axis, with half its length.
        static double Reach(double[][] points, float[] center, int along, double segment)
        {
            double greatest = 0;
            foreach (double[] point in points)
            {
                double squares = 0;
                for (int k = 0; k < 3; k++)
                {
                    double offset = Math.Abs(point[k] - center[k]);
                    if (k == along)
                        offset = Math.Max(0, offset - segment);
                    squares += offset * offset;
                }
                greatest = Math.Max(greatest, Math.Sqrt(squares));
            }
            return greatest;
        }
    }
}
