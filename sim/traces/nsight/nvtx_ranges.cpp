#include "sim/traces/nsight/nvtx_ranges.h"

#include "sim/base/json.h"
#include "sim/traces/trace_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace trainyard {
namespace {

// Of "iteration 12" the 12 and how long the text before it is.
std::optional<std::pair<std::size_t, int>> number_at_end(std::string_view text)
{
    const std::size_t digits = text.find_last_not_of("0123456789") + 1;
    int number = 0;
    const auto [end, error] =
        std::from_chars(text.data() + digits, text.data() + text.size(), number);
    if (digits == 0 || digits == text.size() || error != std::errc{})
        return std::nullopt;
    return std::pair(digits, number);
}

// A member of the payload, at any depth, whose name begins so (nvtx_payload_schemas.h of NCCL).
const Json* find_in_payload(const Json& json, std::string_view name)
{
    if (!json.is_object())
        return nullptr;
    for (const auto& [key, value] : json.members()) {
        if (key.starts_with(name))
            return &value;
        if (const Json* const within = find_in_payload(value, name))
            return within;
    }
    return nullptr;
}

std::uint32_t keep_collective(RankTrace& rank, const NvtxRange& range)
{
    const std::optional<CollectiveKind> kind = collective_called(range.text);
    if (!kind)
        return 0;
    TraceMessage message;
    message.collective = rank.names.intern(to_name(*kind));
    message.dtype = rank.names.intern("Byte"); // payloads count bytes
    if (const Checked<Json> payload = parse_json(range.payload, ""); payload) {
        const Json* const size = find_in_payload(*payload, "Message size");
        if (size != nullptr && size->is_integer() && size->as_integer() > 0 &&
            *kind != CollectiveKind::all_gather) // what goes in, among an unknown number
            message.in_elements = static_cast<std::uint64_t>(size->as_integer());
        const Json* const communicator = find_in_payload(*payload, "NCCL communicator ID");
        if (communicator != nullptr && communicator->is_integer())
            message.group = rank.names.intern(
                fmt::format("{:x}", static_cast<std::uint64_t>(communicator->as_integer())));
    }
    rank.messages.push_back(message);
    return static_cast<std::uint32_t>(rank.messages.size());
}

} // namespace

void keep_range(RankTrace& rank, const NvtxRange& range)
{
    HostEvent event;
    event.span = range.span;
    event.thread = range.thread;
    event.activity = HostActivity::annotation;
    std::string_view name = range.text;
    // "aten::mm, seq = 5, op_id = 9, sizes = [[8, 16], [16, 4]]"
    const std::size_t facts = name.find(", op_id = ");
    if (facts != name.npos || name.find(", seq = ") != name.npos) {
        event.activity = HostActivity::op;
        const std::size_t sizes = name.find(", sizes = ");
        if (sizes != name.npos) {
            const std::string_view list = name.substr(sizes + 10);
            event.shapes = rank.names.intern(list.substr(0, list.find(", input_op_ids")));
        }
        name = name.substr(0, std::min(facts, name.find(", seq = ")));
    }
    event.name = rank.names.intern(name);
    if (range.of_nccl)
        event.message = keep_collective(rank, range);
    rank.host_events.push_back(event);
}

void name_steps(RankTrace& rank)
{
    struct Family {
        std::map<int, std::size_t> members; // the first of each number, by its place
        TraceTime covered;
        TraceTime end;
        bool apart = true;
    };
    std::map<std::pair<std::uint64_t, std::string>, Family> families; // of a thread
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < rank.host_events.size(); ++i)
        if (rank.host_events[i].activity == HostActivity::annotation)
            order.push_back(i);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return rank.host_events[a].span.start < rank.host_events[b].span.start;
    });
    for (const std::size_t i : order) {
        const HostEvent& event = rank.host_events[i];
        const std::string& text = rank.text(event.name);
        const auto number = number_at_end(text);
        if (!number)
            continue;
        Family& family = families[{event.thread, text.substr(0, number->first)}];
        family.apart = family.apart && event.span.start >= family.end &&
                       family.members.emplace(number->second, i).second;
        family.end = std::max(family.end, event.span.end);
        family.covered += event.span.length();
    }
    const Family* best = nullptr;
    for (const auto& [key, family] : families)
        if (family.apart && family.members.size() > 1 &&
            (best == nullptr || family.covered > best->covered))
            best = &family;
    if (best != nullptr)
        for (const auto& [number, place] : best->members)
            rank.host_events[place].name =
                rank.names.intern(fmt::format("ProfilerStep#{}", number));
}

} // namespace trainyard
