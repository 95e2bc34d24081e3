#include "sim/study/jobs/launcher_settings.h"

#include "sim/base/words.h"
#include "sim/study/jobs/argument_values.h"
#include "sim/study/jobs/structured_text.h"
#include "sim/study/jobs/torch/deepspeed_launch.h"
#include "sim/study/jobs/torch/trainer_arguments.h"
#include "sim/study/jobs/training_purpose.h"
#include "sim/study/problems.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::string_view of_the_launcher = "of the launcher";
constexpr std::string_view of_loaded_weights = "of the weights as they are loaded and stored";

constexpr std::array accelerate_aside{
    Aside{of_the_launcher,
          "--compute-environment --debug --deepspeed-hostfile --deepspeed-multinode-launcher "
          "--deepspeed-inclusion-filter --deepspeed-exclusion-filter "
          "--deepspeed-moe-layer-cls-names --enable-cpu-affinity --gpu-ids --machine-rank --main- "
          "--rdzv- --same-network --tpu- --use-cpu --commands --command-file --downcast-bf16"},
    Aside{of_learning, "--gradient-clipping"},
    Aside{of_loaded_weights, "--zero3-"},
    Aside{sharded_alone, "--fsdp-min-num-params --fsdp-use-orig-params"},
    Aside{"gathers are as far ahead as FSDP's own are", "--fsdp-forward-prefetch"},
};

// Settings of a tree as arguments: sections are left out of their names, null says nothing.
void add_told_settings(const Json& tree, std::string_view prefix, int line, Arguments& out)
{
    for (const Json::Member& member : tree.members()) {
        const Json& value = member.second;
        if (value.is_object()) {
            add_told_settings(value, prefix, line, out);
            continue;
        }
        if (value.is_null())
            continue;
        std::string name = member.first;
        std::ranges::replace(name, '_', '-');
        name = fmt::format("--{}{}", name.starts_with(prefix) ? std::string_view() : prefix, name);
        out.add({std::move(name),
                 {value.is_string() ? value.as_string() : to_text(value, JsonStyle::compact)},
                 line});
    }
}

class LauncherSettingsReader {
public:
    LauncherSettingsReader(Arguments told, Arguments& arguments, JobContext& context)
        : told_(std::move(told)),
          values_(told_, context.draft),
          arguments_(arguments),
          context_(context),
          draft_(context.draft)
    {}

    bool on(std::string_view name) { return values_.on(name); }

    // Without looking at it: where it says what is usual it is listed as set aside.
    std::string written(std::string_view name) const
    {
        const Argument* const told = told_.last(name);
        return told == nullptr || told->values.empty() ? std::string() : told->values.front();
    }
    std::string text(std::string_view name) { return values_.text(name); }

    void add(std::string argument, std::string value, std::string_view from)
    {
        if (arguments_.contains(argument))
            return;
        const Origin origin = values_.origin(from);
        Argument out{std::move(argument), {}, origin.line, origin.setting};
        if (!value.empty())
            out.values.push_back(std::move(value));
        arguments_.add(std::move(out));
    }

    // PyTorch's strategies, by name or by number from 1 on; FSDP 2 says whether it gathers anew.
    void fsdp(std::string_view from)
    {
        constexpr std::array<std::string_view, 5> strategies{
            "full_shard", "shard_grad_op", "no_shard", "hybrid_shard", "hybrid_shard_zero2"};
        std::string_view name = "--fsdp-sharding-strategy";
        std::string strategy = lower_case(text(name));
        const std::string reshard = lower_case(text("--fsdp-reshard-after-forward"));
        if (strategy.empty() && reshard.find("shard") != std::string::npos) {
            name = "--fsdp-reshard-after-forward";
            strategy = reshard;
        }
        if (strategy.size() == 1 && strategy[0] >= '1' && strategy[0] <= '5')
            strategy = strategies[static_cast<std::size_t>(strategy[0] - '1')];
        if (!strategy.empty() && std::ranges::find(strategies, strategy) == strategies.end())
            draft_.flag(values_.origin(name), "is no strategy known here, taken as FULL_SHARD");
        if (strategy == "no_shard")
            draft_.assume(values_.origin(name), "whole copies, as DDP has them");
        else
            add("--fsdp", strategy.empty() ? "full_shard" : strategy,
                strategy.empty() ? from : name);
        if (reshard == "false")
            add("--no-reshard-after-forward", "", "--fsdp-reshard-after-forward");
        for (const std::string_view offload : {"--fsdp-offload-params", "--fsdp-cpu-offload"})
            if (on(offload))
                add("--fsdp-offload", "", offload);
        if (on("--fsdp-activation-checkpointing"))
            add("--gradient-checkpointing", "", "--fsdp-activation-checkpointing");
        if (on("--fsdp-pure-bf16"))
            add("--pure-bf16", "", "--fsdp-pure-bf16");
        if (const std::string policy = lower_case(written("--fsdp-auto-wrap-policy"));
            policy == "no_wrap")
            draft_.flag(values_.origin("--fsdp-auto-wrap-policy"),
                        "the model is one unit, modelled as one for each layer: its parameters are "
                        "gathered at once and take more memory");
        if (lower_case(written("--fsdp-limit-all-gathers")) == "false")
            draft_.flag(values_.origin("--fsdp-limit-all-gathers"),
                        "gathers may run far ahead, which takes more memory than modelled");
        for (const std::string_view prefetch :
             {"--fsdp-backward-prefetch", "--fsdp-backward-prefetch-policy"})
            if (const std::string policy = lower_case(text(prefetch));
                policy.starts_with("no") || policy.find("post") != std::string::npos)
                draft_.flag(values_.origin(prefetch),
                            "parameters are gathered later than modelled");
    }

    // As the configuration that accelerate makes of its own settings.
    void deepspeed(std::string_view from)
    {
        if (arguments_.contains("--deepspeed"))
            return;
        if (const std::string file = text("--deepspeed-config-file"); !file.empty())
            return add("--deepspeed", file, "--deepspeed-config-file");
        constexpr int usual = 2;
        Json config = Json::object();
        Json& zero = config["zero_optimization"];
        zero["stage"] = values_.whole("--zero-stage").value_or(usual);
        if (!told_.contains("--zero-stage"))
            draft_.assume("ZeRO 2, accelerate's default");
        for (const std::string what : {"optimizer", "param"})
            if (const std::string device = text(fmt::format("--offload-{}-device", what));
                !device.empty())
                zero["offload_" + what]["device"] = device;
        config["bf16"]["enabled"] = "auto";
        const std::string name = "accelerate's DeepSpeed.json"; // no file is called so
        context_.written[name] = to_text(config);
        add("--deepspeed", name, told_.contains("--zero-stage") ? "--zero-stage" : from);
        accumulation();
    }

    void formats_and_degrees()
    {
        const std::string mixed = text("--mixed-precision");
        if (mixed == "bf16" || mixed == "fp16" || mixed == "fp8")
            add("--mixed-precision", mixed, "--mixed-precision");
        const std::string compiler = lower_case(text("--dynamo-backend"));
        if (!compiler.empty() && compiler != "no")
            add("--torch-compile", "", "--dynamo-backend");
        for (const std::string degree : {"tp", "dp-shard", "dp-replicate"})
            pass_on(fmt::format("--parallelism-config-{}-size", degree),
                    fmt::format("--{}-size", degree));
        pass_on("--parallelism-config-cp-size", "--context-parallel-size");
        pass_on("--parallelism-config-sp-size", "--sequence-parallel-size");
        accumulation();
    }

    void list_unseen()
    {
        const SoughtNames sought = told_.sought();
        for (const Argument& one : told_.unseen()) {
            const Origin origin{one.line, one.text()};
            if (const auto why = why_aside(accelerate_aside, one.name))
                draft_.ignore(origin, *why);
            else if (const auto of_trainers = trainer_aside(one.name))
                draft_.ignore(origin, *of_trainers);
            else
                draft_.tell_unknown(origin, one.name, sought);
        }
    }

private:
    void accumulation()
    {
        pass_on("--gradient-accumulation-steps", "--gradient-accumulation-steps");
    }

    void pass_on(std::string_view name, std::string argument)
    {
        if (const std::string value = text(name); !value.empty() && value != "auto")
            add(std::move(argument), value, name);
    }

    Arguments told_;
    ArgumentValues values_;
    Arguments& arguments_;
    JobContext& context_;
    JobDraft& draft_;
};

void take_told_ranks(LauncherSettingsReader& told, const Origin& origin, JobDraft& draft)
{
    const int ranks = std::atoi(told.text("--num-processes").c_str());
    const int nodes = std::max(1, std::atoi(told.text("--num-machines").c_str()));
    if (ranks < 1 || ranks > 1'000'000 || ranks % nodes != 0 || draft.size.gpus_per_node ||
        draft.size.nodes)
        return;
    draft.size.nodes = nodes;
    draft.size.gpus_per_node = ranks / nodes;
    draft.understand(origin, fmt::format("{} nodes of {} GPUs", nodes, ranks / nodes));
}

} // namespace

bool has_launcher_settings(const Launch& launch)
{
    return !launch.config.text.empty() || !launch.settings.empty();
}

void read_launcher_settings(const Launch& launch, Arguments& arguments, JobContext& context)
{
    JobDraft& draft = context.draft;
    const std::string& path = launch.config.text;
    const int line = launch.config.line();
    const std::string name = path.substr(path.rfind('/') + 1);
    const std::optional<std::string> text = path.empty() ? std::nullopt : context.beside(path);
    const Checked<Json> json = text ? parse_yaml(*text, path) : Checked<Json>(Json::object());
    if (!json) {
        append(draft.problems, json.error());
        return;
    }
    Arguments settings;
    if (json->is_object())
        add_told_settings(*json, "", line, settings);
    const Arguments options(launch.settings); // said over it
    for (const Argument& one : options.all())
        settings.add(one);
    LauncherSettingsReader told(std::move(settings), arguments, context);
    const std::string type = told.text("--distributed-type");
    const auto stage = deepspeed_stage_in(name);
    const bool unread = !path.empty() && !text;
    draft.settings_elsewhere = draft.settings_elsewhere || unread;
    if (told.on("--use-fsdp"))
        told.fsdp("--use-fsdp");
    else if (told.on("--use-deepspeed"))
        told.deepspeed("--use-deepspeed");
    else if (type == "FSDP" || (unread && name.find("fsdp") != std::string::npos))
        told.fsdp("--distributed-type");
    else if (type == "DEEPSPEED")
        told.deepspeed("--distributed-type");
    else if (unread && stage)
        arguments.add({"--deepspeed", {name}, line});
    else if (unread)
        draft.flag(fmt::format("{}: how it shards is not known: as DDP", path));
    else if (type == "MEGATRON_LM")
        draft.flag({line, path}, "its settings of Megatron-LM are not read: as DDP");
    for (const std::string_view format : {"bf16", "fp16"})
        if (unread && name.find(format) != std::string::npos)
            arguments.add({"--mixed-precision", {std::string(format)}, line});
    told.formats_and_degrees();
    take_told_ranks(told, {line, path}, draft);
    told.list_unseen();
}

void read_fsdp_config(Arguments& arguments, JobContext& context)
{
    constexpr std::string_view option = "--fsdp-config";
    const bool sharded = arguments.contains("--fsdp");
    if (!sharded && !arguments.contains("--enable-fsdp"))
        return; // they are of no effect
    Arguments settings;
    const std::vector<Argument> all = arguments.all();
    for (const Argument& one : all)
        if (one.name.starts_with("--fsdp-config.") && arguments.has(one.name)) {
            std::string name = one.name.substr(option.size() + 1);
            name = fmt::format("--{}{}", name.starts_with("fsdp-") ? "" : "fsdp-", name);
            settings.add({std::move(name), one.values, one.line, one.text()});
        }
    const Argument* const config =
        sharded && arguments.contains(option) ? arguments.find(option) : nullptr;
    if (config != nullptr && !config->values.empty()) {
        const std::string given = config->values.front();
        const std::optional<std::string> text =
            given.starts_with('{') ? given : context.beside(given);
        const Checked<Json> json =
            text ? parse_yaml(*text, given) : Checked<Json>(Json::object()); // YAML has JSON in it
        if (!json) {
            append(context.draft.problems, json.error());
            return;
        }
        if (json->is_object())
            add_told_settings(*json, "fsdp-", config->line, settings);
    }
    if (settings.empty())
        return;
    LauncherSettingsReader told(std::move(settings), arguments, context);
    told.fsdp(sharded ? option : "--enable-fsdp");
    arguments.find("--enable-fsdp"); // which --fsdp says now
    told.list_unseen();
}

} // namespace trainyard
