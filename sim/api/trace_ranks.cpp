#include "sim/api/trace_ranks.h"

#include "sim/report/timeline/recorded.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::string_view all_ranks = "all";
constexpr std::string_view one_per_stage = "stages";

// A record and its text are some 800 bytes.
constexpr std::uint64_t most_recorded_ops = 5'000'000;

} // namespace

std::string TraceRanks::flaw_of(const std::string& word)
{
    const bool number =
        !word.empty() && word.size() < 10 &&
        std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
    return number || word == all_ranks || word == one_per_stage
               ? ""
               : fmt::format("\"{}\" is neither a rank nor \"all\" nor \"stages\"", word);
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
                 rank < outcome.job.world()
                     ? "it is alike another rank; --no-fold simulates every one"
                     : fmt::format("ranks are numbered 0 to {}", outcome.job.world() - 1),
                 Severity::error});
    }
    return problems;
}

Problems TraceRanks::flaws(const Outcome& outcome) const
{
    if (Problems missing = unknown(outcome); !missing.empty())
        return missing;
    const auto usual = [first = first_lanes(*outcome.binding)](LaneId lane) {
        return first.contains(lane);
    };
    const std::uint64_t ops =
        ops_in_step(outcome.plan->program, *outcome.binding, lanes(outcome.binding, usual));
    if (ops <= most_recorded_ops)
        return {};
    return {{"", 0, "",
             fmt::format("a timeline of {} operations; at most {} are drawn or traced", ops,
                         most_recorded_ops),
             "fewer --trace-ranks, or fewer micro-batches: they are alike, and "
             "--set training.global_batch=N shortens the step",
             Severity::error}};
}

RecordRequest TraceRanks::request(const Outcome& outcome) const
{
    RecordRequest request = default_trace_lanes(outcome);
    request.lane = lanes(outcome.binding, std::move(request.lane));
    return request;
}

std::function<bool(LaneId)> TraceRanks::lanes(std::shared_ptr<const Binding> binding,
                                              std::function<bool(LaneId)> usual) const
{
    if (words_.empty())
        return usual;
    return [binding = std::move(binding), usual = std::move(usual), asked = *this](LaneId lane) {
        return asked.says(all_ranks) || (asked.says(one_per_stage) && usual(lane)) ||
               asked.names(binding->lanes[lane.value].rank);
    };
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
