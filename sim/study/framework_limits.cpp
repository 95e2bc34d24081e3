#include "sim/study/framework_limits.h"

#include "sim/base/spelling.h"
#include "sim/base/words.h"
#include "sim/strategy/misfits.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

constexpr int highest_zero = 3;

// Its distributed optimizer is stage 1; stage 3 is PyTorch's FSDP2, which the asserts of
// megatron/training/arguments.py keep from what is named here.
FrameworkLimits megatron()
{
    return {.name = "Megatron-LM",
            .schedules = {"1f1b", "interleaved-1f1b"},
            .zero_with_stages = 1,
            .zero_with_experts = 1,
            .zero_with_tied_embeddings = 1,
            .zero_in_fp16 = 1};
}

// Its pipeline engine takes no stage beyond 1 (deepspeed/runtime/pipe/engine.py) and has one
// schedule of training.
FrameworkLimits deepspeed()
{
    return {.name = "DeepSpeed",
            .schedules = {"1f1b"},
            .has_virtual_stages = false,
            .zero_with_stages = 1};
}

// torch.distributed.pipelining, torchtitan's too.
FrameworkLimits torch()
{
    return {
        .name = "PyTorch",
        .schedules = {"gpipe", "1f1b", "interleaved-1f1b", "breadth-first", "zb-v", "dualpipev"}};
}

bool is_tied(const Model& model)
{
    const auto* const transformer = std::get_if<Transformer>(&model.architecture);
    return transformer != nullptr && transformer->tied_embeddings;
}

} // namespace

bool FrameworkLimits::has_schedule(std::string_view schedule) const
{
    return schedules.empty() || std::ranges::find(schedules, schedule) != schedules.end();
}

int FrameworkLimits::most_zero(const Model& model, const Training& training) const
{
    return std::min(is_tied(model) ? zero_with_tied_embeddings : highest_zero,
                    training.precision == Precision::fp16 ? zero_in_fp16 : highest_zero);
}

FrameworkLimits framework_limits(std::string_view framework)
{
    const std::string name = plain_name(framework);
    const auto is_of = [&](std::string_view words) {
        return any_word(words, [&](std::string_view word) { return name.find(word) != name.npos; });
    };
    if (is_of("deepspeed"))
        return deepspeed();
    if (is_of("megatron mcore nemo primus"))
        return megatron();
    return is_of("titan torch fsdp") ? torch() : FrameworkLimits{};
}

std::optional<Diagnostic> refusal_by(const FrameworkLimits& limits, const Job& job)
{
    struct Limit {
        bool holds;
        int most;
        std::string with;
        const char* instead;
    };
    const Strategy& strategy = job.strategy;
    const std::array known{
        Limit{strategy.pp > 1, limits.zero_with_stages,
              fmt::format("{} stages of a pipeline", strategy.pp), "pp 1"},
        Limit{strategy.ep > 1, limits.zero_with_experts,
              fmt::format("experts over {} ranks", strategy.ep), "ep 1"},
        Limit{is_tied(job.model), limits.zero_with_tied_embeddings,
              "embeddings that are the head's weights", "untied embeddings"},
        Limit{job.training.precision == Precision::fp16, limits.zero_in_fp16, "fp16", "bf16"}};
    for (const Limit& limit : known)
        if (limit.holds && strategy.zero > limit.most)
            return refusal("/strategy/zero",
                           fmt::format("{} does not start ZeRO-{} with {}", limits.name,
                                       strategy.zero, limit.with),
                           fmt::format("zero {}, or {}", limit.most, limit.instead));
    return std::nullopt;
}

} // namespace trainyard
