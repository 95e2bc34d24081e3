#include "sim/study/jobs/layouts.h"

#include "sim/strategy/misfits.h"
#include "sim/study/uneven_stages.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace trainyard {
namespace {

constexpr int most_stages = 64;
constexpr std::int64_t long_sequence = 32'768;     // from here on CP is worth a look
constexpr std::int64_t least_pass_tokens = 256;    // of a device, where that can be: fewer idle it
constexpr std::int64_t most_pass_tokens = 131'072; // of a device: more make nothing quicker
constexpr std::array<int, 5> virtual_stages{1, 2, 3, 4, 5};
// What a host takes to issue the kernels of a layer, forward and backward: a pass of one sequence
// through BERT-large takes 0.7 (Megatron-Core) to 1.1 ms (FSDP) a layer.
constexpr double issue_seconds = 0.7e-3;

std::vector<int> divisors(int number)
{
    std::vector<int> out;
    for (int d = 1; d <= number; ++d)
        if (number % d == 0)
            out.push_back(d);
    return out;
}

// Sizes up to `most` that divide a replica's `sequences`, each at least twice the one before.
std::vector<std::int64_t> micro_batches(std::int64_t sequences, std::int64_t most)
{
    std::vector<std::int64_t> out;
    for (std::int64_t size = 1; size <= std::min(sequences, most);) {
        const bool divides = sequences % size == 0;
        if (divides)
            out.push_back(size);
        size = divides ? 2 * size : size + 1;
    }
    return out;
}

// On the devices of a stage, stages being equal: those of experts are cut by EP, the others by TP.
struct StageParameters {
    double dense = 0;
    double experts = 0;
};

StageParameters parameters_of(const LayoutFacts& facts, const Strategy& s)
{
    return {(facts.parameters - facts.expert_parameters) / (s.tp * s.pp),
            facts.expert_parameters / (s.ep * s.pp)};
}

// Rough times by volumes over line rates: PHYSICS of a step without a program.
class RoughTime {
public:
    explicit RoughTime(const LayoutFacts& facts) : facts_(facts)
    {
        const double nic = facts.machine.nic_rate_per_gpu().value();
        inside_ = facts.machine.nvlink.value() > 0 ? facts.machine.nvlink.value()
                                                   : facts.machine.pcie.value();
        across_ = nic > 0 ? nic : inside_;
        tokens_ = static_cast<double>(facts.global_batch) *
                  static_cast<double>(std::max<std::int64_t>(1, facts.sequence_length));
    }

    Seconds of(const Layout& layout) const
    {
        const double alone = compute(layout);
        const double passes = static_cast<double>(micro_batch_count(layout));
        const Strategy& s = layout.strategy;
        const double bubble = (s.pp - 1) / (passes * s.vpp);
        return Seconds((alone + tensor(s) + experts(s) + weights(s, passes)) * (1 + bubble) +
                       data_parallel(layout, alone, passes));
    }

    std::int64_t micro_batch_count(const Layout& layout) const
    {
        return facts_.global_batch / (layout.micro_batch * *layout.strategy.dp);
    }

private:
    // Of the fullest stage, at half of the peak or as quick as the host.
    double compute(const Layout& layout) const
    {
        const Flops flops = model_flops_per_sequence(facts_.model, facts_.sequence_length);
        const double whole = flops.value() * static_cast<double>(facts_.global_batch) /
                             (0.5 * usual_peak(facts_.device).value() * facts_.gpus);
        const double again = layout.recompute == Recompute::full ? 4.0 / 3 : 1.0;
        return std::max(whole, issued(layout)) * again * fullness(layout.strategy);
    }

    double issued(const Layout& layout) const
    {
        const Transformer* model = facts_.transformer();
        const double layers = model != nullptr ? model->layers : 0;
        return issue_seconds * layers / layout.strategy.pp *
               static_cast<double>(micro_batch_count(layout));
    }

    // Layers of the fullest stage over the mean.
    double fullness(const Strategy& s) const
    {
        if (s.stage_layers.empty())
            return 1;
        const double most = *std::ranges::max_element(s.stage_layers);
        return most * s.pp / facts_.transformer()->layers;
    }

    double rate(int ranks) const { return ranks <= facts_.domain ? inside_ : across_; }

    // Bytes that the tokens of a layer have in 16 bit, per device of a stage, all layers of it.
    double layer_bytes(const Strategy& s) const
    {
        const Transformer& model = *facts_.transformer();
        return 2.0 * tokens_ * static_cast<double>(model.hidden) * model.layers /
               (static_cast<double>(s.pp) * *s.dp * s.cp);
    }

    // Four gathers and four scatters a layer.
    double tensor(const Strategy& s) const
    {
        if (s.tp == 1)
            return 0;
        return 8 * layer_bytes(s) * (s.tp - 1) / s.tp / rate(s.tp);
    }

    // Tokens go to their experts and back, forward and backward.
    double experts(const Strategy& s) const
    {
        if (s.ep == 1)
            return 0;
        const MixtureOfExperts& moe = *facts_.transformer()->moe;
        return 4 * layer_bytes(s) / s.tp * moe.experts_per_token * (s.ep - 1) / s.ep / rate(s.ep);
    }

    // Gradients are summed up in 32 bit. Experts see few tokens a pass: their weights are read
    // three times in 16 bit besides, while others are read beside compute.
    double weights(const Strategy& s, double passes) const
    {
        const StageParameters stage = parameters_of(facts_, s);
        return (8 * stage.dense + 14 * stage.experts) * passes /
               facts_.device.hbm_bandwidth.value();
    }

    double data_parallel(const Layout& layout, double compute, double passes) const
    {
        const Strategy& s = layout.strategy;
        if (*s.dp == 1)
            return 0;
        if (s.zero == 3) // gathered twice, scattered once, a pass; beside compute
            return std::max(0.1 * compute, 6 * facts_.parameters * passes / rate(*s.dp) - compute);
        const StageParameters stage = parameters_of(facts_, s);
        return 0.5 * 6 * (stage.dense + stage.experts) / rate(s.tp * *s.dp);
    }

    const LayoutFacts& facts_;
    double inside_ = 0; // bytes per second
    double across_ = 0;
    double tokens_ = 0;
};

class Enumeration {
public:
    explicit Enumeration(const LayoutFacts& facts) : facts_(facts), rough_(facts) {}

    LayoutSpace run() &&
    {
        Strategy replicated;
        replicated.dp = facts_.gpus;
        add_variants(replicated, "torch-ddp", {Recompute::none});
        if (facts_.transformer() != nullptr) {
            if (facts_.gpus > 1) {
                Strategy sharded = replicated;
                sharded.zero = 3;
                add_variants(sharded, "torch-fsdp", {Recompute::none, Recompute::full});
            }
            three_dimensions();
        }
        return std::move(*this).sorted();
    }

private:
    using Key = std::tuple<int, int, int, int, int>; // zero, tp, pp, cp, ep

    void three_dimensions()
    {
        const Transformer& model = *facts_.transformer();
        for (const int tp : divisors(std::min(facts_.domain, facts_.gpus)))
            if (facts_.gpus % tp == 0 && model.heads % tp == 0 && model.ffn % tp == 0)
                for (const int cp : context_sizes())
                    if (facts_.gpus % (tp * cp) == 0)
                        for (const int pp : divisors(facts_.gpus / (tp * cp)))
                            if (pp <= std::min(most_stages, model.layers))
                                over_experts(tp, cp, pp);
    }

    std::vector<int> context_sizes() const
    {
        std::vector<int> out{1};
        for (int cp = 2; facts_.sequence_length / cp >= long_sequence / 4 && cp <= 32; cp *= 2)
            if (facts_.sequence_length >= long_sequence && facts_.sequence_length % (2 * cp) == 0)
                out.push_back(cp);
        return out;
    }

    void over_experts(int tp, int cp, int pp)
    {
        const Transformer& model = *facts_.transformer();
        const int ranks = facts_.gpus / pp; // of a stage
        Strategy s;
        s.tp = tp;
        s.cp = cp;
        s.pp = pp;
        s.dp = ranks / (tp * cp);
        s.zero = 1;
        if (model.layers % pp != 0)
            s.stage_layers =
                uneven_stages(model.layers, pp, model.moe ? model.moe->leading_dense_layers : 0);
        for (const int ep : divisors(model.moe ? model.moe->experts : 1))
            if (ranks % ep == 0) {
                s.ep = ep;
                add_variants(s, "megatron-core", {Recompute::none, Recompute::full});
            }
    }

    // With every micro-batch and number of virtual stages. The last of `recomputes` is the leanest.
    void add_variants(Strategy s, const char* framework,
                      std::initializer_list<Recompute> recomputes)
    {
        const Bytes states = states_of(s);
        if (states > facts_.device.memory) {
            if (space_.too_large++ == 0 || states < space_.least_states)
                space_.least_states = states;
            return;
        }
        bool divides = false;
        for (const std::int64_t micro : micro_batches_of(s)) {
            divides = true;
            for (const int v : virtual_stages)
                if (v == 1 || interleaves(s, v, facts_.global_batch / (micro * *s.dp))) {
                    s.vpp = v;
                    for (const Recompute recompute : recomputes)
                        add({s, framework, recompute, micro, states, Seconds(0)});
                }
        }
        if (!divides || facts_.global_batch / *s.dp > most_micro_batches) {
            s.vpp = 1;
            space_.undivided.push_back(
                {s, framework, *std::prev(recomputes.end()), 1, states, Seconds(0)});
        }
    }

    std::vector<std::int64_t> micro_batches_of(const Strategy& s) const
    {
        if (facts_.global_batch % *s.dp != 0)
            return {};
        const std::int64_t sequences = facts_.global_batch / *s.dp;
        const std::int64_t tokens = std::max<std::int64_t>(1, facts_.sequence_length / s.cp);
        std::vector<std::int64_t> out =
            micro_batches(sequences, std::max<std::int64_t>(1, most_pass_tokens / tokens));
        const std::int64_t largest = out.back();
        const bool tokens_known = facts_.transformer() != nullptr;
        std::erase_if(out, [&](std::int64_t size) {
            return sequences / size > most_micro_batches ||
                   (tokens_known && size < largest && size * tokens < least_pass_tokens);
        });
        return out;
    }

    bool interleaves(const Strategy& s, int v, std::int64_t micro_batch_count) const
    {
        return s.pp > 1 && facts_.transformer()->layers % (s.pp * v) == 0 &&
               micro_batch_count % s.pp == 0;
    }

    void add(Layout layout)
    {
        layout.rough_time = rough_.of(layout);
        const Strategy& s = layout.strategy;
        families_[{s.zero, s.tp, s.pp, s.cp, s.ep}].push_back(std::move(layout));
        ++space_.layouts;
    }

    // The least that parameters and gradients in 16 bit and Adam's states (12 bytes a parameter;
    // Rajbhandari 2020) take on a device, stages being equal.
    Bytes states_of(const Strategy& s) const
    {
        const StageParameters stage = parameters_of(facts_, s);
        const double per_rank = stage.dense + stage.experts;
        const double spread = facts_.parameters / facts_.gpus;
        return Bytes(static_cast<std::uint64_t>(s.zero == 3  ? 16 * spread
                                                : s.zero > 0 ? 4 * per_rank + 12 * spread
                                                             : 16 * per_rank));
    }

    LayoutSpace sorted() &&
    {
        const auto quicker = [](const Layout& a, const Layout& b) {
            return a.rough_time < b.rough_time;
        };
        for (auto& [key, family] : families_) {
            std::ranges::stable_sort(family, quicker);
            space_.families.push_back(std::move(family));
        }
        std::ranges::stable_sort(space_.families, [&](const auto& a, const auto& b) {
            return quicker(a.front(), b.front());
        });
        return std::move(space_);
    }

    const LayoutFacts& facts_;
    RoughTime rough_;
    LayoutSpace space_;
    std::map<Key, LayoutFamily> families_;
};

} // namespace

LayoutSpace layout_space(const LayoutFacts& facts)
{
    return Enumeration(facts).run();
}

int differences(const Strategy& a, const Strategy& b)
{
    return int{a.zero != b.zero} + int{a.tp != b.tp} + int{a.pp != b.pp} + int{a.cp != b.cp} +
           int{a.ep != b.ep};
}

bool neighbours(const Strategy& a, const Strategy& b)
{
    const auto near = [](int x, int y) { return x <= 3 * y && y <= 3 * x; };
    return differences(a, b) == 1 && near(a.tp, b.tp) && near(a.pp, b.pp) && near(a.cp, b.cp) &&
           near(a.ep, b.ep);
}

} // namespace trainyard
