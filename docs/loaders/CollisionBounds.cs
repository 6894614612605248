// Collision Bounds loader for Unity: the shapes of a document as Bounds and BoundingSphere, and as colliders.
//
//   var level = CollisionBounds.Document.Read(File.ReadAllText(path));
//   Bounds box = level.Find("Crate").world.ToBounds();
//   CollisionBounds.Colliders.AddBoxes(level, parent.transform);
//   BoundingSphere[] spheres = CollisionBounds.Track.ReadAll(File.ReadAllText(path))["Crate"].spheres;
//
// Export the document with `--preset unity`: meters, Y up, left-handed. Contacts, sphere trees and hulls are skipped.
// Errors are InvalidDataExceptions.
//
// Tested with Mono and its compiler, in the project's tests, with substitutes for the few classes of Unity that this
// file uses. They do not run it in Unity.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Text;
using UnityEngine;

namespace CollisionBounds
{
    // Fields have the names of the document's keys, because JsonUtility matches keys to fields by name.
    [Serializable]
    public class Document
    {
        public string format;
        public string version;
        public Axes space;
        public TimeInfo time;
        public Entry[] objects;

        /// Read a document from its text.
        public static Document Read(string json)
        {
            Document document;
            try
            {
                document = JsonUtility.FromJson<Document>(json);
            }
            catch (ArgumentException error)
            {
                throw new InvalidDataException("This is not JSON: " + error.Message);
            }
            if (document == null || document.format != "collision-bounds")
                throw new InvalidDataException("This is not a Collision Bounds document.");
            if (document.version == null || !document.version.StartsWith("1.", StringComparison.Ordinal))
                throw new InvalidDataException("The document has version " + document.version + ", but this loader reads version 1.");
            if (document.space == null || document.space.preset != "unity")
                throw new InvalidDataException(
                    "The document is in the space \"" + (document.space == null ? "" : document.space.preset)
                    + "\": export it with --preset unity.");
            if (document.objects == null)
                throw new InvalidDataException("The document is damaged, it has no objects: export it again.");
            return document;
        }

        /// Find the object with an id. Returns null if there is none.
        public Entry Find(string id)
        {
            return Array.Find(objects, entry => entry.id == id);
        }
    }

    [Serializable]
    public class Axes
    {
        public string preset;
    }

    [Serializable]
    public class TimeInfo
    {
        public double fps; // frame f is at f / fps seconds
    }

    [Serializable]
    public class Entry
    {
        public string id;
        public string name;
        public string parent;
        public Placement transform;
        public Shapes local; // place by translation and rotation only: the scale is applied already
        public Shapes world;
        public Shapes envelope;
    }

    [Serializable]
    public class Placement
    {
        public double[] translation;
        public double[] rotation;
    }

    // JsonUtility can create objects for keys that the document does not have. So a shape exists if it has numbers.
    [Serializable]
    public class Shapes
    {
        public Box aabb;
        public Sphere sphere;
        public OrientedBox obb;

        public bool HasBox { get { return aabb != null && HasLength(aabb.min, 3) && HasLength(aabb.max, 3); } }
        public bool HasSphere { get { return sphere != null && HasLength(sphere.center, 3); } }
        public bool HasOrientedBox
        {
            get
            {
                return obb != null && HasLength(obb.center, 3) && HasLength(obb.halfExtents, 3)
                    && HasLength(obb.rotation, 4);
            }
        }

        /// Convert to a single-precision box that encloses the document's box, also by its min and max.
        public Bounds ToBounds()
        {
            Require(HasBox, "aabb");
            var center = new float[3];
            var extents = new float[3];
            for (int k = 0; k < 3; k++)
            {
                double low = -RoundUp(-aabb.min[k]), high = RoundUp(aabb.max[k]);
                center[k] = (float)(low / 2 + high / 2);
                extents[k] = RoundUp(Math.Max(high - center[k], center[k] - low));
            }
            // The constructor expects a size and halves it. Doubling and halving are exact.
            return new Bounds(
                new Vector3(center[0], center[1], center[2]),
                new Vector3(2 * extents[0], 2 * extents[1], 2 * extents[2]));
        }

        /// Convert to a single-precision sphere that encloses the document's sphere.
        public BoundingSphere ToBoundingSphere()
        {
            Require(HasSphere, "sphere");
            Vector3 center = Vector(sphere.center);
            return new BoundingSphere(center, RoundUp((sphere.radius + RoundingError(sphere.center, center)) * (1 + 1e-15)));
        }

        internal static void Require(bool has, string shape)
        {
            if (!has)
                throw new InvalidDataException("The document has no " + shape + ": export it with --shapes " + shape + ".");
        }

        internal static Vector3 Vector(double[] values)
        {
            return new Vector3((float)values[0], (float)values[1], (float)values[2]);
        }

        internal static Quaternion Rotation(double[] xyzw)
        {
            // Normalized, because documents have nine decimals.
            double length = Math.Sqrt(xyzw[0] * xyzw[0] + xyzw[1] * xyzw[1] + xyzw[2] * xyzw[2] + xyzw[3] * xyzw[3]);
            return new Quaternion(
                (float)(xyzw[0] / length), (float)(xyzw[1] / length), (float)(xyzw[2] / length), (float)(xyzw[3] / length));
        }

        /// Distance between a point and the same point rounded to single precision.
        internal static double RoundingError(double[] point, Vector3 rounded)
        {
            double x = point[0] - rounded.x, y = point[1] - rounded.y, z = point[2] - rounded.z;
            return Math.Sqrt(x * x + y * y + z * z);
        }

        /// Smallest single-precision number that is not below a value.
        internal static float RoundUp(double value)
        {
            float near = (float)value;
            if (near >= value)
                return near;
            if (near == 0)
                return float.Epsilon;
            int bits = BitConverter.ToInt32(BitConverter.GetBytes(near), 0);
            return BitConverter.ToSingle(BitConverter.GetBytes(near > 0 ? bits + 1 : bits - 1), 0);
        }

        static bool HasLength(double[] values, int count)
        {
            return values != null && values.Length == count;
        }
    }

    [Serializable]
    public class Box
    {
        public double[] min;
        public double[] max;
    }

    [Serializable]
    public class Sphere
    {
        public double[] center;
        public double radius;
    }

    [Serializable]
    public class OrientedBox
    {
        public double[] center;
        public double[] halfExtents;
        public double[] rotation;
    }

    /// World shapes of an object: one box and one sphere per frame. Shapes that are not in the document are null.
    public class Track
    {
        public string id; // of the object
        public double[] frames; // frame numbers of Blender, without frames at which the object is absent
        public Bounds[] boxes;
        public BoundingSphere[] spheres;

        /// Read the tracks of a document from its text, by the ids of their objects.
        public static Dictionary<string, Track> ReadAll(string json)
        {
            Document.Read(json);
            var tracks = new Dictionary<string, Track>();
            try
            {
                var document = (Dictionary<string, object>)new Json(json).Parse();
                foreach (Dictionary<string, object> entry in (List<object>)document["tracks"])
                {
                    var track = new Track(entry);
                    tracks.Add(track.id, track);
                }
            }
            catch (Exception error) when (error is InvalidCastException || error is KeyNotFoundException
                || error is NullReferenceException || error is ArgumentException)
            {
                throw new InvalidDataException("The document is damaged, in its tracks: export it again.");
            }
            return tracks;
        }

        Track(Dictionary<string, object> entry)
        {
            id = (string)entry["object"];
            frames = Numbers(entry["frames"], ((List<object>)entry["frames"]).Count);
            if (entry.ContainsKey("aabb"))
            {
                List<object> low = PerFrame(entry["aabb"], "mins"), high = PerFrame(entry["aabb"], "maxs");
                boxes = new Bounds[frames.Length];
                for (int k = 0; k < boxes.Length; k++)
                {
                    var box = new Box { min = Numbers(low[k], 3), max = Numbers(high[k], 3) };
                    boxes[k] = new Shapes { aabb = box }.ToBounds();
                }
            }
            if (entry.ContainsKey("sphere"))
            {
                List<object> centers = PerFrame(entry["sphere"], "centers"), radii = PerFrame(entry["sphere"], "radii");
                spheres = new BoundingSphere[frames.Length];
                for (int k = 0; k < spheres.Length; k++)
                {
                    var sphere = new Sphere { center = Numbers(centers[k], 3), radius = (double)radii[k] };
                    spheres[k] = new Shapes { sphere = sphere }.ToBoundingSphere();
                }
            }
        }

        List<object> PerFrame(object shape, string key)
        {
            var list = (List<object>)((Dictionary<string, object>)shape)[key];
            if (list.Count != frames.Length)
                throw new InvalidCastException();
            return list;
        }

        static double[] Numbers(object values, int count)
        {
            var list = (List<object>)values;
            if (list.Count != count)
                throw new InvalidCastException();
            return list.ConvertAll(number => (double)number).ToArray();
        }
    }

    /// Parser of JSON into dictionaries, lists, strings, numbers, booleans and null, because JsonUtility does not
    /// support lists of lists.
    class Json
    {
        readonly string text;
        int at;

        public Json(string text)
        {
            this.text = text;
        }

        public object Parse()
        {
            object value = ParseValue(0);
            SkipWhitespace();
            if (at < text.Length)
                throw Error();
            return value;
        }

        object ParseValue(int depth)
        {
            if (depth > 64)
                throw Error();
            char first = Peek();
            if (first == '{')
            {
                at++;
                var members = new Dictionary<string, object>();
                if (Accept('}'))
                    return members;
                do
                {
                    if (Peek() != '"')
                        throw Error();
                    string key = ParseString();
                    if (!Accept(':'))
                        throw Error();
                    members[key] = ParseValue(depth + 1);
                } while (Accept(','));
                if (!Accept('}'))
                    throw Error();
                return members;
            }
            if (first == '[')
            {
                at++;
                var items = new List<object>();
                if (Accept(']'))
                    return items;
                do
                    items.Add(ParseValue(depth + 1));
                while (Accept(','));
                if (!Accept(']'))
                    throw Error();
                return items;
            }
            return first == '"' ? ParseString() : ParseLiteral();
        }

        object ParseLiteral()
        {
            int start = at;
            while (at < text.Length && ",]} \t\r\n".IndexOf(text[at]) < 0)
                at++;
            string word = text.Substring(start, at - start);
            if (word == "null")
                return null;
            if (word == "true" || word == "false")
                return word == "true";
            double number;
            if (!double.TryParse(word, NumberStyles.Float, CultureInfo.InvariantCulture, out number))
                throw Error();
            return number;
        }

        string ParseString()
        {
            var content = new StringBuilder();
            for (at++; at < text.Length; at++)
            {
                if (text[at] == '"')
                {
                    at++;
                    return content.ToString();
                }
                if (text[at] != '\\')
                {
                    content.Append(text[at]);
                    continue;
                }
                if (++at >= text.Length)
                    break;
                int escape = "\"\\/bfnrt".IndexOf(text[at]);
                ushort code;
                if (escape >= 0)
                    content.Append("\"\\/\b\f\n\r\t"[escape]);
                else if (text[at] == 'u' && at + 4 < text.Length && ushort.TryParse(
                    text.Substring(at + 1, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out code))
                {
                    content.Append((char)code);
                    at += 4;
                }
                else
                    break;
            }
            throw Error();
        }

        char Peek()
        {
            SkipWhitespace();
            if (at >= text.Length)
                throw Error();
            return text[at];
        }

        bool Accept(char expected)
        {
            if (Peek() != expected)
                return false;
            at++;
            return true;
        }

        void SkipWhitespace()
        {
            while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0)
                at++;
        }

        Exception Error()
        {
            return new InvalidDataException("This is not JSON (at character " + at + ").");
        }
    }

    public static class Colliders
    {
        /// Add a child with a BoxCollider for each object: its oriented box, or the box along its own axes if it has
        /// no oriented box.
        public static void AddBoxes(Document document, Transform parent)
        {
            foreach (Entry entry in document.objects)
            {
                if (entry.world.HasOrientedBox)
                {
                    OrientedBox box = entry.world.obb;
                    Vector3 half = Shapes.Vector(box.halfExtents);
                    AddBox(entry, parent, box.center, box.rotation, new Vector3(), half);
                }
                else
                {
                    Bounds box = entry.local.ToBounds();
                    AddBox(entry, parent, entry.transform.translation, entry.transform.rotation, box.center, box.extents);
                }
            }
        }

        /// Add a child with a SphereCollider for each object.
        public static void AddSpheres(Document document, Transform parent)
        {
            foreach (Entry entry in document.objects)
            {
                BoundingSphere sphere = entry.world.ToBoundingSphere();
                GameObject child = Child(entry, parent, sphere.position, Quaternion.identity);
                child.AddComponent<SphereCollider>().radius = sphere.radius;
            }
        }

        // Enlarged by the rounding error of position and rotation in single precision, at the farthest corner.
        static void AddBox(
            Entry entry, Transform parent, double[] position, double[] rotation, Vector3 center, Vector3 half)
        {
            Vector3 rounded = Shapes.Vector(position);
            double x = Math.Abs(center.x) + half.x, y = Math.Abs(center.y) + half.y, z = Math.Abs(center.z) + half.z;
            double margin = Shapes.RoundingError(position, rounded) + 4e-7 * Math.Sqrt(x * x + y * y + z * z);
            BoxCollider collider = Child(entry, parent, rounded, Shapes.Rotation(rotation)).AddComponent<BoxCollider>();
            collider.center = center;
            collider.size = new Vector3(
                2 * Shapes.RoundUp(half.x + margin), 2 * Shapes.RoundUp(half.y + margin), 2 * Shapes.RoundUp(half.z + margin));
        }

        // The parent can have any position and rotation, but must not be scaled, because engines interpret scaled
        // spheres differently.
        static GameObject Child(Entry entry, Transform parent, Vector3 position, Quaternion rotation)
        {
            var child = new GameObject(entry.name);
            child.transform.SetParent(parent, false);
            child.transform.localPosition = position;
            child.transform.localRotation = rotation;
            return child;
        }
    }
}
