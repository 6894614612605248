// SPDX-License-Identifier: MIT-0
// SPDX-FileCopyrightText: 2026 Collision Bounds developers
//
// Collision Bounds loader for Unity: the shapes of a document as Bounds and BoundingSphere, and as colliders.
//
//   var level = CollisionBounds.Document.Read(File.ReadAllText(path));
//   Bounds box = level.Find("Crate").world.ToBounds();
//   CollisionBounds.Colliders.Add(level, parent.transform);
//   BoundingSphere[] spheres = CollisionBounds.Track.ReadAll(File.ReadAllText(path))["Crate"].spheres;
//
// Export the document with `--preset unity`: meters, Y up, left-handed. Contacts are skipped.
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
#if UNITY_6000_0_OR_NEWER
using ColliderMaterial = UnityEngine.PhysicsMaterial;
#else
using ColliderMaterial = UnityEngine.PhysicMaterial;
#endif

namespace CollisionBounds
{
    public class Document
    {
        public string version;
        public double fps; // frame f is at f / fps seconds
        public Entry[] objects;

        /// Read a document from its text.
        public static Document Read(string json)
        {
            return new Document(Node.Root(json));
        }

        internal Document(Node root)
        {
            version = root["version"].Text;
            fps = root["time"]["fps"].Number;
            List<Node> entries = root["objects"].List;
            objects = entries.ConvertAll(entry => new Entry(entry)).ToArray();
            var ids = new HashSet<string>();
            foreach (Node entry in entries)
                entry["id"].RequireUnused(ids);
            foreach (Node entry in entries)
                if (!entry.IsNull("parent"))
                    entry["parent"].RequireId(ids);
        }

        /// Find the object with an id. Returns null if there is none.
        public Entry Find(string id)
        {
            return Array.Find(objects, entry => entry.id == id);
        }
    }

    public class Entry
    {
        public string id;
        public string name;
        public string parent;
        public double[] translation;
        public double[] rotation;
        public double[] scale; // along the axes of the object; all three are negative if it is mirrored
        public Shapes local; // place by translation and rotation only: the scale is applied already
        public Shapes world;
        public Shapes envelope; // null if the document has none
        public Shapes localEnvelope; // around the object at all frames, placed as local; null if there is none
        public string bone; // whose transform and vertices these are; null for an object
        public string customShape; // "box" or "sphere" if the object has a custom shape; else null
        public Collision collision;

        internal Entry(Node from)
        {
            id = from["id"].Text;
            name = from["name"].Text;
            parent = from.IsNull("parent") ? null : from["parent"].Text;
            translation = from["transform"]["translation"].Numbers(3);
            rotation = from["transform"]["rotation"].Rotation;
            scale = from["transform"]["scale"].Numbers(3);
            local = new Shapes(from["local"]);
            world = new Shapes(from["world"]);
            bone = from.Has("bone") ? from["bone"].Text : null;
            customShape = from.Has("override") ? from["override"].Text : null;
            collision = from.Has("collision") ? new Collision(from["collision"]) : new Collision();
            if (!from.Has("envelope"))
                return;
            envelope = new Shapes(from["envelope"]);
            if (from["envelope"].Has("local"))
                localEnvelope = new Shapes(from["envelope"]["local"]);
        }
    }

    /// What happens when something meets the object.
    public class Collision
    {
        public string response = "solid"; // or "trigger", which reports overlaps, or "none", without a collider
        public int group = 1; // 1 to 16
        public int mask = 65535; // groups that it collides with: bit k is that of group k + 1
        public string material; // name of the physics material; null for the default

        internal Collision() { }

        internal Collision(Node from)
        {
            response = from["response"].Text;
            if (response != "solid" && response != "trigger" && response != "none")
                throw from["response"].Error("must be solid, trigger or none");
            group = from["group"].Whole(1, 16);
            mask = from["mask"].Whole(0, 65535);
            material = from.IsNull("material") ? null : from["material"].Text;
        }
    }

    /// Shapes of an object. A shape that is not in the document is null.
    public class Shapes
    {
        public Box aabb;
        public Sphere sphere;
        public OrientedBox obb;
        public Axial capsule; // all points within the radius of its segment
        public Axial cylinder;
        public Hull hull;
        public SphereNode[] spheres; // a tree, the root first; the shape are the leaves, nodes without children
        public Shapes[] compound; // convex parts, whose union is the shape: each has a hull, obb, sphere or capsule

        internal Shapes() { }

        internal Shapes(Node from)
        {
            if (from.Has("aabb"))
                aabb = new Box(from["aabb"]["min"], from["aabb"]["max"]);
            if (from.Has("sphere"))
                sphere = new Sphere(from["sphere"]["center"], from["sphere"]["radius"]);
            if (from.Has("obb"))
                obb = new OrientedBox(from["obb"]);
            if (from.Has("capsule"))
                capsule = new Axial(from["capsule"]);
            if (from.Has("cylinder"))
                cylinder = new Axial(from["cylinder"]);
            if (from.Has("hull"))
                hull = new Hull(from["hull"]);
            if (from.Has("spheres"))
                spheres = SphereNode.Tree(from["spheres"].List);
            if (from.Has("compound"))
                compound = from["compound"].List.ConvertAll(Part).ToArray();
        }

        static Shapes Part(Node from)
        {
            var part = new Shapes(from);
            if (part.hull == null && part.obb == null && part.sphere == null && part.capsule == null)
                throw from.Error("must have a hull, obb, sphere or capsule");
            return part;
        }

        /// Convert to a single-precision box that encloses the document's box, also by its min and max.
        public Bounds ToBounds()
        {
            Require(aabb != null, "aabb");
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
            Require(sphere != null, "sphere");
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
            return new Quaternion((float)xyzw[0], (float)xyzw[1], (float)xyzw[2], (float)xyzw[3]);
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
    }

    public class Box
    {
        public double[] min;
        public double[] max;

        internal Box(Node low, Node high)
        {
            min = low.Numbers(3);
            max = high.Numbers(3);
            for (int k = 0; k < 3; k++)
                if (min[k] > max[k])
                    throw low.Error("must not be above max");
        }
    }

    public class Sphere
    {
        public double[] center;
        public double radius;

        internal Sphere(Node center, Node radius)
        {
            this.center = center.Numbers(3);
            this.radius = radius.Size;
        }
    }

    public class OrientedBox
    {
        public double[] center;
        public double[] halfExtents;
        public double[] rotation;

        internal OrientedBox(Node from)
        {
            center = from["center"].Numbers(3);
            halfExtents = from["halfExtents"].Sizes;
            rotation = from["rotation"].Rotation;
        }
    }

    /// A capsule or cylinder along a segment, from center - halfLength axis to center + halfLength axis.
    public class Axial
    {
        public double[] center;
        public double[] axis; // of length 1
        public double halfLength; // a capsule is longer by its radius at each end
        public double radius;

        internal Axial(Node from)
        {
            center = from["center"].Numbers(3);
            axis = from["axis"].Direction;
            halfLength = from["halfLength"].Size;
            radius = from["radius"].Size;
        }
    }

    public class Hull
    {
        public double[][] vertices;
        public int[][] faces; // triangles of indices of vertices, in the order of Unity

        internal Hull(Node from)
        {
            vertices = from["vertices"].List.ConvertAll(vertex => vertex.Numbers(3)).ToArray();
            if (vertices.Length == 0)
                throw from["vertices"].Error("must not be empty");
            faces = from["faces"].List.ConvertAll(Face).ToArray();
        }

        int[] Face(Node from)
        {
            int[] face = from.Indices(0, vertices.Length, "must be 3 indices of vertices");
            if (face.Length != 3)
                throw from.Error("must be 3 indices of vertices");
            return face;
        }
    }

    public class SphereNode
    {
        public Sphere sphere;
        public int[] children; // indices of nodes

        internal static SphereNode[] Tree(List<Node> nodes)
        {
            var tree = new SphereNode[nodes.Count];
            for (int k = 0; k < tree.Length; k++)
                tree[k] = new SphereNode
                {
                    sphere = new Sphere(nodes[k]["center"], nodes[k]["radius"]),
                    children = nodes[k]["children"].Indices(k + 1, tree.Length, "must be indices of later nodes")
                };
            return tree;
        }
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
            Node root = Node.Root(json);
            var ids = new HashSet<string>(Array.ConvertAll(new Document(root).objects, entry => entry.id));
            var tracks = new Dictionary<string, Track>();
            foreach (Node entry in root["tracks"].List)
            {
                var track = new Track(entry);
                entry["object"].RequireId(ids);
                if (tracks.ContainsKey(track.id))
                    throw entry["object"].Error("is used twice");
                tracks.Add(track.id, track);
            }
            return tracks;
        }

        Track(Node from)
        {
            id = from["object"].Text;
            frames = from["frames"].List.ConvertAll(frame => frame.Number).ToArray();
            if (from.Has("aabb"))
            {
                List<Node> low = PerFrame(from["aabb"]["mins"]), high = PerFrame(from["aabb"]["maxs"]);
                boxes = new Bounds[frames.Length];
                for (int k = 0; k < boxes.Length; k++)
                    boxes[k] = new Shapes { aabb = new Box(low[k], high[k]) }.ToBounds();
            }
            if (from.Has("sphere"))
            {
                List<Node> centers = PerFrame(from["sphere"]["centers"]), radii = PerFrame(from["sphere"]["radii"]);
                spheres = new BoundingSphere[frames.Length];
                for (int k = 0; k < spheres.Length; k++)
                    spheres[k] = new Shapes { sphere = new Sphere(centers[k], radii[k]) }.ToBoundingSphere();
            }
        }

        List<Node> PerFrame(Node from)
        {
            List<Node> list = from.List;
            if (list.Count != frames.Length)
                throw from.Error("must have one item per frame");
            return list;
        }
    }

    /// A value of the document with its path. Each property returns the value in its type, or throws an exception with
    /// the path. A key that is missing is null.
    class Node
    {
        readonly object value;
        readonly string path;

        Node(object value, string path)
        {
            this.value = value;
            this.path = path;
        }

        public static Node Root(string json)
        {
            var members = new Json(json).Parse() as Dictionary<string, object> ?? new Dictionary<string, object>();
            object format, version;
            if (!members.TryGetValue("format", out format) || !"collision-bounds".Equals(format))
                throw new InvalidDataException("This is not a Collision Bounds document.");
            members.TryGetValue("version", out version);
            if (!(version as string ?? "").StartsWith("1.", StringComparison.Ordinal))
                throw new InvalidDataException("The document has version " + version + ", but this loader reads version 1.");
            var root = new Node(members, "");
            string preset = root["space"]["preset"].Text;
            if (preset != "unity")
                throw new InvalidDataException(
                    "The document is in the space \"" + preset + "\": export it with --preset unity.");
            return root;
        }

        public Exception Error(string problem)
        {
            return new InvalidDataException(path + ": " + problem);
        }

        Dictionary<string, object> Table { get { return As<Dictionary<string, object>>("must be an object"); } }

        public bool Has(string key)
        {
            return Table.ContainsKey(key);
        }

        public bool IsNull(string key)
        {
            return Has(key) && Table[key] == null;
        }

        public Node this[string key]
        {
            get
            {
                object member;
                Table.TryGetValue(key, out member);
                return new Node(member, path == "" ? key : path + "." + key);
            }
        }

        public List<Node> List
        {
            get
            {
                int k = 0;
                return As<List<object>>("must be a list").ConvertAll(item => new Node(item, path + "[" + k++ + "]"));
            }
        }

        public string Text { get { return As<string>("must be text"); } }

        public double Number
        {
            get
            {
                if (!IsNumber(value))
                    throw Error("must be a finite number");
                return (double)value;
            }
        }

        public double Size
        {
            get
            {
                if (Number < 0)
                    throw Error("must not be negative");
                return Number;
            }
        }

        public int Whole(int least, int greatest)
        {
            double number = IsNumber(value) ? (double)value : double.NaN;
            if (!(number >= least && number <= greatest) || number != Math.Floor(number))
                throw Error("must be a whole number, " + least + " to " + greatest);
            return (int)number;
        }

        public double[] Numbers(int count)
        {
            var list = value as List<object>;
            if (list == null || list.Count != count || !list.TrueForAll(IsNumber))
                throw Error("must be " + count + " finite numbers");
            return list.ConvertAll(number => (double)number).ToArray();
        }

        public double[] Sizes
        {
            get
            {
                double[] sizes = Numbers(3);
                if (Array.Exists(sizes, size => size < 0))
                    throw Error("must not be negative");
                return sizes;
            }
        }

        /// A quaternion, normalized because documents have nine decimals.
        public double[] Rotation
        {
            get
            {
                double[] q = Numbers(4);
                double length = Math.Sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
                if (!(Math.Abs(length - 1) < 1e-3))
                    throw Error("must have length 1");
                return Array.ConvertAll(q, part => part / length);
            }
        }

        /// A unit vector, normalized for the same reason.
        public double[] Direction
        {
            get
            {
                double[] v = Numbers(3);
                double length = Math.Sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
                if (!(Math.Abs(length - 1) < 1e-3))
                    throw Error("must have length 1");
                return Array.ConvertAll(v, part => part / length);
            }
        }

        /// Whole numbers from `first` on that are less than `end`.
        public int[] Indices(int first, int end, string problem)
        {
            var list = value as List<object>;
            if (list == null || !list.TrueForAll(
                    item => IsNumber(item) && (double)item >= first && (double)item < end
                        && (double)item == Math.Floor((double)item)))
                throw Error(problem);
            return list.ConvertAll(item => (int)(double)item).ToArray();
        }

        public void RequireId(HashSet<string> ids)
        {
            if (!ids.Contains(Text))
                throw Error("is not the id of an object");
        }

        public void RequireUnused(HashSet<string> ids)
        {
            if (!ids.Add(Text))
                throw Error("is used twice");
        }

        T As<T>(string problem) where T : class
        {
            var result = value as T;
            if (result == null)
                throw Error(problem);
            return result;
        }

        static bool IsNumber(object item)
        {
            return item is double && !double.IsNaN((double)item) && !double.IsInfinity((double)item);
        }
    }

    /// Parser of JSON into dictionaries, lists, strings, numbers, booleans and null, because JsonUtility replaces missing
    /// and wrong values by zeros, and does not support lists of lists.
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
            try
            {
                return double.Parse(word, NumberStyles.Float, CultureInfo.InvariantCulture);
            }
            catch (FormatException)
            {
                throw Error();
            }
            catch (OverflowException) // in older versions of .NET
            {
                return double.PositiveInfinity;
            }
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

    /// Creates child objects with colliders, at the places of the document relative to a parent.
    ///
    /// The parent can have any position and rotation. It must not be scaled, because engines interpret scaled spheres
    /// differently.
    public static class Colliders
    {
        /// Add the colliders of all objects, as Create does for each.
        public static void Add(Document document, Transform parent, Func<string, ColliderMaterial> materialOf = null)
        {
            foreach (Entry entry in document.objects)
                Create(entry, parent, materialOf);
        }

        /// Add the colliders of an object, and return their children: none for the response "none".
        ///
        /// The shape is that of the first of these that the document has: a custom sphere, the convex parts, the hull,
        /// the leaves of the sphere tree, the capsule, the oriented box, the box along the object's own axes, the sphere.
        /// Triggers become triggers. A child is on the layer named "Group 3" of its group, and its colliders exclude the
        /// layers of groups that are not in its mask, if the project has layers of these names. `materialOf` finds
        /// the physics material of a name. Triggers have no material.
        public static List<GameObject> Create(
            Entry entry, Transform parent, Func<string, ColliderMaterial> materialOf = null)
        {
            var children = new List<GameObject>();
            if (entry.collision.response == "none")
                return children;
            Shapes world = entry.world;
            if (entry.customShape == "sphere" && world.sphere != null)
                children.Add(AddSphere(entry, parent, world));
            else if (world.compound != null)
                foreach (Shapes part in world.compound)
                    children.Add(AddPart(entry, parent, part));
            else if (world.hull != null)
                children.Add(AddHull(entry, parent, world.hull));
            else if (world.spheres != null)
                foreach (SphereNode node in Array.FindAll(world.spheres, node => node.children.Length == 0))
                    children.Add(AddSphere(entry, parent, new Shapes { sphere = node.sphere }));
            else if (world.capsule != null)
                children.Add(AddCapsule(entry, parent, world.capsule));
            else if (world.obb != null || entry.local.aabb != null)
                children.Add(AddBox(entry, parent));
            else
                children.Add(AddSphere(entry, parent, world));
            foreach (GameObject child in children)
                Respond(entry.collision, child, materialOf);
            return children;
        }

        /// Add a child with a BoxCollider for each object: its oriented box, or the box along its own axes if it has
        /// no oriented box. These are solid; so are those of the functions below.
        public static void AddBoxes(Document document, Transform parent)
        {
            foreach (Entry entry in document.objects)
                AddBox(entry, parent);
        }

        /// Add a child with a SphereCollider for each object.
        public static void AddSpheres(Document document, Transform parent)
        {
            foreach (Entry entry in document.objects)
                AddSphere(entry, parent, entry.world);
        }

        /// Add a child with a CapsuleCollider for each object that has a capsule.
        public static void AddCapsules(Document document, Transform parent)
        {
            foreach (Entry entry in document.objects)
                if (entry.world.capsule != null)
                    AddCapsule(entry, parent, entry.world.capsule);
        }

        /// Add a child with a convex MeshCollider for each object that has a hull. Unity allows 255 triangles, fewer
        /// than a hull with 255 vertices may have, and simplifies hulls with more.
        public static void AddHulls(Document document, Transform parent)
        {
            foreach (Entry entry in document.objects)
                if (entry.world.hull != null)
                    AddHull(entry, parent, entry.world.hull);
        }

        static void Respond(Collision collision, GameObject child, Func<string, ColliderMaterial> materialOf)
        {
            int layer = LayerMask.NameToLayer("Group " + collision.group);
            if (layer >= 0)
                child.layer = layer;
            Collider collider = child.GetComponent<Collider>();
            collider.isTrigger = collision.response == "trigger";
            if (collision.material != null && materialOf != null && !collider.isTrigger)
                collider.sharedMaterial = materialOf(collision.material);
#if UNITY_2022_2_OR_NEWER
            int excluded = 0;
            for (int group = 1; group <= 16; group++)
            {
                int other = LayerMask.NameToLayer("Group " + group);
                if (other >= 0 && (collision.mask >> (group - 1) & 1) == 0)
                    excluded |= 1 << other;
            }
            collider.excludeLayers = new LayerMask { value = excluded };
#endif
        }

        static GameObject AddPart(Entry entry, Transform parent, Shapes part)
        {
            if (part.hull != null)
                return AddHull(entry, parent, part.hull);
            if (part.obb != null)
                return AddBox(entry, parent, part.obb);
            return part.sphere != null ? AddSphere(entry, parent, part) : AddCapsule(entry, parent, part.capsule);
        }

        static GameObject AddBox(Entry entry, Transform parent)
        {
            if (entry.world.obb != null)
                return AddBox(entry, parent, entry.world.obb);
            Bounds box = entry.local.ToBounds();
            return AddBox(entry, parent, entry.translation, entry.rotation, box.center, box.extents);
        }

        static GameObject AddBox(Entry entry, Transform parent, OrientedBox box)
        {
            Vector3 half = Shapes.Vector(box.halfExtents);
            return AddBox(entry, parent, box.center, box.rotation, new Vector3(), half);
        }

        static GameObject AddSphere(Entry entry, Transform parent, Shapes shapes)
        {
            BoundingSphere sphere = shapes.ToBoundingSphere();
            GameObject child = Child(entry, parent, sphere.position, Quaternion.identity);
            child.AddComponent<SphereCollider>().radius = sphere.radius;
            return child;
        }

        static GameObject AddCapsule(Entry entry, Transform parent, Axial capsule)
        {
            Vector3 position = Shapes.Vector(capsule.center);
            double margin = Shapes.RoundingError(capsule.center, position)
                + 4e-7 * (capsule.halfLength + capsule.radius);
            GameObject child = Child(entry, parent, position, Shapes.Rotation(FromYTo(capsule.axis)));
            CapsuleCollider collider = child.AddComponent<CapsuleCollider>();
            collider.direction = 1; // along Y
            collider.radius = Shapes.RoundUp(capsule.radius + margin);
            // The height of Unity includes both ends.
            collider.height = 2 * Shapes.RoundUp(capsule.halfLength + (double)collider.radius);
            return child;
        }

        static GameObject AddHull(Entry entry, Transform parent, Hull hull)
        {
            // Vertices relative to one of them keep more digits in single precision.
            double[] origin = Array.ConvertAll(hull.vertices[0], number => (double)(float)number);
            var mesh = new Mesh();
            mesh.name = entry.name;
            mesh.vertices = Array.ConvertAll(hull.vertices, vertex => Shapes.Vector(new[] {
                vertex[0] - origin[0], vertex[1] - origin[1], vertex[2] - origin[2] }));
            var corners = new List<int>();
            foreach (int[] face in hull.faces)
                corners.AddRange(face);
            mesh.triangles = corners.ToArray();
            GameObject child = Child(entry, parent, Shapes.Vector(origin), Quaternion.identity);
            MeshCollider collider = child.AddComponent<MeshCollider>();
            collider.convex = true;
            collider.sharedMesh = mesh;
            return child;
        }

        // Shortest rotation from the Y axis to a unit vector.
        static double[] FromYTo(double[] axis)
        {
            double x = axis[2], z = -axis[0], w = 1 + axis[1];
            double length = Math.Sqrt(x * x + z * z + w * w);
            return length < 1e-6 ? new double[] { 1, 0, 0, 0 } : new[] { x / length, 0, z / length, w / length };
        }

        // Enlarged by the rounding error of position and rotation in single precision, at the farthest corner.
        static GameObject AddBox(
            Entry entry, Transform parent, double[] position, double[] rotation, Vector3 center, Vector3 half)
        {
            Vector3 rounded = Shapes.Vector(position);
            double x = Math.Abs(center.x) + half.x, y = Math.Abs(center.y) + half.y, z = Math.Abs(center.z) + half.z;
            double margin = Shapes.RoundingError(position, rounded) + 4e-7 * Math.Sqrt(x * x + y * y + z * z);
            GameObject child = Child(entry, parent, rounded, Shapes.Rotation(rotation));
            BoxCollider collider = child.AddComponent<BoxCollider>();
            collider.center = center;
            collider.size = new Vector3(
                2 * Shapes.RoundUp(half.x + margin), 2 * Shapes.RoundUp(half.y + margin), 2 * Shapes.RoundUp(half.z + margin));
            return child;
        }

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
