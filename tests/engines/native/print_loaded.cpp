// Prints the result of the loader for C++: a line of numbers for each volume, track entry and contact, or the error.
#include <cstdio>
#include <iostream>
#include <vector>

#include "collision_bounds.hpp"

namespace {

template <typename Numbers>
void print_all(const char* kind, const std::string& id, const Numbers& numbers) {
    std::cout << kind << '\t' << id << '\t';
    for (const double number : numbers) {
        char text[32];
        std::snprintf(text, sizeof text, "%.17g ", number);
        std::cout << text;
    }
    std::cout << '\n';
}

void print(const char* kind, const std::string& id, std::initializer_list<double> numbers) {
    print_all(kind, id, numbers);
}

using namespace collision_bounds;

void print(const char* kind, const std::string& id, const aabb& b) {
    print(kind, id, {b.min.x, b.min.y, b.min.z, b.max.x, b.max.y, b.max.z});
}
void print(const char* kind, const std::string& id, const sphere& s) {
    print(kind, id, {s.center.x, s.center.y, s.center.z, s.radius});
}
void print(const char* kind, const std::string& id, const obb& b) {
    print(kind, id, {b.center.x, b.center.y, b.center.z, b.half_extents.x, b.half_extents.y, b.half_extents.z,
                   b.rotation.x, b.rotation.y, b.rotation.z, b.rotation.w});
}

template <typename Axial>
void print_axial(const char* kind, const std::string& id, const Axial& s) {
    print(kind, id, {s.center.x, s.center.y, s.center.z, s.axis.x, s.axis.y, s.axis.z, s.half_length, s.radius});
}

void print(const std::string& prefix, const std::string& id, const shapes& group) {
    if (group.aabb) print((prefix + " aabb").c_str(), id, *group.aabb);
    if (group.sphere) print((prefix + " sphere").c_str(), id, *group.sphere);
    if (group.obb) print((prefix + " obb").c_str(), id, *group.obb);
    if (group.capsule) print_axial((prefix + " capsule").c_str(), id, *group.capsule);
    if (group.cylinder) print_axial((prefix + " cylinder").c_str(), id, *group.cylinder);
    if (group.hull) {
        std::vector<double> vertices, faces;
        for (const vec3& v : group.hull->vertices) vertices.insert(vertices.end(), {v.x, v.y, v.z});
        for (const auto& face : group.hull->faces)
            for (const std::size_t index : face) faces.push_back(static_cast<double>(index));
        print_all((prefix + " vertices").c_str(), id, vertices);
        print_all((prefix + " faces").c_str(), id, faces);
    }
    for (std::size_t k = 0; k < group.spheres.size(); ++k) {
        const std::string number = " " + std::to_string(k);
        std::vector<double> children;
        for (const std::size_t child : group.spheres[k].children) children.push_back(static_cast<double>(child));
        print((prefix + " node" + number).c_str(), id, group.spheres[k].sphere);
        print_all((prefix + " children" + number).c_str(), id, children);
    }
    for (std::size_t k = 0; k < group.compound.size(); ++k) {
        shapes part;
        std::visit([&part](const auto& shape) {
            using shape_type = std::decay_t<decltype(shape)>;
            if constexpr (std::is_same_v<shape_type, hull>) part.hull = shape;
            else if constexpr (std::is_same_v<shape_type, obb>) part.obb = shape;
            else if constexpr (std::is_same_v<shape_type, sphere>) part.sphere = shape;
            else part.capsule = shape;
        }, group.compound[k]);
        print(prefix + " part " + std::to_string(k), id, part);
    }
}

}  // namespace

int main(int count, char** arguments) {
    // With --messages SPACE FILE ..., print only the message of the error of each file, or an empty line.
    if (std::string(arguments[1]) == "--messages") {
        for (int k = 3; k < count; ++k) {
            try {
                read_file(arguments[k], arguments[2]);
            } catch (const error& problem) {
                std::cout << problem.what();
            }
            std::cout << '\n';
        }
        return 0;
    }
    try {
        const document level = read_file(arguments[1], arguments[2]);
        for (const object& each : level.objects) {
            print("world", each.id, each.world);
            print("local", each.id, each.local);
            if (each.local_envelope) print("local envelope", each.id, *each.local_envelope);
            if (each.bone) std::cout << "bone\t" << each.id << '\t' << *each.bone << '\n';
            shapes single;
            if (each.world.aabb) single.aabb = in_single(*each.world.aabb);
            if (each.world.sphere) single.sphere = in_single(*each.world.sphere);
            if (each.world.obb) single.obb = in_single(*each.world.obb);
            if (each.world.capsule) single.capsule = in_single(*each.world.capsule);
            if (each.world.cylinder) single.cylinder = in_single(*each.world.cylinder);
            print("single", each.id, single);
            print("translation", each.id, {each.translation.x, each.translation.y, each.translation.z});
            std::cout << "name\t" << each.id << '\t' << each.name << '\n';
            print("collision", each.id, {static_cast<double>(each.collision.response),
                                         static_cast<double>(each.collision.group), static_cast<double>(each.collision.mask)});
            std::cout << "material\t" << each.id << '\t' << each.collision.material.value_or("none") << '\n';
            for (const object& other : level.objects)
                print("meets", each.id + "|" + other.id, {static_cast<double>(each.collision.collides_with(other.collision))});
        }
        for (const track& each : level.tracks) {
            for (std::size_t k = 0; k < each.frames.size(); ++k) {
                const std::string name = each.object + "|" + std::to_string(k);
                print("track frame", name, {each.frames[k]});
                shapes exact, single;
                if (!each.boxes.empty()) exact.aabb = each.boxes[k], single.aabb = in_single(each.boxes[k]);
                if (!each.spheres.empty()) exact.sphere = each.spheres[k], single.sphere = in_single(each.spheres[k]);
                print("track", name, exact);
                print("track single", name, single);
            }
        }
        for (const contact& each : level.contacts) {
            const std::string pair = each.a + "|" + each.b;
            print("contact", pair, {each.frame, each.seconds, each.uncertainty, each.point.x, each.normal.z,
                                    static_cast<double>(each.at_start), static_cast<double>(each.tunnelling)});
            for (std::size_t k = 0; k < each.intervals.size(); ++k) {
                const interval& time = each.intervals[k];
                const std::string name = pair + "|" + std::to_string(k);
                print("interval", name, {time.start, time.end});
                if (!time.details) continue;
                const interval_details& found = *time.details;
                const overlap& deepest = found.deepest;
                print("interval start", name, {found.uncertainty, found.point.x, found.point.y, found.point.z,
                                               found.normal.x, found.normal.y, found.normal.z});
                print("interval deepest", name, {deepest.frame, deepest.depth, deepest.direction.x,
                                                 deepest.direction.y, deepest.direction.z});
                if (found.velocity) print("velocity", name, {found.velocity->x, found.velocity->y, found.velocity->z});
                if (found.closing_speed) print("closing speed", name, {*found.closing_speed});
            }
        }
    } catch (const error& problem) {
        std::cerr << problem.what() << '\n';
        return 2;
    }
}
