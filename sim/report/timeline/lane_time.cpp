#include "sim/report/timeline/lane_time.h"

#include "sim/engine/totals.h"

#include <algorithm>

namespace trainyard {

namespace {

using engine::FlatOp;
using engine::LaneKind;
using engine::StepWait;

constexpr SimTime never = longest_sim_time;

// What a lane does from some time on, and until when that holds at least.
struct Doing {
    TimeKind kind = TimeKind::bubble;
    RecordIndex record = no_record;
    SimTime until = never;
};

// Goes through the records of a lane in time.
class LaneClock {
public:
    LaneClock(const RecordGraph& graph, LaneId lane)
        : graph_(graph), records_(graph.records()), kind_(graph.kind_of(lane)), lane_(lane)
    {
        streams_.resize(kind_.streams.size());
        const auto& queues = graph.queues().queues;
        const auto first =
            std::partition_point(queues.begin(), queues.end(),
                                 [&](const RecordQueue& queue) { return queue.lane < lane; });
        for (auto queue = first; queue != queues.end() && queue->lane == lane; ++queue)
            add(*queue);
    }

    std::vector<TimePiece> pieces()
    {
        std::vector<TimePiece> pieces;
        for (SimTime now = begin_; now < end_;) {
            advance(now);
            const Doing doing = at(now);
            const SimTime until = std::min(doing.until, end_);
            if (!pieces.empty() && pieces.back().kind == doing.kind)
                pieces.back().to = until;
            else
                pieces.push_back({now, until, doing.kind, doing.record});
            now = until;
        }
        return pieces;
    }

private:
    struct Line {
        std::vector<std::span<const RecordIndex>> steps; // that were recorded
        std::size_t step = 0;
        std::size_t position = 0;

        RecordIndex head() const { return step < steps.size() ? steps[step][position] : no_record; }
        void pop()
        {
            if (++position == steps[step].size()) {
                position = 0;
                ++step;
            }
        }
    };

    void add(const RecordQueue& queue)
    {
        const auto line = graph_.queues().of(queue);
        const auto stream =
            std::find_if(kind_.streams.begin(), kind_.streams.end(),
                         [&](const engine::StreamPlan& plan) { return plan.id == queue.stream; });
        streams_[static_cast<std::size_t>(stream - kind_.streams.begin())].steps.push_back(line);
        begin_ = std::min(begin_, records_[line.front()].start);
        end_ = std::max(end_, records_[line.back()].end);
        first_step_ = std::min<std::size_t>(first_step_, queue.step);
    }

    // Leaves behind what has ended.
    void advance(SimTime now)
    {
        for (Line& line : streams_)
            while (line.head() != no_record && records_[line.head()].end <= now) {
                if (graph_.op_of(line.head()).ends_segment)
                    barriers_passed_ =
                        barriers_before(records_[line.head()].step, graph_.op_of(line.head())) + 1;
                line.pop();
            }
    }

    std::size_t barriers_before(std::size_t step, const FlatOp& op) const
    {
        return (step - first_step_) * kind_.host.barriers + op.segment;
    }

    Doing at(SimTime now) const
    {
        SimTime next_compute = never;
        RecordIndex first = no_record; // of the heads of compute streams: written first
        for (std::size_t s = 0; s < streams_.size(); ++s) {
            const RecordIndex head = streams_[s].head();
            if (kind_.streams[s].kind != StreamKind::compute || head == no_record)
                continue;
            const OpRecord& record = records_[head];
            if (record.start <= now && record.kind == OpKind::compute)
                return {engine::computing_kind(graph_.op_of(head).phase), head,
                        std::min(record.end, next_compute)};
            if (record.start > now)
                next_compute = std::min(next_compute, record.start);
            if (first == no_record || order_of(head) < order_of(first))
                first = head;
        }
        Doing idle = first == no_record ? at_the_end(now) : behind(stream_of(first), now);
        idle.until = std::min(idle.until, next_compute);
        return idle;
    }

    std::uint64_t order_of(RecordIndex record) const
    {
        return std::uint64_t{records_[record].step} * kind_.op_count + graph_.op_of(record).order;
    }

    std::size_t stream_of(RecordIndex record) const
    {
        std::size_t stream = 0;
        while (kind_.streams[stream].id != records_[record].stream)
            ++stream;
        return stream;
    }

    // Follows what the head of `stream` waits for. Each step leads to an op that was written
    // earlier, so this ends.
    Doing behind(std::size_t stream, SimTime now) const
    {
        for (;;) {
            const RecordIndex head = streams_[stream].head();
            if (head == no_record)
                return {};
            if (records_[head].start <= now)
                return running(head, now);
            const FlatOp& op = graph_.op_of(head);
            if (const StepWait* wait = wait_of(head, op, now))
                stream = wait->stream;
            else if (!op.by_itself && barriers_passed_ < barriers_before(records_[head].step, op))
                stream = kind_.host.barrier_streams[barriers_passed_ % kind_.host.barriers];
            else
                return {TimeKind::host, head, records_[head].start};
        }
    }

    // The first wait that is not over.
    const StepWait* wait_of(RecordIndex head, const FlatOp& op, SimTime now) const
    {
        for (std::uint32_t i = 0; i < op.wait_count; ++i) {
            const StepWait& wait = kind_.waits[op.wait_first + i];
            const RecordIndex other = graph_.waited_for(lane_, records_[head].step, wait);
            if (other != no_record && records_[other].end > now)
                return &wait;
        }
        return nullptr;
    }

    Doing running(RecordIndex index, SimTime now) const
    {
        const OpRecord& record = records_[index];
        const FlatOp& op = graph_.op_of(index);
        if (record.kind != OpKind::collective && record.kind != OpKind::exchange)
            return {record.kind == OpKind::copy || op.phase == Phase::data ? TimeKind::data
                                                                           : TimeKind::host,
                    index, record.end};
        const GroupKind group = graph_.program().labels[record.label.value].group;
        if (record.transfer_start <= now)
            return {engine::exposed_kind(group), index, record.end};
        return {graph_.waiting_kind(record), index, std::min(record.transfer_start, record.end)};
    }

    // Nothing is left to compute: host, moving transfer, gathering transfer, copy, in this order.
    Doing at_the_end(SimTime now) const
    {
        Doing best;
        int best_rank = 0;
        SimTime until = never;
        for (std::size_t s = 0; s < streams_.size(); ++s) {
            const RecordIndex head = streams_[s].head();
            if (head == no_record)
                continue;
            const Doing doing = behind(s, now);
            until = std::min(until, doing.until);
            if (const int rank = rank_at_the_end(head, now, doing); rank > best_rank) {
                best = doing;
                best_rank = rank;
            }
        }
        best.until = until;
        return best;
    }

    int rank_at_the_end(RecordIndex head, SimTime now, const Doing& doing) const
    {
        const OpRecord& record = records_[head];
        if (record.start > now) // only one that waits for nothing but the host
            return doing.kind == TimeKind::host && doing.record == head ? 4 : 0;
        switch (record.kind) {
        case OpKind::collective:
        case OpKind::exchange:
            return record.transfer_start <= now ? 3 : 2;
        case OpKind::host:
            return 4;
        default:
            return 1;
        }
    }

    const RecordGraph& graph_;
    const std::vector<OpRecord>& records_;
    const LaneKind& kind_;
    LaneId lane_;
    std::vector<Line> streams_; // as LaneKind::streams
    SimTime begin_ = never;
    SimTime end_{};
    std::size_t first_step_ = 0xffff;
    std::size_t barriers_passed_ = 0; // since the first step recorded
};

} // namespace

std::vector<TimePiece> time_pieces(const RecordGraph& graph, LaneId lane)
{
    return LaneClock(graph, lane).pieces();
}

} // namespace trainyard
