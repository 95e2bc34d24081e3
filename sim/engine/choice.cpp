#include "sim/base/units.h"
#include "sim/engine/ahead/ahead.h"
#include "sim/engine/engine.h"
#include "sim/engine/replay/replay.h"

#include <fmt/core.h>
#include <unistd.h>

namespace trainyard {

namespace {

Checked<Run> ran(Checked<StepResult> result, TierUse use)
{
    if (!result)
        return tl::unexpected(std::move(result.error()));
    return Run{std::move(*result), std::move(use)};
}

// An order for all lanes of a role is worth its price where enough of them follow it: over two
// steps it costs as much as two lanes that run ahead op by op, or four that leap.
constexpr std::size_t lanes_worth_an_order = 3;

bool worth_replaying(const Program& program, const Binding& binding)
{
    return binding.lanes.size() >= lanes_worth_an_order * program.roles.size();
}

// Why the replay is not tried; empty: it is.
std::string why_not_tried(const Program& program, const Binding& binding, const RunControl& control)
{
    if (worth_replaying(program, binding))
        return "";
    if (const auto refused = engine::refused_outright(binding, control))
        return refused->reason;
    const std::string_view links =
        shares_links(control.fidelity) ? "transfers share links, and " : "";
    return fmt::format("{}too few ranks are simulated for the replay to pay", links);
}

constexpr std::uint64_t bytes_per_op = 84;

// Three quarters of the machine's: the rest is for other programs, and for what is made of the
// result.
Bytes usable_memory()
{
    return Bytes(static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) / 4 * 3 *
                 static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

Problems not_exact(Tier tier, const std::string& reason)
{
    return {{"", 0, "/run/engine",
             fmt::format("the {} engine would not be exact here: {}", to_name(tier), reason),
             "engine \"auto\" takes the fastest that is", Severity::error}};
}

// The fastest that is exact.
Checked<Run> run_fastest(const Program& program, const Binding& binding, const RunControl& control)
{
    std::string reason = why_not_tried(program, binding, control);
    if (reason.empty() && control.mechanisms.has(Mechanism::replay)) {
        auto replayed = engine::run_replay(program, binding, control);
        if (replayed)
            return Run{std::move(*replayed), {Tier::replay, ""}};
        reason = std::move(replayed.error().reason);
    }
    if (control.mechanisms.has(Mechanism::ahead))
        if (auto ahead = engine::run_ahead(program, binding, control))
            return Run{std::move(*ahead), {Tier::ahead, reason}};
    return ran(run_event(program, binding, control), {Tier::event, reason});
}

} // namespace

Problems memory_problems(const Program& program, Bytes memory)
{
    std::uint64_t ops = 0;
    for (const Role& role : program.roles)
        ops += op_count(program, role);
    const Bytes needed(ops * bytes_per_op);
    if (needed <= memory)
        return {};
    return {{"", 0, "",
             fmt::format("a step of {} million operations takes {} to simulate, and {} may be "
                         "taken",
                         ops / 1'000'000, to_display(needed), to_display(memory)),
             "fewer micro-batches (all but the first and the last are alike), or a machine of "
             "more memory",
             Severity::error}};
}

Checked<Run> run(const Program& program, const Binding& binding, const RunControl& control)
{
    if (Problems problems = memory_problems(program, usable_memory()); !problems.empty())
        return tl::unexpected(std::move(problems));
    switch (control.tier) {
    case Tier::automatic:
        break;
    case Tier::reference:
        return ran(run_reference(program, binding, control), {Tier::reference, ""});
    case Tier::event:
        return ran(run_event(program, binding, control), {Tier::event, ""});
    case Tier::ahead:
        if (auto ahead = engine::run_ahead(program, binding, control))
            return Run{std::move(*ahead), {Tier::ahead, ""}};
        return tl::unexpected(
            not_exact(Tier::ahead, "others may disturb more than compute, or it never ends"));
    case Tier::replay:
        if (auto replayed = engine::run_replay(program, binding, control))
            return Run{std::move(*replayed), {Tier::replay, ""}};
        else
            return tl::unexpected(not_exact(Tier::replay, replayed.error().reason));
    }
    return run_fastest(program, binding, control);
}

} // namespace trainyard
