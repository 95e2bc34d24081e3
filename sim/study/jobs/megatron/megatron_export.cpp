#include "sim/base/quoted.h"
#include "sim/study/graph_scopes.h"
#include "sim/study/jobs/megatron/megatron.h"
#include "sim/study/jobs/megatron/megatron_layout.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {
namespace {

// NAME=( --flag value ... ): a list of arguments of a script.
class ArgumentList {
public:
    explicit ArgumentList(std::string name) : name_(std::move(name)) {}

    void add(std::string_view flag) { lines_ += fmt::format("    {}\n", flag); }
    template <class T>
    void add(std::string_view flag, const T& value)
    {
        lines_ += fmt::format("    {} {}\n", flag, shell_word(fmt::format("{}", value)));
    }
    void add_if(bool wanted, std::string_view flag)
    {
        if (wanted)
            add(flag);
    }

    std::string text() const { return fmt::format("{}=(\n{})\n\n", name_, lines_); }
    std::string use() const { return fmt::format("\"${{{}[@]}}\"", name_); }

private:
    std::string name_;
    std::string lines_;
};

// "([0]*3+[1]*58)", or the n of every n-th layer.
std::string expert_layers(const Transformer& model)
{
    std::string out;
    int run = 0;
    for (int layer = 0; layer < model.layers; ++layer) {
        ++run;
        const bool here = is_moe_layer(model, layer);
        if (layer + 1 == model.layers || is_moe_layer(model, layer + 1) != here) {
            out += fmt::format("{}[{}]*{}", out.empty() ? "" : "+", here ? 1 : 0, run);
            run = 0;
        }
    }
    return "(" + out + ")";
}

void add_mlp(const Transformer& model, ArgumentList& out)
{
    out.add("--ffn-hidden-size", model.ffn);
    out.add_if(model.gated_mlp, "--swiglu");
    out.add_if(model.activation == Activation::relu, "--squared-relu");
    out.add_if(!model.linear_bias, "--disable-bias-linear");
    out.add_if(model.attention_bias, "--add-qkv-bias");
    if (!model.moe)
        return;
    const MixtureOfExperts& moe = *model.moe;
    out.add("--num-experts", moe.experts);
    out.add("--moe-router-topk", moe.experts_per_token);
    out.add("--moe-ffn-hidden-size", moe.expert_ffn);
    if (moe.shared_expert_ffn > 0)
        out.add("--moe-shared-expert-intermediate-size", moe.shared_expert_ffn);
    out.add_if(moe.shared_expert_gate, "--moe-shared-expert-gate");
    if (moe.groups > 1) {
        out.add("--moe-router-num-groups", moe.groups);
        out.add("--moe-router-group-topk", moe.groups_per_token);
    }
    if (moe.leading_dense_layers > 0 || moe.every > 1)
        out.add("--moe-layer-freq", expert_layers(model));
}

void add_latent_attention(const LatentAttention& latent, ArgumentList& out)
{
    out.add("--multi-latent-attention");
    if (latent.q_lora_rank > 0)
        out.add("--q-lora-rank", latent.q_lora_rank);
    out.add("--kv-lora-rank", latent.kv_lora_rank);
    out.add("--qk-head-dim", latent.qk_nope_head_dim);
    out.add("--qk-pos-emb-head-dim", latent.qk_rope_head_dim);
    out.add("--v-head-dim", latent.v_head_dim);
}

ArgumentList model_arguments(const Transformer& model)
{
    ArgumentList out("MODEL_ARGS");
    out.add("--num-layers", model.layers);
    out.add("--hidden-size", model.hidden);
    out.add("--num-attention-heads", model.heads);
    if (model.latent)
        add_latent_attention(*model.latent, out);
    else
        out.add("--kv-channels", model.head_dim);
    if (model.kv_heads != model.heads && !model.latent) {
        out.add("--group-query-attention");
        out.add("--num-query-groups", model.kv_heads);
    }
    add_mlp(model, out);
    out.add("--normalization", model.norm == NormKind::rms_norm ? "RMSNorm" : "LayerNorm");
    out.add("--position-embedding-type", model.position == PositionKind::rotary ? "rope"
                                         : model.position == PositionKind::none
                                             ? "none"
                                             : "learned_absolute");
    if (model.position == PositionKind::learned)
        out.add("--max-position-embeddings", model.max_positions);
    out.add_if(model.qk_norm, "--qk-layernorm");
    if (model.prediction_layers > 0)
        out.add("--mtp-num-layers", model.prediction_layers);
    if (model.sliding_window > 0)
        out.add("--window-size", fmt::format("{},0", model.sliding_window - 1));
    if (model.sliding_window > 0 && model.full_attention_every > 0)
        out.add("--window-attn-skip-freq", model.full_attention_every);
    out.add("--attention-dropout", model.dropout ? "0.1" : "0.0");
    out.add("--hidden-dropout", model.dropout ? "0.1" : "0.0");
    out.add("--vocab-size", model.vocabulary);
    out.add_if(!model.tied_embeddings, "--untie-embeddings-and-output-weights");
    return out;
}

void add_precision(const Training& training, ArgumentList& out)
{
    const bool eight = training.precision == Precision::fp8 ||
                       training.precision == Precision::mxfp8 ||
                       training.precision == Precision::fp8_block;
    const bool four = training.precision == Precision::nvfp4;
    out.add_if(training.precision == Precision::bf16 || eight || four, "--bf16");
    out.add_if(training.precision == Precision::fp16, "--fp16");
    if (eight) {
        out.add("--fp8-format", "hybrid");
        out.add("--fp8-recipe", training.precision == Precision::mxfp8       ? "mxfp8"
                                : training.precision == Precision::fp8_block ? "blockwise"
                                                                             : "delayed");
    }
    if (four)
        out.add("--fp4-format", "e2m1");
    const NumberFormats& formats = training.formats;
    out.add_if((eight || four) && formats.parameter_gather.value_or(false), "--fp8-param-gather");
    if (formats.first_wide_layers > 0 || formats.last_wide_layers > 0) {
        out.add("--first-last-layers-bf16");
        out.add("--num-layers-at-start-in-bf16", formats.first_wide_layers);
        out.add("--num-layers-at-end-in-bf16", formats.last_wide_layers);
    }
    out.add(*training.fp32_gradients ? "--accumulate-allreduce-grads-in-fp32"
                                     : "--grad-reduce-in-bf16");
}

ArgumentList training_arguments(const ExportedJob& exported)
{
    const Job& job = exported.job;
    const Training& training = job.training;
    ArgumentList out("TRAINING_ARGS");
    out.add("--seq-length", training.sequence_length);
    if (const auto* model = std::get_if<Transformer>(&job.model.architecture);
        model != nullptr && model->position != PositionKind::learned)
        out.add("--max-position-embeddings", training.sequence_length);
    out.add("--micro-batch-size", training.micro_batch);
    out.add("--global-batch-size", training.global_batch);
    add_precision(training, out);
    out.add("--optimizer", to_name(training.optimizer));
    if (training.recompute == Recompute::selective) {
        out.add("--recompute-granularity", "selective");
        std::vector<std::string_view> modules;
        for (const RecomputeModule module : training.recompute_modules)
            if (is_of_megatron(module))
                modules.push_back(to_name(module));
        if (!modules.empty())
            out.add(fmt::format("--recompute-modules {}", fmt::join(modules, " ")));
    } else if (training.recompute == Recompute::full) {
        out.add("--recompute-granularity", "full");
        const bool partly = training.recompute_layers.has_value();
        out.add("--recompute-method", partly ? "block" : "uniform");
        out.add("--recompute-num-layers",
                partly ? *training.recompute_layers / job.strategy.vpp : 1);
    }
    switch (job.software.kernels.attention) {
    case AttentionKernel::unfused:
        out.add("--attention-backend", "unfused");
        break;
    case AttentionKernel::cudnn:
        out.add("--attention-backend", "fused");
        break;
    default:
        out.add("--attention-backend", "flash");
    }
    const std::vector<GraphedPart>& graphed = job.software.kernels.graphed;
    out.add_if(job.cuda_graphs, "--external-cuda-graph");
    if (!graphed.empty())
        out.add(fmt::format("--cuda-graph-impl transformer_engine --cuda-graph-scope {}",
                            fmt::join(scopes_of(graphed), " ")));
    out.add_if(job.software.kernels.loss_kernel() == LossKernel::in_place,
               "--cross-entropy-loss-fusion");
    return out;
}

void add_context(const ContextParallel& context, int cp, ArgumentList& out)
{
    switch (context.kind) {
    case ContextKind::ring:
        out.add("--cp-comm-type", "p2p");
        break;
    case ContextKind::ulysses:
        out.add("--cp-comm-type", "a2a");
        break;
    case ContextKind::all_gather:
        out.add("--cp-comm-type", "allgather");
        break;
    case ContextKind::hybrid:
        out.add("--cp-comm-type", "a2a+p2p");
        out.add(fmt::format("--hierarchical-context-parallel-sizes {} {}", context.a2a,
                            cp / std::max(1, context.a2a)));
    }
}

void add_dispatch(const ExpertParallel& experts, ArgumentList& out)
{
    if (experts.dispatcher)
        out.add("--moe-token-dispatcher-type",
                *experts.dispatcher == Dispatcher::all_gather   ? "allgather"
                : *experts.dispatcher == Dispatcher::all_to_all ? "alltoall"
                                                                : "flex");
    if (experts.dispatcher == Dispatcher::deepep || experts.dispatcher == Dispatcher::hybridep)
        out.add("--moe-flex-dispatcher-backend", std::string(to_name(*experts.dispatcher)));
    out.add_if(experts.overlap_shared, "--moe-shared-expert-overlap");
    if (experts.capacity_factor)
        out.add("--moe-expert-capacity-factor", *experts.capacity_factor);
}

void add_stages(const Strategy& strategy, ArgumentList& out)
{
    const PipelineOptions& pipeline = strategy.pipeline;
    const bool counted = pipeline.account_for_embedding || pipeline.account_for_loss;
    out.add_if(pipeline.account_for_embedding, "--account-for-embedding-in-pipeline-split");
    out.add_if(pipeline.account_for_loss, "--account-for-loss-in-pipeline-split");
    if (!pipeline.layout.empty())
        out.add("--pipeline-model-parallel-layout", pipeline.layout);
    else if (!strategy.stage_layers.empty() && !counted)
        out.add("--pipeline-model-parallel-layout", layout_text(strategy.stage_layers));
    else if (strategy.vpp > 1)
        out.add("--num-virtual-stages-per-pipeline-rank", strategy.vpp);
    if (pipeline.micro_batch_group)
        out.add("--microbatch-group-size-per-virtual-pipeline-stage", *pipeline.micro_batch_group);
    out.add_if(strategy.vpp > 1 && !*strategy.overlap.pp, "--no-overlap-p2p-communication");
}

ArgumentList parallel_arguments(const Job& job)
{
    const Strategy& strategy = job.strategy;
    ArgumentList out("PARALLEL_ARGS");
    out.add("--tensor-model-parallel-size", strategy.tp);
    out.add("--pipeline-model-parallel-size", strategy.pp);
    out.add("--context-parallel-size", strategy.cp);
    out.add_if(*strategy.sequence_parallel, "--sequence-parallel");
    add_stages(strategy, out);
    if (job.model.is_moe()) {
        out.add("--expert-model-parallel-size", strategy.ep);
        out.add("--expert-tensor-parallel-size", strategy.etp);
        add_dispatch(strategy.experts, out);
    }
    out.add_if(strategy.zero == 1, "--use-distributed-optimizer");
    if (strategy.zero == 3) {
        out.add("--use-torch-fsdp2");
        out.add("--no-gradient-accumulation-fusion"); // which FSDP2 does not go with
    }
    out.add_if(strategy.zero == 3 && !*strategy.reshard_after_forward,
               "--torch-fsdp2-no-reshard-after-forward");
    if (strategy.shard_group && *strategy.shard_group > 0)
        out.add("--num-distributed-optimizer-instances",
                job.dp() * strategy.cp / *strategy.shard_group);
    out.add_if(strategy.offload.optimizer == OffloadTarget::cpu, "--optimizer-cpu-offload");
    if (strategy.offload.activation_layers > 0)
        out.add("--cpu-offloading-num-layers", strategy.offload.activation_layers);
    if (*strategy.overlap.dp && strategy.zero != 3) {
        out.add("--overlap-grad-reduce");
        out.add_if(strategy.zero == 1 && *strategy.sharding.overlap_param_gather,
                   "--overlap-param-gather");
    }
    if (strategy.cp > 1)
        add_context(strategy.context, strategy.cp, out);
    out.add_if(strategy.overlap.ep, "--overlap-moe-expert-parallel-comm");
    out.add_if(strategy.tp > 1 && *strategy.overlap.tp, "--tp-comm-overlap");
    const unsigned bytes = *job.training.fp32_gradients
                               ? 4U
                               : static_cast<unsigned>(storage_bytes(job.training.precision));
    if (strategy.zero != 3)
        out.add("--ddp-bucket-size", strategy.bucket_cap.value() / bytes);
    out.add_if(strategy.rank_order == "tp-cp-pp-dp", "--use-tp-pp-dp-mapping");
    if (strategy.backend == Backend::gloo)
        out.add("--distributed-backend", "gloo");
    return out;
}

} // namespace

std::string write_megatron(const ExportedJob& exported)
{
    std::string out = "#!/bin/bash\n";
    for (const auto& [name, value] : exported.scenario.environment)
        out += fmt::format("export {}={}\n", name, shell_word(value));
    out += "\n";
    std::vector<ArgumentList> lists;
    if (const auto* model = std::get_if<Transformer>(&exported.job.model.architecture))
        lists.push_back(model_arguments(*model));
    lists.push_back(training_arguments(exported));
    lists.push_back(parallel_arguments(exported.job));
    for (const ArgumentList& list : lists)
        out += list.text();
    const auto* model = std::get_if<Transformer>(&exported.job.model.architecture);
    out += fmt::format("torchrun --nnodes {} --nproc-per-node {} {}", exported.nodes,
                       exported.gpus_per_node,
                       model == nullptr || model->causal ? "pretrain_gpt.py" : "pretrain_bert.py");
    for (const ArgumentList& list : lists)
        out += fmt::format(" \\\n    {}", list.use());
    return out + "\n";
}

} // namespace trainyard
