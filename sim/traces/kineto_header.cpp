#include "sim/traces/kineto_header.h"

#include "sim/base/utf8.h"
#include "sim/base/words.h"
#include "sim/traces/trace_words.h"

#include <algorithm>

namespace trainyard {
namespace {

bool is_at(std::span<const KinetoField> place, std::initializer_list<KinetoField> wanted)
{
    return std::equal(place.begin(), place.end(), wanted.begin(), wanted.end());
}

std::optional<int> small_number(std::int64_t value)
{
    return value >= 0 && value <= std::int64_t{most_trace_ranks}
               ? std::optional(static_cast<int>(value))
               : std::nullopt;
}

using enum KinetoField;

} // namespace

std::vector<int> listed_ranks(std::string_view text)
{
    std::vector<int> ranks;
    if (text.size() < 2 || text.front() != '[' || text.back() != ']')
        return ranks;
    text = text.substr(1, text.size() - 2);
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        std::string_view word = text.substr(0, comma);
        word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
        const std::optional<int> rank = to_number<int>(word);
        if (!rank || *rank < 0)
            return {};
        ranks.push_back(*rank);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return ranks;
}

void KinetoHeader::begin_object(std::span<const KinetoField> place)
{
    // An element of a list has the list's place.
    if (is_at(place, {distributed, groups}))
        groups_.emplace_back();
    if (is_at(place, {simulated_by}))
        simulated_ = true;
}

void KinetoHeader::text(std::span<const KinetoField> place, std::string_view written)
{
    const std::string value = printable_lines(written);
    if (is_at(place, {distributed, backend}))
        backend_ = value;
    else if (is_at(place, {devices, name}))
        devices_.push_back(value);
    if (groups_.empty())
        return;
    if (is_at(place, {distributed, groups, group_name}))
        groups_.back().name = value;
    else if (is_at(place, {distributed, groups, group_purpose}))
        groups_.back().purpose = value;
    else if (is_at(place, {distributed, groups, group_ranks}))
        groups_.back().ranks = listed_ranks(value);
}

void KinetoHeader::integer(std::span<const KinetoField> place, std::int64_t value)
{
    constexpr std::int64_t latest_base = 2'500'000'000'000'000'000; // in 2049
    if (is_at(place, {base_time}))
        base_ = TraceTime(std::clamp(value, std::int64_t{0}, latest_base));
    else if (is_at(place, {distributed, rank}))
        rank_ = small_number(value);
    else if (is_at(place, {distributed, world_size}))
        world_ = value > 0 ? small_number(value) : std::nullopt;
    if (groups_.empty())
        return;
    if (is_at(place, {distributed, groups, group_size}))
        groups_.back().size = small_number(value).value_or(0);
    else if (is_at(place, {distributed, groups, group_ranks}) && small_number(value))
        groups_.back().ranks.push_back(static_cast<int>(value));
}

void KinetoHeader::describe(RankTrace& trace) const
{
    trace.world = world_;
    trace.backend = backend_;
    trace.devices = devices_;
    trace.groups = groups_;
    trace.simulated = simulated_;
    if (!trace.rank)
        trace.rank = rank_;
}

} // namespace trainyard
