#include "sim/workload/huggingface/config.h"

#include "sim/base/json.h"
#include "sim/base/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace trainyard {

HfConfig::HfConfig(const Reader& reader, const Reader& outer) : outer_(outer), sources_{reader}
{
    for (const char* part : {"attn_config", "ffn_config", "moe", "moe_config", "linear_attn_config",
                             "sparse_attention_config"})
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
        return default_of(aliases);
    if (value->is_array())
        return usual_entry(key, *value, largest);
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

// Null is a value: that there is none.
std::optional<std::int64_t> HfConfig::default_of(const Aliases& aliases)
{
    for (const std::string& alias : aliases)
        if (reader().node().find(alias) != nullptr)
            return std::nullopt;
    for (const std::string& alias : aliases) {
        const auto found = std::ranges::find(defaults_, alias, &HfDefault::key);
        if (found == defaults_.end())
            continue;
        defaulted_.insert(fmt::format("\"{}\" {}", alias, found->value));
        return found->value;
    }
    return std::nullopt;
}

std::optional<std::int64_t> HfConfig::usual_entry(const std::string& key, const Json& list,
                                                  std::int64_t largest)
{
    std::map<std::int64_t, int> frequency;
    for (std::size_t i = 0; i < list.items().size(); ++i) {
        const Json& entry = list.items()[i];
        if (entry.is_null()) { // none in this layer
            ++frequency[0];
            continue;
        }
        if (!entry.is_integer() || entry.as_integer() < 0 || entry.as_integer() > largest) {
            error_at(key, i, fmt::format("expected a whole number, found {}", entry.kind_name()),
                     fmt::format("from 0 to {}", largest));
            return std::nullopt;
        }
        ++frequency[entry.as_integer()];
    }
    if (frequency.empty())
        error_at(key, "an empty list", "one entry per layer, or one number for all");
    if (frequency.size() > 1 || frequency.empty())
        frequency.erase(0);
    else if (frequency.contains(0)) // none in any layer
        return std::nullopt;
    if (frequency.empty())
        return std::nullopt;
    if (frequency.size() > 1)
        differ_.insert(key);
    const int most =
        std::ranges::max_element(frequency, {}, [](const auto& one) { return one.second; })->second;
    for (const Json& entry : list.items()) // of several as frequent the first
        if (entry.is_integer())
            if (const auto found = frequency.find(entry.as_integer());
                found != frequency.end() && found->second == most)
                return found->first;
    return std::nullopt;
}

std::int64_t HfConfig::required(const Aliases& aliases, std::int64_t largest)
{
    const std::size_t before = reader().error_count();
    if (const std::optional<std::int64_t> value = number(aliases, largest))
        return *value;
    if (reader().error_count() == before)
        missing(aliases.front(), "a config.json of this family has it");
    return 1;
}

void HfConfig::missing(const std::string& key, std::string hint) const
{
    reader().absent(key).error(fmt::format("\"{}\" is missing", key), std::move(hint));
}

std::int64_t HfConfig::count(const Aliases& aliases, std::int64_t otherwise, std::int64_t largest)
{
    std::string key;
    const Json* value = find(aliases, key);
    if (value != nullptr && value->is_integer() && value->as_integer() == 0)
        return 0;
    return number(aliases, largest).value_or(otherwise);
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

std::optional<double> HfConfig::multiple(const Aliases& aliases)
{
    std::string key;
    const Json* value = find(aliases, key);
    if (value == nullptr)
        return std::nullopt;
    constexpr double largest = 1000;
    if (value->is_number() && value->as_double() > 0 && value->as_double() <= largest)
        return value->as_double();
    error_at(key, "expected a number above 0", fmt::format("at most {}, without quotes", largest));
    return std::nullopt;
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

namespace {

// "4,5,6"; nothing where it is no such list.
std::optional<std::vector<std::int64_t>> separated(std::string_view text)
{
    std::vector<std::int64_t> numbers;
    while (!text.empty()) {
        const std::string_view one = text.substr(0, text.find(','));
        const auto number = to_number<std::int64_t>(one);
        if (!number || *number < 0)
            return std::nullopt;
        numbers.push_back(*number);
        text.remove_prefix(std::min(text.size(), one.size() + 1));
    }
    return numbers;
}

} // namespace

std::vector<std::int64_t> HfConfig::numbers(const std::string& key)
{
    std::vector<std::int64_t> out;
    const Json* list = value(key);
    if (list == nullptr)
        return out;
    if (list->is_string())
        if (const auto parts = separated(list->as_string()))
            return *parts;
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

std::vector<std::int64_t> HfConfig::sizes(const Aliases& aliases)
{
    std::string key;
    const Json* list = find(aliases, key);
    std::vector<std::int64_t> out;
    if (list == nullptr || !list->is_array())
        return out;
    for (const Json& item : list->items())
        if (item.is_integer() || item.is_null())
            out.push_back(item.is_null() ? 0 : item.as_integer());
    differ_.erase(key);
    return out;
}

std::vector<std::string> HfConfig::keys_with_part(std::string_view part) const
{
    std::vector<std::string> keys;
    for (const Json::Member& member : reader().node().members())
        if (member.first.find(part) != std::string::npos)
            keys.push_back(member.first);
    return keys;
}

bool HfConfig::mentions(std::string_view part) const
{
    return !keys_with_part(part).empty();
}

void HfConfig::error_at(const std::string& key, std::string message, std::string hint) const
{
    place_of(key).error(std::move(message), std::move(hint));
}

void HfConfig::error_at(const std::string& key, std::size_t entry, std::string message,
                        std::string hint) const
{
    const Reader place = place_of(key);
    const bool listed = place.node().is_array() && entry < place.node().items().size();
    (listed ? place.element(entry) : place).error(std::move(message), std::move(hint));
}

std::vector<std::string> HfConfig::assumed() const
{
    std::vector<std::string> sentences = assumed_;
    for (const std::string& key : differ_)
        sentences.push_back(fmt::format(
            "\"{}\" differs from layer to layer: its most frequent entry is that of all", key));
    if (!defaulted_.empty())
        sentences.push_back(
            fmt::format("not given, so the family's usual: {}", fmt::join(defaulted_, ", ")));
    return sentences;
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
