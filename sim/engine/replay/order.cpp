#include "sim/engine/replay/order.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

class TopologicalSort {
public:
    explicit TopologicalSort(const OrderRequest& request)
        : classes_(request.lane_classes),
          precedence_(request.precedence),
          eager_(request.eager),
          slows_(request.slows)
    {
        for (std::uint32_t c = 0; c < classes_.all.size(); ++c) {
            const LaneKind& kind = *classes_.all[c].kind;
            State& state = states_.emplace_back();
            state.done.resize(kind.streams.size());
            state.heads.resize(kind.streams.size());
            for (std::size_t s = 0; s < kind.streams.size(); ++s)
                take_head(c, s);
            state.parts_left.reserve(kind.ops.size());
            for (const FlatOp& op : kind.ops)
                state.parts_left.push_back(op.part_count);
            ops_ += kind.op_count;
        }
        for (const GroupClass& group_class : classes_.group_classes)
            arrived_.emplace_back(group_class);
        actions_.reserve(2 * ops_);
    }

    std::vector<Action> order() &&
    {
        for (std::uint32_t c = 0; c < states_.size(); ++c)
            wake(c);
        do
            run_awake();
        while (finished_ < ops_ && release_one());
        if (finished_ < ops_)
            actions_.clear();
        return std::move(actions_);
    }

private:
    // An op of a stream, by its position there; none: no op.
    struct Blocker {
        std::uint8_t stream = 0;
        std::uint32_t position = none;
    };
    // The next op of a stream.
    struct Head {
        std::uint32_t op = none; // none: the stream is over, or its next transfer has arrived
        std::uint32_t order = 0; // in which it was written
        Blocker blocker;         // it does not start before this has finished
    };
    struct State {
        std::vector<std::uint32_t> done;       // ops, by stream
        std::vector<Head> heads;               // by stream
        std::vector<std::uint32_t> parts_left; // by op
        bool awake = false;
    };
    // The ops that have come to the collectives of a group class.
    struct Arrivals {
        explicit Arrivals(const GroupClass& group_class)
            : classes(group_class.classes.size()),
              count(group_class.per_step),
              ops(classes > 1 ? classes * group_class.per_step : 0)
        {}

        std::size_t classes;
        std::vector<std::uint32_t> count;                         // by ordinal
        std::vector<std::pair<std::uint32_t, std::uint32_t>> ops; // by ordinal: lane class, op
    };

    void take_head(std::uint32_t c, std::size_t s)
    {
        const LaneKind& kind = *classes_.all[c].kind;
        const StreamPlan& stream = kind.streams[s];
        const std::uint32_t done = states_[c].done[s];
        Head& head = states_[c].heads[s];
        head = {};
        if (done == stream.op_count)
            return;
        head.op = stream.op_first + done;
        head.order = kind.ops[head.op].order;
    }

    void run_awake()
    {
        while (!awake_.empty()) {
            const std::uint32_t c = awake_.back();
            awake_.pop_back();
            states_[c].awake = false;
            go_on(c);
        }
    }

    // Compute waits for the times of transfers that may in truth outlast it. Lets the first compute
    // run that all such transfers outlast.
    bool release_one()
    {
        for (std::uint32_t c = 0; c < states_.size(); ++c) {
            for (Head& head : states_[c].heads) {
                if (head.op == none || needed(c, head.op) || !outlasted(c, head.op))
                    continue;
                released_ = {c, head.op};
                head.blocker = {};
                wake(c);
                return true;
            }
        }
        return false;
    }

    // Whether all transfers that may slow the op, and whose times are not known yet, need it.
    bool outlasted(std::uint32_t c, std::uint32_t o) const
    {
        TopologicalSort others(*this);
        others.actions_.clear();
        others.rates_ = false;
        others.barred_ = {c, o};
        for (std::uint32_t other = 0; other < states_.size(); ++other) {
            for (Head& head : others.states_[other].heads)
                head.blocker = {};
            others.wake(other);
        }
        others.run_awake();
        bool all = true;
        for_each_overlap(*classes_.all[c].kind, precedence_[c], slows_[c], o,
                         [&](std::uint32_t overlap) {
                             all &= others.times_known(c, overlap) == times_known(c, overlap);
                         });
        return all;
    }

    // What can be said of a transfer op: whether it has arrived, and which parts are over.
    std::uint32_t times_known(std::uint32_t c, std::uint32_t o) const
    {
        if (is_over(c, o))
            return none;
        return has_arrived(c, o)
                   ? 1 + classes_.all[c].kind->ops[o].part_count - states_[c].parts_left[o]
                   : 0;
    }

    bool is_over(std::uint32_t c, std::uint32_t o) const
    {
        return states_[c].done[precedence_[c].stream_of(o)] > precedence_[c].position_of(o);
    }

    // The first transfer that may slow a compute op and is not known yet, if there is one.
    std::optional<Blocker> unknown_overlap(std::uint32_t c, std::uint32_t o) const
    {
        if (!rates_ || slows_[c].empty() || released_ == std::pair{c, o})
            return std::nullopt;
        const LaneKind& kind = *classes_.all[c].kind;
        const auto over = precedence_[c].at_start(o);
        for (std::size_t s = 0; s < kind.streams.size(); ++s) {
            const StreamPlan& stream = kind.streams[s];
            if (stream.kind != StreamKind::communication || s == precedence_[c].stream_of(o))
                continue;
            // As for_each_overlap, from the first that is not over.
            for (std::uint32_t p = std::max(over[s], states_[c].done[s]); p < stream.op_count; ++p)
            {
                const std::uint32_t overlap = stream.op_first + p;
                if (precedence_[c].over(precedence_[c].at_start(overlap), o))
                    break;
                if (slows_[c][overlap] != 0)
                    return Blocker{static_cast<std::uint8_t>(s), p};
            }
        }
        return std::nullopt;
    }

    void wake(std::uint32_t c)
    {
        if (states_[c].awake)
            return;
        states_[c].awake = true;
        awake_.push_back(c);
    }

    bool has_finished(std::uint32_t c, const Blocker& blocker) const
    {
        return states_[c].done[blocker.stream] > blocker.position;
    }

    // An op that must have finished before this one starts and has not, if there is one.
    std::optional<Blocker> needed(std::uint32_t c, std::uint32_t o) const
    {
        const LaneKind& kind = *classes_.all[c].kind;
        const FlatOp& op = kind.ops[o];
        if (!op.by_itself && op.segment > 0) {
            const std::uint32_t barrier = precedence_[c].barriers()[op.segment - 1];
            const Blocker blocker{precedence_[c].stream_of(barrier),
                                  precedence_[c].position_of(barrier)};
            if (!has_finished(c, blocker))
                return blocker;
        }
        for (std::size_t w = 0; w < op.wait_count; ++w) {
            const StepWait& wait = kind.waits[op.wait_first + w];
            const Blocker blocker{wait.stream, wait.position};
            if (!wait.previous_step && !has_finished(c, blocker))
                return blocker;
        }
        return std::nullopt;
    }

    // Whether the head may start; if not, notes its blocker.
    bool may_start(std::uint32_t c, Head& head) const
    {
        if (barred_ == std::pair{c, head.op})
            return false;
        std::optional<Blocker> blocker = needed(c, head.op);
        if (!blocker && classes_.all[c].kind->ops[head.op].kind == OpKind::compute)
            blocker = unknown_overlap(c, head.op);
        head.blocker = blocker.value_or(Blocker{});
        return !blocker;
    }

    // The op that was written first of those that may start; none if there is no such op.
    std::uint32_t next(std::uint32_t c)
    {
        const Head* best = nullptr;
        for (Head& head : states_[c].heads) {
            if (head.op == none || (best != nullptr && head.order > best->order))
                continue;
            if (head.blocker.position != none && !has_finished(c, head.blocker))
                continue;
            if (may_start(c, head))
                best = &head;
        }
        return best == nullptr ? none : best->op;
    }

    void go_on(std::uint32_t c)
    {
        for (std::uint32_t o = next(c); o != none; o = next(c)) {
            const FlatOp& op = classes_.all[c].kind->ops[o];
            if (op.kind != OpKind::collective && op.kind != OpKind::exchange) {
                actions_.push_back({Action::Kind::run, c, o});
                finish(c, o);
                continue;
            }
            states_[c].heads[precedence_[c].stream_of(o)].op = none;
            actions_.push_back({Action::Kind::arrive, c, o});
            if (op.kind == OpKind::collective)
                join(c, op);
            else
                exchange(c, o);
        }
    }

    void finish(std::uint32_t c, std::uint32_t o)
    {
        const std::uint8_t stream = precedence_[c].stream_of(o);
        ++states_[c].done[stream];
        take_head(c, stream);
        ++finished_;
        wake(c);
    }

    void join(std::uint32_t c, const FlatOp& op)
    {
        const std::uint32_t m = classes_.all[c].group_classes[op.group.value];
        const auto o = static_cast<std::uint32_t>(&op - classes_.all[c].kind->ops.data());
        Arrivals& arrivals = arrived_[m];
        std::uint32_t& count = arrivals.count[op.ordinal];
        if (arrivals.classes == 1) {
            actions_.push_back({Action::Kind::collective, m, op.ordinal});
            return finish(c, o);
        }
        const auto first =
            arrivals.ops.begin() + static_cast<std::ptrdiff_t>(op.ordinal * arrivals.classes);
        first[count++] = {c, o};
        if (count < arrivals.classes)
            return;
        actions_.push_back({Action::Kind::collective, m, op.ordinal});
        for (std::size_t s = 0; s < arrivals.classes; ++s)
            finish(first[static_cast<std::ptrdiff_t>(s)].first,
                   first[static_cast<std::ptrdiff_t>(s)].second);
    }

    bool has_arrived(std::uint32_t c, std::uint32_t o) const
    {
        const State& state = states_[c];
        const std::uint8_t stream = precedence_[c].stream_of(o);
        const std::uint32_t position = precedence_[c].position_of(o);
        return state.done[stream] > position ||
               (state.done[stream] == position && state.heads[stream].op == none);
    }

    void exchange(std::uint32_t c, std::uint32_t o)
    {
        const LaneClass& lane_class = classes_.all[c];
        const FlatOp& op = lane_class.kind->ops[o];
        if (op.part_count == 0) {
            actions_.push_back({Action::Kind::complete, c, o});
            return finish(c, o);
        }
        for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
            take_part(c, o, p);
    }

    void take_part(std::uint32_t c, std::uint32_t o, std::uint32_t p)
    {
        const PartPlan& part = classes_.all[c].kind->parts[p];
        const PipeLink& link = classes_.all[c].pipes[part.pipe];
        const std::uint32_t other = precedence_[link.lane_class].part_at(link.pipe, part.ordinal);
        const std::uint32_t other_op = precedence_[link.lane_class].op_of_part(other);
        const bool sends = part.direction == Direction::send;
        const bool eager = eager_[c][p] != 0;
        if (sends && eager) {
            actions_.push_back({Action::Kind::eager_send, c, p});
            part_over(c, o);
        }
        if (!has_arrived(link.lane_class, other_op))
            return;
        // Both ends may be in one op.
        const bool again = link.lane_class == c && other_op == o && other > p;
        if (again)
            return;
        actions_.push_back({Action::Kind::message, sends ? c : link.lane_class, sends ? p : other});
        if (!eager || !sends)
            part_over(c, o);
        if (!eager || sends)
            part_over(link.lane_class, other_op);
    }

    void part_over(std::uint32_t c, std::uint32_t o)
    {
        if (--states_[c].parts_left[o] > 0)
            return;
        actions_.push_back({Action::Kind::complete, c, o});
        finish(c, o);
    }

    const LaneClasses& classes_;
    const std::vector<Precedence>& precedence_;
    const IsEager& eager_;
    const SlowsCompute& slows_;
    std::vector<State> states_; // by lane class
    bool rates_ = true;         // compute waits for what may slow it
    std::pair<std::uint32_t, std::uint32_t> barred_{none, none};   // lane class, op: must not run
    std::pair<std::uint32_t, std::uint32_t> released_{none, none}; // may run
    std::vector<Arrivals> arrived_;                                // by group class
    std::vector<std::uint32_t> awake_;
    std::vector<Action> actions_;
    std::size_t ops_ = 0;
    std::size_t finished_ = 0;
};

} // namespace

std::vector<Action> topological_order(const OrderRequest& request)
{
    return TopologicalSort(request).order();
}

} // namespace trainyard::engine::replay
