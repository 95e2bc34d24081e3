#include "sim/traces/rank_trace.h"

namespace trainyard {

TraceNameId TraceNames::intern(std::string_view text)
{
    if (const auto known = ids_.find(text); known != ids_.end())
        return known->second;
    const auto id = make_id<TraceNameId>(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
}

} // namespace trainyard
