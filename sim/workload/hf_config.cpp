#include "sim/base/json.h"
#include "sim/workload/huggingface.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

HfConfig::HfConfig(const Reader& reader, const Reader& outer) : outer_(outer), sources_{reader}
{
    for (const char* part : {"attn_config", "ffn_config", "linear_attn_config"})
        if (const Json* nested = reader.node().find(part); nested != nullptr && nested->is_object())
        {
            sources_.push_back(reader.member(part));
            seen_.insert(part);
        }
}

const Json* HfConfig::find(const Aliases& aliases, std::string& key)
{
    const Json* found = nullptr;
    for (const Reader& source : sources_)
        for (const std::string& alias : aliases) {
            const Json* value = source.node().find(alias);
            if (value == nullptr)
                continue;
            seen_.insert(alias);
            if (found == nullptr && !value->is_null()) {
                found = value;
                key = alias;
            }
        }
    return found;
}

Reader HfConfig::place_of(const std::string& key) const
{
    for (const Reader& source : sources_)
        if (const Json* value = source.node().find(key); value != nullptr && !value->is_null())
            return source.member(key);
    return sources_.front();
}

std::optional<std::int64_t> HfConfig::number(const Aliases& aliases, std::int64_t largest)
{
    std::string key;
    const Json* value = find(aliases, key);
    if (value == nullptr)
        return std::nullopt;
    if (!value->is_integer()) {
        error_at(key, fmt::format("expected a whole number, found {}", value->kind_name()),
                 fmt::format("from 1 to {}, in plain digits", largest));
        return std::nullopt;
    }
    if (value->as_integer() < 1 || value->as_integer() > largest) {
        error_at(key, fmt::format("{} is out of range", value->as_integer()),
                 fmt::format("from 1 to {}", largest));
        return std::nullopt;
    }
    return value->as_integer();
}

std::int64_t HfConfig::required(const Aliases& aliases, std::int64_t largest)
{
    const std::size_t before = reader().error_count();
    if (const std::optional<std::int64_t> value = number(aliases, largest))
        return *value;
    if (reader().error_count() == before)
        reader().error(fmt::format("\"{}\" is missing", aliases.front()),
                       "a config.json of this family has it");
    return 1;
}

std::int64_t HfConfig::count(const Aliases& aliases, std::int64_t otherwise)
{
    std::string key;
    const Json* value = find(aliases, key);
    if (value != nullptr && value->is_integer() && value->as_integer() == 0)
        return 0;
    return number(aliases).value_or(otherwise);
}

bool HfConfig::flag(const std::string& key, bool otherwise)
{
    std::string found;
    const Json* value = find({key}, found);
    if (value == nullptr)
        return otherwise;
    if (!value->is_bool()) {
        error_at(key, fmt::format("expected true or false, found {}", value->kind_name()),
                 "write it without quotes");
        return otherwise;
    }
    return value->as_bool();
}

double HfConfig::share(const std::string& key, double otherwise)
{
    std::string found;
    const Json* value = find({key}, found);
    if (value == nullptr)
        return otherwise;
    if (!value->is_number()) {
        error_at(key, fmt::format("expected a number, found {}", value->kind_name()),
                 "from 0 to 1, without quotes");
        return otherwise;
    }
    if (!(value->as_double() >= 0 && value->as_double() <= 1)) {
        error_at(key, fmt::format("{} is out of range", value->as_double()), "from 0 to 1");
        return otherwise;
    }
    return value->as_double();
}

std::string HfConfig::text(const std::string& key)
{
    std::string found;
    const Json* value = find({key}, found);
    if (value == nullptr)
        return {};
    if (!value->is_string()) {
        error_at(key, fmt::format("expected text in quotes, found {}", value->kind_name()),
                 "as Hugging Face writes it, e.g. \"llama\" or \"silu\"");
        return {};
    }
    return value->as_string();
}

bool HfConfig::has(const std::string& key)
{
    std::string found;
    return find({key}, found) != nullptr;
}

const Json* HfConfig::value(const std::string& key)
{
    std::string found;
    return find({key}, found);
}

std::vector<std::string> HfConfig::texts(const std::string& key)
{
    std::vector<std::string> out;
    const Json* list = value(key);
    if (list == nullptr)
        return out;
    if (!list->is_array()) {
        error_at(key, fmt::format("expected a list of the layers, found {}", list->kind_name()),
                 "one entry per layer, as Hugging Face writes it");
        return out;
    }
    for (std::size_t i = 0; i < list->items().size(); ++i) {
        const Json& item = list->items()[i];
        if (item.is_string())
            out.push_back(item.as_string());
        else
            error_at(key, i, fmt::format("expected text in quotes, found {}", item.kind_name()),
                     "e.g. \"full_attention\"");
    }
    return out;
}

std::vector<std::int64_t> HfConfig::numbers(const std::string& key)
{
    std::vector<std::int64_t> out;
    const Json* list = value(key);
    if (list == nullptr)
        return out;
    if (!list->is_array()) {
        error_at(key, fmt::format("expected a list of layers, found {}", list->kind_name()),
                 "whole numbers: [], [0], [0, 1], ...");
        return out;
    }
    for (std::size_t i = 0; i < list->items().size(); ++i) {
        const Json& item = list->items()[i];
        if (item.is_integer() && item.as_integer() >= 0 && item.as_integer() <= largest_size)
            out.push_back(item.as_integer());
        else
            error_at(key, i, "expected a whole number", fmt::format("from 0 to {}", largest_size));
    }
    return out;
}

bool HfConfig::mentions(std::string_view part) const
{
    return std::ranges::any_of(reader().node().members(), [&](const Json::Member& member) {
        return member.first.find(part) != std::string::npos;
    });
}

void HfConfig::error_at(const std::string& key, std::string message, std::string hint) const
{
    place_of(key).error(std::move(message), std::move(hint));
}

void HfConfig::error_at(const std::string& key, std::size_t entry, std::string message,
                        std::string hint) const
{
    place_of(key).element(entry).error(std::move(message), std::move(hint));
}

std::vector<std::string> HfConfig::ignored() const
{
    std::vector<std::string> keys;
    for (const Json::Member& member : reader().node().members())
        if (!seen_.contains(member.first))
            keys.push_back(member.first);
    return keys;
}

} // namespace trainyard
