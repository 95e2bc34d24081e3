#include "sim/study/jobs/adapter_arguments.h"

#include "sim/base/fields.h"

#include <algorithm>

namespace trainyard {
namespace {

// Words for matrices beside their own names: those of Megatron's parallel layers, and all of them.
std::vector<AdapterTarget> targets_named(std::string_view word)
{
    using enum AdapterTarget;
    if (word == "all-linear" || word == "all")
        return {q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj};
    if (word == "linear_proj")
        return {o_proj};
    if (word == "linear_fc2")
        return {down_proj};
    if (const auto target = from_name<AdapterTarget>(word))
        return {*target};
    return {};
}

// "q_proj,v_proj" is two of them.
std::vector<std::string> words_of(const Argument& modules)
{
    std::vector<std::string> out;
    for (const std::string& value : modules.values)
        for (std::size_t from = 0; from <= value.size();) {
            const std::size_t end = std::min(value.find(',', from), value.size());
            if (end > from)
                out.push_back(value.substr(from, end - from));
            from = end + 1;
        }
    return out;
}

std::vector<AdapterTarget> targets_of(const Argument& modules, JobDraft& draft)
{
    std::vector<AdapterTarget> out;
    for (const std::string& module : words_of(modules)) {
        const std::vector<AdapterTarget> targets = targets_named(module);
        out.insert(out.end(), targets.begin(), targets.end());
        if (targets.empty())
            draft.refuse({modules.line, modules.text()},
                         fmt::format("{} is no matrix known here", module),
                         FieldValue<AdapterTarget>::type_name());
    }
    return out;
}

// The first of the names that is there; the first when none is.
std::string_view one_of(const Arguments& arguments, std::initializer_list<std::string_view> names)
{
    const auto* const found = std::find_if(
        names.begin(), names.end(), [&](std::string_view one) { return arguments.contains(one); });
    return found == names.end() ? *names.begin() : *found;
}

} // namespace

void read_adapters(Arguments& arguments, JobDraft& draft, const AdapterDefaults& defaults)
{
    ArgumentValues values(arguments, draft);
    const std::string_view name = one_of(arguments, {"--lora-r", "--lora-rank", "--lora-dim"});
    auto rank = values.whole(name);
    const std::string tuned =
        values.text(one_of(arguments, {"--finetuning-type", "--tuner-type", "--train-type",
                                       "--sft-type", "--adapter", "--peft-scheme", "--peft"}));
    const bool adapts = values.on("--use-lora") || values.on("--use-peft") ||
                        values.on("--use-peft-lora") || values.on("--lora") || tuned == "lora" ||
                        tuned == "qlora";
    const Argument* const modules = arguments.find(
        one_of(arguments, {"--lora-target-modules", "--lora-target", "--target-modules"}));
    if (!tuned.empty() && !adapts)
        return; // a rank that stands there anyway is of no effect
    if (adapts && !rank) {
        rank = defaults.rank;
        draft.assume(fmt::format("adapters of rank {}, {} default", defaults.rank, defaults.whose));
    }
    if (!rank)
        return;
    Lora lora;
    lora.rank = static_cast<int>(std::clamp<std::int64_t>(*rank, 0, 1 << 20));
    if (modules != nullptr)
        lora.targets = targets_of(*modules, draft);
    else {
        lora.targets = defaults.targets;
        std::string places;
        for (const AdapterTarget target : defaults.targets)
            places += fmt::format("{}{}", places.empty() ? "" : ", ", to_name(target));
        draft.assume(fmt::format("adapters on {}, {} default", places, defaults.whose));
    }
    std::optional<Lora>& field = draft.scenario.training.lora;
    if (arguments.contains(name))
        draft.take(field, lora, "training.lora", values.origin(name));
    else
        field = lora;
}

} // namespace trainyard
