#include "sim/study/jobs/starting_point.h"

#include "sim/base/units.h"
#include "sim/cost/kernel_time.h"
#include "sim/study/inputs.h"
#include "sim/study/jobs/layout_text.h"
#include "sim/study/stages.h"
#include "sim/topology/used_devices.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace trainyard {
namespace {

constexpr std::int64_t least_tokens = std::int64_t{1} << 20; // per step; usual is 1 to 16 million
constexpr std::int64_t most_tokens = std::int64_t{1} << 24;
constexpr std::int64_t tokens_per_gpu = 4096;
constexpr std::int64_t images_per_gpu = 32;
constexpr std::int64_t usual_sequence = 4096;
constexpr double roomy = 0.9;             // share of the memory that a first scenario should take
constexpr int most_memory_checks = 150;   // a few hundredths of a second each
constexpr std::size_t most_families = 12; // that are simulated by rough time
constexpr std::size_t most_relatives = 8; // of the best one, likewise
// Micro-batches x layers that are simulated in all: 20,000 a second or more.
constexpr std::int64_t most_passes = 200'000;
// Rough times beyond this many best simulated ones end the search.
constexpr double too_slow = 1.25;

// A layout that fits, and its step.
struct Tried {
    Layout layout;
    Scenario scenario;
    MemoryEstimate memory;
    Seconds step_time;
};

class Chooser {
public:
    Chooser(const StartRequest& request, Session& session, LayoutFacts facts)
        : request_(request), session_(session), facts_(std::move(facts))
    {}

    tl::expected<StartingPoint, StartRefusal> choose()
    {
        common();
        choose_batch();
        space_ = layout_space(facts_);
        for (const double share : {roomy, 1.0}) {
            share_ = share;
            seen_.assign(space_.families.size(), false);
            look_through(by_time());
            if (tried_.empty())
                look_through(by_states());
            if (!tried_.empty()) {
                climb();
                return decided();
            }
        }
        return tl::unexpected(refusal());
    }

private:
    std::vector<std::size_t> by_time() const
    {
        std::vector<std::size_t> out(space_.families.size());
        std::iota(out.begin(), out.end(), 0); // as they are listed
        return out;
    }

    std::vector<std::size_t> by_states() const
    {
        std::vector<std::size_t> out = by_time();
        std::ranges::stable_sort(out, {},
                                 [&](std::size_t i) { return space_.families[i].front().states; });
        return out;
    }

    void because(std::string reason) { reasons_.push_back(std::move(reason)); }

    void common()
    {
        base_.model = request_.model;
        base_.topology = request_.topology;
        Training& training = base_.training;
        const Device& device = facts_.device;
        training.precision = executed_precision(Precision::bf16, device) == Precision::bf16
                                 ? Precision::bf16
                                 : Precision::fp16;
        because(fmt::format("training.precision {}: the 16-bit format that {} multiplies in",
                            to_name(training.precision), device.name));
        const Transformer* model = facts_.transformer();
        if (model == nullptr)
            return;
        const bool limited = model->position == PositionKind::learned && model->max_positions > 0;
        training.sequence_length = request_.sequence_length.value_or(
            limited ? std::min(usual_sequence, model->max_positions) : usual_sequence);
        facts_.sequence_length = training.sequence_length;
        if (!request_.sequence_length)
            because(fmt::format("training.sequence_length {}: {}", training.sequence_length,
                                limited ? "what the learned positions reach" : "usual"));
    }

    // The same for all layouts, so that their steps compare: about a million tokens, more on many
    // GPUs, in a number that many sizes of data parallelism divide.
    void choose_batch()
    {
        std::int64_t& batch = base_.training.global_batch;
        if (request_.global_batch)
            batch = *request_.global_batch;
        else if (facts_.transformer() == nullptr) {
            batch = images_per_gpu * facts_.gpus;
            because(
                fmt::format("training.global_batch {}: {} samples per GPU", batch, images_per_gpu));
        } else {
            const std::int64_t tokens =
                std::clamp(tokens_per_gpu * facts_.gpus, least_tokens, most_tokens);
            const std::int64_t wanted =
                std::max<std::int64_t>(1, tokens / base_.training.sequence_length);
            std::int64_t unit = facts_.gpus;
            while (unit > wanted || facts_.gpus % unit != 0)
                --unit;
            batch = (wanted + unit - 1) / unit * unit;
            because(fmt::format("training.global_batch {}: about {:.2g} million tokens a step{}",
                                batch,
                                static_cast<double>(batch * base_.training.sequence_length) / 1e6,
                                unit > 1 ? fmt::format(", a multiple of {}", unit) : ""));
        }
        facts_.global_batch = batch;
    }

    Scenario scenario_of(const Layout& layout) const
    {
        Scenario out = base_;
        out.strategy = layout.strategy;
        out.software.framework = layout.framework;
        out.training.recompute = layout.recompute;
        out.training.micro_batch = layout.micro_batch;
        return out;
    }

    ScenarioFile file_of(const Scenario& scenario) const
    {
        return scenario_in_memory(scenario, request_.folder, "the new scenario");
    }

    // Its memory where that is within the share of a device that it may take.
    std::optional<MemoryEstimate> fitting(const Layout& layout)
    {
        request_.work.check();
        ++memory_checks_;
        const Scenario scenario = scenario_of(layout);
        Checked<MemoryEstimate> memory = session_.memory(file_of(scenario));
        if (!memory) {
            if (problems_.empty())
                problems_ = memory.error();
            return std::nullopt;
        }
        if (!least_ || memory->peak() < least_->memory.peak())
            least_ = Tried{layout, scenario, *memory, Seconds(0)};
        if (static_cast<double>(memory->peak().value()) >
            share_ * static_cast<double>(memory->capacity.value()))
            return std::nullopt;
        return std::move(*memory);
    }

    // Shorter passes, fewer chunks and more recompute hold less.
    static const Layout& leanest(const LayoutFamily& family)
    {
        return *std::ranges::min_element(family, [](const Layout& a, const Layout& b) {
            const auto weight = [](const Layout& layout) {
                return std::tuple(-static_cast<int>(layout.recompute), layout.micro_batch,
                                  layout.strategy.vpp);
            };
            return weight(a) < weight(b);
        });
    }

    Checked<Outcome> run(const Scenario& scenario)
    {
        return session_.simulate(file_of(scenario), {.record = {},
                                                     .work = {request_.work.cancel, {}},
                                                     .memory = AllocatorView::fullest_stage});
    }

    bool simulate(const Layout& layout, MemoryEstimate memory)
    {
        Scenario scenario = scenario_of(layout);
        Checked<Outcome> outcome = run(scenario);
        if (!outcome) {
            if (problems_.empty())
                problems_ = outcome.error();
            return false;
        }
        passes_ += passes_of(layout);
        tried_.push_back(
            {layout, std::move(scenario), std::move(memory), outcome->step_time.value});
        request_.work.report("layouts", static_cast<double>(tried_.size()),
                             static_cast<double>(most_families + most_relatives));
        return true;
    }

    std::int64_t passes_of(const Layout& layout) const
    {
        const Transformer* model = facts_.transformer();
        return facts_.global_batch / (layout.micro_batch * *layout.strategy.dp) *
               (model != nullptr ? model->layers : 1);
    }

    bool affords(const Layout& layout) const
    {
        return tried_.size() < 2 || passes_ + passes_of(layout) <= most_passes;
    }

    // The families that `order` lists, until a dozen are simulated.
    void look_through(const std::vector<std::size_t>& order)
    {
        memory_checks_ = 0;
        for (const std::size_t family : order) {
            if (tried_.size() == most_families || memory_checks_ > most_memory_checks)
                return;
            if (!tried_.empty() &&
                space_.families[family].front().rough_time > too_slow * best().step_time)
                return;
            look_at(family);
        }
    }

    // Simulates the quickest of it that fits.
    void look_at(std::size_t index)
    {
        const LayoutFamily& family = space_.families[index];
        if (seen_[index] || !affords(family.front()))
            return;
        seen_[index] = true;
        if (!fitting(leanest(family)))
            return;
        for (const Layout& layout : family)
            if (std::optional<MemoryEstimate> memory = fitting(layout)) {
                simulate(layout, std::move(*memory));
                return;
            }
    }

    // From the best one to those that differ in one size, as long as one of them is quicker.
    void climb()
    {
        for (Seconds before(0); before != best().step_time && tried_.size() < 2 * most_families;) {
            before = best().step_time;
            const Strategy top = best().layout.strategy;
            for (std::size_t i = 0; i < seen_.size(); ++i)
                if (neighbours(top, space_.families[i].front().strategy))
                    look_at(i);
        }
    }

    const Tried& best() const
    {
        return *std::ranges::min_element(
            tried_, [](const Tried& a, const Tried& b) { return a.step_time < b.step_time; });
    }

    // Others with the sizes of the best one.
    void look_at_relatives()
    {
        const Layout first = best().layout;
        const auto family = std::ranges::find_if(space_.families, [&](const LayoutFamily& f) {
            return differences(first.strategy, f.front().strategy) == 0;
        });
        std::size_t left = most_relatives;
        for (const Layout& layout : *family) {
            const bool seen = layout.recompute == first.recompute &&
                              layout.micro_batch == first.micro_batch &&
                              layout.strategy.vpp == first.strategy.vpp;
            if (seen || left == 0 || !affords(layout))
                continue;
            if (std::optional<MemoryEstimate> memory = fitting(layout)) {
                simulate(layout, std::move(*memory));
                --left;
            }
        }
    }

    StartingPoint decided()
    {
        const std::size_t families = tried_.size();
        look_at_relatives();
        Tried chosen = best();
        recompute_fewer_layers(chosen);
        explain(chosen, families);
        return {std::move(chosen.scenario), std::move(chosen.memory), chosen.step_time,
                std::move(reasons_)};
    }

    // Where all layers of a stage are recomputed, half or a quarter of them may do.
    void recompute_fewer_layers(Tried& chosen)
    {
        if (chosen.layout.recompute != Recompute::full || chosen.layout.strategy.zero == 3)
            return;
        const int stages = chosen.layout.strategy.pp;
        const int in_stage = (facts_.transformer()->layers + stages - 1) / stages;
        for (const int layers : {in_stage / 4, in_stage / 2, in_stage * 3 / 4}) {
            if (layers < 1)
                continue;
            Scenario scenario = chosen.scenario;
            scenario.training.recompute_layers = layers;
            Checked<MemoryEstimate> memory = session_.memory(file_of(scenario));
            if (!memory || static_cast<double>(memory->peak().value()) >
                               share_ * static_cast<double>(memory->capacity.value()))
                continue;
            Checked<Outcome> outcome = run(scenario);
            if (!outcome || outcome->step_time.value >= chosen.step_time)
                continue;
            chosen = {chosen.layout, std::move(scenario), std::move(*memory),
                      outcome->step_time.value};
            return;
        }
    }

    void explain(const Tried& chosen, std::size_t families)
    {
        const Strategy& s = chosen.scenario.strategy;
        const char* const kind = s.zero == 3   ? "FSDP"
                                 : s.zero == 0 ? "DDP"
                                               : "Megatron-Core with its distributed optimizer";
        because(fmt::format("strategy {}: {}, a step in {}", described(chosen.scenario), kind,
                            to_display(chosen.step_time)));
        const Tried* second = nullptr;
        for (std::size_t i = 0; i < families; ++i)
            if (tried_[i].layout.strategy != chosen.layout.strategy &&
                (second == nullptr || tried_[i].step_time < second->step_time))
                second = &tried_[i];
        because(fmt::format("the quickest of {} layouts that were simulated, of {} possible{}",
                            tried_.size(), space_.layouts,
                            second == nullptr
                                ? ""
                                : fmt::format("; next: {} with {}", described(second->scenario),
                                              to_display(second->step_time))));
        if (!s.stage_layers.empty())
            because(fmt::format("strategy.stage_layers: {} layers over {} stages, the last one "
                                "lighter by the logits",
                                facts_.transformer()->layers, s.pp));
        const Training& training = chosen.scenario.training;
        if (training.recompute != Recompute::none)
            because(fmt::format("training.recompute {}{}: the activations do not fit otherwise",
                                to_name(training.recompute),
                                training.recompute_layers ? fmt::format(" of {} layers a stage",
                                                                        *training.recompute_layers)
                                                          : ""));
        because(fmt::format("training.micro_batch {}: quickest of those that fit",
                            training.micro_batch));
        because(fmt::format("it fits: {} of {} on the fullest device",
                            to_display(chosen.memory.peak()), to_display(chosen.memory.capacity)));
    }

    std::string name() const { return facts_.model.name.empty() ? "the model" : facts_.model.name; }

    StartRefusal refusal() const
    {
        if (!least_ && space_.layouts > 0)
            return {problems_, false};
        if (!least_ && space_.too_large == 0)
            return {batch_problem(), false};
        return {too_large(), true};
    }

    Problems batch_problem() const
    {
        return {{"", 0, "",
                 fmt::format("a global batch of {} divides over none of the layouts of {} GPUs",
                             facts_.global_batch, facts_.gpus),
                 fmt::format("data-parallel sizes are {}; nearest batches that divide: {}",
                             listed(space_.replicas),
                             nearest_batches(facts_.global_batch, space_.replicas)),
                 Severity::error}};
    }

    Problems too_large() const
    {
        std::string hint =
            least_
                ? fmt::format("the leanest of {} layouts ({}) needs {} of {} on the fullest device",
                              space_.layouts, described(least_->scenario),
                              to_display(least_->memory.peak()),
                              to_display(least_->memory.capacity))
                : fmt::format("parameters, gradients and optimizer alone take {} of {} per device "
                              "in the leanest layout",
                              to_display(space_.least_states), to_display(facts_.device.memory));
        hint += ": more GPUs, larger ones or shorter sequences";
        if (request_.global_batch && space_.batch_divides_not > 0)
            hint += fmt::format("; a batch other than {} would allow {} more divisions",
                                facts_.global_batch, space_.batch_divides_not);
        return {{"", 0, "",
                 fmt::format("{} does not fit on {} x {}", name(), facts_.gpus, facts_.device.name),
                 std::move(hint), Severity::error}};
    }

    const StartRequest& request_;
    Session& session_;
    LayoutFacts facts_;
    LayoutSpace space_;
    Scenario base_;
    std::vector<std::string> reasons_;
    std::vector<Tried> tried_;
    std::optional<Tried> least_; // of all whose memory was looked at
    Problems problems_;          // of the first layout that is refused for another reason
    double share_ = 1;           // of the memory that may be taken
    std::vector<bool> seen_;     // families, at that share
    int memory_checks_ = 0;
    std::int64_t passes_ = 0;
};

// Reads model and cluster the way a scenario would.
Checked<LayoutFacts> facts_of(const StartRequest& request)
{
    Scenario probe;
    probe.model = request.model;
    probe.topology = request.topology;
    probe.training.global_batch = 1;
    probe.strategy.dp = 1;
    // Learned positions may be fewer than any default.
    probe.training.sequence_length = request.sequence_length.value_or(1);
    StageMemos memos;
    const Checked<Parts> parts =
        build_job_parts(scenario_in_memory(probe, request.folder, ""), memos);
    if (!parts)
        return tl::unexpected(parts.error());
    const Topology& topology = *parts->topology;
    LayoutFacts facts;
    facts.model = *parts->model;
    facts.gpus = topology.device_count();
    facts.domain = largest_domain(topology);
    facts.device = parts->cost->profile().hardware.device;
    const ParameterCount count = count_parameters(facts.model);
    facts.parameters = count.total;
    if (const Transformer* model = facts.transformer(); model != nullptr && model->moe) {
        // A token uses experts_per_token of them: the others make the difference.
        const int others = model->moe->experts - model->moe->experts_per_token;
        if (others > 0)
            facts.expert_parameters = (count.total - count.active) * model->moe->experts / others;
    }
    std::vector<DeviceId> all(static_cast<std::size_t>(facts.gpus));
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = make_id<DeviceId>(i);
    facts.machine = group_shape(topology, all);
    return facts;
}

} // namespace

tl::expected<StartingPoint, StartRefusal> starting_point(const StartRequest& request,
                                                         Session& session)
{
    Checked<LayoutFacts> facts = facts_of(request);
    if (!facts)
        return tl::unexpected(StartRefusal{facts.error(), false});
    return Chooser(request, session, std::move(*facts)).choose();
}

} // namespace trainyard
