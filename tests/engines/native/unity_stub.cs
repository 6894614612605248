// The part of Unity that the loader uses, to compile and run it without Unity.
using System;
using System.Collections.Generic;

namespace UnityEngine
{
    public struct Vector3
    {
        public float x, y, z;
        public Vector3(float x, float y, float z) { this.x = x; this.y = y; this.z = z; }
        public static Vector3 operator +(Vector3 a, Vector3 b) { return new Vector3(a.x + b.x, a.y + b.y, a.z + b.z); }
        public static Vector3 operator -(Vector3 a, Vector3 b) { return new Vector3(a.x - b.x, a.y - b.y, a.z - b.z); }
        internal Vector3 Times(Vector3 b) { return new Vector3(x * b.x, y * b.y, z * b.z); }
        internal Vector3 Over(Vector3 b) { return new Vector3(x / b.x, y / b.y, z / b.z); }
    }

    public struct Quaternion
    {
        public float x, y, z, w;
        public Quaternion(float x, float y, float z, float w) { this.x = x; this.y = y; this.z = z; this.w = w; }
        public static Quaternion identity { get { return new Quaternion(0, 0, 0, 1); } }
        internal Quaternion Inverse { get { return new Quaternion(-x, -y, -z, w); } }
        public static Quaternion operator *(Quaternion a, Quaternion b)
        {
            return new Quaternion(
                a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
        }
        public static Vector3 operator *(Quaternion q, Vector3 v)
        {
            Quaternion turned = q * new Quaternion(v.x, v.y, v.z, 0) * q.Inverse;
            return new Vector3(turned.x, turned.y, turned.z);
        }
    }

    public struct Bounds
    {
        Vector3 m_Center, m_Extents;
        public Bounds(Vector3 center, Vector3 size)
        {
            m_Center = center;
            m_Extents = new Vector3(size.x * 0.5f, size.y * 0.5f, size.z * 0.5f);
        }
        public override string ToString() { return m_Center.x + " " + m_Extents.x; }
        public Vector3 center { get { return m_Center; } }
        public Vector3 extents { get { return m_Extents; } }
        public Vector3 size { get { return new Vector3(m_Extents.x * 2, m_Extents.y * 2, m_Extents.z * 2); } }
    }

    public struct BoundingSphere
    {
        public Vector3 position;
        public float radius;
        public BoundingSphere(Vector3 pos, float rad) { position = pos; radius = rad; }
    }

    public class Object
    {
        public static void DestroyImmediate(Object item)
        {
            var component = item as Component;
            if (component != null)
                component.gameObject.components.Remove(component);
            else
                ((GameObject)item).transform.SetParent(null, false);
        }
    }

    public class Component : Object
    {
        public GameObject gameObject { get; internal set; }
    }

    public class MeshFilter : Component
    {
        public Mesh sharedMesh { get; set; }
    }

    public class MeshRenderer : Component { }

    public class SkinnedMeshRenderer : Component
    {
        public Transform[] bones { get; set; }
    }

    public class Transform : Component
    {
        public Vector3 localPosition;
        public Quaternion localRotation = Quaternion.identity;
        public Vector3 localScale = new Vector3(1, 1, 1);
        public List<GameObject> children = new List<GameObject>();
        internal GameObject owner;

        public string name { get { return owner.name; } }
        public int childCount { get { return children.Count; } }
        public Transform GetChild(int index) { return children[index].transform; }
        // Three axes in the world: a chain of scales and rotations can shear them. As in Unity, rotation and scale of a
        // transform are without shear: the product of the rotations, and the scale along its axes that remains then.
        Vector3[] Axes { get { return Array.ConvertAll(Units, TransformVector); } }
        static readonly Vector3[] Units = { new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1) };

        public Transform parent { get; private set; }
        public Vector3 TransformVector(Vector3 vector)
        {
            Vector3 placed = localRotation * localScale.Times(vector);
            return parent == null ? placed : parent.TransformVector(placed);
        }
        Vector3 InverseTransformVector(Vector3 vector)
        {
            Vector3 above = parent == null ? vector : parent.InverseTransformVector(vector);
            return (localRotation.Inverse * above).Over(localScale);
        }
        static Vector3 ScaleOf(Quaternion rotation, Vector3[] axes)
        {
            Vector3[] left = Array.ConvertAll(axes, axis => rotation.Inverse * axis);
            return new Vector3(left[0].x, left[1].y, left[2].z);
        }
        public Vector3 lossyScale { get { return ScaleOf(rotation, Axes); } }
        public Quaternion rotation
        {
            get { return parent == null ? localRotation : parent.rotation * localRotation; }
            set { localRotation = parent == null ? value : parent.rotation.Inverse * value; }
        }
        public Vector3 position
        {
            get { return parent == null ? localPosition : parent.position + parent.TransformVector(localPosition); }
            set { localPosition = parent == null ? value : parent.InverseTransformVector(value - parent.position); }
        }
        public void SetParent(Transform parent, bool worldPositionStays)
        {
            Vector3 place = position;
            Vector3[] axes = Axes;
            Quaternion turn = rotation;
            if (this.parent != null)
                this.parent.children.Remove(owner);
            this.parent = parent;
            if (parent == null)
                return;
            parent.children.Add(owner);
            if (!worldPositionStays)
                return;
            position = place;
            rotation = turn;
            localScale = ScaleOf(localRotation, Array.ConvertAll(axes, parent.InverseTransformVector));
        }
    }

    public class PhysicMaterial : Object
    {
        public string name { get; set; }
    }

    public class PhysicsMaterial : PhysicMaterial { }

    public struct LayerMask
    {
        public int value { get; set; }
        // The project of the tests has the layers "Group 1", "Group 3" and "Group 16".
        public static int NameToLayer(string layerName)
        {
            return layerName == "Group 1" ? 8 : layerName == "Group 3" ? 9 : layerName == "Group 16" ? 31 : -1;
        }
    }

    public class Collider : Component
    {
        public bool isTrigger { get; set; }
        public LayerMask excludeLayers { get; set; }
#if UNITY_6000_0_OR_NEWER
        public PhysicsMaterial sharedMaterial { get; set; }
#else
        public PhysicMaterial sharedMaterial { get; set; }
#endif
    }

    public static class Debug
    {
        public static void Log(object message) { System.Console.WriteLine(message); }
        public static void LogWarning(object message) { System.Console.WriteLine("warning\t\t" + message); }
        public static void LogError(object message) { System.Console.WriteLine("error\t\t" + message); }
    }

    public class BoxCollider : Collider
    {
        public Vector3 center { get; set; }
        public Vector3 size { get; set; }
    }

    public class SphereCollider : Collider
    {
        public Vector3 center { get; set; }
        public float radius { get; set; }
    }

    public class CapsuleCollider : Collider
    {
        public Vector3 center { get; set; }
        public float radius { get; set; }
        public float height { get; set; }
        public int direction { get; set; }
    }

    public class Mesh : Object
    {
        public string name { get; set; }
        public Vector3[] vertices { get; set; }
        public int[] triangles { get; set; }
    }

    public class MeshCollider : Collider
    {
        public bool convex { get; set; }
        public Mesh sharedMesh { get; set; }
    }

    public class GameObject : Object
    {
        public string name;
        public int layer { get; set; }
        public Transform transform = new Transform();
        public List<Component> components = new List<Component>();
        public GameObject(string name) { this.name = name; transform.owner = this; transform.gameObject = this; }
        public T AddComponent<T>() where T : Component, new()
        {
            var component = new T();
            component.gameObject = this;
            components.Add(component);
            return component;
        }
        public T GetComponent<T>() where T : Component
        {
            foreach (Component component in components)
                if (component is T)
                    return (T)component;
            return null;
        }
        public T[] GetComponentsInChildren<T>(bool includeInactive) where T : Component
        {
            var found = new List<T>();
            if (GetComponent<T>() != null)
                found.Add(GetComponent<T>());
            foreach (GameObject child in transform.children)
                found.AddRange(child.GetComponentsInChildren<T>(includeInactive));
            return found.ToArray();
        }
    }
}

namespace UnityEditor
{
    using UnityEngine;

    public class AssetImportContext
    {
        public List<string> dependencies = new List<string>();
        public List<string> assets = new List<string>();
        public void DependsOnSourceAsset(string path) { dependencies.Add(path); }
        public void AddObjectToAsset(string identifier, Object obj)
        {
            if (assets.Contains(identifier)) throw new System.ArgumentException(identifier);
            assets.Add(identifier);
        }
    }

    public class AssetPostprocessor
    {
        public string assetPath { get; set; }
        public AssetImportContext context = new AssetImportContext();
    }

    [System.AttributeUsage(System.AttributeTargets.Method)]
    public class MenuItem : System.Attribute
    {
        public MenuItem(string itemName, bool isValidateFunction) { }
        public MenuItem(string itemName, bool isValidateFunction, int priority) { }
    }

    public static class EditorUtility
    {
        public static string OpenFilePanel(string title, string directory, string extension) { return ""; }
        public static bool DisplayDialog(string title, string message, string ok) { return true; }
    }

    public static class Selection
    {
        public static GameObject activeGameObject { get; set; }
    }

    public static class Undo
    {
        public static void RegisterCreatedObjectUndo(Object objectToUndo, string name) { }
        public static void DestroyObjectImmediate(Object objectToUndo) { Object.DestroyImmediate(objectToUndo); }
    }

    public static class AssetDatabase
    {
        // The project of the tests has the material "Ice", and one whose name contains that.
        public static string[] FindAssets(string filter)
        {
            return "Ice".Contains(filter) ? new[] { "Thin Ice", "Ice" } : new string[0];
        }
        public static string GUIDToAssetPath(string guid) { return guid; }
        public static T LoadAssetAtPath<T>(string assetPath) where T : PhysicMaterial, new()
        {
            return new T { name = assetPath };
        }
    }
}
