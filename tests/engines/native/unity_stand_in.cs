// As much of Unity as the loader uses, for a compiler and a runtime without Unity. JsonUtility goes by the public
// fields of serializable classes, as Unity's does: it skips other keys, and makes an object of every field of a class
// whether or not there is one in the text.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
using System.Text;

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

    public class Component { }

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

    public class GameObject
    {
        public string name;
        public Transform transform = new Transform();
        public List<Component> components = new List<Component>();
        public GameObject(string name) { this.name = name; transform.owner = this; }
        public T AddComponent<T>() where T : Component, new()
        {
            var made = new T();
            components.Add(made);
            return made;
        }
    }

    public static class JsonUtility
    {
        public static T FromJson<T>(string json)
        {
            int at = 0;
            object told = Any(json, ref at);
            if (json.Substring(at).Trim() != "") throw new ArgumentException("JSON parse error: trailing text.");
            return (T)Made(typeof(T), told);
        }

        static object Made(Type type, object told)
        {
            if (type == typeof(string)) return told ?? "";
            if (type == typeof(double)) return told == null ? 0.0 : (double)told;
            if (type.IsArray)
            {
                var items = told as List<object>;
                // As Unity's does not read lists of lists.
                if (items == null || type.GetElementType().IsArray) return null;
                var array = Array.CreateInstance(type.GetElementType(), items.Count);
                for (int k = 0; k < items.Count; k++) array.SetValue(Made(type.GetElementType(), items[k]), k);
                return array;
            }
            if (type.GetCustomAttributes(typeof(SerializableAttribute), false).Length == 0)
                throw new InvalidOperationException(type.Name + " is not serializable");
            var found = Activator.CreateInstance(type);
            var members = told as Dictionary<string, object> ?? new Dictionary<string, object>();
            foreach (FieldInfo field in type.GetFields(BindingFlags.Public | BindingFlags.Instance))
            {
                object value;
                members.TryGetValue(field.Name, out value);
                field.SetValue(found, Made(field.FieldType, value));
            }
            return found;
        }

        static object Any(string text, ref int at)
        {
            Blanks(text, ref at);
            if (at >= text.Length) throw new ArgumentException("JSON parse error: The document is empty.");
            char first = text[at];
            if (first == '{' || first == '[')
            {
                var members = new Dictionary<string, object>();
                var items = new List<object>();
                char last = first == '{' ? '}' : ']';
                at++;
                Blanks(text, ref at);
                while (at < text.Length && text[at] != last)
                {
                    if (first == '{')
                    {
                        string key = (string)Any(text, ref at);
                        Blanks(text, ref at);
                        at++;
                        members[key] = Any(text, ref at);
                    }
                    else items.Add(Any(text, ref at));
                    Blanks(text, ref at);
                    if (at < text.Length && text[at] == ',') at++;
                    Blanks(text, ref at);
                }
                if (at++ >= text.Length) throw new ArgumentException("JSON parse error: Missing a name or a bracket.");
                return first == '{' ? (object)members : items;
            }
            if (first == '"')
            {
                var found = new StringBuilder();
                for (at++; text[at] != '"'; at++)
                {
                    if (text[at] == '\\') at++;
                    found.Append(text[at]);
                }
                at++;
                return found.ToString();
            }
            int start = at;
            while (at < text.Length && ",]} \n".IndexOf(text[at]) < 0) at++;
            string word = text.Substring(start, at - start);
            if (word == "null") return null;
            if (word == "true" || word == "false") return word == "true";
            double number;
            if (!double.TryParse(word, NumberStyles.Float, CultureInfo.InvariantCulture, out number))
                throw new ArgumentException("JSON parse error: Invalid value.");
            return number;
        }

        static void Blanks(string text, ref int at)
        {
            while (at < text.Length && char.IsWhiteSpace(text[at])) at++;
        }
    }
}
