#include "sim/report/fills.h"

#include "sim/report/breakdown.h"

namespace trainyard {

TimeKind time_kind_of(SliceKind kind)
{
    static constexpr std::array<TimeKind, slice_kind_count> kinds{
        TimeKind::forward,       TimeKind::backward,   TimeKind::recompute,  TimeKind::optimizer,
        TimeKind::other_compute, TimeKind::exposed_tp, TimeKind::exposed_cp, TimeKind::exposed_ep,
        TimeKind::exposed_dp,    TimeKind::exposed_pp, TimeKind::waiting,    TimeKind::host,
        TimeKind::data};
    return kinds[static_cast<std::size_t>(kind)];
}

const Fill& fill_of(TimeKind kind)
{
    static constexpr std::array<Fill, time_kind_count> fills{{
        {"forward", "#0072b2"},
        {"backward", "#009e73"},
        {"recompute", "#56b4e9"},
        {"optimizer", "#cc79a7"},
        {"other", "#8c8c8c"},
        {"slowdown", "#009e73", Hatch::dots, "#f0e442"},
        {"tp", "#e69f00", Hatch::slash},
        {"cp", "#f0e442", Hatch::vertical},
        {"ep", "#b04a9a", Hatch::cross, "#ffffff"},
        {"dp", "#d55e00", Hatch::backslash},
        {"pp", "#7fc8b0", Hatch::horizontal},
        {"waiting", "#b9b9b9", Hatch::dots},
        {"bubble", ""},
        {"host", "#5b5b5b", Hatch::cross, "#ffffff"},
        {"data", "#3d3d3d", Hatch::vertical, "#ffffff"},
    }};
    return fills[index_of(kind)];
}

const Fill& fill_of(MemoryKind kind)
{
    static constexpr std::array<Fill, memory_kind_count> fills{{
        {"parameters", "#0072b2"},
        {"gradients", "#009e73"},
        {"optimizer", "#cc79a7"},
        {"unsharded", "#56b4e9", Hatch::slash},
        {"unreduced", "#7fc8b0", Hatch::backslash},
        {"buckets", "#d55e00", Hatch::horizontal},
        {"activations", "#e69f00"},
        {"logits", "#f0e442", Hatch::vertical},
        {"workspace", "#b9b9b9", Hatch::dots},
        {"pipeline", "#b04a9a", Hatch::cross, "#ffffff"},
        {"communicators", "#5b5b5b", Hatch::vertical, "#ffffff"},
        {"context", "#8c8c8c"},
        {"pinned_host", "#3d3d3d", Hatch::cross, "#ffffff"},
    }};
    return fills[static_cast<std::size_t>(kind)];
}

const Fill& fill_of(SliceKind kind)
{
    return fill_of(time_kind_of(kind));
}

} // namespace trainyard
