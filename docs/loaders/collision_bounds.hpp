// Collision Bounds loader for C++17: the shapes of a document as plain structs. One header, no libraries.
//
//   #include "collision_bounds.hpp"
//
//   const auto level = collision_bounds::read_file("level.json", "unreal");
//   for (const auto& object : level.objects)
//       if (object.world.sphere) engine.add(object.id, collision_bounds::in_single(*object.world.sphere));
//
// Export the document with `--preset` of your engine's space (blender, gltf, unity, unreal, custom), and pass the same
// name to the loader. Numbers are not converted. Every error is a collision_bounds::error. Near misses, sphere trees
// and hulls are skipped.
//
// Tested with g++, with warnings as errors, in the project's tests, on a scene made in Blender.
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

struct shapes {  // shapes that are not in the document are empty
    std::optional<collision_bounds::aabb> aabb;
    std::optional<collision_bounds::sphere> sphere;
    std::optional<collision_bounds::obb> obb;
};

struct object {
    std::string id, name, type;
    std::optional<std::string> parent;  // an id
    vec3 translation;
    quat rotation;
    shapes local;  // place by translation and rotation only: the scale is applied already
    shapes world;
    std::optional<shapes> envelope;
};

struct contact {
    std::string a, b;                    // ids
    double frame, seconds, uncertainty;  // of the first contact; uncertainty in frames
    vec3 point, normal;                  // normal from a to b
    bool at_start, tunnelling;
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
    const value& operator[](const std::string& key) const {
        if (type != table) throw error("is damaged: a value that is not an object has no \"" + key + "\"");
        if (const value* member = find(key)) return *member;
        throw error("is damaged: \"" + key + "\" is missing");
    }
    const value& as(kind expected) const {
        if (type != expected) throw error("is damaged: a value has the wrong type");
        return *this;
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
        if (parsed.ec != std::errc()) fail();
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

inline double number(const value& from) {
    return from.as(value::number).number_value;
}

inline const std::vector<value>& numbers(const value& from, std::size_t count) {
    if (from.as(value::list).items.size() != count) throw error("is damaged: a list is too short or too long");
    return from.items;
}

inline vec3 vector(const value& from) {
    const auto& items = numbers(from, 3);
    return {number(items[0]), number(items[1]), number(items[2])};
}

inline quat rotation(const value& from) {  // normalized, because documents have nine decimals
    const auto& items = numbers(from, 4);
    const double x = number(items[0]), y = number(items[1]), z = number(items[2]), w = number(items[3]);
    const double length = std::sqrt(x * x + y * y + z * z + w * w);
    if (!(length > 0)) throw error("is damaged: a rotation has length zero");
    return {x / length, y / length, z / length, w / length};
}

inline shapes read_shapes(const value& from) {
    shapes result;
    from.as(value::table);
    if (const value* box = from.find("aabb")) result.aabb = aabb{vector((*box)["min"]), vector((*box)["max"])};
    if (const value* ball = from.find("sphere"))
        result.sphere = sphere{vector((*ball)["center"]), number((*ball)["radius"])};
    if (const value* box = from.find("obb"))
        result.obb = obb{vector((*box)["center"]), vector((*box)["halfExtents"]), rotation((*box)["rotation"])};
    return result;
}

inline object read_object(const value& from) {
    object result{};
    result.id = from["id"].as(value::text).text_value;
    result.name = from["name"].as(value::text).text_value;
    result.type = from["type"].as(value::text).text_value;
    if (from["parent"].type == value::text) result.parent = from["parent"].text_value;
    result.translation = vector(from["transform"]["translation"]);
    result.rotation = rotation(from["transform"]["rotation"]);
    result.local = read_shapes(from["local"]);
    result.world = read_shapes(from["world"]);
    if (const value* envelope = from.find("envelope")) result.envelope = read_shapes(*envelope);
    return result;
}

inline track read_track(const value& from) {
    track result;
    result.object = from["object"].as(value::text).text_value;
    for (const value& frame : from["frames"].as(value::list).items) result.frames.push_back(number(frame));
    const std::size_t count = result.frames.size();
    if (const value* boxes = from.find("aabb")) {
        const auto &low = numbers((*boxes)["mins"], count), &high = numbers((*boxes)["maxs"], count);
        for (std::size_t k = 0; k < count; ++k) result.boxes.push_back({vector(low[k]), vector(high[k])});
    }
    if (const value* spheres = from.find("sphere")) {
        const auto &center = numbers((*spheres)["centers"], count), &radius = numbers((*spheres)["radii"], count);
        for (std::size_t k = 0; k < count; ++k) result.spheres.push_back({vector(center[k]), number(radius[k])});
    }
    return result;
}

inline contact read_contact(const value& from) {
    const value& first = from["first"];
    return {from["a"].as(value::text).text_value,
            from["b"].as(value::text).text_value,
            number(first["frame"]),
            number(first["seconds"]),
            number(first["uncertainty"]),
            vector(first["point"]),
            vector(first["normal"]),
            first["atStart"].as(value::boolean).boolean_value,
            first["tunnelling"].as(value::boolean).boolean_value};
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

// Read a document from its text. `space` is the expected space: blender, gltf, unity, unreal or custom.
inline document read(const std::string& text, const std::string& space) {
    using detail::value;
    const value root = detail::parser(text).parse();
    const value* format = root.find("format");
    if (!format || format->text_value != "collision-bounds") throw error("is not a Collision Bounds document");
    const std::string& version = root["version"].as(value::text).text_value;
    if (version.compare(0, 2, "1.") != 0) throw error("has version " + version + ", but this loader reads version 1");
    document result{};
    result.space = root["space"]["preset"].as(value::text).text_value;
    if (result.space != space)
        throw error("is in the space \"" + result.space + "\": export it with --preset " + space);
    result.meters_per_unit = detail::number(root["space"]["metersPerUnit"]);
    result.fps = detail::number(root["time"]["fps"]);
    result.reference_frame = detail::number(root["time"]["referenceFrame"]);
    for (const value& entry : root["objects"].as(value::list).items)
        result.objects.push_back(detail::read_object(entry));
    for (const value& entry : root["tracks"].as(value::list).items)
        result.tracks.push_back(detail::read_track(entry));
    for (const value& entry : root["contacts"].as(value::list).items)
        result.contacts.push_back(detail::read_contact(entry));
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
