#include "sim/cli/trace_ranks.h"

#include "sim/report/timeline/recorded.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::string_view all_ranks = "all";
constexpr std::string_view one_per_stage = "stages";

// CLI11 wants an empty text where all is well.
std::string flaw_of(const std::string& word)
{
    const bool number =
        !word.empty() && word.size() < 10 &&
        std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
    return number || word == all_ranks || word == one_per_stage
               ? ""
               : fmt::format("\"{}\" is neither a rank nor \"all\" nor \"stages\"", word);
}

} // namespace

void TraceRanks::add_option(CLI::App& app)
{
    app.add_option("--trace-ranks", words_,
                   "ranks in timelines; else one per stage, in traces as few as keep them small")
        ->delimiter(',')
        ->check(CLI::Validator(flaw_of, ""))
        ->type_name("all|stages|RANK,...");
}

bool TraceRanks::says(std::string_view word) const
{
    return std::find(words_.begin(), words_.end(), word) != words_.end();
}

bool TraceRanks::names(RankId rank) const
{
    return says(fmt::format("{}", rank.value));
}

Problems TraceRanks::unknown(const Outcome& outcome) const
{
    Problems problems;
    for (const std::string& word : words_) {
        if (word == all_ranks || word == one_per_stage)
            continue;
        const int rank = std::stoi(word);
        const auto& lanes = outcome.binding->lanes;
        const bool found = std::any_of(lanes.begin(), lanes.end(), [rank](const Lane& lane) {
            return static_cast<int>(lane.rank.value) == rank;
        });
        if (!found)
            problems.push_back(
                {"", 0, "", fmt::format("--trace-ranks: rank {} is not simulated", rank),
                 rank < outcome.engine.ranks
                     ? "it is alike another rank; --no-fold simulates every one"
                     : fmt::format("ranks are numbered 0 to {}", outcome.engine.ranks - 1),
                 Severity::error});
    }
    return problems;
}

RecordRequest TraceRanks::request(const Outcome& outcome) const
{
    RecordRequest request = default_trace_lanes(outcome);
    if (words_.empty())
        return request;
    const auto binding = outcome.binding;
    const std::function<bool(LaneId)> stages = says(one_per_stage) ? request.lane : nullptr;
    request.lane = [binding, stages, asked = *this](LaneId lane) {
        return asked.says(all_ranks) || (stages && stages(lane)) ||
               asked.names(binding->lanes[lane.value].rank);
    };
    return request;
}

std::vector<RankId> TraceRanks::of_trace(const Outcome& recorded) const
{
    return words_.empty() ? representative_ranks(recorded) : std::vector<RankId>{};
}

std::string trace_note(const Outcome& outcome, const std::vector<RankId>& ranks)
{
    if (ranks.empty() || static_cast<int>(ranks.size()) == outcome.engine.ranks)
        return "";
    std::vector<RankId> sorted = ranks;
    std::sort(sorted.begin(), sorted.end());
    std::string list;
    for (const RankId rank : sorted)
        list += fmt::format("{}{}", list.empty() ? "" : ", ", rank.value);
    return fmt::format(" (rank{} {} of {}; --trace-ranks for others)", ranks.size() > 1 ? "s" : "",
                       list, outcome.engine.ranks);
}

} // namespace trainyard
