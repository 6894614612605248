// Collision Bounds in C++17: a document's shapes as plain structs. One header, no libraries.
//
//   #include "collision_bounds.hpp"
//
//   const auto level = collision_bounds::read_file("level.json", "unreal");
//   for (const auto& object : level.objects)
//       if (object.world.sphere) engine.add(object.id, collision_bounds::in_single(*object.world.sphere));
//
// Write the document with `--preset` of your engine's space (blender, gltf, unity, unreal, custom), and name it when
// you read: numbers are taken as they are. Throws collision_bounds::error with a sentence for whatever is wrong.
// Near misses, sphere trees and hulls are skipped.
//
// Checked by: g++ with all warnings as errors, and the project's tests, which run it on a scene made in Blender.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
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

struct shapes {  // those that were asked for when the document was written
    std::optional<collision_bounds::aabb> aabb;
    std::optional<collision_bounds::sphere> sphere;
    std::optional<collision_bounds::obb> obb;
};

struct object {
    std::string id, name, type;
    std::optional<std::string> parent;  // an id
    vec3 translation;
    quat rotation;
    shapes local;  // placed by translation and rotation alone: scale is in them
    shapes world;
    std::optional<shapes> envelope;
};

struct contact {
    std::string a, b;                    // ids
    double frame, seconds, uncertainty;  // of the first touch; uncertainty in frames
    vec3 point, normal;                  // normal from a to b
    bool at_start, tunnelling;
};

struct track {  // an object in the world, frame by frame; shapes that were not asked for are empty
    std::string object;          // an id
    std::vector<double> frames;  // Blender's: at frame / fps seconds. Those at which the object was away are left out
    std::vector<aabb> boxes;     // one each frame
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

// JSON, as much of it as there is.
struct value {
    enum kind { nothing, boolean, number, text, list, table } is = nothing;
    bool truth = false;
    double amount = 0;
    std::string words;
    std::vector<value> items;
    std::map<std::string, value> members;

    const value* find(const std::string& key) const {
        const auto found = members.find(key);
        return found == members.end() ? nullptr : &found->second;
    }
    const value& operator[](const std::string& key) const {
        if (is != table) throw error("is damaged: something has no \"" + key + "\"");
        if (const value* found = find(key)) return *found;
        throw error("is damaged: \"" + key + "\" is missing");
    }
    const value& as(kind wanted) const {
        if (is != wanted) throw error("is damaged: a value is of another kind than it should be");
        return *this;
    }
};

class parser {
public:
    explicit parser(const std::string& source) : at(source.data()), end(at + source.size()), begin(at) {
        if (source.compare(0, 3, "\xEF\xBB\xBF") == 0) at += 3;
    }
    value whole() {
        value found = any(0);
        blanks();
        if (at != end) fail();
        return found;
    }

private:
    const char *at, *end, *begin;

    [[noreturn]] void fail() const { throw error("is not JSON (at byte " + std::to_string(at - begin) + ")"); }
    void blanks() {
        while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
    }
    char next() {
        blanks();
        if (at == end) fail();
        return *at;
    }
    bool took(char wanted) {
        if (next() != wanted) return false;
        ++at;
        return true;
    }
    void expect(char wanted) {
        if (!took(wanted)) fail();
    }
    bool took_word(const char* word) {
        const std::string wanted(word);
        if (static_cast<std::size_t>(end - at) < wanted.size() || wanted.compare(0, wanted.size(), at, wanted.size()) != 0)
            return false;
        at += wanted.size();
        return true;
    }
    value any(int depth) {
        if (depth > 64) fail();
        value found;
        const char first = next();
        if (first == '{') {
            ++at;
            found.is = value::table;
            if (took('}')) return found;
            do {
                if (next() != '"') fail();
                std::string key = words();
                expect(':');
                found.members[std::move(key)] = any(depth + 1);
            } while (took(','));
            expect('}');
        } else if (first == '[') {
            ++at;
            found.is = value::list;
            if (took(']')) return found;
            do found.items.push_back(any(depth + 1));
            while (took(','));
            expect(']');
        } else if (first == '"') {
            found.is = value::text;
            found.words = words();
        } else if (took_word("true") || took_word("false")) {
            found.is = value::boolean;
            found.truth = at[-2] == 'u';
        } else if (!took_word("null")) {
            found.is = value::number;
            found.amount = amount();
        }
        return found;
    }
    double amount() {
        const char* digit = *at == '-' ? at + 1 : at;
        if (digit == end || *digit < '0' || *digit > '9') fail();
        double found = 0;
#if defined(__cpp_lib_to_chars)
        const auto told = std::from_chars(at, end, found);
        if (told.ec != std::errc()) fail();
        at = told.ptr;
#else  // strtod goes by the locale: keep LC_NUMERIC as "C", which it is unless a program changes it
        char* stop = nullptr;
        found = std::strtod(at, &stop);
        if (stop == at) fail();
        at = stop;
#endif
        return found;
    }
    unsigned unit() {
        unsigned found = 0;
        for (int k = 0; k < 4; ++k, ++at) {
            if (at == end) fail();
            const char c = *at;
            const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                            : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
            if (digit < 0) fail();
            found = found * 16 + static_cast<unsigned>(digit);
        }
        return found;
    }
    static void put(std::string& out, std::uint32_t code) {
        if (code < 0x80) {
            out += static_cast<char>(code);
            return;
        }
        const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static const unsigned first[] = {0, 0xC0, 0xE0, 0xF0};
        out += static_cast<char>(first[more] | code >> 6 * more);
        for (int k = more - 1; k >= 0; --k) out += static_cast<char>(0x80 | (code >> 6 * k & 0x3F));
    }
    std::string words() {
        std::string found;
        ++at;
        while (at != end && *at != '"') {
            if (static_cast<unsigned char>(*at) < 0x20) fail();
            if (*at != '\\') {
                found += *at++;
                continue;
            }
            if (++at == end) fail();
            const char escape = *at++;
            static const char named[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
            if (escape == 'u') {
                std::uint32_t code = unit();
                if (code >= 0xD800 && code < 0xDC00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
                    at += 2;
                    code = 0x10000 + ((code - 0xD800) << 10) + (unit() - 0xDC00);
                }
                put(found, code);
                continue;
            }
            const char* known = named;
            while (*known && *known != escape) ++known;
            if (!*known) fail();
            found += meant[known - named];
        }
        if (at == end) fail();
        ++at;
        return found;
    }
};

inline double number(const value& from) {
    return from.as(value::number).amount;
}

inline const std::vector<value>& numbers(const value& from, std::size_t count) {
    if (from.as(value::list).items.size() != count) throw error("is damaged: a list is too short or too long");
    return from.items;
}

inline vec3 vector(const value& from) {
    const auto& told = numbers(from, 3);
    return {number(told[0]), number(told[1]), number(told[2])};
}

inline quat rotation(const value& from) {  // documents have nine decimals
    const auto& told = numbers(from, 4);
    const double x = number(told[0]), y = number(told[1]), z = number(told[2]), w = number(told[3]);
    const double length = std::sqrt(x * x + y * y + z * z + w * w);
    if (!(length > 0)) throw error("is damaged: a rotation is nothing");
    return {x / length, y / length, z / length, w / length};
}

inline shapes all_shapes(const value& from) {
    shapes found;
    from.as(value::table);
    if (const value* box = from.find("aabb")) found.aabb = aabb{vector((*box)["min"]), vector((*box)["max"])};
    if (const value* ball = from.find("sphere"))
        found.sphere = sphere{vector((*ball)["center"]), number((*ball)["radius"])};
    if (const value* turned = from.find("obb"))
        found.obb = obb{vector((*turned)["center"]), vector((*turned)["halfExtents"]), rotation((*turned)["rotation"])};
    return found;
}

inline object one_object(const value& from) {
    object found{};
    found.id = from["id"].as(value::text).words;
    found.name = from["name"].as(value::text).words;
    found.type = from["type"].as(value::text).words;
    if (from["parent"].is == value::text) found.parent = from["parent"].words;
    found.translation = vector(from["transform"]["translation"]);
    found.rotation = rotation(from["transform"]["rotation"]);
    found.local = all_shapes(from["local"]);
    found.world = all_shapes(from["world"]);
    if (const value* envelope = from.find("envelope")) found.envelope = all_shapes(*envelope);
    return found;
}

inline track one_track(const value& from) {
    track found;
    found.object = from["object"].as(value::text).words;
    for (const value& frame : from["frames"].as(value::list).items) found.frames.push_back(number(frame));
    const std::size_t count = found.frames.size();
    if (const value* boxes = from.find("aabb")) {
        const auto &low = numbers((*boxes)["mins"], count), &high = numbers((*boxes)["maxs"], count);
        for (std::size_t k = 0; k < count; ++k) found.boxes.push_back({vector(low[k]), vector(high[k])});
    }
    if (const value* balls = from.find("sphere")) {
        const auto &middle = numbers((*balls)["centers"], count), &radius = numbers((*balls)["radii"], count);
        for (std::size_t k = 0; k < count; ++k) found.spheres.push_back({vector(middle[k]), number(radius[k])});
    }
    return found;
}

inline contact one_contact(const value& from) {
    const value& first = from["first"];
    return {from["a"].as(value::text).words,
            from["b"].as(value::text).words,
            number(first["frame"]),
            number(first["seconds"]),
            number(first["uncertainty"]),
            vector(first["point"]),
            vector(first["normal"]),
            first["atStart"].as(value::boolean).truth,
            first["tunnelling"].as(value::boolean).truth};
}

inline double above(double value) {  // of single precision
    const float near = static_cast<float>(value);
    return near < value ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}
inline double near(double value) { return static_cast<float>(value); }
inline vec3 near(vec3 v) { return {near(v.x), near(v.y), near(v.z)}; }
inline vec3 above(vec3 v) { return {above(v.x), above(v.y), above(v.z)}; }
inline double distance(vec3 a, vec3 b) { return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z); }

}  // namespace detail

// The shape made of numbers of single precision, around the one that is given.
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
    const quat turn{detail::near(box.rotation.x), detail::near(box.rotation.y), detail::near(box.rotation.z),
                    detail::near(box.rotation.w)};
    // Four numbers of the rotation are off by at most 3e-8 each.
    const double more = detail::distance(center, box.center) * (1 + 1e-6) + 3e-7 * std::hypot(half.x, half.y, half.z);
    return {center, detail::above(vec3{half.x + more, half.y + more, half.z + more}), turn};
}

// A document from its text. `space` is the one that you count in: blender, gltf, unity, unreal or custom.
inline document read(const std::string& text, const std::string& space) {
    using detail::value;
    const value told = detail::parser(text).whole();
    const value* format = told.find("format");
    if (!format || format->words != "collision-bounds") throw error("is not a Collision Bounds document");
    const std::string& version = told["version"].as(value::text).words;
    if (version.compare(0, 2, "1.") != 0) throw error("is of version " + version + ", and this reads version 1");
    document found{};
    found.space = told["space"]["preset"].as(value::text).words;
    if (found.space != space)
        throw error("is in the space \"" + found.space + "\": write it with --preset " + space);
    found.meters_per_unit = detail::number(told["space"]["metersPerUnit"]);
    found.fps = detail::number(told["time"]["fps"]);
    found.reference_frame = detail::number(told["time"]["referenceFrame"]);
    for (const value& each : told["objects"].as(value::list).items) found.objects.push_back(detail::one_object(each));
    for (const value& each : told["tracks"].as(value::list).items) found.tracks.push_back(detail::one_track(each));
    for (const value& each : told["contacts"].as(value::list).items) found.contacts.push_back(detail::one_contact(each));
    return found;
}

// The same from a file; errors begin with its name.
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
