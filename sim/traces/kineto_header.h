#pragma once

// What a trace of PyTorch's profiler says besides its events.

#include "sim/traces/kineto_fields.h"
#include "sim/traces/rank_trace.h"

#include <span>

namespace trainyard {

class KinetoHeader {
public:
    // A value at the place that these members lead to, from the file's on.
    void text(std::span<const KinetoField> place, std::string_view written);
    void integer(std::span<const KinetoField> place, std::int64_t value);
    void begin_object(std::span<const KinetoField> place);

    TraceTime base() const { return base_; }
    bool simulated() const { return simulated_; }
    void describe(RankTrace& rank) const;

private:
    std::optional<int> rank_;
    std::optional<int> world_;
    std::string backend_;
    std::vector<std::string> devices_;
    std::vector<TraceGroup> groups_;
    TraceTime base_;
    bool simulated_ = false;
};

// "[0, 1, 2]" as numbers; empty where some are left out ("...") or it is no such list.
std::vector<int> listed_ranks(std::string_view text);

} // namespace trainyard
