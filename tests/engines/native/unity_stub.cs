// The part of Unity that the loader uses, to compile and run it without Unity.
using System.Collections.Generic;

namespace UnityEngine
{
    public struct Vector3
    {
        public float x, y, z;
        public Vector3(float x, float y, float z) { this.x = x; this.y = y; this.z = z; }
    }

    public struct Quaternion
    {
        public float x, y, z, w;
        public Quaternion(float x, float y, float z, float w) { this.x = x; this.y = y; this.z = z; this.w = w; }
        public static Quaternion identity { get { return new Quaternion(0, 0, 0, 1); } }
    }

    public struct Bounds
    {
        Vector3 m_Center, m_Extents;
        public Bounds(Vector3 center, Vector3 size)
        {
            m_Center = center;
            m_Extents = new Vector3(size.x * 0.5f, size.y * 0.5f, size.z * 0.5f);
        }
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
            var component = (Component)item;
            component.gameObject.components.Remove(component);
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

    public class Transform : Component
    {
        public Vector3 localPosition;
        public Quaternion localRotation;
        public List<GameObject> children = new List<GameObject>();
        internal GameObject owner;
        public void SetParent(Transform parent, bool worldPositionStays) { parent.children.Add(owner); }
    }

    public class BoxCollider : Component
    {
        public Vector3 center { get; set; }
        public Vector3 size { get; set; }
    }

    public class SphereCollider : Component
    {
        public Vector3 center { get; set; }
        public float radius { get; set; }
    }

    public class CapsuleCollider : Component
    {
        public Vector3 center { get; set; }
        public float radius { get; set; }
        public float height { get; set; }
        public int direction { get; set; }
    }

    public class Mesh
    {
        public Vector3[] vertices { get; set; }
        public int[] triangles { get; set; }
    }

    public class MeshCollider : Component
    {
        public bool convex { get; set; }
        public Mesh sharedMesh { get; set; }
    }

    public class GameObject
    {
        public string name;
        public Transform transform = new Transform();
        public List<Component> components = new List<Component>();
        public GameObject(string name) { this.name = name; transform.owner = this; }
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
    public class AssetPostprocessor { }
}
