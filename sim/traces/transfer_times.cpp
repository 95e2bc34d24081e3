#include "sim/traces/transfer_times.h"

#include <algorithm>
#include <tuple>

namespace trainyard {
namespace {

class TransferTimes {
public:
    explicit TransferTimes(const JobTrace& job) : job_(job)
    {
        for (const RankActivity& rank : job.ranks) {
            times_.emplace_back(rank.transfers.size());
            for (const TraceOp& op : rank.ops)
                if (op.transfer != TraceOp::no_transfer)
                    times_.back()[op.transfer].moving_from = op.span.start;
        }
        estimate();
        take_lone();
        for (const MatchedCollective& collective : job.collectives)
            note_arrivals(collective);
        take_stated();
    }

    std::vector<std::vector<TransferMoving>> take() { return std::move(times_); }

private:
    using LikeTransfers =
        std::tuple<std::string, std::optional<CollectiveKind>, std::uint64_t, int>;

    TransferMoving& time_of(std::size_t rank, const TraceOp& op)
    {
        return times_[rank][op.transfer];
    }

    // Of three or more alike, sizes known.
    void estimate()
    {
        constexpr std::size_t enough = 3;
        for (std::size_t r = 0; r < job_.ranks.size(); ++r) {
            const RankActivity& rank = job_.ranks[r];
            std::map<LikeTransfers, std::pair<std::size_t, TraceTime>> quickest;
            const auto like = [&](const TraceOp& op) {
                const TraceTransfer& transfer = rank.transfers[op.transfer];
                return LikeTransfers{transfer.group, transfer.kind, transfer.bytes, transfer.peer};
            };
            for (const TraceOp& op : rank.ops)
                if (op.transfer != TraceOp::no_transfer) {
                    const TraceTime length = op.span.length();
                    auto [at, fresh] = quickest.try_emplace(like(op), 0, length);
                    ++at->second.first;
                    at->second.second = std::min(at->second.second, length);
                }
            for (const TraceOp& op : rank.ops)
                if (op.transfer != TraceOp::no_transfer) {
                    const auto& [count, length] = quickest.at(like(op));
                    if (count < enough || rank.transfers[op.transfer].bytes == 0)
                        continue;
                    time_of(r, op) = {op.span.end - length, MovingFrom::quickest, -1};
                }
        }
    }

    // There is nobody to wait for.
    void take_lone()
    {
        for (std::size_t r = 0; r < job_.ranks.size(); ++r)
            for (const TraceOp& op : job_.ranks[r].ops)
                if (op.transfer != TraceOp::no_transfer &&
                    job_.ranks[r].transfers[op.transfer].ranks == 1)
                    time_of(r, op) = {op.span.start, MovingFrom::arrivals, -1};
    }

    void note_arrivals(const MatchedCollective& collective)
    {
        TraceTime last;
        int last_arriver = -1;
        for (const auto& member : collective.members) {
            const TraceTime arrival =
                job_.ranks[member.rank].ops[member.op].span.start - job_.clock_offsets[member.rank];
            if (last_arriver < 0 || arrival > last) {
                last = arrival;
                last_arriver = job_.ranks[member.rank].rank;
            }
        }
        for (const auto& member : collective.members) {
            const TraceOp& op = job_.ranks[member.rank].ops[member.op];
            TransferMoving& time = time_of(member.rank, op);
            const TraceTime arrived =
                std::clamp(last + job_.clock_offsets[member.rank], op.span.start, op.span.end);
            if (collective.complete)
                time = {arrived, MovingFrom::arrivals, last_arriver};
            else
                time.moving_from = std::max(time.moving_from, arrived);
        }
    }

    void take_stated()
    {
        for (std::size_t r = 0; r < job_.ranks.size(); ++r)
            for (const TraceOp& op : job_.ranks[r].ops) {
                if (op.transfer == TraceOp::no_transfer)
                    continue;
                const TraceTime stated = job_.ranks[r].transfers[op.transfer].moving_from;
                if (stated > TraceTime()) {
                    time_of(r, op).moving_from = std::clamp(stated, op.span.start, op.span.end);
                    time_of(r, op).source = MovingFrom::stated;
                }
            }
    }

    const JobTrace& job_;
    std::vector<std::vector<TransferMoving>> times_;
};

} // namespace

std::vector<std::vector<TransferMoving>> transfer_times(const JobTrace& job)
{
    return TransferTimes(job).take();
}

} // namespace trainyard
