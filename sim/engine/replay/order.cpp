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
        for (const Cohort& cohort : cohorts_.all) {
            const LaneKind& kind = *cohort.kind;
            State state;
            state.done.resize(kind.streams.size());
            state.started.resize(kind.streams.size());
            state.parts_left.resize(kind.ops.size());
            state.op_of_part.resize(kind.parts.size());
            for (std::uint32_t o = 0; o < kind.ops.size(); ++o) {
                const FlatOp& op = kind.ops[o];
                state.parts_left[o] = op.part_count;
                for (std::uint32_t p = 0; p < op.part_count; ++p)
                    state.op_of_part[op.part_first + p] = o;
            }
            state.parts_of_pipe.resize(kind.parts_per_step.size());
            for (std::uint32_t p = 0; p < kind.parts.size(); ++p)
                state.parts_of_pipe[kind.parts[p].pipe].push_back(p);
            ops_ += kind.op_count;
            states_.push_back(std::move(state));
        }
        for (const Meeting& meeting : cohorts_.meetings)
            arrived_.emplace_back(meeting.per_step);
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
    struct State {
        std::vector<std::uint32_t> done;       // ops, by stream
        std::vector<std::uint8_t> started;     // by stream: its head is a transfer that has arrived
        std::vector<std::uint32_t> parts_left; // by op
        std::vector<std::uint32_t> op_of_part;
        std::vector<std::vector<std::uint32_t>> parts_of_pipe;
        std::uint32_t barriers = 0;
        bool awake = false;
    };

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
            const LaneKind& kind = *cohorts_.all[c].kind;
            for (std::size_t s = 0; s < kind.streams.size(); ++s) {
                if (states_[c].started[s] != 0 || states_[c].done[s] == kind.streams[s].op_count)
                    continue;
                const std::uint32_t o = kind.streams[s].op_first + states_[c].done[s];
                if (!ready(c, kind.ops[o]) || !outlasted(c, o))
                    continue;
                released_ = {c, o};
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
        for (std::uint32_t other = 0; other < states_.size(); ++other)
            others.wake(other);
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

    // Whether all is known that may slow a compute op.
    bool rivals_known(std::uint32_t c, std::uint32_t o) const
    {
        if (!rates_ || slows_[c].empty() || released_ == std::pair{c, o})
            return true;
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
                    return false;
            }
        }
        return true;
    }

    void wake(std::uint32_t c)
    {
        if (states_[c].awake)
            return;
        states_[c].awake = true;
        awake_.push_back(c);
    }

    bool ready(std::uint32_t c, const FlatOp& op) const
    {
        const State& state = states_[c];
        const LaneKind& kind = *cohorts_.all[c].kind;
        if (!op.by_itself && state.barriers < op.segment)
            return false;
        for (std::size_t w = 0; w < op.wait_count; ++w) {
            const StepWait& wait = kind.waits[op.wait_first + w];
            if (!wait.previous_step && state.done[wait.stream] <= wait.position)
                return false;
        }
        return true;
    }

    // The first written of the ops that may start; none if there is no such op.
    std::uint32_t next(std::uint32_t c) const
    {
        const State& state = states_[c];
        const LaneKind& kind = *cohorts_.all[c].kind;
        std::uint32_t best = none;
        for (std::size_t s = 0; s < kind.streams.size(); ++s) {
            if (state.started[s] != 0 || state.done[s] == kind.streams[s].op_count)
                continue;
            const std::uint32_t o = kind.streams[s].op_first + state.done[s];
            const FlatOp& op = kind.ops[o];
            if ((best == none || op.order < kind.ops[best].order) && barred_ != std::pair{c, o} &&
                ready(c, op) && (op.kind != OpKind::compute || rivals_known(c, o)))
                best = o;
        }
        return best;
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
            states_[c].started[known_[c].stream_of(o)] = 1;
            acts_.push_back({Act::Kind::arrive, c, o});
            if (op.kind == OpKind::collective)
                join(c, op);
            else
                exchange(c, o);
        }
    }

    void finish(std::uint32_t c, std::uint32_t o)
    {
        State& state = states_[c];
        const std::uint8_t stream = known_[c].stream_of(o);
        ++state.done[stream];
        state.started[stream] = 0;
        if (cohorts_.all[c].kind->ops[o].ends_segment)
            ++state.barriers;
        ++finished_;
        wake(c);
    }

    void join(std::uint32_t c, const FlatOp& op)
    {
        const std::uint32_t m = cohorts_.all[c].meetings[op.group.value];
        const Meeting& meeting = cohorts_.meetings[m];
        auto& waiting = arrived_[m][op.ordinal];
        waiting.push_back({c, static_cast<std::uint32_t>(&op - cohorts_.all[c].kind->ops.data())});
        if (waiting.size() < meeting.seats.size())
            return;
        acts_.push_back({Act::Kind::gather, m, op.ordinal});
        for (const auto& [cohort, o] : waiting)
            finish(cohort, o);
        waiting = {};
    }

    bool has_arrived(std::uint32_t c, std::uint32_t o) const
    {
        const State& state = states_[c];
        const std::uint8_t stream = known_[c].stream_of(o);
        const std::uint32_t position = known_[c].position_of(o);
        return state.done[stream] > position ||
               (state.done[stream] == position && state.started[stream] != 0);
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
        const std::uint32_t other = states_[link.cohort].parts_of_pipe[link.pipe][part.ordinal];
        const std::uint32_t other_op = states_[link.cohort].op_of_part[other];
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
    std::vector<std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>> arrived_;
    std::vector<std::uint32_t> awake_;
    std::vector<Act> acts_;
    std::size_t ops_ = 0;
    std::size_t finished_ = 0;
};

} // namespace

bool steps_interfere(const LaneKind& kind, const Known& known,
                     const std::vector<std::uint8_t>& slows)
{
    for (std::size_t s = 0; s < kind.streams.size(); ++s) {
        const StreamPlan& stream = kind.streams[s];
        if (stream.kind != StreamKind::communication)
            continue;
        // Those behind the first of a stream know at least as much.
        const auto first = std::find(slows.begin() + stream.op_first,
                                     slows.begin() + stream.op_first + stream.op_count, 1);
        if (first == slows.begin() + stream.op_first + stream.op_count)
            continue;
        const auto over = known.before_at_start(static_cast<std::uint32_t>(first - slows.begin()));
        for (std::uint32_t o = 0; o < kind.ops.size(); ++o)
            if (kind.ops[o].kind == OpKind::compute && !known.over(over, o))
                return true;
    }
    return false;
}

std::vector<Act> order_of(const OrderRequest& request)
{
    return Orderer(request).order();
}

} // namespace trainyard::engine::replay
