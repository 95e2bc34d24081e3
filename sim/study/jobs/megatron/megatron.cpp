#include "sim/study/jobs/megatron/megatron.h"

#include "sim/study/jobs/adapter_arguments.h"
#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/launch_program.h"
#include "sim/study/jobs/named_model.h"
#include "sim/study/jobs/training_purpose.h"
#include "sim/study/problems.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

// Names that only Megatron-LM's jobs have.
constexpr std::array own_names{"--num-layers",
                               "--hidden-size",
                               "--num-attention-heads",
                               "--seq-length",
                               "--max-position-embeddings",
                               "--tensor-model-parallel-size",
                               "--pipeline-model-parallel-size",
                               "--micro-batch-size",
                               "--global-batch-size",
                               "--ffn-hidden-size",
                               "--use-distributed-optimizer"};

constexpr std::string_view of_learning = "of the learning, not of the time of a step";
constexpr std::string_view of_data = "of the data, not of the time of a step";
constexpr std::string_view of_files = "of checkpoints and logs, which are not part of a step";
constexpr std::string_view of_numbers = "of the numerics, within the noise of a step's time";
constexpr std::string_view as_modelled = "as the kernels of the framework's class already are";
constexpr std::string_view fused_anyway = "modelled with the fused kernel, which takes less time";

// By the beginning of the name.
constexpr std::array arguments_aside{
    Aside{"--lr", of_learning},
    Aside{"--min-lr", of_learning},
    Aside{"--weight-decay", of_learning},
    Aside{"--start-weight-decay", of_learning},
    Aside{"--end-weight-decay", of_learning},
    Aside{"--adam-", of_learning},
    Aside{"--sgd-", of_learning},
    Aside{"--clip-grad", of_learning},
    Aside{"--train-iters", of_learning},
    Aside{"--train-samples", of_learning},
    Aside{"--init-method", of_learning},
    Aside{"--seed", of_learning},
    Aside{"--loss-scale", of_learning},
    Aside{"--initial-loss-scale", of_learning},
    Aside{"--min-loss-scale", of_learning},
    Aside{"--hysteresis", of_learning},
    Aside{"--moe-aux-loss-coeff", of_learning},
    Aside{"--moe-z-loss-coeff", of_learning},
    Aside{"--moe-router-load-balancing-type", of_learning},
    Aside{"--moe-router-score-function", of_numbers},
    Aside{"--moe-router-pre-softmax", of_numbers},
    Aside{"--moe-router-topk-scaling-factor", of_numbers},
    Aside{"--moe-router-enable-expert-bias", of_numbers},
    Aside{"--moe-router-bias-update-rate", of_learning},
    Aside{"--data-", of_data},
    Aside{"--dataloader-type", of_data},
    Aside{"--split", of_data},
    Aside{"--train-data-path", of_data},
    Aside{"--valid-data-path", of_data},
    Aside{"--mock-data", of_data},
    Aside{"--tokenizer-", of_data},
    Aside{"--vocab-file", of_data},
    Aside{"--merge-file", of_data},
    Aside{"--num-workers", of_data},
    Aside{"--no-create-attention-mask-in-dataloader", of_data},
    Aside{"--num-dataset-builder-threads", of_data},
    Aside{"--reset-", of_data},
    Aside{"--eod-mask-loss", of_data},
    Aside{"--save", of_files},
    Aside{"--load", of_files},
    Aside{"--no-load", of_files},
    Aside{"--no-save", of_files},
    Aside{"--ckpt-", of_files},
    Aside{"--dist-ckpt", of_files},
    Aside{"--use-dist-ckpt", of_files},
    Aside{"--auto-detect-ckpt-format", of_files},
    Aside{"--async-save", of_files},
    Aside{"--log-", of_files},
    Aside{"--tensorboard", of_files},
    Aside{"--wandb", of_files},
    Aside{"--timing-log", of_files},
    Aside{"--eval-", of_files},
    Aside{"--exit-", of_files},
    Aside{"--profile", of_files},
    Aside{"--finetune", of_files},
    Aside{"--norm-epsilon", of_numbers},
    Aside{"--rotary-base", of_numbers},
    Aside{"--rotary-percent", of_numbers},
    Aside{"--rotary-scaling-factor", of_numbers},
    Aside{"--rotary-seq-len-interpolation-factor", of_numbers},
    Aside{"--use-rope-scaling", of_numbers},
    Aside{"--rope-scaling-factor", of_numbers},
    Aside{"--mscale", of_numbers},
    Aside{"--attention-softmax-in-fp32", of_numbers},
    Aside{"--apply-layernorm-1p", of_numbers},
    Aside{"--fp8-margin", of_numbers},
    Aside{"--fp8-interval", of_numbers},
    Aside{"--fp8-amax", of_numbers},
    Aside{"--no-masked-softmax-fusion", "of effect with unfused attention alone"},
    Aside{"--no-bias-", fused_anyway},
    Aside{"--bias-", as_modelled},
    Aside{"--no-rope-fusion", fused_anyway},
    Aside{"--apply-rope-fusion", as_modelled},
    Aside{"--no-gradient-accumulation-fusion", fused_anyway},
    Aside{"--cross-entropy", as_modelled},
    Aside{"--use-mcore-models", as_modelled},
    Aside{"--transformer-impl", "kernels beside attention are those of the framework's class"},
    Aside{"--moe-grouped-gemm", as_modelled},
    Aside{"--moe-permute-fusion", as_modelled},
    Aside{"--moe-router-fusion", as_modelled},
    Aside{"--moe-router-dtype", as_modelled},
    Aside{"--manual-gc", as_modelled},
    Aside{"--no-async-tensor-model-parallel-allreduce", as_modelled},
    Aside{"--distributed-backend", as_modelled},
};

void read_software(MegatronReader& reader)
{
    SoftwareChoice& software = reader.draft.scenario.software;
    software.framework = "megatron-core";
    if (reader.arguments.contains("--deepspeed"))
        return; // which brings its own
    if (reader.values.on("--use-legacy-models")) {
        reader.draft.take(software.framework, std::string("Megatron-LM"), "software.framework",
                          reader.values.origin("--use-legacy-models"));
        software.version = "2022";
        return;
    }
    reader.draft.assume("Megatron-Core as of 2024: no argument states the release "
                        "(--set software.version=0.14 does)");
}

// What starts models whose parts beside the decoder the arguments do not state.
constexpr std::array other_programs{
    Aside{"retro", "retrieval"},
    Aside{"ict", "a pair of retrieval encoders"},
    Aside{"vlm", "a vision encoder"},
    Aside{"vision", "an image encoder"},
    Aside{"multimodal", "a vision encoder"},
    Aside{"mimo", "encoders of several kinds"},
    Aside{"realm", "retrieval"},
};

// A launcher of published models: ms-swift, Megatron-Bridge, Primus.
constexpr std::array<std::string_view, 8> naming_arguments{"--model",
                                                           "--hf-path",
                                                           "--hf-model-id",
                                                           "--hf-model-path",
                                                           "--pretrained-checkpoint",
                                                           "--model-name-or-path",
                                                           "--model-name",
                                                           "--recipe"};

// A published model may be started with other layers than it has.
void take_depth(MegatronReader& reader)
{
    JobDraft& draft = reader.draft;
    const auto depth = reader.values.whole("--num-layers");
    auto* const layers =
        draft.model ? std::get_if<Transformer>(&draft.model->architecture) : nullptr;
    constexpr std::int64_t most = 100'000;
    if (!depth || layers == nullptr || layers->layers == *depth)
        return;
    if (*depth < 1 || *depth > most || !layers->pattern.empty())
        return draft.refuse(
            reader.values.origin("--num-layers"),
            fmt::format("{} has {} layers of its own", draft.model->name, layers->layers),
            "--model FILE gives another model");
    draft.scenario.model = {};
    draft.take(layers->layers, *depth, "model.layers", reader.values.origin("--num-layers"));
}

// A published model with latent attention may be started without it: with as many keys and values
// as queries. Which size their heads have, Megatron-LM takes from kv_channels.
void take_ordinary_attention(MegatronReader& reader)
{
    constexpr std::string_view name = "--multi-latent-attention";
    JobDraft& draft = reader.draft;
    auto* const model =
        draft.model ? std::get_if<Transformer>(&draft.model->architecture) : nullptr;
    if (model == nullptr || !model->latent || !reader.arguments.contains(name) ||
        reader.values.on(name))
        return;
    draft.scenario.model = {};
    model->head_dim = model->latent->v_head_dim;
    if (const auto size = reader.values.whole("--kv-channels"))
        draft.take(model->head_dim, *size, "model.head_dim", reader.values.origin("--kv-channels"));
    else
        draft.assume(fmt::format("heads of {}, as wide as the model's values", model->head_dim));
    model->kv_heads = model->heads;
    model->latent.reset();
    draft.understand(reader.values.origin(name), "keys and values of their own for every head");
}

void read_any_model(MegatronReader& reader)
{
    const std::string provider = reader.values.text("--model-provider");
    for (const Aside& other : other_programs)
        for (const std::string& starter : {reader.program, provider})
            if (starter.find(other.prefix) != std::string::npos) {
                reader.draft.refuse({},
                                    fmt::format("{}: its model has {}, which the arguments do not "
                                                "describe",
                                                starter, other.why),
                                    "decoders, hybrids, T5 and BERT are read; --model FILE names "
                                    "another");
                return;
            }
    if (reader.arguments.contains("--vision-model-type") ||
        reader.arguments.contains("--disable-vision-class-token"))
    {
        reader.draft.refuse({},
                            "its model has a vision encoder, which the arguments do not describe",
                            "--model FILE names another");
        return;
    }
    if (reader.described)
        return read_megatron_model(reader);
    for (const std::string_view name : naming_arguments)
        if (const std::string value = reader.values.text(name);
            !value.empty() && !reader.draft.model)
            take_named_model(value, reader.values.origin(name), reader.context);
    take_depth(reader);
    take_ordinary_attention(reader);
    if (!reader.draft.model && reader.draft.unknown_model.empty())
        return read_megatron_model(reader); // says what is missing
    require_model(reader.context, "the arguments");
}

// Of process groups, in minutes.
void read_timeout(MegatronReader& reader)
{
    const std::string_view name = "--distributed-timeout-minutes";
    const auto minutes = reader.values.whole(name);
    constexpr std::int64_t most = 1'000'000;
    if (!minutes)
        return;
    if (*minutes < 1 || *minutes > most)
        reader.draft.refuse(reader.values.origin(name), "is no time to wait", "1 to 1000000");
    else
        reader.draft.take(reader.draft.scenario.software.timeout,
                          Seconds(60.0 * static_cast<double>(*minutes)), "software.timeout",
                          reader.values.origin(name));
}

constexpr std::array<std::string_view, 3> batch_settings{
    "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"};

// Megatron-DeepSpeed: "--deepspeed --deepspeed_config FILE --zero-stage 1". The file shards; of
// batches it repeats what the arguments say.
void read_deepspeed_part(MegatronReader& reader)
{
    const bool on = reader.values.on("--deepspeed");
    const auto stage = reader.values.whole("--zero-stage");
    const std::string_view name = reader.values.either("--deepspeed-config", "--ds-config");
    const Argument* const config = reader.arguments.find(name);
    if (!on || has_errors(reader.draft.problems))
        return;
    reader.draft.take(reader.draft.scenario.software.framework, std::string("deepspeed"),
                      "software.framework", reader.values.origin("--deepspeed"));
    const std::string path =
        config == nullptr || config->values.empty() ? std::string() : config->values.front();
    Checked<Json> json = deepspeed_config(path, stage, reader.context);
    if (!json)
        return append(reader.draft.problems, json.error());
    json->set_lines(0);
    Json shards = Json::object();
    for (const Json::Member& member : json->members())
        if (std::find(batch_settings.begin(), batch_settings.end(), member.first) ==
            batch_settings.end())
            shards[member.first] = member.second;
    SettingTree settings(std::move(shards));
    read_deepspeed(settings, reader.context);
}

void list_unseen(MegatronReader& reader)
{
    const SoughtNames sought = reader.arguments.sought();
    const bool of_model = reader.draft.scenario.model.given();
    for (const Argument& argument : reader.arguments.unseen()) {
        const Origin origin{argument.line, argument.text()};
        if (const auto aside = megatron_aside(argument.name))
            reader.draft.ignore(origin, *aside);
        else
            reader.draft.ignore_unknown(
                origin, argument.name, sought,
                of_model ? "not known here, or of the model, which is given beside"
                         : "not known here");
    }
}

} // namespace

std::optional<std::string_view> megatron_aside(std::string_view name)
{
    return why_aside(arguments_aside, name);
}

int megatron_names(const Arguments& arguments)
{
    return static_cast<int>(std::count_if(own_names.begin(), own_names.end(),
                                          [&](const char* n) { return arguments.contains(n); }));
}

void read_megatron(Arguments& arguments, const std::string& program, JobContext& context)
{
    JobDraft& draft = context.draft;
    MegatronReader reader{arguments, ArgumentValues(arguments, draft), draft, context, program};
    const bool named = std::any_of(naming_arguments.begin(), naming_arguments.end(),
                                   [&](std::string_view name) { return arguments.contains(name); });
    reader.described =
        arguments.contains("--hidden-size") || (!named && arguments.contains("--num-layers"));
    read_software(reader);
    if (!draft.scenario.model.given() && !draft.model)
        read_any_model(reader);
    read_megatron_strategy(reader);
    read_megatron_training(reader);
    read_timeout(reader);
    flag_purpose(reader.values, draft);
    read_adapters(arguments, draft,
                  {32,
                   {AdapterTarget::linear_qkv, AdapterTarget::o_proj, AdapterTarget::linear_fc1,
                    AdapterTarget::down_proj},
                   "Megatron-Bridge's"});
    read_deepspeed_part(reader);
    list_unseen(reader);
}

} // namespace trainyard
