#include "sim/engine/replay/order.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

class Orderer {
public:
    Orderer(const Cohorts& cohorts, const std::vector<Known>& known, const IsEager& eager)
        : cohorts_(cohorts), known_(known), eager_(eager)
    {
        for (const Cohort& cohort : cohorts.all) {
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
        for (const Meeting& meeting : cohorts.meetings)
            arrived_.emplace_back(meeting.per_step);
    }

    std::vector<Act> order() &&
    {
        for (std::uint32_t c = 0; c < states_.size(); ++c)
            wake(c);
        while (!awake_.empty()) {
            const std::uint32_t c = awake_.back();
            awake_.pop_back();
            states_[c].awake = false;
            go_on(c);
        }
        if (finished_ < ops_)
            acts_.clear();
        return std::move(acts_);
    }

private:
    struct State {
        std::vector<std::uint32_t> done;    // ops, by stream
        std::vector<std::uint8_t> started;  // by stream: its head is a transfer that has arrived
        std::vector<std::uint32_t> parts_left; // by op
        std::vector<std::uint32_t> op_of_part;
        std::vector<std::vector<std::uint32_t>> parts_of_pipe;
        std::uint32_t barriers = 0;
        bool awake = false;
    };

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
            if ((best == none || kind.ops[o].order < kind.ops[best].order) &&
                ready(c, kind.ops[o]))
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
    std::vector<State> states_; // by cohort
    std::vector<std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>> arrived_;
    std::vector<std::uint32_t> awake_;
    std::vector<Act> acts_;
    std::size_t ops_ = 0;
    std::size_t finished_ = 0;
};

} // namespace

std::vector<Act> order_of(const Cohorts& cohorts, const std::vector<Known>& known,
                          const IsEager& eager)
{
    return Orderer(cohorts, known, eager).order();
}

} // namespace trainyard::engine::replay
