#include "sim/base/json.h"
#include "sim/workload/huggingface.h"

#include <fmt/core.h>

namespace trainyard {
const Json* HfConfig::find(const Aliases& aliases, std::string& key)
{
    const Json* found = nullptr;
    for (const std::string& alias : aliases) {
        const Json* value = reader_.node().find(alias);
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
    const std::size_t before = reader_.error_count();
    if (const std::optional<std::int64_t> value = number(aliases, largest))
        return *value;
    if (reader_.error_count() == before)
        reader_.error(fmt::format("\"{}\" is missing", aliases.front()),
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

void HfConfig::error_at(const std::string& key, std::string message, std::string hint) const
{
    reader_.member(key).error(std::move(message), std::move(hint));
}

std::vector<std::string> HfConfig::ignored() const
{
    std::vector<std::string> keys;
    for (const Json::Member& member : reader_.node().members())
        if (!seen_.contains(member.first))
            keys.push_back(member.first);
    return keys;
}

} // namespace trainyard
