#include "sim/engine/replay/order.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

class Orderer {
public:
    explicit Orderer(const OrderRequest& request)
        : cohorts_(request.cohorts),
          known_(request.known),
          eager_(request.eager),
          slows_(request.slows)
    {
        for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c) {
            const LaneKind& kind = *cohorts_.all[c].kind;
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
        for (const Meeting& meeting : cohorts_.meetings)
            arrived_.emplace_back(meeting);
        acts_.reserve(2 * ops_);
    }

    std::vector<Act> order() &&
    {
        for (std::uint32_t c = 0; c < states_.size(); ++c)
            wake(c);
        do
            run_awake();
        while (finished_ < ops_ && release_one());
        if (finished_ < ops_)
            acts_.clear();
        return std::move(acts_);
    }

private:
    // An op of a stream by its position there; none: nothing.
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
    // The ops that have come to the collectives of a meeting.
    struct Arrivals {
        explicit Arrivals(const Meeting& meeting)
            : seats(meeting.seats.size()),
              count(meeting.per_step),
              ops(seats > 1 ? seats * meeting.per_step : 0)
        {}

        std::size_t seats;
        std::vector<std::uint32_t> count;                         // by ordinal
        std::vector<std::pair<std::uint32_t, std::uint32_t>> ops; // by ordinal: cohort, op
    };

    void take_head(std::uint32_t c, std::size_t s)
    {
        const LaneKind& kind = *cohorts_.all[c].kind;
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

    // Compute waits for the times of transfers that may in truth end behind it. Lets the first one
    // run for which that is so of all of them.
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
        Orderer others(*this);
        others.acts_.clear();
        others.rates_ = false;
        others.barred_ = {c, o};
        for (std::uint32_t other = 0; other < states_.size(); ++other) {
            for (Head& head : others.states_[other].heads)
                head.blocker = {};
            others.wake(other);
        }
        others.run_awake();
        bool all = true;
        for_each_rival(*cohorts_.all[c].kind, known_[c], slows_[c], o, [&](std::uint32_t rival) {
            all &= others.times_known(c, rival) == times_known(c, rival);
        });
        return all;
    }

    // What can be said of a transfer op: whether it has arrived, and which parts are over.
    std::uint32_t times_known(std::uint32_t c, std::uint32_t o) const
    {
        if (is_over(c, o))
            return none;
        return has_arrived(c, o)
                   ? 1 + cohorts_.all[c].kind->ops[o].part_count - states_[c].parts_left[o]
                   : 0;
    }

    bool is_over(std::uint32_t c, std::uint32_t o) const
    {
        return states_[c].done[known_[c].stream_of(o)] > known_[c].position_of(o);
    }

    // The first transfer that may slow a compute op and is not known yet, if there is one.
    std::optional<Blocker> unknown_rival(std::uint32_t c, std::uint32_t o) const
    {
        if (!rates_ || slows_[c].empty() || released_ == std::pair{c, o})
            return std::nullopt;
        const LaneKind& kind = *cohorts_.all[c].kind;
        const auto over = known_[c].at_start(o);
        for (std::size_t s = 0; s < kind.streams.size(); ++s) {
            const StreamPlan& stream = kind.streams[s];
            if (stream.kind != StreamKind::communication || s == known_[c].stream_of(o))
                continue;
            // As for_each_rival, from the first that is not over.
            for (std::uint32_t p = std::max(over[s], states_[c].done[s]); p < stream.op_count; ++p)
            {
                const std::uint32_t rival = stream.op_first + p;
                if (known_[c].over(known_[c].at_start(rival), o))
                    break;
                if (slows_[c][rival] != 0)
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
        const LaneKind& kind = *cohorts_.all[c].kind;
        const FlatOp& op = kind.ops[o];
        if (!op.by_itself && op.segment > 0) {
            const std::uint32_t barrier = known_[c].barriers()[op.segment - 1];
            const Blocker blocker{known_[c].stream_of(barrier), known_[c].position_of(barrier)};
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

    // Whether nothing is in the way of the head; else notes what is.
    bool may_start(std::uint32_t c, Head& head) const
    {
        if (barred_ == std::pair{c, head.op})
            return false;
        std::optional<Blocker> blocker = needed(c, head.op);
        if (!blocker && cohorts_.all[c].kind->ops[head.op].kind == OpKind::compute)
            blocker = unknown_rival(c, head.op);
        head.blocker = blocker.value_or(Blocker{});
        return !blocker;
    }

    // The first written of the ops that may start; none if there is no such op.
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
            const FlatOp& op = cohorts_.all[c].kind->ops[o];
            if (op.kind != OpKind::collective && op.kind != OpKind::exchange) {
                acts_.push_back({Act::Kind::run, c, o});
                finish(c, o);
                continue;
            }
            states_[c].heads[known_[c].stream_of(o)].op = none;
            acts_.push_back({Act::Kind::arrive, c, o});
            if (op.kind == OpKind::collective)
                join(c, op);
            else
                exchange(c, o);
        }
    }

    void finish(std::uint32_t c, std::uint32_t o)
    {
        const std::uint8_t stream = known_[c].stream_of(o);
        ++states_[c].done[stream];
        take_head(c, stream);
        ++finished_;
        wake(c);
    }

    void join(std::uint32_t c, const FlatOp& op)
    {
        const std::uint32_t m = cohorts_.all[c].meetings[op.group.value];
        const auto o = static_cast<std::uint32_t>(&op - cohorts_.all[c].kind->ops.data());
        Arrivals& arrivals = arrived_[m];
        std::uint32_t& count = arrivals.count[op.ordinal];
        if (arrivals.seats == 1) {
            acts_.push_back({Act::Kind::gather, m, op.ordinal});
            return finish(c, o);
        }
        const auto first =
            arrivals.ops.begin() + static_cast<std::ptrdiff_t>(op.ordinal * arrivals.seats);
        first[count++] = {c, o};
        if (count < arrivals.seats)
            return;
        acts_.push_back({Act::Kind::gather, m, op.ordinal});
        for (std::size_t s = 0; s < arrivals.seats; ++s)
            finish(first[static_cast<std::ptrdiff_t>(s)].first,
                   first[static_cast<std::ptrdiff_t>(s)].second);
    }

    bool has_arrived(std::uint32_t c, std::uint32_t o) const
    {
        const State& state = states_[c];
        const std::uint8_t stream = known_[c].stream_of(o);
        const std::uint32_t position = known_[c].position_of(o);
        return state.done[stream] > position ||
               (state.done[stream] == position && state.heads[stream].op == none);
    }

    void exchange(std::uint32_t c, std::uint32_t o)
    {
        const Cohort& cohort = cohorts_.all[c];
        const FlatOp& op = cohort.kind->ops[o];
        if (op.part_count == 0) {
            acts_.push_back({Act::Kind::complete, c, o});
            return finish(c, o);
        }
        for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
            take_part(c, o, p);
    }

    void take_part(std::uint32_t c, std::uint32_t o, std::uint32_t p)
    {
        const PartPlan& part = cohorts_.all[c].kind->parts[p];
        const PipeLink& link = cohorts_.all[c].pipes[part.pipe];
        const std::uint32_t other = known_[link.cohort].part_at(link.pipe, part.ordinal);
        const std::uint32_t other_op = known_[link.cohort].op_of_part(other);
        const bool sends = part.direction == Direction::send;
        const bool eager = eager_[c][p] != 0;
        if (sends && eager) {
            acts_.push_back({Act::Kind::send, c, p});
            part_over(c, o);
        }
        if (!has_arrived(link.cohort, other_op))
            return;
        // Both ends may be in one op.
        const bool again = link.cohort == c && other_op == o && other > p;
        if (again)
            return;
        acts_.push_back({Act::Kind::pass, sends ? c : link.cohort, sends ? p : other});
        if (!eager || !sends)
            part_over(c, o);
        if (!eager || sends)
            part_over(link.cohort, other_op);
    }

    void part_over(std::uint32_t c, std::uint32_t o)
    {
        if (--states_[c].parts_left[o] > 0)
            return;
        acts_.push_back({Act::Kind::complete, c, o});
        finish(c, o);
    }

    const Cohorts& cohorts_;
    const std::vector<Known>& known_;
    const IsEager& eager_;
    const SlowsCompute& slows_;
    std::vector<State> states_; // by cohort
    bool rates_ = true;         // compute waits for what may slow it
    std::pair<std::uint32_t, std::uint32_t> barred_{none, none};   // cohort, op: must not run
    std::pair<std::uint32_t, std::uint32_t> released_{none, none}; // may run
    std::vector<Arrivals> arrived_;                                // by meeting
    std::vector<std::uint32_t> awake_;
    std::vector<Act> acts_;
    std::size_t ops_ = 0;
    std::size_t finished_ = 0;
};

} // namespace

std::vector<Act> order_of(const OrderRequest& request)
{
    return Orderer(request).order();
}

} // namespace trainyard::engine::replay
