// SPDX-License-Identifier: MIT-0
// SPDX-FileCopyrightText: 2026 Collision Bounds developers
//
// Collision Bounds importer for Unity: colliders from a document, on the objects of a model.
//
// Copy this file into a folder named Editor, and CollisionBounds.cs anywhere. Export the document with `--preset unity`
// next to the model, with the same name: Level.fbx and Level.json. When Unity imports the model, each object of the
// document gets its colliders, as CollisionBounds.Colliders.Create chooses them. They are children of the object, or of
// the bone for bounds of bones, below an object that undoes its scale if that is not uniform. When the document changes,
// Unity imports the model again.
//
// For other models, such as glTF files, select the model in the scene, and then GameObject > Collision Bounds >
// Add Colliders from JSON. Undo removes the colliders. From your own scripts:
//
//   CollisionBounds.DocumentImporter.Add(CollisionBounds.Document.Read(File.ReadAllText(path)), root);
//
// Physics materials are found by their names in the project.
//
// Tested with Mono and its compiler, in the project's tests, with substitutes for the few classes of Unity that this
// file uses. They do not run it in Unity.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text.RegularExpressions;
using UnityEditor;
using UnityEngine;
#if UNITY_6000_0_OR_NEWER
using ColliderMaterial = UnityEngine.PhysicsMaterial;
#else
using ColliderMaterial = UnityEngine.PhysicMaterial;
#endif

namespace CollisionBounds
{
    public class DocumentImporter : AssetPostprocessor
    {
        const string Suffix = " collider"; // of the names of created objects
        const string UndoName = "Add Colliders from JSON";

        static readonly Regex Part = new Regex(@"/(part\.\d+|shape\.\d+|bone\..*|no bone)$", RegexOptions.Singleline);

        void OnPostprocessModel(GameObject root)
        {
            string path = Path.ChangeExtension(assetPath, ".json");
            context.DependsOnSourceAsset(path);
            if (!File.Exists(path))
                return;
            string text = File.ReadAllText(path);
            if (!text.Contains("\"collision-bounds\""))
                return; // a file of another program
            try
            {
                int number = 0;
                foreach (GameObject item in Add(Document.Read(text), root))
                {
                    // Unity saves meshes with the model only if they are added to its asset.
                    var collider = item.GetComponent<MeshCollider>();
                    if (collider != null)
                        context.AddObjectToAsset("collider " + number++, collider.sharedMesh);
                }
            }
            catch (InvalidDataException problem)
            {
                Debug.LogError(path + ": " + problem.Message);
            }
        }

        [MenuItem("GameObject/Collision Bounds/Add Colliders from JSON", false, 30)]
        static void AddToSelected()
        {
            string path = EditorUtility.OpenFilePanel("Collision Bounds document", "", "json");
            if (string.IsNullOrEmpty(path))
                return;
            try
            {
                Add(Document.Read(File.ReadAllText(path)), Selection.activeGameObject, true);
            }
            catch (InvalidDataException problem)
            {
                EditorUtility.DisplayDialog("Collision Bounds", path + ": " + problem.Message, "OK");
            }
        }

        [MenuItem("GameObject/Collision Bounds/Add Colliders from JSON", true)]
        static bool IsObjectSelected()
        {
            return Selection.activeGameObject != null;
        }

        /// Add the colliders of a document to the objects with their names, and return the created children.
        ///
        /// Children of an earlier run are replaced. The root is a model whose objects are placed as in Blender: either a
        /// container at the origin of Blender's scene, or an object of the document. Objects of the document that are
        /// not in the model are reported.
        public static List<GameObject> Add(Document document, GameObject root, bool recordsUndo = false)
        {
            var created = new List<GameObject>();
            var holder = new GameObject("Collision Bounds");
            PlaceAtOrigin(holder.transform, document, root.transform);
            foreach (Entry entry in document.objects)
            {
                Transform target = TargetOf(entry, root.transform);
                RemoveEarlier(target, entry.name + Suffix, recordsUndo);
                RemoveEarlier(WithoutShear(target, root.transform), entry.name + Suffix, recordsUndo);
            }
            foreach (Entry entry in document.objects)
            {
                Transform target = TargetOf(entry, root.transform);
                if (target == null)
                {
                    Debug.LogWarning(entry.name + ": is not in " + root.name + ", so it gets no collider.");
                    continue;
                }
                List<GameObject> children = Colliders.Create(entry, holder.transform, MaterialOf);
                Transform parent = WithoutShear(target, root.transform);
                if (parent == null || children.Exists(child => HasShear(child.transform)))
                {
                    Debug.LogWarning(entry.name + ": shear of the model cannot be undone, so it gets no collider.");
                    continue;
                }
                if (parent != target)
                    Debug.LogWarning(entry.name + ": is sheared, so its collider is a child of " + parent.name + ".");
                if (children.Count > 0)
                    parent = WithUniformScale(parent, entry.name + Suffix, recordsUndo);
                foreach (GameObject child in children)
                {
                    child.name = entry.name + Suffix;
                    child.transform.SetParent(parent, true);
                    if (recordsUndo)
                        Undo.RegisterCreatedObjectUndo(child, UndoName);
                    created.Add(child);
                }
            }
            UnityEngine.Object.DestroyImmediate(holder);
            return created;
        }

        /// The nearest transform, from an object upward, that has no shear. Null if the model has none.
        ///
        /// Unity computes the poses of colliders without shear, so they cannot follow a sheared object.
        static Transform WithoutShear(Transform item, Transform root)
        {
            while (item != null && HasShear(item))
                item = item == root ? null : item.parent;
            return item;
        }

        /// Whether the axes of a transform are not at right angles in the world, or have no length.
        static bool HasShear(Transform item)
        {
            Vector3 x = item.TransformVector(new Vector3(1, 0, 0));
            Vector3 y = item.TransformVector(new Vector3(0, 1, 0));
            Vector3 z = item.TransformVector(new Vector3(0, 0, 1));
            return !(HaveRightAngle(x, y) && HaveRightAngle(y, z) && HaveRightAngle(z, x));
        }

        static bool HaveRightAngle(Vector3 a, Vector3 b)
        {
            double lengths = Math.Sqrt(Dot(a, a) * Dot(b, b));
            return lengths > 0 && Math.Abs(Dot(a, b)) <= 1e-5 * lengths;
        }

        static double Dot(Vector3 a, Vector3 b)
        {
            return (double)a.x * b.x + (double)a.y * b.y + (double)a.z * b.z;
        }

        /// A child that undoes the scale, or the transform itself if its scale is uniform. A collider that is turned
        /// relative to a non-uniformly scaled parent would be sheared.
        static Transform WithUniformScale(Transform item, string name, bool recordsUndo)
        {
            Vector3 scale = item.lossyScale;
            double tolerance = 1e-6 * Math.Abs(scale.x);
            if (Math.Abs(scale.y - scale.x) <= tolerance && Math.Abs(scale.z - scale.x) <= tolerance)
                return item;
            var child = new GameObject(name);
            child.transform.SetParent(item, false);
            child.transform.localScale = new Vector3(1 / scale.x, 1 / scale.y, 1 / scale.z);
            if (recordsUndo)
                Undo.RegisterCreatedObjectUndo(child, UndoName);
            return child.transform;
        }

        /// Move an object to where the origin of Blender's scene is in a model.
        static void PlaceAtOrigin(Transform holder, Document document, Transform root)
        {
            // Unity replaces the container of a file with one top object by that object.
            Entry top = Array.Find(
                document.objects, entry => ObjectName(entry) == root.name && Find(root, root.name) == null);
            if (top == null)
            {
                holder.position = root.position;
                holder.rotation = root.rotation;
                holder.localScale = root.lossyScale;
            }
            else if (string.IsNullOrEmpty(top.bone))
                holder.position = root.position - Shapes.Vector(top.translation);
        }

        /// Transform below which the colliders of an object or a bone belong. Null if it is not in the model.
        static Transform TargetOf(Entry entry, Transform root)
        {
            string name = ObjectName(entry);
            Transform item = Find(root, entry.name) ?? Find(root, name) ?? (root.name == name ? root : null);
            if (string.IsNullOrEmpty(entry.bone))
                return item;
            // Other armatures can have a bone of this name, and so can objects.
            var skin = item == null ? null : item.gameObject.GetComponent<SkinnedMeshRenderer>();
            Transform bone = skin == null ? null : Array.Find(skin.bones, each => each != null && each.name == entry.bone);
            return bone ?? Find(root, entry.bone) ?? item;
        }

        /// Name of the object in Blender: parts are named after it, "Crate/part.0" or "Hero/bone.Hand".
        static string ObjectName(Entry entry)
        {
            return Part.Replace(entry.name, "");
        }

        static Transform Find(Transform parent, string name)
        {
            for (int k = 0; k < parent.childCount; k++)
            {
                Transform child = parent.GetChild(k);
                Transform found = child.name == name ? child : Find(child, name);
                if (found != null)
                    return found;
            }
            return null;
        }

        static void RemoveEarlier(Transform target, string name, bool recordsUndo)
        {
            for (int k = target == null ? -1 : target.childCount - 1; k >= 0; k--)
            {
                GameObject child = target.GetChild(k).gameObject;
                if (child.name != name || !IsCollider(child) && !HasOnlyColliders(child.transform, name))
                    continue; // an object of the model can have this name
                if (recordsUndo)
                    Undo.DestroyObjectImmediate(child);
                else
                    UnityEngine.Object.DestroyImmediate(child);
            }
        }

        static bool IsCollider(GameObject item)
        {
            return item.GetComponent<Collider>() != null;
        }

        /// Whether an object is one that undoes the scale for colliders of this name.
        static bool HasOnlyColliders(Transform item, string name)
        {
            for (int k = 0; k < item.childCount; k++)
                if (item.GetChild(k).name != name || !IsCollider(item.GetChild(k).gameObject))
                    return false;
            return item.childCount > 0;
        }

        static ColliderMaterial MaterialOf(string name)
        {
            foreach (string guid in AssetDatabase.FindAssets(name))
            {
                var found = AssetDatabase.LoadAssetAtPath<ColliderMaterial>(AssetDatabase.GUIDToAssetPath(guid));
                if (found != null && found.name == name)
                    return found;
            }
            Debug.LogWarning("The project has no physics material \"" + name + "\".");
            return null;
        }
    }
}
