#include "sim/study/jobs/class_model.h"

#include "sim/base/words.h"
#include "sim/study/problems.h"
#include "sim/workload/huggingface/defaults.h"
#include "sim/workload/model_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

// GPT2Config's own names for its sizes.
constexpr std::array gpt2_sizes{HfDefault{"vocab_size", 50257}, HfDefault{"n_embd", 768},
                                HfDefault{"n_layer", 12}, HfDefault{"n_head", 12},
                                HfDefault{"n_positions", 1024}};

std::span<const HfDefault> sizes_of_class(std::string_view model_type)
{
    return model_type == "gpt2" ? std::span<const HfDefault>(gpt2_sizes) : hf_defaults(model_type);
}

} // namespace

bool take_class_model(const std::string& model_type, const std::string& overrides,
                      const Origin& origin, JobContext& context)
{
    JobDraft& draft = context.draft;
    const std::span<const HfDefault> sizes = sizes_of_class(model_type);
    if (sizes.empty() || draft.model || draft.scenario.model.given())
        return false;
    Json config = Json::object();
    config["model_type"] = model_type;
    for (const HfDefault& size : sizes)
        config[std::string(size.key)] = size.value;
    for (std::size_t from = 0; from < overrides.size();) {
        const std::size_t end = std::min(overrides.find(',', from), overrides.size());
        const std::string one(trimmed(std::string_view(overrides).substr(from, end - from)));
        const std::size_t equals = one.find('=');
        const std::string key = one.substr(0, equals);
        const Checked<Json> value = parse_json(
            equals == std::string::npos ? std::string() : one.substr(equals + 1), "override");
        if (!value)
            draft.flag(origin, one + ": is no value known here");
        else if (std::ranges::find(sizes, key, &HfDefault::key) == sizes.end())
            draft.flag(origin, fmt::format("{}: \"{}\" has no such size known here; it stays as "
                                           "the class has it",
                                           one, model_type));
        else
            config[key] = *value;
        from = end + 1;
    }
    Checked<Model> model = read_model(config, draft.file());
    if (model) {
        draft.model = std::move(*model);
        draft.model->name = model_type;
        draft.understand(origin, "the model, from random weights");
    } else
        append(draft.problems, model.error());
    draft.model_refused = !draft.model;
    return true;
}

} // namespace trainyard
