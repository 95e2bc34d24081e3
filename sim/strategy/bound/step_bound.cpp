#include "sim/strategy/bound/step_bound.h"

#include "sim/strategy/model_states.h"

#include <algorithm>
#include <iterator>

namespace trainyard {

namespace {

const LayerPasses& passes_of(const std::vector<LayerPasses>& known, const LayerKind& kind)
{
    return *std::ranges::find(known, kind, &LayerPasses::kind);
}

// Sums from the front: what lies before each virtual stage.
std::vector<Seconds> before(const std::vector<PassTime>& passes,
                            const std::vector<Seconds>& messages)
{
    std::vector<Seconds> out(passes.size(), Seconds(0));
    for (std::size_t k = 0; k + 1 < passes.size(); ++k)
        out[k + 1] = out[k] + passes[k].chain + messages[k];
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

StageFamily::StageFamily(const Job& job, const Topology& topology, const CostModel& cost,
                         const DeviceMemory& device)
    : placement_(placement_of(job)),
      backend_(backend_of(job.strategy, GroupKind::pp)),
      chunks_(job.strategy.vpp),
      meets_(!*job.strategy.pipeline.norm_in_turn)
{
    const JobWork work = job_work(job);
    rests_ = stage_rests(job, work, topology, cost);
    const std::vector<std::vector<HeldLayer>> held = held_layers(job);
    for (int d = 0; d < placement_.devices; ++d) {
        std::vector<HeldLayer> layers;
        for (const VirtualStage& chunk : chunks_of(placement_, d))
            std::ranges::copy(held[to_size(chunk.number)], std::back_inserter(layers));
        const ModelStates states = model_states(job, layers);
        held_.push_back(states.parameters + states.gradients + states.optimizer + device.context);
    }
    add_boundaries(job, work, topology);
}

void StageFamily::add_boundaries(const Job& job, const JobWork& work, const Topology& topology)
{
    const RankLayout layout(job);
    const bool scatters = job.strategy.vpp > 1 && !*job.strategy.sequence_parallel;
    const auto cut = static_cast<std::uint64_t>(scatters ? job.strategy.tp : 1) *
                     static_cast<std::uint64_t>(job.training.micro_batch);
    const auto device_of = [&](std::size_t k) {
        const int stage = placement_.pipes.front()[k].device;
        return DeviceId{layout.rank({.tp = 0, .cp = 0, .dp = 0, .pp = stage}).value};
    };
    for (std::size_t k = 0; k + 1 < work.stages.size(); ++k) {
        Boundary boundary;
        std::array pair{device_of(k), device_of(k + 1)};
        if (pair[0] != pair[1]) {
            std::ranges::sort(pair);
            boundary.pair = group_shape(topology, pair);
            boundary.pair.network.oversubscription = 1.0;
            boundary.bytes = work.kinds[work.stages[k].back()].work.output / cut;
        }
        boundaries_.push_back(boundary);
    }
}

std::vector<Seconds> StageFamily::messages(std::int64_t micro_batch, const CostModel& cost) const
{
    std::vector<Seconds> out;
    for (std::size_t k = 0; k < boundaries_.size(); ++k) {
        const Boundary& b = boundaries_[k];
        if (k > 0 && b.bytes == boundaries_[k - 1].bytes && b.pair == boundaries_[k - 1].pair)
            out.push_back(out.back());
        else
            out.push_back(b.bytes == Bytes(0)
                              ? Seconds(0)
                              : cost.send_receive(b.bytes * static_cast<std::uint64_t>(micro_batch),
                                                  b.pair, backend_)
                                    .total);
    }
    return out;
}

StageFamily::StagePasses StageFamily::passes(const Job& job, const std::vector<LayerPasses>& plain,
                                             const std::vector<LayerPasses>& again)
{
    StagePasses out;
    const std::vector<LayerPasses>& most = job.training.recompute_layers ? plain : again;
    const auto exchange = std::ranges::find_if(
        most, [](const LayerPasses& layer) { return layer.in_turns.has_value(); });
    if (exchange != most.end())
        out.exchange = &*exchange;
    for (const std::vector<StageLayer>& stage : cut_into_stages(job)) {
        PassTime forward, backward, input, weight;
        std::int64_t kept = 0;
        int exchanging = 0;
        for (const StageLayer& one : stage) {
            const LayerPasses& layer =
                passes_of(one.recompute == Recompute::none ? plain : again, one.kind);
            forward += layer.forward;
            backward += layer.backward;
            input += layer.backward_input;
            weight += layer.backward_weight;
            kept += layer.kept;
            exchanging += out.exchange != nullptr && out.exchange->kind == one.kind ? 1 : 0;
        }
        out.forward.push_back(forward);
        out.backward.push_back(backward);
        out.backward_input.push_back(input);
        out.backward_weight.push_back(weight);
        out.kept.push_back(kept);
        out.exchanging.push_back(exchanging);
    }
    return out;
}

Seconds StageFamily::step_time(const StagePasses& passes, const std::vector<Seconds>& messages,
                               const PassOrder& order, std::int64_t micro_batches) const
{
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
        const Seconds passed =
            order.in_turns
                ? busy_in_turns(passes, order.devices[d], static_cast<int>(d),
                                static_cast<double>(micro_batches - order.micro_batches) / pipes)
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

// `more`: micro-batches of each pipe beyond those counted; each adds a pair for every chunk.
Seconds StageFamily::busy_in_turns(const StagePasses& passes, const DeviceOrder& order, int device,
                                   double more) const
{
    const std::vector<VirtualStage> chunks = chunks_of(placement_, device);
    const auto stage = [&](int chunk) { return to_size(chunks[to_size(chunk)].number); };
    Seconds time;
    for (std::size_t c = 0; c < chunks.size(); ++c) {
        const std::size_t k = stage(static_cast<int>(c));
        const std::array lone{&passes.forward[k], &passes.backward[k], &passes.backward_input[k],
                              &passes.backward_weight[k]};
        for (std::size_t kind = 0; kind < lone.size(); ++kind)
            time += lone[kind]->chain * order.alone[c][kind];
    }
    int counted = 0;
    for (const PassPairs& pair : order.pairs)
        counted += pair.count;
    const double growth = 1 + more * static_cast<double>(chunks.size()) / std::max(1, counted);
    double layers = 0; // that exchange, of all pairs
    Seconds pairs;
    for (const PassPairs& pair : order.pairs) {
        const std::size_t f = stage(pair.forward);
        const std::size_t b = stage(pair.backward);
        const int both = std::min(passes.exchanging[f], passes.exchanging[b]);
        Seconds one = passes.forward[f].kernels + passes.backward[b].kernels;
        if (both > 0) {
            const LayerPasses& layer = *passes.exchange;
            one -= (layer.forward.kernels + layer.backward.kernels) * both;
            one += layer.in_turns->compute_after(both);
        }
        pairs += one * (pair.count * growth);
        layers += both * pair.count * growth;
    }
    if (layers >= 1)
        pairs = std::max(
            pairs, passes.exchange->in_turns->compute_after(static_cast<std::int64_t>(layers)));
    return time + pairs;
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
    const StageFamily family(plain, topology, cost, device);
    const std::vector<LayerPasses> layers = layer_passes(plain, topology, cost);
    const std::vector<LayerPasses> recomputed = layer_passes(again, topology, cost);
    const StageFamily::StagePasses passes = StageFamily::passes(job, layers, recomputed);
    const PassOrder order = pass_order(*find_schedule(job.strategy.schedule), shape_of(job));
    const std::vector<Seconds> messages = family.messages(job.training.micro_batch, cost);
    return {family.step_time(passes, messages, order, job.micro_batches()),
            family.memory(passes, order)};
}

} // namespace trainyard
