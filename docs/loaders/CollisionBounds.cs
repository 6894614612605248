// Collision Bounds in Unity: a document's shapes as Bounds and BoundingSphere, and as colliders.
//
//   var level = CollisionBounds.Document.Read(File.ReadAllText(path));
//   Bounds box = level.Find("Crate").world.ToBounds();
//   CollisionBounds.Colliders.AddBoxes(level, parent.transform);
//   BoundingSphere[] spheres = CollisionBounds.Track.ReadAll(File.ReadAllText(path))["Crate"].spheres;
//
// Write the document with `--preset unity`: metres with Y up, left-handed. Contacts, sphere trees and hulls are
// skipped. What goes wrong is an InvalidDataException with a sentence.
//
// Checked by: Mono's compiler and Mono, in the project's tests, with stand-ins for the few classes of Unity that this
// uses. It has not been run in Unity there.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Text;
using UnityEngine;

namespace CollisionBounds
{
    // Fields have the names of the document's keys, which JsonUtility goes by.
    [Serializable]
    public class Document
    {
        public string format;
        public string version;
        public Axes space;
        public Pace time;
        public Entry[] objects;

        /// A document from its text.
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
                throw new InvalidDataException("This is of version " + document.version + ", and this reads version 1.");
            if (document.space == null || document.space.preset != "unity")
                throw new InvalidDataException(
                    "This is in the space \"" + (document.space == null ? "" : document.space.preset)
                    + "\": write it with --preset unity.");
            if (document.objects == null)
                throw new InvalidDataException("This document is damaged, it has no objects: write it again.");
            return document;
        }

        /// The object of an id, or null.
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
    public class Pace
    {
        public double fps; // a frame is at frame / fps seconds
    }

    [Serializable]
    public class Entry
    {
        public string id;
        public string name;
        public string parent;
        public Placement transform;
        public Shapes local; // placed by translation and rotation alone: scale is in them
        public Shapes world;
        public Shapes envelope;
    }

    [Serializable]
    public class Placement
    {
        public double[] translation;
        public double[] rotation;
    }

    // JsonUtility may make an object of what the document has not: a shape is there if it has its numbers.
    [Serializable]
    public class Shapes
    {
        public Box aabb;
        public Ball sphere;
        public TurnedBox obb;

        public bool HasBox { get { return aabb != null && Is(aabb.min, 3) && Is(aabb.max, 3); } }
        public bool HasSphere { get { return sphere != null && Is(sphere.center, 3); } }
        public bool HasTurnedBox
        {
            get { return obb != null && Is(obb.center, 3) && Is(obb.halfExtents, 3) && Is(obb.rotation, 4); }
        }

        /// The box, in single precision around that of the document; its min and max hold it too.
        public Bounds ToBounds()
        {
            Need(HasBox, "aabb");
            var center = new float[3];
            var extents = new float[3];
            for (int k = 0; k < 3; k++)
            {
                double low = -Up(-aabb.min[k]), high = Up(aabb.max[k]);
                center[k] = (float)(low / 2 + high / 2);
                extents[k] = Up(Math.Max(high - center[k], center[k] - low));
            }
            // The constructor takes a size, and halves it: half of twice a number is the number.
            return new Bounds(
                new Vector3(center[0], center[1], center[2]),
                new Vector3(2 * extents[0], 2 * extents[1], 2 * extents[2]));
        }

        /// The sphere, in single precision around that of the document.
        public BoundingSphere ToBoundingSphere()
        {
            Need(HasSphere, "sphere");
            Vector3 center = Vector(sphere.center);
            return new BoundingSphere(center, Up((sphere.radius + Lost(sphere.center, center)) * (1 + 1e-15)));
        }

        internal static void Need(bool has, string shape)
        {
            if (!has)
                throw new InvalidDataException("There is no " + shape + " here: write the document with --shapes " + shape + ".");
        }

        internal static Vector3 Vector(double[] told)
        {
            return new Vector3((float)told[0], (float)told[1], (float)told[2]);
        }

        internal static Quaternion Turn(double[] told)
        {
            // Documents have nine decimals.
            double length = Math.Sqrt(told[0] * told[0] + told[1] * told[1] + told[2] * told[2] + told[3] * told[3]);
            return new Quaternion(
                (float)(told[0] / length), (float)(told[1] / length), (float)(told[2] / length), (float)(told[3] / length));
        }

        /// How far a place moved when it was rounded to single precision.
        internal static double Lost(double[] told, Vector3 near)
        {
            double x = told[0] - near.x, y = told[1] - near.y, z = told[2] - near.z;
            return Math.Sqrt(x * x + y * y + z * z);
        }

        /// The least number of single precision that is not less.
        internal static float Up(double value)
        {
            float near = (float)value;
            if (near >= value)
                return near;
            if (near == 0)
                return float.Epsilon;
            int bits = BitConverter.ToInt32(BitConverter.GetBytes(near), 0);
            return BitConverter.ToSingle(BitConverter.GetBytes(near > 0 ? bits + 1 : bits - 1), 0);
        }

        static bool Is(double[] told, int count)
        {
            return told != null && told.Length == count;
        }
    }

    [Serializable]
    public class Box
    {
        public double[] min;
        public double[] max;
    }

    [Serializable]
    public class Ball
    {
        public double[] center;
        public double radius;
    }

    [Serializable]
    public class TurnedBox
    {
        public double[] center;
        public double[] halfExtents;
        public double[] rotation;
    }

    /// An object in the world, frame by frame: one box and one sphere for each, null if they were not asked for.
    public class Track
    {
        public string id; // of the object
        public double[] frames; // Blender's, without those at which the object was away
        public Bounds[] boxes;
        public BoundingSphere[] spheres;

        /// The tracks of a document, by the ids of their objects, from its text.
        public static Dictionary<string, Track> ReadAll(string json)
        {
            Document.Read(json);
            var found = new Dictionary<string, Track>();
            try
            {
                var whole = (Dictionary<string, object>)new Json(json).Whole();
                foreach (Dictionary<string, object> told in (List<object>)whole["tracks"])
                {
                    var track = new Track(told);
                    found.Add(track.id, track);
                }
            }
            catch (Exception error) when (error is InvalidCastException || error is KeyNotFoundException
                || error is NullReferenceException || error is ArgumentException)
            {
                throw new InvalidDataException("This document is damaged, in its tracks: write it again.");
            }
            return found;
        }

        Track(Dictionary<string, object> told)
        {
            id = (string)told["object"];
            frames = Numbers(told["frames"], ((List<object>)told["frames"]).Count);
            if (told.ContainsKey("aabb"))
            {
                List<object> low = Listed(told["aabb"], "mins"), high = Listed(told["aabb"], "maxs");
                boxes = new Bounds[frames.Length];
                for (int k = 0; k < boxes.Length; k++)
                {
                    var box = new Box { min = Numbers(low[k], 3), max = Numbers(high[k], 3) };
                    boxes[k] = new Shapes { aabb = box }.ToBounds();
                }
            }
            if (told.ContainsKey("sphere"))
            {
                List<object> centers = Listed(told["sphere"], "centers"), radii = Listed(told["sphere"], "radii");
                spheres = new BoundingSphere[frames.Length];
                for (int k = 0; k < spheres.Length; k++)
                {
                    var ball = new Ball { center = Numbers(centers[k], 3), radius = (double)radii[k] };
                    spheres[k] = new Shapes { sphere = ball }.ToBoundingSphere();
                }
            }
        }

        List<object> Listed(object told, string key)
        {
            var list = (List<object>)((Dictionary<string, object>)told)[key];
            if (list.Count != frames.Length)
                throw new InvalidCastException();
            return list;
        }

        static double[] Numbers(object told, int count)
        {
            var list = (List<object>)told;
            if (list.Count != count)
                throw new InvalidCastException();
            return list.ConvertAll(number => (double)number).ToArray();
        }
    }

    /// JSON as dictionaries, lists, strings, numbers, truths and null. JsonUtility reads no lists of lists.
    class Json
    {
        readonly string text;
        int at;

        public Json(string text)
        {
            this.text = text;
        }

        public object Whole()
        {
            object found = Any(0);
            Blanks();
            if (at < text.Length)
                throw Wrong();
            return found;
        }

        object Any(int depth)
        {
            if (depth > 64)
                throw Wrong();
            char first = Next();
            if (first == '{')
            {
                at++;
                var members = new Dictionary<string, object>();
                if (Took('}'))
                    return members;
                do
                {
                    if (Next() != '"')
                        throw Wrong();
                    string key = Words();
                    if (!Took(':'))
                        throw Wrong();
                    members[key] = Any(depth + 1);
                } while (Took(','));
                if (!Took('}'))
                    throw Wrong();
                return members;
            }
            if (first == '[')
            {
                at++;
                var items = new List<object>();
                if (Took(']'))
                    return items;
                do
                    items.Add(Any(depth + 1));
                while (Took(','));
                if (!Took(']'))
                    throw Wrong();
                return items;
            }
            return first == '"' ? Words() : Word();
        }

        object Word()
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
                throw Wrong();
            return number;
        }

        string Words()
        {
            var found = new StringBuilder();
            for (at++; at < text.Length; at++)
            {
                if (text[at] == '"')
                {
                    at++;
                    return found.ToString();
                }
                if (text[at] != '\\')
                {
                    found.Append(text[at]);
                    continue;
                }
                if (++at >= text.Length)
                    break;
                int named = "\"\\/bfnrt".IndexOf(text[at]);
                ushort code;
                if (named >= 0)
                    found.Append("\"\\/\b\f\n\r\t"[named]);
                else if (text[at] == 'u' && at + 4 < text.Length && ushort.TryParse(
                    text.Substring(at + 1, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out code))
                {
                    found.Append((char)code);
                    at += 4;
                }
                else
                    break;
            }
            throw Wrong();
        }

        char Next()
        {
            Blanks();
            if (at >= text.Length)
                throw Wrong();
            return text[at];
        }

        bool Took(char wanted)
        {
            if (Next() != wanted)
                return false;
            at++;
            return true;
        }

        void Blanks()
        {
            while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0)
                at++;
        }

        Exception Wrong()
        {
            return new InvalidDataException("This is not JSON (at character " + at + ").");
        }
    }

    public static class Colliders
    {
        /// A child with a BoxCollider for each object: its oriented box, or else the box along its own axes.
        public static void AddBoxes(Document document, Transform parent)
        {
            foreach (Entry entry in document.objects)
            {
                if (entry.world.HasTurnedBox)
                {
                    TurnedBox box = entry.world.obb;
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

        /// A child with a SphereCollider for each object.
        public static void AddSpheres(Document document, Transform parent)
        {
            foreach (Entry entry in document.objects)
            {
                BoundingSphere ball = entry.world.ToBoundingSphere();
                GameObject child = Child(entry, parent, ball.position, Quaternion.identity);
                child.AddComponent<SphereCollider>().radius = ball.radius;
            }
        }

        // Larger by what its place and rotation lose in single precision, seen from the corner that is farthest.
        static void AddBox(Entry entry, Transform parent, double[] place, double[] turn, Vector3 center, Vector3 half)
        {
            Vector3 near = Shapes.Vector(place);
            double x = Math.Abs(center.x) + half.x, y = Math.Abs(center.y) + half.y, z = Math.Abs(center.z) + half.z;
            double more = Shapes.Lost(place, near) + 4e-7 * Math.Sqrt(x * x + y * y + z * z);
            BoxCollider collider = Child(entry, parent, near, Shapes.Turn(turn)).AddComponent<BoxCollider>();
            collider.center = center;
            collider.size = new Vector3(
                2 * Shapes.Up(half.x + more), 2 * Shapes.Up(half.y + more), 2 * Shapes.Up(half.z + more));
        }

        // Its parent may be anywhere, but must not be scaled: engines differ in what a scaled sphere is.
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
