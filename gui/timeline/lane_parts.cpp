#include "gui/timeline/lane_parts.h"

#include "sim/report/kinds.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard::gui {

namespace {

bool is_transfer(const OpRecord& record)
{
    return record.kind == OpKind::collective || record.kind == OpKind::exchange;
}

} // namespace

SimTime moving_from(const OpRecord& record)
{
    return is_transfer(record) ? std::clamp(record.transfer_start, record.start, record.end)
                               : record.start;
}

std::uint32_t slices_of(const OpRecord& record)
{
    const SimTime moving = moving_from(record);
    return (moving > record.start ? 1U : 0U) + (record.end > moving ? 1U : 0U);
}

double idle_share(std::span<const TimePiece> pieces)
{
    double idle = 0;
    double whole = 0;
    for (const TimePiece& piece : pieces) {
        whole += as_double(piece.to - piece.from);
        if (class_of(piece.kind) == TimeClass::idle)
            idle += as_double(piece.to - piece.from);
    }
    return whole > 0 ? idle / whole : 0;
}

int stream_place(StreamKind kind)
{
    switch (kind) {
    case StreamKind::compute:
        return 0;
    case StreamKind::communication:
        return 1;
    case StreamKind::copy:
        return 2;
    case StreamKind::worker:
        return 3;
    case StreamKind::host:
        break;
    }
    return 4;
}

void sort_parts(std::vector<LanePart>& parts, LaneOrder order)
{
    std::map<RankId, double> idle; // of the first run that has the rank
    for (const LanePart& part : parts)
        idle.try_emplace(part.rank, part.idle);
    for (LanePart& part : parts)
        part.idle = idle.at(part.rank);
    // The idlest first.
    const auto place = [order](const LanePart& part) {
        const double by_idle = order == LaneOrder::idle ? -part.idle : 0;
        const std::uint32_t group = order == LaneOrder::stage  ? part.stage.value
                                    : order == LaneOrder::rank ? part.node.value
                                                               : 0;
        return std::tuple(by_idle, group, part.rank, part.run);
    };
    std::stable_sort(parts.begin(), parts.end(),
                     [&](const LanePart& a, const LanePart& b) { return place(a) < place(b); });
}

} // namespace trainyard::gui
