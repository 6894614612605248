// SPDX-License-Identifier: MIT-0
// SPDX-FileCopyrightText: 2026 Collision Bounds developers
//
// Collision Bounds loader for C++17: the shapes of a document as plain structs. One header, no libraries.
//
//   #include "collision_bounds.hpp"
//
//   const auto level = collision_bounds::read_file("level.json", "unreal");
//   for (const auto& object : level.objects)
//       if (object.world.sphere) engine.add(object.id, collision_bounds::in_single(*object.world.sphere));
//
// Export the document with `--preset` of your engine's space (blender, gltf, unity, unreal, custom), and pass the same
// name to the loader. Numbers are not converted. Every error is a collision_bounds::error. Near misses are skipped.
//
// Tested with g++, with warnings as errors, in the project's tests, on a scene made in Blender.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace collision_bounds {

struct error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct vec3 { double x, y, z; };
struct quat { double x, y, z, w; };  // of unit length

struct aabb { vec3 min, max; };
struct sphere { vec3 center; double radius; };
struct obb { vec3 center, half_extents; quat rotation; };
struct capsule { vec3 center, axis; double half_length, radius; };  // all points within radius of the segment
struct cylinder { vec3 center, axis; double half_length, radius; };

struct hull { std::vector<vec3> vertices; std::vector<std::array<std::size_t, 3>> faces; };  // faces of indices
struct sphere_node { collision_bounds::sphere sphere; std::vector<std::size_t> children; };  // indices of nodes

using convex_part = std::variant<hull, obb, sphere, capsule>;

struct shapes {  // shapes that are not in the document are empty
    std::optional<collision_bounds::aabb> aabb;
    std::optional<collision_bounds::sphere> sphere;
    std::optional<collision_bounds::obb> obb;
    std::optional<collision_bounds::capsule> capsule;
    std::optional<collision_bounds::cylinder> cylinder;
    std::optional<collision_bounds::hull> hull;
    std::vector<sphere_node> spheres;  // a tree, the root first; the shape are the leaves, nodes without children
    std::vector<convex_part> compound;  // convex parts, whose union is the shape
};

enum class response { solid, trigger, none };  // a trigger reports overlaps; with none, there is no collider

struct collision {  // what an engine does when something meets the object
    collision_bounds::response response = response::solid;
    int group = 1;        // 1 to 16
    unsigned mask = 0xFFFF;  // groups that it collides with: bit k is that of group k + 1
    std::optional<std::string> material;  // name of the physics material

    bool collides_with(const collision& other) const {
        return mask >> (other.group - 1) & other.mask >> (group - 1) & 1;
    }
};

struct object {
    std::string id, name, type;
    std::optional<std::string> parent;  // an id
    std::optional<std::string> bone;  // whose transform and vertices these are
    collision_bounds::collision collision;
    vec3 translation;
    quat rotation;
    vec3 scale;  // along the axes of the object; all three are negative if it is mirrored
    shapes local;  // place by translation and rotation only: the scale is applied already
    shapes world;
    std::optional<shapes> envelope;
    std::optional<shapes> local_envelope;  // around the object at all frames, placed as local
};

struct overlap {  // b leaves a if it moves by the depth along the direction
    double frame, depth;
    vec3 direction;
};

struct interval_details {
    double uncertainty;                   // of the start, in frames
    vec3 point, normal;                   // at the start; normal from a to b
    std::optional<vec3> velocity;         // of b relative to a just before the start, per second; empty if not known
    std::optional<double> closing_speed;  // along the normal
    overlap deepest;                      // within the interval
};

struct interval {       // a time at which the pair touches
    double start, end;  // frames
    std::optional<interval_details> details;  // empty in documents before version 1.2
};

struct contact {
    std::string a, b;                    // ids
    double frame, seconds, uncertainty;  // of the first contact; uncertainty in frames
    vec3 point, normal;                  // normal from a to b
    bool at_start, tunnelling;
    std::vector<interval> intervals;     // all times at which the pair touches, in order
};

struct track {  // world shapes of an object, one per frame; shapes that are not in the document are empty
    std::string object;          // an id
    std::vector<double> frames;  // frame f is at f / fps seconds; frames at which the object is absent are skipped
    std::vector<aabb> boxes;     // one per frame
    std::vector<sphere> spheres;
};

struct document {
    std::string space;
    double meters_per_unit, fps, reference_frame;
    std::vector<object> objects;
    std::vector<track> tracks;
    std::vector<contact> contacts;
};

namespace detail {

// A JSON value.
struct value {
    enum kind { null, boolean, number, text, list, table } type = null;
    bool boolean_value = false;
    double number_value = 0;
    std::string text_value;
    std::vector<value> items;
    std::map<std::string, value> members;

    const value* find(const std::string& key) const {
        const auto member = members.find(key);
        return member == members.end() ? nullptr : &member->second;
    }
};

class parser {
public:
    explicit parser(const std::string& source) : at(source.data()), end(at + source.size()), begin(at) {
        if (source.compare(0, 3, "\xEF\xBB\xBF") == 0) at += 3;
    }
    value parse() {
        value result = parse_value(0);
        skip_whitespace();
        if (at != end) fail();
        return result;
    }

private:
    const char *at, *end, *begin;

    [[noreturn]] void fail() const { throw error("is not JSON (at byte " + std::to_string(at - begin) + ")"); }
    void skip_whitespace() {
        while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
    }
    char peek() {
        skip_whitespace();
        if (at == end) fail();
        return *at;
    }
    bool accept(char expected) {
        if (peek() != expected) return false;
        ++at;
        return true;
    }
    void require(char expected) {
        if (!accept(expected)) fail();
    }
    bool accept_literal(const char* literal) {
        const std::string expected(literal);
        const std::size_t size = expected.size();
        if (static_cast<std::size_t>(end - at) < size || expected.compare(0, size, at, size) != 0) return false;
        at += size;
        return true;
    }
    value parse_value(int depth) {
        if (depth > 64) fail();
        value result;
        const char first = peek();
        if (first == '{') {
            ++at;
            result.type = value::table;
            if (accept('}')) return result;
            do {
                if (peek() != '"') fail();
                std::string key = parse_text();
                require(':');
                result.members[std::move(key)] = parse_value(depth + 1);
            } while (accept(','));
            require('}');
        } else if (first == '[') {
            ++at;
            result.type = value::list;
            if (accept(']')) return result;
            do result.items.push_back(parse_value(depth + 1));
            while (accept(','));
            require(']');
        } else if (first == '"') {
            result.type = value::text;
            result.text_value = parse_text();
        } else if (accept_literal("true") || accept_literal("false")) {
            result.type = value::boolean;
            result.boolean_value = at[-2] == 'u';
        } else if (!accept_literal("null")) {
            result.type = value::number;
            result.number_value = parse_number();
        }
        return result;
    }
    double parse_number() {
        const char* digit = *at == '-' ? at + 1 : at;
        if (digit == end || *digit < '0' || *digit > '9') fail();
        double result = 0;
#if defined(__cpp_lib_to_chars)
        const auto parsed = std::from_chars(at, end, result);
        if (parsed.ec == std::errc::invalid_argument) fail();
        if (parsed.ec == std::errc::result_out_of_range) result = std::numeric_limits<double>::infinity();
        at = parsed.ptr;
#else  // strtod depends on the locale: LC_NUMERIC must be "C", the default of every program
        char* stop = nullptr;
        result = std::strtod(at, &stop);
        if (stop == at) fail();
        at = stop;
#endif
        return result;
    }
    unsigned parse_code_unit() {
        unsigned result = 0;
        for (int k = 0; k < 4; ++k, ++at) {
            if (at == end) fail();
            const char c = *at;
            const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                            : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
            if (digit < 0) fail();
            result = result * 16 + static_cast<unsigned>(digit);
        }
        return result;
    }
    static void append_utf8(std::string& out, std::uint32_t code) {
        if (code < 0x80) {
            out += static_cast<char>(code);
            return;
        }
        const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static const unsigned first[] = {0, 0xC0, 0xE0, 0xF0};
        out += static_cast<char>(first[more] | code >> 6 * more);
        for (int k = more - 1; k >= 0; --k) out += static_cast<char>(0x80 | (code >> 6 * k & 0x3F));
    }
    std::string parse_text() {
        std::string result;
        ++at;
        while (at != end && *at != '"') {
            if (static_cast<unsigned char>(*at) < 0x20) fail();
            if (*at != '\\') {
                result += *at++;
                continue;
            }
            if (++at == end) fail();
            const char escape = *at++;
            static const char named[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
            if (escape == 'u') {
                std::uint32_t code = parse_code_unit();
                if (code >= 0xD800 && code < 0xDC00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
                    at += 2;
                    code = 0x10000 + ((code - 0xD800) << 10) + (parse_code_unit() - 0xDC00);
                }
                append_utf8(result, code);
                continue;
            }
            const char* known = named;
            while (*known && *known != escape) ++known;
            if (!*known) fail();
            result += meant[known - named];
        }
        if (at == end) fail();
        ++at;
        return result;
    }
};

// A value with its path in the document. Each function returns the value in its type, or throws an error with the path.
// A key that is missing is null.
struct node {
    const value& item;
    std::string path;

    [[noreturn]] void fail(const char* problem) const { throw error(path + ": " + problem); }
    bool has(const char* key) const { return as(value::table, "must be an object").find(key) != nullptr; }
    node operator[](const char* key) const {
        static const value null;
        const value* member = as(value::table, "must be an object").find(key);
        return {member ? *member : null, path.empty() ? key : path + "." + key};
    }
    node operator[](std::size_t index) const { return {item.items[index], path + "[" + std::to_string(index) + "]"}; }
    std::size_t count() const { return as(value::list, "must be a list").items.size(); }
    bool boolean() const { return as(value::boolean, "must be true or false").boolean_value; }
    const std::string& text() const { return as(value::text, "must be text").text_value; }
    double number() const {
        if (!is_number(item)) fail("must be a finite number");
        return item.number_value;
    }
    unsigned whole(unsigned least, unsigned greatest, const char* problem) const {
        const double found = is_number(item) ? item.number_value : -1;
        if (!(found >= least && found <= greatest) || found != std::floor(found)) fail(problem);
        return static_cast<unsigned>(found);
    }
    double size() const {
        if (number() < 0) fail("must not be negative");
        return item.number_value;
    }
    vec3 vector() const {
        if (!has_numbers(3)) fail("must be 3 finite numbers");
        return {item.items[0].number_value, item.items[1].number_value, item.items[2].number_value};
    }
    vec3 sizes() const {
        const vec3 result = vector();
        if (result.x < 0 || result.y < 0 || result.z < 0) fail("must not be negative");
        return result;
    }
    quat rotation() const {  // normalized, because documents have nine decimals
        if (!has_numbers(4)) fail("must be 4 finite numbers");
        const auto part = [this](std::size_t k) { return item.items[k].number_value; };
        const double length = std::hypot(std::hypot(part(0), part(1)), std::hypot(part(2), part(3)));
        if (!(std::abs(length - 1) < 1e-3)) fail("must have length 1");
        return {part(0) / length, part(1) / length, part(2) / length, part(3) / length};
    }

private:
    const value& as(value::kind expected, const char* problem) const {
        if (item.type != expected) fail(problem);
        return item;
    }
    static bool is_number(const value& from) { return from.type == value::number && std::isfinite(from.number_value); }
    bool has_numbers(std::size_t count) const {
        return item.type == value::list && item.items.size() == count
            && std::all_of(item.items.begin(), item.items.end(), is_number);
    }
};

inline aabb read_box(const node& low, const node& high) {
    const aabb result{low.vector(), high.vector()};
    if (result.min.x > result.max.x || result.min.y > result.max.y || result.min.z > result.max.z)
        low.fail("must not be above max");
    return result;
}

inline obb read_obb(const node& from) {
    return {from["center"].vector(), from["halfExtents"].sizes(), from["rotation"].rotation()};
}

inline sphere read_sphere(const node& from) { return {from["center"].vector(), from["radius"].size()}; }

template <typename Shape>
Shape read_axial(const node& from) {
    const vec3 axis = from["axis"].vector();
    if (!(std::abs(std::hypot(axis.x, axis.y, axis.z) - 1) < 1e-3)) from["axis"].fail("must have length 1");
    return {from["center"].vector(), axis, from["halfLength"].size(), from["radius"].size()};
}

// Whole numbers of a list, each at least `first` and less than `end`. Empty for anything else.
inline std::optional<std::vector<std::size_t>> read_indices(const node& from, std::size_t first, std::size_t end) {
    if (from.item.type != value::list) return std::nullopt;
    std::vector<std::size_t> indices;
    for (const value& each : from.item.items) {
        const double number = each.number_value;
        if (each.type != value::number || !(number >= static_cast<double>(first) && number < static_cast<double>(end))
            || number != std::floor(number))
            return std::nullopt;
        indices.push_back(static_cast<std::size_t>(number));
    }
    return indices;
}

inline hull read_hull(const node& from) {
    hull result;
    const node vertices = from["vertices"], faces = from["faces"];
    for (std::size_t k = 0; k < vertices.count(); ++k) result.vertices.push_back(vertices[k].vector());
    for (std::size_t k = 0; k < faces.count(); ++k) {
        const auto face = read_indices(faces[k], 0, result.vertices.size());
        if (!face || face->size() != 3) faces[k].fail("must be 3 indices of vertices");
        result.faces.push_back({(*face)[0], (*face)[1], (*face)[2]});
    }
    return result;
}

inline std::vector<sphere_node> read_tree(const node& from) {
    std::vector<sphere_node> result;
    for (std::size_t k = 0; k < from.count(); ++k) {
        const sphere ball = read_sphere(from[k]);
        const auto children = read_indices(from[k]["children"], k + 1, from.count());
        if (!children) from[k]["children"].fail("must be indices of later nodes");
        result.push_back({ball, *children});
    }
    return result;
}

inline convex_part read_part(const node& from) {
    if (from.has("hull")) return read_hull(from["hull"]);
    if (from.has("obb")) return read_obb(from["obb"]);
    if (from.has("sphere")) return read_sphere(from["sphere"]);
    if (from.has("capsule")) return read_axial<capsule>(from["capsule"]);
    from.fail("must have a hull, obb, sphere or capsule");
}

inline collision read_collision(const node& from) {
    collision result;
    const std::string& name = from["response"].text();
    if (name == "trigger") result.response = response::trigger;
    else if (name == "none") result.response = response::none;
    else if (name != "solid") from["response"].fail("must be solid, trigger or none");
    result.group = static_cast<int>(from["group"].whole(1, 16, "must be a whole number, 1 to 16"));
    result.mask = from["mask"].whole(0, 65535, "must be a whole number, 0 to 65535");
    if (!from.has("material") || from["material"].item.type != value::null) result.material = from["material"].text();
    return result;
}

inline shapes read_shapes(const node& from) {
    shapes result;
    if (from.has("aabb")) result.aabb = read_box(from["aabb"]["min"], from["aabb"]["max"]);
    if (from.has("sphere")) result.sphere = read_sphere(from["sphere"]);
    if (from.has("obb")) result.obb = read_obb(from["obb"]);
    if (from.has("capsule")) result.capsule = read_axial<capsule>(from["capsule"]);
    if (from.has("cylinder")) result.cylinder = read_axial<cylinder>(from["cylinder"]);
    if (from.has("hull")) result.hull = read_hull(from["hull"]);
    if (from.has("spheres")) result.spheres = read_tree(from["spheres"]);
    if (from.has("compound"))
        for (std::size_t k = 0; k < from["compound"].count(); ++k)
            result.compound.push_back(read_part(from["compound"][k]));
    return result;
}

inline object read_object(const node& from) {
    object result{};
    result.id = from["id"].text();
    result.name = from["name"].text();
    result.type = from["type"].text();
    if (!from.has("parent") || from["parent"].item.type != value::null) result.parent = from["parent"].text();
    if (from.has("bone")) result.bone = from["bone"].text();
    if (from.has("collision")) result.collision = read_collision(from["collision"]);
    result.translation = from["transform"]["translation"].vector();
    result.rotation = from["transform"]["rotation"].rotation();
    result.scale = from["transform"]["scale"].vector();
    result.local = read_shapes(from["local"]);
    result.world = read_shapes(from["world"]);
    if (from.has("envelope")) {
        result.envelope = read_shapes(from["envelope"]);
        if (from["envelope"].has("local")) result.local_envelope = read_shapes(from["envelope"]["local"]);
    }
    return result;
}

inline node per_frame(const node& list, std::size_t frames) {
    if (list.count() != frames) list.fail("must have one item per frame");
    return list;
}

inline track read_track(const node& from) {
    track result;
    result.object = from["object"].text();
    const node frames = from["frames"];
    const std::size_t count = frames.count();
    for (std::size_t k = 0; k < count; ++k) result.frames.push_back(frames[k].number());
    if (from.has("aabb")) {
        const node low = per_frame(from["aabb"]["mins"], count), high = per_frame(from["aabb"]["maxs"], count);
        for (std::size_t k = 0; k < count; ++k) result.boxes.push_back(read_box(low[k], high[k]));
    }
    if (from.has("sphere")) {
        const node ball = from["sphere"];
        const node center = per_frame(ball["centers"], count), radius = per_frame(ball["radii"], count);
        for (std::size_t k = 0; k < count; ++k) result.spheres.push_back({center[k].vector(), radius[k].size()});
    }
    return result;
}

inline interval read_interval(const node& from) {
    interval result{from["start"].number(), from["end"].number(), std::nullopt};
    const auto names = {"uncertainty", "point", "normal", "velocity", "closingSpeed", "deepest"};
    if (std::none_of(names.begin(), names.end(), [&from](const char* name) { return from.has(name); })) return result;
    const node velocity = from["velocity"], speed = from["closingSpeed"], deepest = from["deepest"];
    result.details = {from["uncertainty"].size(),
                      from["point"].vector(),
                      from["normal"].vector(),
                      std::nullopt,
                      std::nullopt,
                      {deepest["frame"].number(), deepest["depth"].number(), deepest["direction"].vector()}};
    if (velocity.item.type != value::null) result.details->velocity = velocity.vector();
    if (speed.item.type != value::null) result.details->closing_speed = speed.number();
    return result;
}

inline contact read_contact(const node& from) {
    const node first = from["first"], intervals = from["intervals"];
    contact result{from["a"].text(),
                   from["b"].text(),
                   first["frame"].number(),
                   first["seconds"].number(),
                   first["uncertainty"].number(),
                   first["point"].vector(),
                   first["normal"].vector(),
                   first["atStart"].boolean(),
                   first["tunnelling"].boolean(),
                   {}};
    for (std::size_t k = 0; k < intervals.count(); ++k) result.intervals.push_back(read_interval(intervals[k]));
    return result;
}

using ids = std::set<std::string>;

inline void require_id(const node& id, const ids& known) {
    if (!known.count(id.text())) id.fail("is not the id of an object");
}

inline void require_unused(const node& id, ids& used) {
    if (!used.insert(id.text()).second) id.fail("is used twice");
}

inline double above(double value) {  // the smallest single-precision number that is not below
    const float near = static_cast<float>(value);
    return near < value ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}
inline double near(double value) { return static_cast<float>(value); }
inline vec3 near(vec3 v) { return {near(v.x), near(v.y), near(v.z)}; }
inline vec3 above(vec3 v) { return {above(v.x), above(v.y), above(v.z)}; }
inline double distance(vec3 a, vec3 b) { return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z); }

}  // namespace detail

// Convert to a shape of single-precision numbers that encloses the given shape.
inline aabb in_single(const aabb& box) {
    const vec3 low = detail::above(vec3{-box.min.x, -box.min.y, -box.min.z});
    return {{-low.x, -low.y, -low.z}, detail::above(box.max)};
}
inline sphere in_single(const sphere& ball) {
    const vec3 center = detail::near(ball.center);
    return {center, detail::above((ball.radius + detail::distance(center, ball.center)) * (1 + 1e-15))};
}
inline obb in_single(const obb& box) {
    const vec3 center = detail::near(box.center), half = box.half_extents;
    const quat rotation{detail::near(box.rotation.x), detail::near(box.rotation.y), detail::near(box.rotation.z),
                        detail::near(box.rotation.w)};
    // Each of the four numbers of the rotation has a rounding error of at most 3e-8.
    const double margin = detail::distance(center, box.center) * (1 + 1e-6) + 3e-7 * std::hypot(half.x, half.y, half.z);
    return {center, detail::above(vec3{half.x + margin, half.y + margin, half.z + margin}), rotation};
}

inline capsule in_single(const capsule& rod) {
    const vec3 center = detail::near(rod.center), axis = detail::near(rod.axis);
    const double margin = detail::distance(center, rod.center) * (1 + 1e-6) + 2e-7 * (rod.half_length + rod.radius);
    return {center, axis, detail::above(rod.half_length), detail::above(rod.radius + margin)};
}
inline cylinder in_single(const cylinder& rod) {
    const vec3 center = detail::near(rod.center), axis = detail::near(rod.axis);
    const double margin = detail::distance(center, rod.center) * (1 + 1e-6) + 2e-7 * (rod.half_length + rod.radius);
    return {center, axis, detail::above(rod.half_length + margin), detail::above(rod.radius + margin)};
}

// Read a document from its text. `space` is the expected space: blender, gltf, unity, unreal or custom.
inline document read(const std::string& text, const std::string& space) {
    using detail::value;
    const value parsed = detail::parser(text).parse();
    const value *format = parsed.find("format"), *version = parsed.find("version");
    if (!format || format->text_value != "collision-bounds") throw error("is not a Collision Bounds document");
    if (!version || version->text_value.compare(0, 2, "1.") != 0)
        throw error("has version " + (version ? version->text_value : "") + ", but this loader reads version 1");
    const detail::node root{parsed, ""};
    const detail::node objects = root["objects"], tracks = root["tracks"], contacts = root["contacts"];
    document result{};
    result.space = root["space"]["preset"].text();
    if (result.space != space)
        throw error("is in the space \"" + result.space + "\": export it with --preset " + space);
    result.meters_per_unit = root["space"]["metersPerUnit"].number();
    result.fps = root["time"]["fps"].number();
    result.reference_frame = root["time"]["referenceFrame"].number();
    detail::ids known, tracked;
    for (std::size_t k = 0; k < objects.count(); ++k) {
        result.objects.push_back(detail::read_object(objects[k]));
        detail::require_unused(objects[k]["id"], known);
    }
    for (std::size_t k = 0; k < objects.count(); ++k)
        if (result.objects[k].parent) detail::require_id(objects[k]["parent"], known);
    for (std::size_t k = 0; k < tracks.count(); ++k) {
        result.tracks.push_back(detail::read_track(tracks[k]));
        detail::require_id(tracks[k]["object"], known);
        detail::require_unused(tracks[k]["object"], tracked);
    }
    for (std::size_t k = 0; k < contacts.count(); ++k) {
        result.contacts.push_back(detail::read_contact(contacts[k]));
        detail::require_id(contacts[k]["a"], known);
        detail::require_id(contacts[k]["b"], known);
    }
    return result;
}

// Read a document from a file. Error messages begin with its path.
inline document read_file(const std::string& path, const std::string& space) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) throw error(path + ": cannot be opened");
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    try {
        return read(text, space);
    } catch (const error& problem) {
        throw error(path + ": " + problem.what());
    }
}

}  // namespace collision_bounds
