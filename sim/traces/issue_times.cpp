#include "sim/traces/issue_times.h"

#include <algorithm>
#include <set>

namespace trainyard {
namespace {

// Of ops that stand behind the first one of known launch on their stream.
struct LaunchesRecorded {
    std::uint64_t known = 0;
    std::uint64_t missing = 0;
    std::set<TraceNameId> names_missing;

    bool most() const { return known > missing; }
};

LaunchesRecorded launches_recorded(const RankActivity& activity)
{
    LaunchesRecorded out;
    std::set<std::uint32_t> begun; // streams
    for (const TraceOp& op : activity.ops) {
        if (op.issued) {
            begun.insert(op.stream);
            ++out.known;
        } else if (begun.contains(op.stream)) {
            out.names_missing.insert(op.name);
            ++out.missing;
        }
    }
    return out;
}

// What is known of those ops of a stream that stand behind, going back in time.
struct StreamBehind {
    std::optional<TraceTime> issued; // the first of them, at the latest
    bool left_over = false;          // one of them is
};

} // namespace

void find_issue_times(RankActivity& activity)
{
    if (!activity.host_recorded || activity.ops.empty())
        return;
    const LaunchesRecorded launches = launches_recorded(activity);
    std::map<std::uint32_t, std::uint64_t> known_before; // by stream
    for (const TraceOp& op : activity.ops)
        known_before[op.stream] += op.issued ? 1 : 0;
    std::map<std::uint32_t, StreamBehind> behind;
    for (auto op = activity.ops.rbegin(); op != activity.ops.rend(); ++op) {
        StreamBehind& stream = behind[op->stream];
        if (op->issued) {
            --known_before[op->stream];
            stream.issued = stream.issued ? std::min(*stream.issued, *op->issued) : op->issued;
            continue;
        }
        if (!stream.issued)
            continue; // nothing stands behind it
        op->queued_by = *stream.issued;
        op->left_over = known_before[op->stream] == 0 && launches.most() &&
                        (stream.left_over || !launches.names_missing.contains(op->name));
        stream.left_over = stream.left_over || op->left_over;
    }
}

} // namespace trainyard
