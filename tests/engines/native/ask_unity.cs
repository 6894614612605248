// What the loader for Unity makes of a document: a line of numbers for each volume, also of tracks, or what it says is
// wrong.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using UnityEngine;

static class Ask
{
    static void Say(string what, string id, params float[] numbers)
    {
        var told = numbers.Select(number => ((double)number).ToString("R", CultureInfo.InvariantCulture));
        Console.WriteLine(what + "\t" + id + "\t" + string.Join(" ", told.ToArray()));
    }

    static int Main(string[] arguments)
    {
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
            BoundingSphere ball = entry.world.ToBoundingSphere();
            Vector3 c = box.center, e = box.extents, p = ball.position;
            Say("Bounds", entry.id, c.x, c.y, c.z, e.x, e.y, e.z);
            Say("BoundingSphere", entry.id, p.x, p.y, p.z, ball.radius);
        }
        foreach (var track in tracks)
        {
            if (track.Key != track.Value.id) return 4;
            for (int k = 0; k < track.Value.frames.Length; k++)
            {
                string place = track.Key + "|" + k;
                Say("Frame", place, (float)track.Value.frames[k]);
                if (track.Value.boxes != null)
                {
                    Vector3 c = track.Value.boxes[k].center, e = track.Value.boxes[k].extents;
                    Say("TrackBounds", place, c.x, c.y, c.z, e.x, e.y, e.z);
                }
                if (track.Value.spheres != null)
                {
                    BoundingSphere ball = track.Value.spheres[k];
                    Say("TrackSphere", place, ball.position.x, ball.position.y, ball.position.z, ball.radius);
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
                Say("BoxCollider", id, p.x, p.y, p.z, q.x, q.y, q.z, q.w,
                    box.center.x, box.center.y, box.center.z, box.size.x, box.size.y, box.size.z);
            else
                Say("SphereCollider", id, p.x, p.y, p.z, ((SphereCollider)child.components[0]).radius);
        }
        return 0;
    }
}
