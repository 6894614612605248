// What the loader for C++ makes of a document: a line of numbers for each volume, also of tracks, and contact, or
// what is wrong.
#include <cstdio>
#include <iostream>

#include "collision_bounds.hpp"

namespace {

void say(const char* what, const std::string& id, std::initializer_list<double> numbers) {
    std::cout << what << '\t' << id << '\t';
    for (const double number : numbers) {
        char text[32];
        std::snprintf(text, sizeof text, "%.17g ", number);
        std::cout << text;
    }
    std::cout << '\n';
}

using namespace collision_bounds;

void say(const char* what, const std::string& id, const aabb& b) {
    say(what, id, {b.min.x, b.min.y, b.min.z, b.max.x, b.max.y, b.max.z});
}
void say(const char* what, const std::string& id, const sphere& s) {
    say(what, id, {s.center.x, s.center.y, s.center.z, s.radius});
}
void say(const char* what, const std::string& id, const obb& b) {
    say(what, id, {b.center.x, b.center.y, b.center.z, b.half_extents.x, b.half_extents.y, b.half_extents.z,
                   b.rotation.x, b.rotation.y, b.rotation.z, b.rotation.w});
}

void say(const std::string& prefix, const std::string& id, const shapes& of) {
    if (of.aabb) say((prefix + " aabb").c_str(), id, *of.aabb);
    if (of.sphere) say((prefix + " sphere").c_str(), id, *of.sphere);
    if (of.obb) say((prefix + " obb").c_str(), id, *of.obb);
}

}  // namespace

int main(int, char** arguments) {
    try {
        const document level = read_file(arguments[1], arguments[2]);
        for (const object& each : level.objects) {
            say("world", each.id, each.world);
            say("local", each.id, each.local);
            shapes single;
            if (each.world.aabb) single.aabb = in_single(*each.world.aabb);
            if (each.world.sphere) single.sphere = in_single(*each.world.sphere);
            if (each.world.obb) single.obb = in_single(*each.world.obb);
            say("single", each.id, single);
            say("place", each.id, {each.translation.x, each.translation.y, each.translation.z});
            std::cout << "name\t" << each.id << '\t' << each.name << '\n';
        }
        for (const track& each : level.tracks) {
            for (std::size_t k = 0; k < each.frames.size(); ++k) {
                const std::string place = each.object + "|" + std::to_string(k);
                say("track frame", place, {each.frames[k]});
                shapes told, single;
                if (!each.boxes.empty()) told.aabb = each.boxes[k], single.aabb = in_single(each.boxes[k]);
                if (!each.spheres.empty()) told.sphere = each.spheres[k], single.sphere = in_single(each.spheres[k]);
                say("track", place, told);
                say("track single", place, single);
            }
        }
        for (const contact& each : level.contacts)
            say("contact", each.a + "|" + each.b, {each.frame, each.seconds, each.uncertainty, each.point.x, each.normal.z,
                                                   static_cast<double>(each.at_start), static_cast<double>(each.tunnelling)});
    } catch (const error& problem) {
        std::cerr << problem.what() << '\n';
        return 2;
    }
}
