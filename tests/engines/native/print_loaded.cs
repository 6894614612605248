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

    static int Main(string[] arguments)
    {
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
