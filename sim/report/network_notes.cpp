#include "sim/report/network_notes.h"

#include "sim/report/collectives.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainyard {

namespace {

// Of a trunk's capacity: smaller asks are left out of the words.
constexpr double least_named = 0.01;

std::string why_whole(WholeReason reason)
{
    switch (reason) {
    case WholeReason::pattern:
        return "fidelity flow steps rings only";
    case WholeReason::lockstep:
        return "their members move in lockstep";
    case WholeReason::rings:
        break;
    }
    return "rings collide with rings too often to step them";
}

std::string slowed(const Outcome& outcome)
{
    const std::uint64_t count = outcome.result->slowed;
    if (count == 0)
        return "No transfer went below its full rate on shared links.";
    const std::uint64_t stepped = outcome.result->steps.disturbed;
    return fmt::format(
        "{} transfer{} went below {} full rate on shared links{}.", count, count == 1 ? "" : "s",
        count == 1 ? "its" : "their",
        stepped == 0 ? ""
                     : fmt::format(", {} of them collectives that went step by step", stepped));
}

std::string asks_in_words(const FabricDemand& demand)
{
    std::vector<std::string> asks;
    for (const TrunkAsk& ask : demand.asks)
        if (ask.share >= least_named)
            asks.push_back(fmt::format("{} {} {:.0f} %", title_of(ask.group),
                                       title_of(ask.collective), 100 * ask.share));
    return fmt::format("Links from {} may be asked for {:.0f} % of what they carry: {}",
                       demand.layer, 100 * demand.share, fmt::join(asks, ", "));
}

// Why `bundle` was taken unasked.
std::vector<std::string> why_shared(const FidelityChoice& network)
{
    if (network.reason != FidelityReason::links_shared || !network.shared)
        return {};
    return {fmt::format("{}, hence fidelity bundle.", asks_in_words(*network.shared))};
}

constexpr const char* how_steps_go =
    "Steps pass through buffers that never run out, the channels of a communicator as one, and a "
    "member goes on when its own part is done.";

} // namespace

std::string fidelity_meaning(Fidelity fidelity)
{
    switch (fidelity) {
    case Fidelity::alpha_beta:
        return "transfers do not slow each other down";
    case Fidelity::bundle:
        return "transfers share links max-min fairly";
    case Fidelity::flow:
        return "transfers share links max-min fairly, rings that others slow step by step";
    case Fidelity::chunk:
        break;
    }
    return "transfers share links max-min fairly, collectives step by step";
}

std::vector<std::string> unseen_sharing(const FidelityChoice& network)
{
    if (!network.shared)
        return {};
    return {fmt::format("{}. Fidelity alpha-beta lets each go at its own rate; --fidelity bundle "
                        "shares the links{}.",
                        asks_in_words(*network.shared),
                        network.reason == FidelityReason::too_many_ops
                            ? ", and takes longer for so many operations"
                            : "")};
}

std::vector<std::string> sharing_notes(const Outcome& outcome)
{
    const Fidelity fidelity = outcome.engine.network.fidelity;
    if (!shares_links(fidelity))
        return unseen_sharing(outcome.engine.network);
    std::vector<std::string> notes = why_shared(outcome.engine.network);
    notes.push_back(slowed(outcome));
    if (!knows_steps(fidelity))
        return notes;
    notes.emplace_back(how_steps_go);
    for (const WholeReason reason :
         {WholeReason::rings, WholeReason::pattern, WholeReason::lockstep}) {
        std::vector<std::string> names;
        for (const WholeCollectives& whole : outcome.result->steps.whole)
            if (whole.reason == reason)
                names.push_back(
                    fmt::format("{} {}", title_of(whole.group), title_of(whole.collective)));
        if (!names.empty())
            notes.push_back(fmt::format("One activity with one rate each: {}; {}.",
                                        fmt::join(names, ", "), why_whole(reason)));
    }
    return notes;
}

} // namespace trainyard
