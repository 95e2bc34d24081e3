#include "sim/study/jobs/torch/torchtitan.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// The section [name] with "key = value" lines.
class Section {
public:
    explicit Section(std::string_view name) : text_(fmt::format("[{}]\n", name)) {}

    void add(std::string_view key, const Json& value)
    {
        text_ += fmt::format("{} = {}\n", key, to_text(value, JsonStyle::compact));
        ++lines_;
    }
    // Nothing when nothing was added.
    std::string text() const { return lines_ == 0 ? std::string() : text_ + "\n"; }

private:
    std::string text_;
    int lines_ = 0;
};

std::string schedule_name(const std::string& schedule)
{
    return schedule == "gpipe"              ? "GPipe"
           : schedule == "interleaved-1f1b" ? "Interleaved1F1B"
           : schedule == "breadth-first"    ? "LoopedBFS"
           : schedule == "zb-v"             ? "ZBVZeroBubble"
           : schedule == "dualpipev"        ? "DualPipeV"
                                            : "1F1B";
}

std::string model_section(const Job& job)
{
    Section out("model");
    const auto* model = std::get_if<Transformer>(&job.model.architecture);
    if (model != nullptr)
        for (const TitanFlavor& known : titan_flavors())
            if (known.model == *model) {
                out.add("name", Json(known.family));
                out.add("flavor", Json(known.flavor));
                break;
            }
    Json converters = Json::array();
    if (job.training.precision == Precision::fp8)
        converters.push_back("float8");
    if (job.training.precision == Precision::mxfp8)
        converters.push_back("mx");
    if (!converters.items().empty())
        out.add("converters", converters);
    return out.text();
}

std::string training_section(const Job& job)
{
    const Training& training = job.training;
    Section out("training");
    // With a pipeline the local batch is what its passes make together.
    const std::int64_t passes = job.strategy.pp > 1 ? job.micro_batches() : 1;
    out.add("local_batch_size", Json(training.micro_batch * passes));
    out.add("global_batch_size", Json(training.global_batch));
    out.add("seq_len", Json(training.sequence_length));
    out.add("mixed_precision_param",
            Json(training.precision == Precision::fp32 ? "float32" : "bfloat16"));
    if (job.strategy.offload.parameters == OffloadTarget::cpu)
        out.add("enable_cpu_offload", Json(true));
    out.add("mixed_precision_reduce", Json(*training.fp32_gradients ? "float32" : "bfloat16"));
    return out.text();
}

std::string parallelism_section(const Job& job)
{
    const Strategy& strategy = job.strategy;
    Section out("parallelism");
    // torchtitan shards all or nothing: with what is gathered once and kept, what ZeRO-1 and 2 hold
    // is nearest.
    const bool sharded = strategy.zero > 0;
    const int shards = !sharded               ? 1
                       : strategy.shard_group ? std::max(1, *strategy.shard_group / strategy.cp)
                                              : job.dp();
    out.add("data_parallel_replicate_degree", Json(job.dp() / shards));
    out.add("data_parallel_shard_degree", Json(shards));
    if (sharded)
        out.add("fsdp_reshard_after_forward",
                Json(strategy.zero == 3 && *strategy.reshard_after_forward ? "always" : "never"));
    out.add("tensor_parallel_degree", Json(strategy.tp));
    if (strategy.tp > 1) {
        out.add("enable_async_tensor_parallel", Json(*strategy.overlap.tp));
        out.add("enable_sequence_parallel", Json(*strategy.sequence_parallel));
    }
    out.add("context_parallel_degree", Json(strategy.cp));
    if (strategy.cp > 1)
        out.add("context_parallel_rotate_method",
                Json(strategy.context.kind == ContextKind::ring ? "alltoall" : "allgather"));
    out.add("expert_parallel_degree", Json(strategy.ep));
    if (strategy.etp > 1)
        out.add("expert_tensor_parallel_degree", Json(strategy.etp));
    out.add("pipeline_parallel_degree", Json(strategy.pp));
    if (strategy.pp > 1) {
        out.add("pipeline_parallel_schedule", Json(schedule_name(strategy.schedule)));
        out.add("pipeline_parallel_microbatch_size", Json(job.training.micro_batch));
        const auto* model = std::get_if<Transformer>(&job.model.architecture);
        const int stages = strategy.pp * strategy.vpp;
        const bool even = strategy.stage_layers.empty();
        if (model != nullptr) {
            const int counted = model->layers + (even ? 0 : 2);
            out.add("pipeline_parallel_layers_per_stage", Json((counted + stages - 1) / stages));
        }
        out.add("pipeline_parallel_first_stage_less_layers", Json(even ? 0 : 1));
        out.add("pipeline_parallel_last_stage_less_layers", Json(even ? 0 : 1));
    }
    return out.text();
}

std::string checkpoint_section(const Job& job)
{
    const Training& training = job.training;
    Section out("activation_checkpoint");
    const bool partly = training.recompute == Recompute::full && training.recompute_layers;
    const auto* model = std::get_if<Transformer>(&job.model.architecture);
    const int on_device = model == nullptr ? 0 : model->layers / job.strategy.pp;
    out.add("mode", Json(partly || training.recompute == Recompute::selective ? "selective"
                         : training.recompute == Recompute::full              ? "full"
                                                                              : "none"));
    if (partly)
        for (int every = 1; every < 10; ++every)
            if ((on_device + every - 1) / every == *training.recompute_layers) {
                out.add("selective_ac_option", Json(std::to_string(every)));
                break;
            }
    if (std::ranges::find(training.recompute_modules, RecomputeModule::per_op) !=
        training.recompute_modules.end())
        out.add("selective_ac_option", Json("op"));
    return out.text();
}

std::string compile_section(const Job& job)
{
    const bool model = job.software.name == "torch-compile-fsdp";
    const bool loss = job.software.kernels.loss_kernel() == LossKernel::fused;
    Section out("compile");
    out.add("enable", Json(model || loss));
    if (model != loss)
        out.add("components", Json(Json::Array{Json(model ? "model" : "loss")}));
    return out.text();
}

} // namespace

std::string write_torchtitan(const ExportedJob& exported)
{
    const Job& job = exported.job;
    std::string out = model_section(job) + training_section(job) + parallelism_section(job) +
                      checkpoint_section(job);
    Section optimizer("optimizer");
    optimizer.add("name", Json(job.training.optimizer == Optimizer::adam ? "AdamW" : "SGD"));
    out += optimizer.text() + compile_section(job);
    out.pop_back();
    return out;
}

} // namespace trainyard
