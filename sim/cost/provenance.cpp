#include "sim/cost/provenance.h"

#include "sim/base/fields.h"
#include "sim/base/reader.h"
#include "sim/base/units.h"
#include "sim/base/vocabulary.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace trainyard {
namespace {

constexpr std::array constant_keys{"value", "low", "high", "grade", "source"};

bool looks_like_constant(const Json& node)
{
    return node.is_object() && (node.find("value") != nullptr || node.find("grade") != nullptr);
}

void check_constant_keys(const Reader& reader)
{
    const std::vector<std::string> known(constant_keys.begin(), constant_keys.end());
    for (const Json::Member& member : reader.node().members())
        if (std::find(known.begin(), known.end(), member.first) == known.end())
            reader.member(member.first)
                .error(fmt::format("unknown key \"{}\" in a constant", member.first),
                       suggestion(member.first, known));
    if (reader.node().find("value") == nullptr)
        reader.error("\"value\" is missing from a constant");
}

void check_interval(const Reader& reader, const Provenance& provenance)
{
    const Json* value_node = reader.node().find("value");
    const auto value = value_node != nullptr ? magnitude(*value_node) : std::nullopt;
    const auto check = [&](const char* key, const Json& bound, int side) {
        if (bound.is_null())
            return;
        const auto size = magnitude(bound);
        if (!size)
            reader.member(key).error(fmt::format("\"{}\" is neither a number nor a quantity", key));
        else if (value && (side < 0 ? *size > *value : *size < *value))
            reader.member(key).error(fmt::format("{} {} does not hold the value {}", key,
                                                 to_text(bound, JsonStyle::compact),
                                                 to_text(*value_node, JsonStyle::compact)),
                                     "low <= value <= high");
    };
    check("low", provenance.low, -1);
    check("high", provenance.high, +1);
}

Provenance read_provenance(const Reader& reader)
{
    Provenance out;
    check_constant_keys(reader);
    if (reader.node().find("grade") != nullptr)
        FieldValue<Grade>::read(reader.member("grade"), out.grade);
    if (reader.node().find("source") != nullptr)
        FieldValue<std::string>::read(reader.member("source"), out.source);
    if (const Json* low = reader.node().find("low"))
        out.low = *low;
    if (const Json* high = reader.node().find("high"))
        out.high = *high;
    check_interval(reader, out);
    return out;
}

void strip(const Reader& reader, const std::string& path, PlainTree& out, Json& into)
{
    const Json& node = reader.node();
    if (looks_like_constant(node)) {
        out.provenance[path] = read_provenance(reader);
        if (const Json* value = node.find("value"))
            into = *value;
        return;
    }
    if (!node.is_object()) {
        into = node;
        return;
    }
    into = Json::object();
    into.set_line(node.line());
    for (const Json::Member& member : node.members())
        strip(reader.member(member.first), path.empty() ? member.first : path + "." + member.first,
              out, into[member.first]);
}

// The default of the field at `path`, from its JSON Schema; null when there is none.
Json default_at(const Json& schema, const std::string& path)
{
    const std::size_t dot = path.find('.');
    const Json* properties = schema.find("properties");
    const Json* field = properties != nullptr ? properties->find(path.substr(0, dot)) : nullptr;
    if (field == nullptr)
        return {};
    if (dot != std::string::npos)
        return default_at(*field, path.substr(dot + 1));
    const Json* value = field->find("default");
    return value != nullptr ? *value : Json();
}

Json& node_at(Json& root, const std::string& path)
{
    Json* node = &root;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        node = &(*node)[path.substr(begin, end - begin)];
        begin = end + 1;
    }
    return *node;
}

} // namespace

std::optional<double> magnitude(const Json& value)
{
    if (value.is_number())
        return value.as_double();
    if (!value.is_string())
        return std::nullopt;
    const std::string& text = value.as_string();
    if (const auto time = parse_seconds(text))
        return time->value();
    if (const auto size = parse_bytes(text))
        return static_cast<double>(size->value());
    if (const auto rate = parse_bandwidth(text))
        return rate->value();
    if (const auto rate = parse_flop_rate(text))
        return rate->value();
    return std::nullopt;
}

PlainTree without_provenance(const Reader& reader)
{
    PlainTree out;
    Json json;
    strip(reader, "", out, json);
    out.json = std::move(json);
    return out;
}

Json with_provenance(Json plain, const ProvenanceMap& provenance, const Json& schema)
{
    for (const auto& [path, origin] : provenance) {
        Json& node = node_at(plain, path);
        Json constant = Json::object();
        constant["value"] = node.is_null() ? default_at(schema, path) : node;
        if (!origin.low.is_null())
            constant["low"] = origin.low;
        if (!origin.high.is_null())
            constant["high"] = origin.high;
        constant["grade"] = to_name(origin.grade);
        constant["source"] = origin.source;
        node = std::move(constant);
    }
    return plain;
}

ProvenanceMap below(const ProvenanceMap& provenance, const std::string& prefix)
{
    ProvenanceMap out;
    for (auto it = provenance.lower_bound(prefix + "."); it != provenance.end(); ++it) {
        if (it->first.compare(0, prefix.size() + 1, prefix + ".") != 0)
            break;
        out.emplace(it->first.substr(prefix.size() + 1), it->second);
    }
    return out;
}

} // namespace trainyard
