#include "sim/study/jobs/megatron/megatron.h"

#include "sim/base/words.h"
#include "sim/study/jobs/adapter_arguments.h"
#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/megatron/megatron_words.h"
#include "sim/study/jobs/named_model.h"
#include "sim/study/jobs/torch/deepspeed_launch.h"
#include "sim/study/jobs/training_purpose.h"
#include "sim/study/problems.h"

#include <algorithm>
#include <array>
#include <span>

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
    Aside{"retrieval", "retro realm"},
    Aside{"a pair of retrieval encoders", "biencoder ict"},
    Aside{"an image encoder", "vit dino inpaint vision"},
    Aside{"a vision encoder", "vlm multimodal"},
    Aside{"encoders of several kinds", "mimo"},
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

// ms-swift's --model-name is what the trained one shall be called.
constexpr std::array<std::string_view, 3> swift_naming_arguments{"--model", "--mcore-model",
                                                                 "--load"};

std::span<const std::string_view> arguments_naming_models(std::string_view program)
{
    constexpr std::string_view swift = "megatron ";
    if (program.starts_with(swift))
        return swift_naming_arguments;
    return naming_arguments;
}

// Of several one that is known goes before one that is not.
void take_published_model(MegatronReader& reader)
{
    std::string_view chosen;
    for (const std::string_view name : arguments_naming_models(reader.program)) {
        const std::string value = reader.values.text(name);
        const bool known = !shipped_model_named(value).empty();
        if (known || (chosen.empty() && !value.empty()))
            chosen = name;
        if (known)
            break;
    }
    if (!chosen.empty() && !reader.draft.model)
        take_named_model(reader.values.text(chosen), reader.values.origin(chosen), reader.context);
}

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
            if (any_word(other.names,
                         [&](std::string_view word) { return file_name_has_word(starter, word); }))
            {
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
    take_published_model(reader);
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

constexpr std::string_view batch_settings =
    "train_batch_size train_micro_batch_size_per_gpu gradient_accumulation_steps";

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
        if (!has_word(batch_settings, member.first))
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
        if (std::ranges::find(own_names, argument.name) != own_names.end())
            reader.draft.ignore(origin, "of the model, which is not read");
        else if (const auto aside = megatron_aside(argument.name))
            reader.draft.ignore(origin, *aside);
        else
            reader.draft.tell_unknown(origin, argument.name, sought,
                                      of_model
                                          ? "not known here, or of the model, which is given beside"
                                          : "not known here");
    }
}

} // namespace

int megatron_names(const Arguments& arguments)
{
    return static_cast<int>(std::count_if(own_names.begin(), own_names.end(),
                                          [&](const char* n) { return arguments.contains(n); }));
}

void read_megatron(Arguments& arguments, const std::string& program, JobContext& context)
{
    JobDraft& draft = context.draft;
    put_in_own_words(arguments, draft);
    add_form_of_program(program, arguments, draft);
    MegatronReader reader{arguments, ArgumentValues(arguments, draft), draft, context, program};
    const bool named =
        std::ranges::any_of(arguments_naming_models(program),
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
