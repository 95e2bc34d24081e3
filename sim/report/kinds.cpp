#include "sim/report/kinds.h"

#include <optional>

namespace trainyard {

const TimeKindWords& words_of(TimeKind kind)
{
    constexpr TimeClass compute = TimeClass::compute;
    constexpr TimeClass communication = TimeClass::communication;
    constexpr TimeClass idle = TimeClass::idle;
    static constexpr std::array<TimeKindWords, time_kind_count> kinds{{
        {compute, "forward", "forward", "forward", {"#0072b2"}},
        {compute, "backward", "backward", "backward", {"#009e73"}},
        {compute, "recompute", "recompute", "recompute", {"#56b4e9"}},
        {compute, "optimizer", "optimizer", "optimizer", {"#cc79a7"}},
        {compute, "other compute", "other", "other", {"#8c8c8c"}},
        {communication,
         "slowed by communication",
         "slowed by communication",
         "slowdown",
         {"#8b4513", Hatch::dots, "#f0e442"}},
        {communication, "exposed TP", "TP", "tp", {"#e69f00", Hatch::slash}},
        {communication, "exposed CP", "CP", "cp", {"#f0e442", Hatch::vertical}},
        {communication, "exposed EP", "EP", "ep", {"#6c1a86", Hatch::cross, "#ffffff"}},
        {communication, "exposed DP", "DP", "dp", {"#d55e00", Hatch::backslash}},
        {communication, "exposed PP", "PP", "pp", {"#7fc8b0", Hatch::horizontal}},
        {idle, "waiting for others", "waiting", "waiting", {"#b9b9b9", Hatch::dots}},
        {idle, "pipeline bubble", "pipeline bubble", "bubble", {""}},
        {idle, "host", "host", "host", {"#5b5b5b", Hatch::cross, "#ffffff"}},
        {idle, "input data", "input data", "data", {"#3d3d3d", Hatch::vertical, "#ffffff"}},
    }};
    return kinds[static_cast<std::size_t>(kind)];
}

std::string_view noun_of(TimeKind kind)
{
    return kind == TimeKind::slowdown ? "compute slowed by communication" : title_of(kind);
}

const Fill& fill_of(MemoryKind kind)
{
    static constexpr std::array<Fill, memory_kind_count> fills{{
        {"#0072b2"},                             // parameters
        {"#009e73"},                             // gradients
        {"#cc79a7"},                             // optimizer
        {"#56b4e9", Hatch::slash},               // unsharded
        {"#7fc8b0", Hatch::backslash},           // unreduced
        {"#d55e00", Hatch::horizontal},          // buckets
        {"#e69f00"},                             // activations
        {"#f0e442", Hatch::vertical},            // logits
        {"#b9b9b9", Hatch::dots},                // workspace
        {"#6c1a86", Hatch::cross, "#ffffff"},    // pipeline
        {"#5b5b5b", Hatch::vertical, "#ffffff"}, // communicators
        {"#8c8c8c"},                             // context
        {"#3d3d3d", Hatch::cross, "#ffffff"},    // pinned host
    }};
    return fills[static_cast<std::size_t>(kind)];
}

TimeKind largest_loss(const std::array<Seconds, time_kind_count>& step)
{
    std::optional<TimeKind> most;
    for (std::size_t kind = 0; kind < step.size(); ++kind)
        if (class_of(static_cast<TimeKind>(kind)) != TimeClass::compute &&
            (!most || step[kind] > step[static_cast<std::size_t>(*most)]))
            most = static_cast<TimeKind>(kind);
    return *most;
}

} // namespace trainyard
