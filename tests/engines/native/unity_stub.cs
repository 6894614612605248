// The part of Unity that the loader uses, to compile and run it without Unity. Like that of Unity, JsonUtility fills the
// public fields of serializable classes: it skips other keys, and creates an object for every field of a class, even if
// the text has no such key.
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
            var component = new T();
            components.Add(component);
            return component;
        }
    }

    public static class JsonUtility
    {
        public static T FromJson<T>(string json)
        {
            int at = 0;
            object value = ParseValue(json, ref at);
            if (json.Substring(at).Trim() != "") throw new ArgumentException("JSON parse error: trailing text.");
            return (T)Converted(typeof(T), value);
        }

        static object Converted(Type type, object value)
        {
            if (type == typeof(string)) return value ?? "";
            if (type == typeof(double)) return value == null ? 0.0 : (double)value;
            if (type.IsArray)
            {
                var items = value as List<object>;
                // JsonUtility of Unity does not support lists of lists.
                if (items == null || type.GetElementType().IsArray) return null;
                var array = Array.CreateInstance(type.GetElementType(), items.Count);
                for (int k = 0; k < items.Count; k++) array.SetValue(Converted(type.GetElementType(), items[k]), k);
                return array;
            }
            if (type.GetCustomAttributes(typeof(SerializableAttribute), false).Length == 0)
                throw new InvalidOperationException(type.Name + " is not serializable");
            var result = Activator.CreateInstance(type);
            var members = value as Dictionary<string, object> ?? new Dictionary<string, object>();
            foreach (FieldInfo field in type.GetFields(BindingFlags.Public | BindingFlags.Instance))
            {
                object member;
                members.TryGetValue(field.Name, out member);
                field.SetValue(result, Converted(field.FieldType, member));
            }
            return result;
        }

        static object ParseValue(string text, ref int at)
        {
            SkipWhitespace(text, ref at);
            if (at >= text.Length) throw new ArgumentException("JSON parse error: The document is empty.");
            char first = text[at];
            if (first == '{' || first == '[')
            {
                var members = new Dictionary<string, object>();
                var items = new List<object>();
                char last = first == '{' ? '}' : ']';
                at++;
                SkipWhitespace(text, ref at);
                while (at < text.Length && text[at] != last)
                {
                    if (first == '{')
                    {
                        string key = (string)ParseValue(text, ref at);
                        SkipWhitespace(text, ref at);
                        at++;
                        members[key] = ParseValue(text, ref at);
                    }
                    else items.Add(ParseValue(text, ref at));
                    SkipWhitespace(text, ref at);
                    if (at < text.Length && text[at] == ',') at++;
                    SkipWhitespace(text, ref at);
                }
                if (at++ >= text.Length) throw new ArgumentException("JSON parse error: Missing a name or a bracket.");
                return first == '{' ? (object)members : items;
            }
            if (first == '"')
            {
                var content = new StringBuilder();
                for (at++; text[at] != '"'; at++)
                {
                    if (text[at] == '\\') at++;
                    content.Append(text[at]);
                }
                at++;
                return content.ToString();
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

        static void SkipWhitespace(string text, ref int at)
        {
            while (at < text.Length && char.IsWhiteSpace(text[at])) at++;
        }
    }
}
