#include "sim/study/jobs/torch/deepspeed_launch.h"

#include "sim/study/jobs/argument_values.h"
#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/setting_tree.h"
#include "sim/study/jobs/structured_text.h"
#include "sim/study/jobs/torch/trainer_arguments.h"
#include "sim/study/problems.h"

#include <algorithm>
#include <array>

namespace trainyard {

std::optional<int> deepspeed_stage_in(std::string_view path)
{
    for (int stage = 0; stage <= 3; ++stage) {
        for (const std::string_view word : {"zero", "stage", "z", "zero_", "zero-", "stage_"})
            if (path.find(fmt::format("{}{}", word, stage)) != std::string_view::npos)
                return stage;
        const std::size_t letter = path.find(fmt::format("_s{}", stage)); // "config_s2.json"
        if (letter != std::string_view::npos &&
            (letter + 3 == path.size() || path[letter + 3] == '.' || path[letter + 3] == '_'))
            return stage;
    }
    return std::nullopt;
}

Checked<Json> deepspeed_config(const std::string& path, std::optional<std::int64_t> stated_stage,
                               JobContext& context)
{
    const bool file = path.find('.') != std::string::npos;
    if (const std::optional<std::string> text = file ? context.beside(path) : std::nullopt)
        return parse_json(*text, path);
    context.draft.settings_elsewhere = true;
    Json out = Json::object();
    const std::optional<int> stage = deepspeed_stage_in(path.substr(path.rfind('/') + 1));
    out["zero_optimization"]["stage"] = stated_stage.value_or(stage.value_or(0));
    out["bf16"]["enabled"] = "auto"; // the arguments say
    context.draft.assume(
        stated_stage ? fmt::format("ZeRO {}, as the arguments say: {} is not there", *stated_stage,
                                   path.empty() ? "the configuration" : path)
        : stage      ? fmt::format("ZeRO {}, as {} is called", *stage, path)
                     : fmt::format("ZeRO 0: {} is not there, and its name says nothing", path));
    return out;
}

void read_deepspeed_launch(const Argument& config, Arguments& arguments, JobContext& context)
{
    const std::string path = config.values.empty() ? std::string() : config.values.front();
    ArgumentValues values(arguments, context.draft);
    std::optional<std::int64_t> stage; // where the file does not lie there
    for (const std::string_view name : {"--zero-stage", "--ds-stage"})
        if (!stage && arguments.contains(name))
            stage = values.whole(name);
    const Checked<Json> json = deepspeed_config(path, stage, context);
    if (!json) {
        append(context.draft.problems, json.error());
        return;
    }
    context.draft.understand({config.line, config.text()}, "the configuration of DeepSpeed");
    // Its own values win; "auto" means those of the trainer.
    read_trainer_arguments(arguments, context, TrainerFor::deepspeed);
    Json own = *json;
    own.set_lines(0);
    SettingTree settings(std::move(own));
    read_deepspeed(settings, context);
}

void read_zero_arguments(std::string_view stage_name, Arguments& arguments, JobContext& context)
{
    ArgumentValues values(arguments, context.draft);
    const auto stage = values.whole(stage_name);
    if (!stage)
        values.refuse_unknown(stage_name);
    constexpr std::array<std::string_view, 5> formats{"--bf16", "--fp16", "--dtype", "--precision",
                                                      "--mixed-precision"};
    if (std::ranges::none_of(formats,
                             [&](std::string_view one) { return arguments.contains(one); })) {
        arguments.add({"--fp16", {}, 0});
        context.draft.assume("fp16, as DeepSpeed-Chat's programs have it where no argument says");
    }
    Json config = Json::object();
    config["zero_optimization"]["stage"] = stage.value_or(0);
    for (const std::string_view name :
         {"--offload", "--adam-offload", "--offload-optimizer", "--cpu-offload"})
        if (values.on(name)) {
            context.draft.understand(values.origin(name), "states of the optimizer on the host");
            config["zero_optimization"]["offload_optimizer"]["device"] = "cpu";
        }
    config["bf16"]["enabled"] = "auto"; // the other arguments say
    context.draft.understand(values.origin(stage_name), "the configuration of DeepSpeed");
    read_trainer_arguments(arguments, context, TrainerFor::deepspeed);
    SettingTree settings(std::move(config));
    read_deepspeed(settings, context);
}

} // namespace trainyard
