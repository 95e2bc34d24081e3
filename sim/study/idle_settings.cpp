#include "sim/study/idle_settings.h"

#include "sim/base/units.h"
#include "sim/strategy/stages.h"
#include "sim/study/data_parallel_notes.h"
#include "sim/study/problems.h"
#include "sim/workload/number_format.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// Layers whose activations wait on the host, of the device with most of them.
int most_offloaded(const Job& job)
{
    if (job.strategy.offload.activation_layers == 0)
        return 0;
    const StagePlacement placement = placement_of(job);
    const std::vector<std::vector<StageLayer>> stages = cut_into_stages(job);
    std::vector<int> of_device(static_cast<std::size_t>(placement.devices), 0);
    for (const std::vector<StagePosition>& pipe : placement.pipes)
        for (std::size_t i = 0; i < pipe.size(); ++i)
            of_device[static_cast<std::size_t>(pipe[i].device)] +=
                static_cast<int>(std::ranges::count(stages[i], true, &StageLayer::offloaded));
    return std::ranges::max(of_device);
}

} // namespace

Problems idle_settings(const Scenario& scenario, const Job& job)
{
    Problems problems;
    const Strategy& stated = scenario.strategy;
    const Strategy usual;
    const bool sharded = job.strategy.zero == 3;
    const bool buckets =
        stated.bucket_cap != usual.bucket_cap || stated.first_bucket != usual.first_bucket;
    const auto note = [&](bool applies, const char* pointer, const std::string& message) {
        if (applies)
            problems.push_back({"", 0, pointer, message, "", Severity::warning});
    };
    note(sharded && stated.overlap.dp == false, "/strategy/overlap/dp",
         "with ZeRO-3 communication is modelled beside compute; this has no effect");
    note(sharded && buckets, "/strategy/bucket_cap",
         "FSDP reduces layer by layer; buckets have no effect");
    append(problems, data_parallel_notes(stated, job));
    note(stated.sequence_parallel == true && job.strategy.tp == 1, "/strategy/sequence_parallel",
         "sequence parallelism cuts over the tensor-parallel group, and tp is 1: it stays off");
    note(stated.overlap.tp.has_value() && job.strategy.tp == 1, "/strategy/overlap/tp",
         "there is no tensor parallelism to overlap");
    note(stated.overlap.tp == true && job.strategy.tp > 1 && !*job.strategy.sequence_parallel,
         "/strategy/overlap/tp",
         "without sequence parallelism whole all-reduces follow the products, and none is "
         "overlapped; this has no effect");
    note(stated.overlap.pp.has_value() && job.strategy.pp == 1, "/strategy/overlap/pp",
         "there is no pipeline to overlap");
    note(job.training.recompute != Recompute::selective && !job.training.recompute_modules.empty(),
         "/training/recompute_modules",
         "parts of layers are recomputed with \"recompute\": \"selective\" alone; this has no "
         "effect");
    const auto* const model = std::get_if<Transformer>(&job.model.architecture);
    for (const RecomputeModule module : job.training.recompute_modules) {
        using enum RecomputeModule;
        const bool of_experts = module == moe || module == moe_act || module == shared_experts;
        note(model != nullptr && ((of_experts && !job.model.is_moe()) ||
                                  (module == mla_up_proj && !model->latent &&
                                   std::ranges::none_of(model->layer_forms,
                                                        [](const LayerForm& form) {
                                                            return form.latent.has_value();
                                                        }))),
             "/training/recompute_modules",
             fmt::format("no layer of the model has \"{}\"; this has no effect", to_name(module)));
    }
    note(job.training.recompute == Recompute::selective && job.model.is_transformer() &&
             std::ranges::all_of(
                 job.training.recompute_modules,
                 [](RecomputeModule one) { return one == RecomputeModule::core_attn; }) &&
             job.software.kernels.attention != AttentionKernel::unfused,
         "/training/recompute",
         "fused attention keeps no scores: selective recompute has nothing to redo");
    const int offloaded = job.strategy.offload.activation_layers;
    const int waiting = most_offloaded(job);
    note(waiting < offloaded, "/strategy/offload/activation_layers",
         waiting == 0 ? std::string("layers that are recomputed whole keep nothing that could wait "
                                    "on the host; this has no effect")
                      : fmt::format("the activations of {} layers of a device wait on the host: "
                                    "the others are recomputed whole",
                                    waiting));
    note(!scenario.software.graphed_parts.empty() && !scenario.software.cuda_graphs,
         "/software/graphed_parts",
         "nothing is captured without software.cuda_graphs; this has no effect");
    note(scenario.software.fused_experts &&
             !(job.model.is_moe() && is_narrow(job.training.precision)),
         "/software/fused_experts",
         "only experts in a narrow number format (fp8 to nvfp4) are fused; this has no effect");
    note(job.data && job.data->loading.workers == 0 &&
             job.data->loading.prefetch != DataLoading{}.prefetch,
         "/data/prefetch", "without workers nothing is loaded ahead; this has no effect");
    note(job.data && job.data->loading.page_cache.value() > 0 &&
             job.data->loading.dataset.value() == 0,
         "/data/page_cache", "what it caches depends on the size of \"dataset\"; no effect");
    note(scenario.run.seed != RunOptions{}.seed && !is_random(scenario.perturbations), "/run/seed",
         "nothing in this job is random: the seed changes no result");
    return problems;
}

Problems idle_windows(const Scenario& scenario, const StepResult& result, SimTime measured_from)
{
    Problems problems;
    const SimTime length = result.step_ends.back() - measured_from;
    for (std::size_t i = 0; i < scenario.perturbations.size(); ++i) {
        const std::optional<Seconds>& from = scenario.perturbations[i].from;
        if (from && to_sim_time(*from) >= length)
            problems.push_back({"", 0, fmt::format("/perturbations/{}/from", i),
                                fmt::format("the measured step is over before: it takes {}; this "
                                            "entry has no effect",
                                            to_display(length)),
                                "an earlier time", Severity::warning});
    }
    return problems;
}

} // namespace trainyard
