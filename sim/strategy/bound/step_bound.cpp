#include "sim/strategy/bound/step_bound.h"

#include "sim/strategy/model_states.h"

#include <algorithm>
#include <iterator>

namespace trainyard {

namespace {

// Sums from the front: what lies before each virtual stage.
std::vector<Seconds> before(const std::vector<PassTime>& passes,
                            const std::vector<Seconds>& messages)
{
    std::vector<Seconds> out(passes.size(), Seconds(0));
    for (std::size_t k = 0; k + 1 < passes.size(); ++k)
        out[k + 1] = out[k] + passes[k].chain + messages[k];
    return out;
}

// The layers of a forward pass beside those of a backward pass, which come in turns.
TurnChains pair_chains(const std::vector<StageFamily::StagePasses::Layer>& forward,
                       const std::vector<StageFamily::StagePasses::Layer>& backward)
{
    using Turn = std::pair<std::optional<std::size_t>, std::optional<std::size_t>>;
    TurnChains out = TurnChains::none();
    const std::size_t turns = std::max(forward.size(), backward.size());
    const LayerTable* table = nullptr;
    Turn turn;
    std::int64_t times = 0; // that it comes
    const auto finish = [&] {
        if (times > 0)
            out = out * table->in_turns(turn.first, turn.second).repeated(times);
        times = 0;
    };
    for (std::size_t i = 0; i < turns; ++i) {
        Turn next;
        const LayerTable* of = nullptr;
        if (i < forward.size()) {
            of = forward[i].table;
            next.second = forward[i].number;
        }
        if (i < backward.size()) {
            of = backward[backward.size() - 1 - i].table;
            next.first = backward[backward.size() - 1 - i].number;
            if (next.second)
                next.second = of->number_of(forward[i].table->passes()[*next.second].kind);
        }
        if (of != table || next != turn)
            finish();
        table = of;
        turn = next;
        ++times;
    }
    finish();
    return out;
}

constexpr Seconds endless(std::numeric_limits<double>::infinity());

// A backward pass in its two parts.
PassTime split(const StageFamily::StagePasses& passes, std::size_t stage)
{
    PassTime time = passes.backward_input[stage];
    time += passes.backward_weight[stage];
    return time;
}

// Schedules split some backward passes and run others whole.
PassTime shorter(const PassTime& a, const PassTime& b)
{
    return {std::min(a.chain, b.chain), std::min(a.kernels, b.kernels), std::min(a.issue, b.issue)};
}

// Of one device.
struct DeviceChain {
    Seconds fill = endless;
    Seconds drain = endless;
    Seconds first_pass = endless; // the shortest forward pass
    Seconds last_pass;            // the longest backward pass
    Seconds passes;               // of one micro-batch through all chunks
    Seconds issue;                // likewise
};

} // namespace

StageFamily::StageFamily(Job job, const Topology& topology, const CostModel& cost,
                         const DeviceMemory& device)
    : job_(std::move(job)),
      work_(job_work(job_)),
      topology_(&topology),
      cost_(&cost),
      placement_(placement_of(job_)),
      backend_(backend_of(job_.strategy, GroupKind::pp)),
      chunks_(job_.strategy.vpp),
      meets_(!*job_.strategy.pipeline.norm_in_turn)
{
    for (int d = 0; d < placement_.devices; ++d) {
        const ModelStates states = model_states(job_, held_layers(work_, placement_, d));
        held_.push_back(states.parameters + states.gradients + states.optimizer + device.context);
    }
    add_boundaries();
}

void StageFamily::add_boundaries()
{
    const RankLayout layout(job_);
    const bool scatters = job_.strategy.vpp > 1 && !*job_.strategy.sequence_parallel;
    const auto cut = static_cast<std::uint64_t>(scatters ? job_.strategy.tp : 1) *
                     static_cast<std::uint64_t>(job_.training.micro_batch);
    const auto device_of = [&](std::size_t k) {
        const int stage = placement_.pipes.front()[k].device;
        return DeviceId{layout.rank({.tp = 0, .cp = 0, .dp = 0, .pp = stage}).value};
    };
    for (std::size_t k = 0; k + 1 < work_.stages.size(); ++k) {
        Boundary boundary;
        std::array pair{device_of(k), device_of(k + 1)};
        if (pair[0] != pair[1]) {
            std::ranges::sort(pair);
            boundary.pair = group_shape(*topology_, pair);
            boundary.pair.network.oversubscription = 1.0;
            boundary.bytes = work_.kinds[work_.stages[k].back()].work.output / cut;
        }
        boundaries_.push_back(boundary);
    }
}

std::vector<Seconds> StageFamily::messages(std::int64_t micro_batch) const
{
    std::vector<Seconds> out;
    for (std::size_t k = 0; k < boundaries_.size(); ++k) {
        const Boundary& b = boundaries_[k];
        if (k > 0 && b.bytes == boundaries_[k - 1].bytes && b.pair == boundaries_[k - 1].pair)
            out.push_back(out.back());
        else
            out.push_back(
                b.bytes == Bytes(0)
                    ? Seconds(0)
                    : cost_
                          ->send_receive(b.bytes * static_cast<std::uint64_t>(micro_batch), b.pair,
                                         backend_)
                          .total);
    }
    return out;
}

StageFamily::StagePasses StageFamily::passes(const std::vector<std::vector<StageLayer>>& stages,
                                             const LayerTable& plain, const LayerTable& again)
{
    StagePasses out;
    for (const std::vector<StageLayer>& stage : stages) {
        PassTime forward, backward, input, weight;
        std::int64_t kept = 0;
        std::vector<StagePasses::Layer>& layers = out.layers.emplace_back();
        for (const StageLayer& one : stage) {
            const LayerTable& table = one.recompute == Recompute::none ? plain : again;
            layers.push_back({&table, table.number_of(one.kind)});
            const LayerPasses& layer = table.passes()[layers.back().number];
            forward += layer.forward;
            backward += layer.backward;
            input += layer.backward_input;
            weight += layer.backward_weight;
            kept += one.offloaded ? 0 : layer.kept;
        }
        out.forward.push_back(forward);
        out.backward.push_back(backward);
        out.backward_input.push_back(input);
        out.backward_weight.push_back(weight);
        out.kept.push_back(kept);
    }
    return out;
}

Seconds StageFamily::step_time(const StagePasses& passes, const std::vector<Seconds>& messages,
                               const PassOrder& order, std::int64_t micro_batches)
{
    if (rests_.empty())
        rests_ = stage_rests(job_, work_, *topology_, *cost_);
    const std::vector<Seconds> fill = before(passes.forward, messages);
    const std::vector<Seconds> drain = before(passes.backward, messages);
    const auto pipes = static_cast<double>(placement_.pipes.size());
    const double m = static_cast<double>(micro_batches) / pipes; // of a pipe
    const bool whole = !order.splits && !order.in_turns;
    std::vector<DeviceChain> chains(to_size(placement_.devices));
    for (const std::vector<StagePosition>& pipe : placement_.pipes)
        for (std::size_t k = 0; k < pipe.size(); ++k) {
            DeviceChain& chain = chains[to_size(pipe[k].device)];
            const PassTime& f = passes.forward[k];
            const PassTime& b = passes.backward[k];
            PassTime both = f;
            both += order.splits ? shorter(b, split(passes, k)) : b;
            chain.fill = std::min(chain.fill, fill[k]);
            chain.drain = std::min(chain.drain, whole ? drain[k] : Seconds(0));
            chain.first_pass = std::min(chain.first_pass, f.chain);
            chain.last_pass = std::max(chain.last_pass, b.chain);
            chain.passes += both.chain;
            chain.issue += both.issue;
        }
    const auto least = [&](Seconds StageRest::*part) {
        return std::ranges::min(rests_, {}, part).*part;
    };
    Seconds time;
    for (std::size_t d = 0; d < chains.size(); ++d) {
        const StageRest& rest = rests_[d];
        const DeviceChain& chain = chains[d];
        const double more = m - 1;
        const Seconds fill_in = meets_ ? chain.fill : Seconds(0);
        const Seconds drained = meets_ ? chain.drain : Seconds(0);
        const Seconds passed = order.in_turns ? busy_in_turns(passes, order.devices[d],
                                                              static_cast<int>(d), order.periods)
                                              : chain.passes * m;
        const Seconds busy = passed + rest.beside + rest.more_beside * more;
        const Seconds turn = meets_ ? least(&StageRest::turn) : rest.turn;
        time = std::max(time, turn + fill_in + busy + drained);
        time = std::max(time, rest.transfers + rest.more_transfers * more + rest.after_transfers);
        time = std::max(time, rest.issue + rest.more_issue * more + chain.issue * m + rest.update);
        if (chunks_ > 1 || placement_.pipes.size() > 1 || !whole)
            continue;
        // Kernels between passes may wait for these transfers.
        const Seconds alone = busy - rest.beside;
        const Seconds gathered = rest.gathers + alone - chain.first_pass;
        const Seconds head = meets_ ? least(&StageRest::head) : rest.head;
        const Seconds reduced = rest.reductions + rest.after_transfers;
        time = std::max(time, gathered + drained + least(&StageRest::to_host));
        time = std::max(time, head + fill_in + alone - chain.last_pass + reduced);
        time = std::max(time, gathered - chain.last_pass + reduced);
    }
    return time * (1 - 1e-9);
}

Seconds StageFamily::busy_in_turns(const StagePasses& passes, const DeviceOrder& order, int device,
                                   int periods) const
{
    const std::vector<VirtualStage> chunks = chunks_of(placement_, device);
    const auto stage = [&](int chunk) { return to_size(chunks[to_size(chunk)].number); };
    Seconds computes;
    Seconds exchanges; // of pairs
    const auto add = [&](const PassCounts& counts, double times) {
        for (std::size_t c = 0; c < counts.alone.size(); ++c) {
            const std::size_t k = stage(static_cast<int>(c));
            const std::array lone{&passes.forward[k], &passes.backward[k],
                                  &passes.backward_input[k], &passes.backward_weight[k]};
            for (std::size_t kind = 0; kind < lone.size(); ++kind)
                computes += lone[kind]->chain * (counts.alone[c][kind] * times);
        }
        for (const PassPairs& pair : counts.pairs) {
            const TurnChains one = pair_chains(passes.layers[stage(pair.forward)],
                                               passes.layers[stage(pair.backward)]);
            computes += one.over(TurnState::compute) * (pair.count * times);
            if (one.over(TurnState::exchanges) > Seconds(0))
                exchanges += one.over(TurnState::exchanges) * (pair.count * times);
        }
    };
    add(order.passes, 1);
    add(order.period, periods);
    return std::max(computes, exchanges);
}

Bytes StageFamily::memory(const StagePasses& passes, const PassOrder& order) const
{
    Bytes most;
    for (int d = 0; d < placement_.devices; ++d) {
        std::int64_t kept = 0;
        const std::vector<VirtualStage> chunks = chunks_of(placement_, d);
        for (std::size_t c = 0; c < chunks.size(); ++c)
            kept += order.devices[to_size(d)].kept[c] * passes.kept[to_size(chunks[c].number)];
        most = std::max(most, held_[to_size(d)] + Bytes(static_cast<std::uint64_t>(kept)));
    }
    return most;
}

StepBound step_bound(const Job& job, const Topology& topology, const CostModel& cost,
                     const DeviceMemory& device)
{
    Job plain = job;
    plain.training.recompute = Recompute::none;
    plain.training.recompute_layers.reset();
    Job again = job;
    again.training.recompute_layers.reset();
    StageFamily family(plain, topology, cost, device);
    const PassOrder order = pass_order(*find_schedule(job.strategy.schedule), shape_of(job));
    const LayerTable layers(plain, topology, cost, order.splits);
    const LayerTable recomputed(again, topology, cost, order.splits);
    const StageFamily::StagePasses passes =
        StageFamily::passes(cut_into_stages(job), layers, recomputed);
    const std::vector<Seconds> messages = family.messages(job.training.micro_batch);
    return {family.step_time(passes, messages, order, job.micro_batches()),
            family.memory(passes, order)};
}

} // namespace trainyard
