#include "sim/study/jobs/starting_point.h"

#include "sim/base/units.h"
#include "sim/cost/kernel_time.h"
#include "sim/study/inputs.h"
#include "sim/study/stages.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::int64_t tokens_per_step = std::int64_t{1} << 20; // usual is 0.5 to 16 million
constexpr std::int64_t usual_sequence = 4096;
constexpr int usual_tp = 8;
// Parameters, gradients, master copy and two moments of mixed-precision Adam (Rajbhandari 2020).
constexpr double state_bytes_per_parameter = 16;

std::int64_t rounded_up(std::int64_t value, std::int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

// What the choice depends on.
struct Facts {
    Model model;
    int gpus = 1;
    int domain = 1; // GPUs that NVLink joins
    Device device;
    double parameters = 0;

    const Transformer* transformer() const { return std::get_if<Transformer>(&model.architecture); }
    bool states_fit_domain() const
    {
        return state_bytes_per_parameter * parameters <
               static_cast<double>(device.memory.value()) * std::min(gpus, domain);
    }
};

class Chooser {
public:
    Chooser(const StartRequest& request, Session& session, Facts facts)
        : request_(request), session_(session), facts_(std::move(facts))
    {}

    Checked<StartingPoint> choose()
    {
        common();
        if (try_ddp() || try_fsdp() || try_three_dimensions())
            return std::move(out_);
        if (!problems_.empty())
            return tl::unexpected(problems_);
        return tl::unexpected(too_large());
    }

private:
    void because(std::string reason) { out_.reasons.push_back(std::move(reason)); }

    void common()
    {
        Scenario& scenario = out_.scenario;
        scenario.model = request_.model;
        scenario.topology = request_.topology;
        Training& training = scenario.training;
        const Device& device = facts_.device;
        training.precision = executed_precision(Precision::bf16, device) == Precision::bf16
                                 ? Precision::bf16
                                 : Precision::fp16;
        because(fmt::format("training.precision {}: the 16-bit format that {} multiplies in",
                            to_name(training.precision), device.name));
        if (const Transformer* model = facts_.transformer()) {
            const bool limited =
                model->position == PositionKind::learned && model->max_positions > 0;
            training.sequence_length = request_.sequence_length.value_or(
                limited ? std::min(usual_sequence, model->max_positions) : usual_sequence);
            if (!request_.sequence_length)
                because(fmt::format("training.sequence_length {}: {}", training.sequence_length,
                                    limited ? "what the learned positions reach" : "usual"));
        }
    }

    // Samples of one step: a million tokens, whole micro-batches for every replica.
    std::int64_t batch(const Strategy& strategy, std::int64_t micro) const
    {
        if (request_.global_batch)
            return *request_.global_batch;
        constexpr std::int64_t images = 32; // per GPU
        const std::int64_t passes = micro * *strategy.dp * (strategy.pp > 1 ? 4 * strategy.pp : 1);
        const std::int64_t wanted = facts_.transformer() == nullptr
                                        ? images * facts_.gpus
                                        : tokens_per_step / out_.scenario.training.sequence_length;
        return rounded_up(std::max<std::int64_t>(1, wanted), passes);
    }

    // Whether the job fits as it stands; kept if so.
    bool fits(const Strategy& strategy, std::string_view framework, Recompute recompute,
              std::int64_t micro)
    {
        Scenario trial = out_.scenario;
        trial.strategy = strategy;
        trial.software.framework = framework;
        trial.training.recompute = recompute;
        trial.training.micro_batch = micro;
        trial.training.global_batch = batch(strategy, micro);
        const Checked<MemoryEstimate> memory =
            session_.memory(scenario_in_memory(trial, request_.folder, "the new scenario"));
        if (!memory) {
            last_refusal_ = memory.error();
            return false;
        }
        last_refusal_.clear();
        least_ = least_ && least_->peak() <= memory->peak() ? least_ : *memory;
        if (!memory->fits())
            return false;
        out_.scenario = std::move(trial);
        out_.memory = *memory;
        return true;
    }

    // Larger passes keep a GPU busier: doubled while four fifths of the memory hold them.
    void raise_micro_batch()
    {
        constexpr double roomy = 0.8;
        constexpr std::int64_t most = 8;
        const Scenario start = out_.scenario;
        while (out_.scenario.training.micro_batch < most) {
            const StartingPoint before = out_;
            const bool grown =
                fits(start.strategy, start.software.framework, start.training.recompute,
                     2 * out_.scenario.training.micro_batch);
            const double used = static_cast<double>(out_.memory.peak().value()) /
                                static_cast<double>(out_.memory.capacity.value());
            if (!grown || used > roomy) {
                out_ = before;
                break;
            }
        }
        because(fmt::format("training.micro_batch {}: {}", out_.scenario.training.micro_batch,
                            out_.scenario.training.micro_batch == 1
                                ? "a second sequence would not leave a fifth of the memory free"
                                : "as much as leaves a fifth of the memory free, at most 8"));
    }

    void explain_batch()
    {
        const Training& training = out_.scenario.training;
        if (request_.global_batch)
            return;
        because(
            facts_.transformer() == nullptr
                ? fmt::format("training.global_batch {}: 32 samples per GPU", training.global_batch)
                : fmt::format("training.global_batch {}: about a million tokens a step, in "
                              "whole micro-batches",
                              training.global_batch));
    }

    void explain_memory()
    {
        because(fmt::format("it fits: {} of {} on the fullest device",
                            to_display(out_.memory.peak()), to_display(out_.memory.capacity)));
    }

    bool try_ddp()
    {
        Strategy strategy;
        strategy.dp = facts_.gpus;
        if (!fits(strategy, "torch-ddp", Recompute::none, 1))
            return keep_refusal(facts_.transformer() == nullptr);
        because(facts_.gpus == 1
                    ? "one GPU, and the model fits into it"
                    : fmt::format("strategy.dp {}, strategy.zero 0: model and states fit into one "
                                  "GPU, so DDP",
                                  facts_.gpus));
        raise_micro_batch();
        explain_batch();
        explain_memory();
        return true;
    }

    // A refusal that no other strategy would mend.
    bool keep_refusal(bool final)
    {
        if (final && !last_refusal_.empty())
            problems_ = last_refusal_;
        return false;
    }

    bool try_fsdp()
    {
        if (facts_.transformer() == nullptr || facts_.gpus == 1 || !facts_.states_fit_domain())
            return false;
        Strategy strategy;
        strategy.dp = facts_.gpus;
        strategy.zero = 3;
        for (const Recompute recompute : {Recompute::none, Recompute::full}) {
            if (!fits(strategy, "torch-fsdp", recompute, 1))
                continue;
            because(fmt::format("strategy.zero 3: {} of parameters, gradients and optimizer do not "
                                "fit into one GPU but into the {} of an NVLink domain, so FSDP "
                                "over {}",
                                states(), std::min(facts_.gpus, facts_.domain), facts_.gpus));
            explain_recompute();
            raise_micro_batch();
            explain_batch();
            explain_memory();
            return true;
        }
        return false;
    }

    std::string states() const
    {
        return to_display(
            Bytes(static_cast<std::uint64_t>(state_bytes_per_parameter * facts_.parameters)));
    }

    void explain_recompute()
    {
        if (out_.scenario.training.recompute == Recompute::full)
            because("training.recompute full: the activations do not fit otherwise");
    }

    // The smallest TP x PP that fits, TP first.
    bool try_three_dimensions()
    {
        if (facts_.transformer() == nullptr)
            return false;
        for (const Recompute recompute : {Recompute::none, Recompute::full})
            for (int ranks = 2; ranks <= facts_.gpus; ++ranks) {
                const std::optional<Strategy> strategy = cut_into(ranks);
                if (strategy && fits(*strategy, "megatron-core", recompute, 1)) {
                    explain_cuts(*strategy);
                    explain_recompute();
                    explain_batch();
                    explain_memory();
                    return true;
                }
            }
        return false;
    }

    std::optional<Strategy> cut_into(int ranks) const
    {
        const Transformer& model = *facts_.transformer();
        if (facts_.gpus % ranks != 0)
            return std::nullopt;
        for (int tp = std::min({usual_tp, facts_.domain, ranks}); tp >= 1; tp /= 2) {
            const int pp = ranks / tp;
            const bool whole = ranks % tp == 0 && facts_.domain % tp == 0 &&
                               model.heads % tp == 0 && model.layers % pp == 0 &&
                               (tp > 1 || pp > 1);
            if (!whole)
                continue;
            Strategy strategy;
            strategy.tp = tp;
            strategy.pp = pp;
            strategy.dp = facts_.gpus / ranks;
            strategy.zero = 1;
            strategy.ep = experts_over(tp * *strategy.dp);
            return strategy;
        }
        return std::nullopt;
    }

    // Experts over as many ranks of a stage as one NVLink domain holds.
    int experts_over(int ranks) const
    {
        const Transformer& model = *facts_.transformer();
        if (!model.moe)
            return 1;
        for (int ep = std::min({model.moe->experts, ranks, facts_.domain}); ep > 1; --ep)
            if (model.moe->experts % ep == 0 && ranks % ep == 0)
                return ep;
        return 1;
    }

    void explain_cuts(const Strategy& strategy)
    {
        because(fmt::format("strategy.tp {}: {}", strategy.tp,
                            strategy.tp > 1
                                ? "TP stays inside the NVLink domain"
                                : "the sizes of the model or the domain allow no more"));
        if (strategy.pp > 1)
            because(fmt::format("strategy.pp {}: the fewest stages with which {} of parameters, "
                                "gradients and optimizer fit",
                                strategy.pp, states()));
        because(fmt::format("strategy.dp {}, strategy.zero 1: the other GPUs hold replicas, which "
                            "share the optimizer's states",
                            *strategy.dp));
        if (strategy.ep > 1)
            because(fmt::format("strategy.ep {}: experts over the GPUs of an NVLink domain",
                                strategy.ep));
        because("training.micro_batch 1: pipelines and TP want many short passes");
    }

    Problems too_large() const
    {
        std::string least =
            least_ ? fmt::format("the best try needs {} of {} on the fullest device",
                                 to_display(least_->peak()), to_display(least_->capacity))
                   : "no division of it over these GPUs works";
        return {{"", 0, "",
                 fmt::format("{} does not fit on {} x {}",
                             facts_.model.name.empty() ? "the model" : facts_.model.name,
                             facts_.gpus, facts_.device.name),
                 fmt::format("{}; its parameters, gradients and optimizer take {} in all: more "
                             "GPUs, larger ones or shorter sequences",
                             least, states()),
                 Severity::error}};
    }

    const StartRequest& request_;
    Session& session_;
    Facts facts_;
    StartingPoint out_;
    std::optional<MemoryEstimate> least_;
    Problems last_refusal_;
    Problems problems_;
};

// Reads model and cluster the way a scenario would.
Checked<Facts> facts_of(const StartRequest& request)
{
    Scenario probe;
    probe.model = request.model;
    probe.topology = request.topology;
    probe.training.global_batch = 1;
    probe.strategy.dp = 1;
    if (request.sequence_length)
        probe.training.sequence_length = *request.sequence_length;
    StageMemos memos;
    const ScenarioFile file = scenario_in_memory(probe, request.folder, "");
    Checked<Parts> parts = build_job_parts(file, memos);
    if (!parts) {
        // Learned positions may be fewer than the default sequence.
        probe.training.sequence_length = 1;
        parts = build_job_parts(scenario_in_memory(probe, request.folder, ""), memos);
    }
    if (!parts)
        return tl::unexpected(parts.error());
    Facts facts;
    facts.model = *parts->model;
    facts.gpus = parts->topology->device_count();
    facts.domain = std::max(1, facts.gpus / std::max(1, parts->topology->domain_count()));
    facts.device = parts->cost->profile().hardware.device;
    facts.parameters = count_parameters(facts.model).total;
    return facts;
}

} // namespace

Checked<StartingPoint> starting_point(const StartRequest& request, Session& session)
{
    Checked<Facts> facts = facts_of(request);
    if (!facts)
        return tl::unexpected(facts.error());
    return Chooser(request, session, std::move(*facts)).choose();
}

} // namespace trainyard
