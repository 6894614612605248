// Prints the result of the loader for Unity: a line of numbers for each volume and track entry, or the error.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using UnityEngine;

static class PrintLoaded
{
    static void Print(string kind, string id, params float[] numbers)
    {
        var texts = numbers.Select(number => ((double)number).ToString("R", CultureInfo.InvariantCulture));
        Console.WriteLine(kind + "\t" + id + "\t" + string.Join(" ", texts.ToArray()));
    }

    static void PrintExact(string kind, string id, IEnumerable<double> numbers)
    {
        var texts = numbers.Select(number => number.ToString("R", CultureInfo.InvariantCulture));
        Console.WriteLine(kind + "\t" + id + "\t" + string.Join(" ", texts.ToArray()));
    }

    static void PrintDetailed(CollisionBounds.Document level)
    {
        foreach (var entry in level.objects)
        {
            var world = entry.world;
            if (entry.bone != null) Console.WriteLine("bone\t" + entry.id + "\t" + entry.bone);
            foreach (var axial in new[] { world.capsule, world.cylinder })
                if (axial != null)
                    PrintExact(axial == world.capsule ? "capsule" : "cylinder", entry.id, axial.center.Concat(axial.axis)
                        .Concat(new[] { axial.halfLength, axial.radius }));
            if (world.hull != null)
            {
                PrintExact("vertices", entry.id, world.hull.vertices.SelectMany(vertex => vertex));
                PrintExact("faces", entry.id, world.hull.faces.SelectMany(face => face).Select(index => (double)index));
            }
            for (int k = 0; world.spheres != null && k < world.spheres.Length; k++)
            {
                var sphere = world.spheres[k].sphere;
                PrintExact("node " + k, entry.id, sphere.center.Concat(new[] { sphere.radius }));
                PrintExact("children " + k, entry.id, world.spheres[k].children.Select(index => (double)index));
            }
            if (entry.localEnvelope != null)
            {
                var box = entry.localEnvelope.aabb;
                PrintExact("local envelope aabb", entry.id, box.min.Concat(box.max));
            }
        }
        var root = new GameObject("Root");
        CollisionBounds.Colliders.AddCapsules(level, root.transform);
        foreach (GameObject child in root.transform.children)
        {
            Vector3 p = child.transform.localPosition;
            Quaternion q = child.transform.localRotation;
            var collider = (CapsuleCollider)child.components[0];
            Print("CapsuleCollider", child.name, p.x, p.y, p.z, q.x, q.y, q.z, q.w, collider.radius, collider.height,
                collider.direction);
        }
        root = new GameObject("Root");
        CollisionBounds.Colliders.AddHulls(level, root.transform);
        foreach (GameObject child in root.transform.children)
        {
            var collider = (MeshCollider)child.components[0];
            if (!collider.convex) continue;
            Print("MeshCollider", child.name, collider.sharedMesh.vertices.SelectMany(v => new[] { v.x, v.y, v.z }).ToArray());
            Print("triangles", child.name, collider.sharedMesh.triangles.Select(index => (float)index).ToArray());
        }
    }

    // Print a collider with its place in the world: its numbers, and what happens when something meets it.
    static void PrintCollider(GameObject child, string parent, int number)
    {
        string id = child.name + "|" + number;
        Vector3 p = child.transform.position, s = child.transform.lossyScale;
        Quaternion q = child.transform.rotation;
        var collider = child.GetComponent<Collider>();
        var box = collider as BoxCollider;
        var sphere = collider as SphereCollider;
        var capsule = collider as CapsuleCollider;
        var mesh = collider as MeshCollider;
        Print("place", id, p.x, p.y, p.z, q.x, q.y, q.z, q.w, s.x, s.y, s.z);
        Print("axes", id, new[] { new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1) }
            .Select(child.transform.TransformVector).SelectMany(axis => new[] { axis.x, axis.y, axis.z }).ToArray());
        Console.WriteLine("parent\t" + id + "\t" + parent);
        Print("responds", id, collider.isTrigger ? 1 : 0, child.layer, collider.excludeLayers.value);
        var material = collider.sharedMaterial;
        Console.WriteLine("material\t" + id + "\t" + (material == null ? "none" : material.name));
        if (box != null)
            Print("box", id, box.center.x, box.center.y, box.center.z, box.size.x, box.size.y, box.size.z);
        else if (sphere != null)
            Print("sphere", id, sphere.radius);
        else if (capsule != null)
            Print("capsule", id, capsule.direction, capsule.radius, capsule.height);
        else
            Print("hull", id, mesh.sharedMesh.vertices.SelectMany(v => new[] { v.x, v.y, v.z }).ToArray());
    }

    static void PrintCreated(CollisionBounds.Document level)
    {
        var root = new GameObject("Root");
        CollisionBounds.Colliders.Add(level, root.transform, name => new PhysicMaterial { name = name });
        for (int k = 0; k < root.transform.children.Count; k++)
            PrintCollider(root.transform.children[k], "Root", k);
    }

    class Importer : CollisionBounds.DocumentImporter
    {
        public void Run(GameObject root)
        {
            typeof(CollisionBounds.DocumentImporter).GetMethod("OnPostprocessModel",
                System.Reflection.BindingFlags.Instance | System.Reflection.BindingFlags.NonPublic)
                .Invoke(this, new object[] { root });
        }
    }

    // Import a model of objects, each a line of name, parent, position, rotation and scale, the first one the root. A
    // last column has the names of bones of a skin, with / after the names of their parents.
    static void PrintDocumentImport(string model, int times)
    {
        var items = new Dictionary<string, GameObject>();
        GameObject root = null;
        foreach (string line in File.ReadAllLines(model))
        {
            string[] fields = line.Split('\t');
            float[] n = fields[2].Split(' ').Select(text => float.Parse(text, CultureInfo.InvariantCulture)).ToArray();
            var item = new GameObject(fields[0]);
            if (root == null) root = item;
            else item.transform.SetParent(items[fields[1]].transform, false);
            items[fields[0]] = item;
            item.transform.localPosition = new Vector3(n[0], n[1], n[2]);
            item.transform.localRotation = new Quaternion(n[3], n[4], n[5], n[6]);
            item.transform.localScale = new Vector3(n[7], n[8], n[9]);
            if (fields.Length > 3)
                item.AddComponent<SkinnedMeshRenderer>().bones = fields[3].Split(' ').Select(path => Find(root, path)).ToArray();
        }
        var importer = new Importer { assetPath = model };
        for (int k = 0; k < times; k++)
        {
            importer.context = new UnityEditor.AssetImportContext();
            importer.Run(root);
        }
        Console.WriteLine("depends\t\t" + string.Join(" ", importer.context.dependencies.ToArray()));
        Print("meshes", "", importer.context.assets.Count);
        int number = 0;
        foreach (GameObject parent in Below(root).ToArray())
            foreach (GameObject child in parent.transform.children)
                if (child.GetComponent<Collider>() != null)
                {
                    Print("parent y", child.name + "|" + number, parent.transform.localPosition.y);
                    PrintCollider(child, parent.name, number++);
                }
        Console.WriteLine("objects\t\t" + string.Join(" ", Below(root).Select(item => item.name).ToArray()));
    }

    static Transform Find(GameObject item, string path)
    {
        foreach (string name in path.Split('/'))
            item = item.transform.children.First(child => child.name == name);
        return item.transform;
    }

    static IEnumerable<GameObject> Below(GameObject item)
    {
        return new[] { item }.Concat(item.transform.children.SelectMany(Below));
    }

    static void PrintImported(string[] lines)
    {
        var root = new GameObject("Root");
        foreach (string line in lines)
        {
            var item = new GameObject(line.Split('\t')[0]);
            item.transform.SetParent(root.transform, false);
            float[] numbers = line.Split('\t')[1].Split(' ')
                .Select(text => float.Parse(text, CultureInfo.InvariantCulture)).ToArray();
            var vertices = new Vector3[numbers.Length / 3];
            for (int k = 0; k < vertices.Length; k++)
                vertices[k] = new Vector3(numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]);
            item.AddComponent<MeshFilter>().sharedMesh = new Mesh { vertices = vertices };
            item.AddComponent<MeshRenderer>();
        }
        Print("count", "", CollisionBounds.ColliderImporter.Convert(root));
        foreach (GameObject item in root.transform.children)
            foreach (Component component in item.components)
            {
                var box = component as BoxCollider;
                var sphere = component as SphereCollider;
                var capsule = component as CapsuleCollider;
                var mesh = component as MeshCollider;
                if (box != null)
                    Print("BoxCollider", item.name, box.center.x, box.center.y, box.center.z, box.size.x, box.size.y,
                        box.size.z);
                else if (sphere != null)
                    Print("SphereCollider", item.name, sphere.center.x, sphere.center.y, sphere.center.z, sphere.radius);
                else if (capsule != null)
                    Print("CapsuleCollider", item.name, capsule.center.x, capsule.center.y, capsule.center.z,
                        capsule.direction, capsule.radius, capsule.height);
                else if (mesh != null)
                    Print("MeshCollider", item.name, mesh.convex ? 1 : 0, mesh.sharedMesh.vertices.Length);
                else
                    Print(component.GetType().Name, item.name);
            }
    }

    static int Main(string[] arguments)
    {
        // With --import FILE, print the colliders that the importer makes of objects: lines of a name and coordinates.
        if (arguments[0] == "--import")
        {
            PrintImported(File.ReadAllLines(arguments[1]));
            return 0;
        }
        // With --document MODEL TIMES, import a model with the document next to it, and print the colliders.
        if (arguments[0] == "--document")
        {
            PrintDocumentImport(arguments[1], int.Parse(arguments[2]));
            return 0;
        }
        // With --create FILE, print the colliders that objects of a document get.
        if (arguments[0] == "--create")
        {
            PrintCreated(CollisionBounds.Document.Read(File.ReadAllText(arguments[1])));
            return 0;
        }
        // With --detailed FILE, print capsules, cylinders, hulls, sphere trees, bones and local envelopes.
        if (arguments[0] == "--detailed")
        {
            PrintDetailed(CollisionBounds.Document.Read(File.ReadAllText(arguments[1])));
            return 0;
        }
        // With --messages FILE ..., print only the message of the error of each file, or an empty line.
        if (arguments[0] == "--messages")
        {
            foreach (string path in arguments.Skip(1))
            {
                try
                {
                    CollisionBounds.Track.ReadAll(File.ReadAllText(path));
                    Console.WriteLine();
                }
                catch (InvalidDataException problem)
                {
                    Console.WriteLine(problem.Message);
                }
            }
            return 0;
        }
        CollisionBounds.Document level;
        Dictionary<string, CollisionBounds.Track> tracks;
        try
        {
            level = CollisionBounds.Document.Read(File.ReadAllText(arguments[0]));
            tracks = CollisionBounds.Track.ReadAll(File.ReadAllText(arguments[0]));
        }
        catch (InvalidDataException problem)
        {
            Console.Error.WriteLine(problem.Message);
            return 2;
        }
        foreach (var entry in level.objects)
        {
            Bounds box = level.Find(entry.id).world.ToBounds();
            BoundingSphere sphere = entry.world.ToBoundingSphere();
            Vector3 c = box.center, e = box.extents, p = sphere.position;
            Print("Bounds", entry.id, c.x, c.y, c.z, e.x, e.y, e.z);
            Print("BoundingSphere", entry.id, p.x, p.y, p.z, sphere.radius);
        }
        foreach (var track in tracks)
        {
            if (track.Key != track.Value.id) return 4;
            for (int k = 0; k < track.Value.frames.Length; k++)
            {
                string name = track.Key + "|" + k;
                Print("Frame", name, (float)track.Value.frames[k]);
                if (track.Value.boxes != null)
                {
                    Vector3 c = track.Value.boxes[k].center, e = track.Value.boxes[k].extents;
                    Print("TrackBounds", name, c.x, c.y, c.z, e.x, e.y, e.z);
                }
                if (track.Value.spheres != null)
                {
                    BoundingSphere sphere = track.Value.spheres[k];
                    Print("TrackSphere", name, sphere.position.x, sphere.position.y, sphere.position.z, sphere.radius);
                }
            }
        }
        var root = new GameObject("Root");
        CollisionBounds.Colliders.AddBoxes(level, root.transform);
        CollisionBounds.Colliders.AddSpheres(level, root.transform);
        for (int k = 0; k < root.transform.children.Count; k++)
        {
            GameObject child = root.transform.children[k];
            string id = level.objects[k % level.objects.Length].id;
            if (child.name != level.objects[k % level.objects.Length].name) return 3;
            Vector3 p = child.transform.localPosition;
            Quaternion q = child.transform.localRotation;
            var box = child.components[0] as BoxCollider;
            if (box != null)
                Print("BoxCollider", id, p.x, p.y, p.z, q.x, q.y, q.z, q.w,
                    box.center.x, box.center.y, box.center.z, box.size.x, box.size.y, box.size.z);
            else
                Print("SphereCollider", id, p.x, p.y, p.z, ((SphereCollider)child.components[0]).radius);
        }
        return 0;
    }
}
