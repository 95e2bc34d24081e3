#include "sim/report/text/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainyard {

namespace {

void add_size(std::string& text, std::string_view name, int size)
{
    if (size > 1)
        text += fmt::format("{} {}, ", name, size);
}

std::string memory_words(const Job& job)
{
    switch (job.strategy.zero) {
    case 0:
        return "";
    case 3:
        return "FSDP/ZeRO-3, ";
    default:
        return fmt::format("ZeRO-{}, ", job.strategy.zero);
    }
}

} // namespace

std::string job_title(const Outcome& outcome)
{
    const std::string& model = outcome.job.model.name;
    return fmt::format("{} on {} x {}", model.empty() ? "model" : model, outcome.job.world(),
                       outcome.cost->profile().hardware.device.name);
}

// " (2 virtual, zb-v)"; the usual schedule of the sizes goes without saying.
std::string pipeline_words(const Strategy& strategy)
{
    std::vector<std::string> words;
    if (strategy.vpp > 1)
        words.push_back(fmt::format("{} virtual", strategy.vpp));
    if (strategy.schedule != (strategy.vpp > 1 ? "interleaved-1f1b" : "1f1b"))
        words.push_back(strategy.schedule);
    return words.empty() ? std::string() : fmt::format(" ({})", fmt::join(words, ", "));
}

// What is not usual: adapters, another optimizer than Adam.
std::string training_words(const Training& training)
{
    std::string text;
    if (training.lora)
        text += fmt::format("LoRA of rank {}, ", training.lora->rank);
    if (training.optimizer != Optimizer::adam)
        text += fmt::format("{}, ", to_name(training.optimizer));
    return text;
}

std::string job_settings(const Outcome& outcome)
{
    const Job& job = outcome.job;
    const Strategy& strategy = job.strategy;
    std::string text;
    add_size(text, "tp", strategy.tp);
    if (strategy.pp > 1)
        text += fmt::format("pp {}{}, ", strategy.pp, pipeline_words(strategy));
    add_size(text, "cp", strategy.cp);
    add_size(text, "ep", strategy.ep);
    add_size(text, "etp", strategy.etp);
    text += fmt::format("dp {}, ", job.dp()) + memory_words(job);
    if (job.training.recompute != Recompute::none)
        text += job.training.recompute_layers
                    ? fmt::format("{} recompute of {} layer{} per stage, ",
                                  to_name(job.training.recompute), *job.training.recompute_layers,
                                  *job.training.recompute_layers == 1 ? "" : "s")
                    : fmt::format("{} recompute, ", to_name(job.training.recompute));
    text += fmt::format("{}, ", to_name(job.training.precision)) + training_words(job.training);
    const std::int64_t batch = job.training.global_batch;
    const char* const plural = batch == 1 ? "" : "s";
    text += job.model.is_transformer() ? fmt::format("{} {}sequence{} of {} tokens", batch,
                                                     job.training.packing ? "packed " : "", plural,
                                                     job.training.sequence_length)
                                       : fmt::format("{} sample{}", batch, plural);
    return text + fmt::format(" in {} micro-batch{}", job.micro_batches(),
                              job.micro_batches() == 1 ? "" : "es");
}

std::string engine_words(const Outcome& outcome)
{
    const TierUse& use = outcome.engine.use;
    const std::string_view why = outcome.scenario.run.engine != Tier::automatic ? "as asked"
                                 : use.reason.empty() ? "the fastest that is exact here"
                                                      : std::string_view(use.reason);
    return fmt::format("{} engine ({})", to_name(use.tier), why);
}

std::string hash_text(std::uint64_t hash)
{
    return fmt::format("{:#018x}", hash);
}

std::string stage_name(const Program& program, RoleId role)
{
    const std::string& name = program.roles[role.value].name;
    return name.empty() ? fmt::format("stage {}", role.value) : name;
}

std::string lane_name(const Program& program, RoleId role, RankId rank)
{
    return program.roles.size() == 1
               ? fmt::format("rank {}", rank.value)
               : fmt::format("{} (rank {})", stage_name(program, role), rank.value);
}

} // namespace trainyard
