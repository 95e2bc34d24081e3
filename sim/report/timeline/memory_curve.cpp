#include "sim/report/timeline/memory_curve.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

struct OpSpan {
    SimTime start;
    SimTime end;
};

// The ops of one lane's step with their times.
class RecordedStep {
public:
    RecordedStep(const Program& program, const Role& role, const std::vector<OpRecord>& records,
                 LaneId lane, std::optional<std::uint16_t> asked)
        : spans_(op_count(program, role))
    {
        std::uint32_t first = 0;
        for (const BlockUse& use : role.order) {
            first_.push_back(first);
            first += static_cast<std::uint32_t>(program.blocks[use.block.value].ops.size());
        }
        std::uint16_t last = 0;
        for (const OpRecord& record : records)
            if (record.lane == lane)
                last = std::max(last, record.step);
        std::size_t seen = 0;
        for (const OpRecord& record : records) {
            if (record.lane != lane || record.step != asked.value_or(last))
                continue;
            span_.start = seen == 0 ? record.start : std::min(span_.start, record.start);
            span_.end = std::max(span_.end, record.end);
            spans_[record.op] = {record.start, record.end};
            ++seen;
        }
        whole_ = seen > 0 && seen == spans_.size();
    }

    bool whole() const { return whole_; }
    OpSpan span() const { return span_; }
    OpSpan of(MemoryPlace place) const { return spans_[first_[place.use] + place.op]; }

private:
    std::vector<std::uint32_t> first_; // by use, into spans_
    std::vector<OpSpan> spans_;        // in issue order
    OpSpan span_;
    bool whole_ = false;
};

class CurveWriter {
public:
    CurveWriter(const HostOrder& order, const Role& role, const RecordedStep& step, HeldBytes held)
        : order_(order), role_(role), step_(step), held_(held), now_(step.span().start)
    {
        held_.time = now_;
        curve_.points.push_back(held_);
    }

    MemoryCurve write() &&
    {
        StepWalk walk(order_, role_);
        auto visit = [this](MemoryPlace place, std::uint32_t, const MemoryEvent& event) {
            if (!(place == place_))
                flush();
            place_ = place;
            waiting_.push_back(event);
            return true;
        };
        for (std::uint32_t use = 0; use < role_.order.size(); ++use) {
            walk.go(use, visit);
            flush();
            const Block& block = order_.program().blocks[role_.order[use].block.value];
            come_to({use, static_cast<std::uint32_t>(block.ops.size())});
        }
        now_ = std::max(now_, step_.span().end);
        auto at_end = [this](MemoryPlace place, std::uint32_t, const MemoryEvent& event) {
            apply(event, place, now_);
            return true;
        };
        walk.finish(at_end);
        held_.time = now_;
        curve_.points.push_back(held_);
        const auto most = std::ranges::max_element(curve_.points, {}, &HeldBytes::bytes);
        curve_.peak = static_cast<std::size_t>(most - curve_.points.begin());
        return std::move(curve_);
    }

private:
    bool computes(MemoryPlace place) const
    {
        const Program& program = order_.program();
        const Block& block = program.blocks[role_.order[place.use].block.value];
        const StreamId stream = block.ops[place.op].stream;
        return program.streams[stream.value].kind == StreamKind::compute;
    }

    // How many of the last events of a place come when its op has ended.
    std::size_t events_at_end(MemoryPlace place) const
    {
        for (const HostOrder::Entry& entry : order_.entries(role_.order[place.use].block))
            if (entry.op == place.op)
                return entry.holds ? 0 : entry.end_last - entry.end_first;
        return 0;
    }

    // The requests of one op.
    void flush()
    {
        if (waiting_.empty())
            return;
        come_to(place_);
        const bool here = computes(place_);
        const OpSpan span = here ? step_.of(place_) : OpSpan{now_, now_};
        const std::size_t starts = waiting_.size() - events_at_end(place_);
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            const double part =
                i < starts ? static_cast<double>(i) / static_cast<double>(starts) : 1.0;
            const auto length = static_cast<double>((span.end - span.start).value());
            apply(waiting_[i], place_,
                  span.start + SimTime(static_cast<std::int64_t>(part * length)));
        }
        waiting_.clear();
    }

    // The compute stream comes to the op, past those before it.
    void come_to(MemoryPlace place)
    {
        if (place.use != reached_.use)
            reached_ = {place.use, 0};
        for (; reached_.op < place.op; ++reached_.op)
            if (computes(reached_))
                now_ = std::max(now_, step_.of(reached_).end);
    }

    void apply(const MemoryEvent& event, MemoryPlace place, SimTime time)
    {
        const Tensor& tensor = order_.program().tensors[event.tensor.value];
        const std::int64_t change =
            event.action == MemoryAction::allocate ? tensor.bytes : -tensor.bytes;
        now_ = std::max(now_, time);
        held_.time = now_;
        held_.kinds[static_cast<std::size_t>(tensor.kind)] += change;
        held_.bytes += on_device(tensor.kind) ? change : 0;
        held_.place = place;
        curve_.points.push_back(held_);
    }

    const HostOrder& order_;
    const Role& role_;
    const RecordedStep& step_;
    MemoryCurve curve_;
    HeldBytes held_;
    SimTime now_;
    MemoryPlace place_;
    MemoryPlace reached_;
    std::vector<MemoryEvent> waiting_;
};

// What is there all the time.
HeldBytes held_always(const Program& program, const Role& role, const StageMemory& estimate)
{
    HeldBytes held;
    held.bytes = role.static_memory;
    const auto add = [&](MemoryKind kind, std::int64_t bytes) {
        held.kinds[static_cast<std::size_t>(kind)] += bytes;
    };
    for (const auto* list : {&role.held, &role.held_from_update})
        for (const TensorId id : *list)
            add(program.tensors[id.value].kind, program.tensors[id.value].bytes);
    const auto add_outside = [&](MemoryKind kind, Bytes bytes) {
        add(kind, static_cast<std::int64_t>(bytes.value()));
        held.bytes += static_cast<std::int64_t>(bytes.value());
    };
    for (const MemoryKind kind : {MemoryKind::communicators, MemoryKind::context})
        if (const auto found = estimate.kinds.find(std::string(to_name(kind)));
            found != estimate.kinds.end())
            add_outside(kind, found->second);
    // Tensors that no op asks for are libraries' workspaces.
    for (const PeakTensor& tensor : estimate.tensors)
        if (std::ranges::find(program.tensors, tensor.name, &Tensor::name) == program.tensors.end())
            add_outside(tensor.kind, tensor.bytes * static_cast<std::uint64_t>(tensor.count));
    return held;
}

} // namespace

MemoryCurve memory_curve(const Outcome& outcome, LaneId lane, std::optional<std::uint16_t> asked)
{
    const Program& program = outcome.plan->program;
    const RoleId role_id = outcome.binding->lanes[lane.value].role;
    const Role& role = program.roles[role_id.value];
    const RecordedStep step(program, role, outcome.result->records, lane, asked);
    if (!step.whole())
        return {};
    const HostOrder order(program);
    // Of a process's replicas the first is estimated: outside of programs the others hold the same.
    const std::vector<StageMemory>& stages = outcome.memory.stages;
    const StageMemory& stage = stages[std::min<std::size_t>(role_id.value, stages.size() - 1)];
    return CurveWriter(order, role, step, held_always(program, role, stage)).write();
}

std::vector<LaneMemory> memory_of_lanes(const Outcome& outcome)
{
    std::set<LaneId> lanes;
    for (const OpRecord& record : outcome.result->records)
        lanes.insert(record.lane);
    std::vector<LaneMemory> out;
    for (const LaneId lane : lanes)
        out.push_back({lane, memory_curve(outcome, lane).points});
    return out;
}

} // namespace trainyard
