#include "sim/study/jobs/training_purpose.h"

#include "sim/base/words.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace trainyard {
namespace {

constexpr std::string_view beyond_what = "passes over pairs, of a frozen model or to generate are "
                                         "not modelled, taken as training on text";

constexpr std::string_view beyond_text = "dpo kto orpo rm ppo gkd grpo gold reward";

// Arguments that say what for, and whether any value of theirs is beyond training on text.
struct PurposeArgument {
    std::string_view name;
    bool whichever = false;
};
constexpr std::array purposes{
    PurposeArgument{"--stage"},
    PurposeArgument{"--rl", true},
    PurposeArgument{"--rlhf-type", true},
    PurposeArgument{"--trainer-type"},
    PurposeArgument{"--advantage-estimator", true},
    PurposeArgument{"--num-rollout", true},
};

constexpr std::array<std::string_view, 13> unmodelled{"--reward-model",
                                                      "--mixture-of-depths",
                                                      "--use-galore",
                                                      "--use-apollo",
                                                      "--use-badam",
                                                      "--use-adam-mini",
                                                      "--use-llama-pro",
                                                      "--use-kt",
                                                      "--optimizer-in-bwd",
                                                      "--activation-offloading",
                                                      "--enable-activation-offloading",
                                                      "--unfrozen-parameters",
                                                      "--lisa-n-layers"};

} // namespace

void flag_purpose_of(const std::string& program, JobDraft& draft)
{
    const std::string name = lower_case(program.substr(program.find_last_of('/') + 1));
    for (std::size_t from = 0; from < name.size();) {
        const std::size_t end = std::min(name.find_first_of("_-. ", from), name.size());
        const std::string word = name.substr(from, end - from);
        if (has_word(beyond_text, word))
            return draft.flag({0, program}, beyond_what);
        from = end + 1;
    }
}

void flag_purpose(ArgumentValues& values, JobDraft& draft)
{
    for (const auto& [name, whichever] : purposes) {
        std::string said = lower_case(values.text(name));
        said = said.substr(said.rfind('_') + 1); // "TRL_DPO"
        const bool named = whichever && !said.empty();
        if (named || has_word(beyond_text, said))
            draft.flag(values.origin(name), beyond_what);
    }
    for (const std::string_view name : unmodelled)
        if (values.on(name))
            draft.flag(values.origin(name), "not modelled, trained as without it");
    for (const std::string_view name : {"--sample-packing", "--packing", "--packing-samples"})
        if (values.on(name))
            draft.assume(values.origin(name),
                         "each sequence as one document: how long the packed ones are no file says "
                         "(training.packing does)");
}

} // namespace trainyard
