#include "sim/report/text/describe.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/study/jobs/layout_text.h"

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

std::string subject(const Perturbation& p)
{
    if (p.node)
        return fmt::format("node {}", *p.node);
    if (p.device.all)
        return "all devices";
    if (p.device.numbers.size() == 1)
        return fmt::format("device {}", p.device.numbers.front());
    return fmt::format("{} devices ({}, ...)", p.device.numbers.size(), p.device.numbers.front());
}

std::string window_of(const Perturbation& p)
{
    if (!p.has_window())
        return "";
    const std::string from = to_display(p.from.value_or(Seconds(0)));
    return p.until ? fmt::format(" from {} to {}", from, to_display(*p.until))
                   : fmt::format(" from {} on", from);
}

// "1.5 times slower", "2 times faster", "0.01 % slower".
std::string speed_text(double slowdown)
{
    const bool slower = slowdown > 1;
    const double ratio = slower ? slowdown : 1 / slowdown;
    const char* const how = slower ? "slower" : "faster";
    return ratio < 1.005 ? fmt::format("{:.2g} % {}", 100 * (ratio - 1), how)
                         : fmt::format("{:.4g} times {}", ratio, how);
}

void add(std::string& text, const std::string& more)
{
    text += (text.empty() ? "" : ", ") + more;
}

std::string describe_link(const Perturbation& p)
{
    if (p.ecmp)
        return "flows that collide on uplinks";
    std::string what;
    if (p.dead)
        add(what, "dead");
    if (p.bandwidth != 1.0)
        add(what, fmt::format("{} of its bandwidth", percent(p.bandwidth)));
    if (p.latency.value() > 0)
        add(what, fmt::format("{} longer", to_display(p.latency)));
    if (p.background > 0)
        add(what, fmt::format("{} taken by others", percent(p.background)));
    return fmt::format("link {}: {}{}", p.link, what.empty() ? "as usual" : what, window_of(p));
}

} // namespace

namespace {

std::string used_text(int used, int all)
{
    return used < all ? fmt::format("{} of {}", used, all) : fmt::format("{}", used);
}

} // namespace

std::string job_title(const Outcome& outcome)
{
    const std::string& model = outcome.job.model.name;
    return fmt::format("{} on {} x {}", model.empty() ? "model" : model,
                       used_text(outcome.job.world(), outcome.cluster_devices),
                       outcome.cost->profile().hardware.device.name);
}

std::string layout_words(Scenario scenario, const Outcome& outcome)
{
    scenario.strategy.dp = outcome.job.dp();
    const std::string out = described(scenario);
    const int used = outcome.job.world();
    return used < outcome.cluster_devices
               ? fmt::format("{}, on {} devices", out, used_text(used, outcome.cluster_devices))
               : out;
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

std::string describe(const Perturbation& p)
{
    if (p.of_network())
        return describe_link(p);
    std::string what;
    if (p.slowdown != 1.0)
        add(what, speed_text(p.slowdown) + window_of(p));
    if (p.jitter)
        add(what,
            fmt::format("{} jitter of {:.3g}", to_name(p.jitter->distribution), p.jitter->scale));
    if (p.late)
        add(what, fmt::format("{} late by {}{}", to_name(p.late->part), to_display(p.late->time),
                              p.late->chance < 1
                                  ? fmt::format(" in {} of the steps", percent(p.late->chance))
                                  : std::string()));
    if (p.start)
        add(what, fmt::format("starts {} late", to_display(*p.start)));
    return fmt::format("{}: {}", subject(p), what.empty() ? "as usual" : what);
}

} // namespace trainyard
