#include "sim/study/jobs/parts_of_a_step.h"

#include "sim/base/words.h"

#include <algorithm>

namespace trainyard {
namespace {

// As names of settings have them, at the begin or the end of a word: "--checkpointed-activations",
// "--deepnorm".
constexpr std::string_view parts_of_a_step =
    "attention attn activation checkpoint recompute parallel vocab glu norm tie expert moe head "
    "layer batch seq pipe stage mamba deltanet linear hidden ffn mlp mtp window offload shard "
    "zero fsdp overlap precision fp8 fp16 fp32 bf16 dtype dropout position latent lora memory "
    "freeze quantiz cpu l2l delay partition vision image audio video";

// "--checkpoint-dir", "--image-folder", "--checkpoint-interval": where something lies, how often it
// is done.
bool names_a_place_or_a_pace(std::string_view name)
{
    constexpr std::string_view ends = "dir path paths folder file root freq interval every";
    return has_word(ends, name.substr(name.rfind('-') + 1));
}

bool is_of_a_step(std::string_view word)
{
    return any_word(parts_of_a_step, [&](std::string_view part) {
        return word.starts_with(part) || word.ends_with(part);
    });
}

} // namespace

bool names_a_part_of_a_step(std::string_view name)
{
    if (names_a_place_or_a_pace(name))
        return false;
    while (!name.empty()) {
        const std::size_t end = std::min(name.find_first_of("-."), name.size());
        if (is_of_a_step(name.substr(0, end)))
            return true;
        name = name.substr(std::min(end + 1, name.size()));
    }
    return false;
}

} // namespace trainyard
