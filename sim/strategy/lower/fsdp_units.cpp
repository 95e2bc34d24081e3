#include "sim/strategy/lower/fsdp_units.h"

#include "sim/strategy/state_shards.h"

#include <algorithm>

namespace trainyard {

namespace {

// Parameters live outside the device: it never holds all of them.
bool fetches(const Job& job)
{
    return job.strategy.offload.parameters != OffloadTarget::none;
}

class Planner {
public:
    Planner(const Job& job, const StageContent& stage)
        : job_(job),
          options_(job.strategy.fsdp),
          stage_(stage),
          cuts_dense_(dense_shards(job).ranks > 1 || fetches(job)),
          cuts_experts_(expert_shards(job).ranks > 1 || fetches(job)),
          unit_of_(stage.layers.size())
    {}

    FsdpPlan plan() &&
    {
        wrap();
        states_.resize(plan_.units.size());
        find_last_visits();
        plan_.visits.resize(stage_.visits.size());
        for (std::size_t visit = 0; visit < plan_.visits.size(); ++visit)
            plan_visit(visit);
        return std::move(plan_);
    }

private:
    // Passes may take turns: a unit's pass is the visits of its layers, not neighbours in time.
    struct PassUnderWay {
        PassKind kind;
        int micro_batch;
        std::size_t visited; // layers of the unit
    };
    struct State {
        bool whole = false;
        std::optional<std::size_t> kept_by;         // visit behind which it was cut over few ranks
        std::optional<std::size_t> gradients_since; // visit that took memory for them
        std::size_t latest_gather = 0;
        std::size_t free_at = 0;       // the first visit after it was freed
        int in_flight = 0;             // micro-batches between forward and backward
        int passes = 0;                // under way that use its parameters
        bool returns = false;          // backward passes use them too
        std::size_t last_use = 0;      // of parameters in the step: a visit
        std::size_t last_gradient = 0; // likewise, of gradients
        std::vector<PassUnderWay> under_way;
    };

    bool in_root_unit(std::size_t layer) const
    {
        return stage_.work.kinds[stage_.layers[layer].kind].held.in_root_unit();
    }

    // Neighbours of a chunk, `unit_layers` at a time; embedding and head by themselves.
    void wrap()
    {
        const std::size_t most = options_.unit_layers == 0
                                     ? stage_.layers.size()
                                     : static_cast<std::size_t>(options_.unit_layers);
        for (std::size_t layer = 0; layer < stage_.layers.size(); ++layer) {
            const bool alone = in_root_unit(layer);
            const bool joins = layer > 0 && !alone && !in_root_unit(layer - 1) &&
                               stage_.layers[layer - 1].chunk == stage_.layers[layer].chunk &&
                               plan_.units.back().layers.size() < most;
            if (!joins)
                plan_.units.push_back({{}, {}, {}, alone && options_.root_unit});
            FsdpUnit& unit = plan_.units.back();
            unit.layers.push_back(layer);
            unit.parameters.dense += stage_.parameters(layer).dense;
            unit.parameters.expert += stage_.parameters(layer).expert;
            unit.trained.dense += stage_.trained(layer).dense;
            unit.trained.expert += stage_.trained(layer).expert;
            unit_of_[layer] = plan_.units.size() - 1;
        }
    }

    std::size_t unit_at(std::size_t visit) const { return unit_of_[stage_.visits[visit].layer]; }

    bool is_cut(const FsdpUnit& unit) const
    {
        return (cuts_dense_ && unit.parameters.dense > 0) ||
               (cuts_experts_ && unit.parameters.expert > 0);
    }

    // Products for gradients of weights read activations and gradients only; a frozen embedding has
    // no backward at all.
    bool uses_parameters(std::size_t visit) const
    {
        const Visit& v = stage_.visits[visit];
        const LayerWork& work = stage_.work.kinds[stage_.layers[v.layer].kind].work;
        return v.kind == PassKind::forward ||
               (v.kind != PassKind::backward_weight && !work.backward.empty());
    }

    void find_last_visits()
    {
        for (std::size_t visit = 0; visit < stage_.visits.size(); ++visit) {
            State& state = states_[unit_at(visit)];
            if (uses_parameters(visit))
                state.last_use = visit;
            state.returns |= uses_parameters(visit) && hands_back(stage_.visits[visit].kind);
            if (completes_gradients(stage_.visits[visit].kind))
                state.last_gradient = visit;
        }
    }

    void plan_visit(std::size_t visit)
    {
        plan_.visits[visit].unit = unit_at(visit);
        const FsdpUnit& unit = plan_.units[unit_at(visit)];
        State& state = states_[unit_at(visit)];
        const std::size_t visited = count_visit(stage_.visits[visit], unit, state);
        if (visited == 1) {
            state.passes += uses_parameters(visit) ? 1 : 0;
            gather(visit, unit, state);
            take_gradients(visit, state);
        }
        if (visited == unit.layers.size()) {
            free(visit, unit, state);
            reduce(visit, state);
        }
    }

    // How many of the unit's layers the visit's pass has been through, with this one.
    static std::size_t count_visit(const Visit& v, const FsdpUnit& unit, State& state)
    {
        if (unit.layers.size() == 1)
            return 1;
        const auto pass = std::ranges::find_if(state.under_way, [&](const PassUnderWay& one) {
            return one.kind == v.kind && one.micro_batch == v.micro_batch;
        });
        if (pass == state.under_way.end()) {
            state.under_way.push_back({v.kind, v.micro_batch, 1});
            return 1;
        }
        const std::size_t visited = ++pass->visited;
        if (visited == unit.layers.size())
            state.under_way.erase(pass);
        return visited;
    }

    void gather(std::size_t visit, const FsdpUnit& unit, State& state)
    {
        if (state.whole || !is_cut(unit) || !uses_parameters(visit))
            return;
        state.latest_gather = plan_.gathers.size();
        plan_.visits[visit].gather = state.latest_gather;
        if (state.kept_by)
            plan_.visits[*state.kept_by].kept_until = state.latest_gather;
        plan_.gathers.push_back({visit, state.kept_by.has_value(), 0, state.free_at});
        state.kept_by.reset();
        state.whole = true;
    }

    bool backward_is_next(std::size_t visit) const
    {
        return visit + 1 < stage_.visits.size() && unit_at(visit + 1) == unit_at(visit) &&
               hands_back(stage_.visits[visit + 1].kind) && uses_parameters(visit + 1);
    }

    void free(std::size_t visit, const FsdpUnit& unit, State& state)
    {
        const Visit& v = stage_.visits[visit];
        const bool forward = v.kind == PassKind::forward;
        if (!is_cut(unit) || !uses_parameters(visit))
            return;
        state.in_flight += forward ? 1 : -1;
        --state.passes;
        const bool until_backward = (!*job_.strategy.reshard_after_forward || unit.root) &&
                                    state.returns && state.in_flight > 0;
        const bool until_next_micro_batch =
            !*options_.reshard_after_backward && !forward && visit != state.last_use;
        state.whole = state.passes > 0 || until_backward || until_next_micro_batch ||
                      (forward && backward_is_next(visit));
        if (state.whole)
            return;
        plan_.visits[visit].frees = true;
        plan_.gathers[state.latest_gather].freed = visit;
        state.free_at = visit + 1;
        if (forward && options_.reshard_ranks)
            state.kept_by = visit;
    }

    // With no_sync later micro-batches add to the gradients of the first one.
    void take_gradients(std::size_t visit, State& state)
    {
        if (!completes_gradients(stage_.visits[visit].kind) || state.gradients_since)
            return;
        plan_.visits[visit].takes_gradients = true;
        state.gradients_since = visit;
    }

    void reduce(std::size_t visit, State& state)
    {
        const bool last = visit == state.last_gradient;
        if (!completes_gradients(stage_.visits[visit].kind) || (*options_.no_sync && !last))
            return;
        plan_.visits[visit].reduces = state.gradients_since;
        plan_.visits[visit].last = last;
        state.gradients_since.reset();
    }

    const Job& job_;
    const FsdpOptions& options_;
    const StageContent& stage_;
    bool cuts_dense_;
    bool cuts_experts_;
    std::vector<std::size_t> unit_of_; // by layer
    std::vector<State> states_;        // by unit
    FsdpPlan plan_;
};

} // namespace

FsdpPlan plan_units(const Job& job, const StageContent& stage)
{
    return Planner(job, stage).plan();
}

} // namespace trainyard
