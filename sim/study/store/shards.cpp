#include "sim/study/store/shards.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <charconv>
#include <map>

namespace trainyard {

namespace {

constexpr int most_shards = 100'000;

struct Found {
    PlanStore* store;
    StoredPlan plan;
};

Diagnostic shard_problem(std::string file, std::string message, std::string hint)
{
    return {std::move(file), 0, "", std::move(message), std::move(hint), Severity::error};
}

ShardNumber number_of(const StoredPlan& plan)
{
    return {plan.shard, plan.shards};
}

// The shards of the plan in all stores; a store without any is a problem.
std::vector<Found> shards_in(const std::vector<std::unique_ptr<PlanStore>>& stores,
                             const std::string& question, Problems& problems)
{
    std::vector<Found> out;
    for (const std::unique_ptr<PlanStore>& store : stores) {
        const std::size_t before = out.size();
        for (StoredPlan& plan : store->plans())
            if (plan.question == question)
                out.push_back({store.get(), std::move(plan)});
        if (out.size() == before)
            problems.push_back(shard_problem(
                store->path(), "holds no shard of this plan",
                "all shards and --merge take the same scenario, --set, --grid and --headroom"));
    }
    return out;
}

void check(const Found& found, std::size_t shown, Problems& problems)
{
    const std::string name = to_text(number_of(found.plan));
    if (!found.plan.shown)
        problems.push_back(shard_problem(found.store->path(),
                                         fmt::format("shard {} is not done", name),
                                         "the same command goes on where it ended"));
    else if (*found.plan.shown < shown)
        problems.push_back(
            shard_problem(found.store->path(),
                          fmt::format("shard {} was made with --top {}", name, *found.plan.shown),
                          fmt::format("run it again with --top {0}, or --merge with --top {1}",
                                      shown, *found.plan.shown)));
}

std::string missing_text(const std::map<int, Found>& by_shard, int count)
{
    constexpr std::size_t enough = 20;
    std::vector<std::string> missing;
    for (int i = 0; i < count && missing.size() <= enough; ++i)
        if (!by_shard.contains(i))
            missing.push_back(missing.size() < enough ? std::to_string(i + 1) : "...");
    return fmt::format("{}", fmt::join(missing, ", "));
}

} // namespace

std::optional<ShardNumber> parse_shard(std::string_view text)
{
    ShardNumber out;
    const char* const end = text.data() + text.size();
    const auto [slash, bad_index] = std::from_chars(text.data(), end, out.index);
    if (bad_index != std::errc() || slash == end || *slash != '/')
        return {};
    const auto [rest, bad_count] = std::from_chars(slash + 1, end, out.count);
    const bool valid = bad_count == std::errc() && rest == end && out.index >= 1 &&
                       out.index <= out.count && out.count <= most_shards;
    --out.index;
    return valid ? std::optional(out) : std::nullopt;
}

std::string to_text(const ShardNumber& shard)
{
    return fmt::format("{}/{}", shard.index + 1, shard.count);
}

Checked<PossibleLayouts> merged_bounds(const std::vector<std::unique_ptr<PlanStore>>& stores,
                                       const std::string& question, std::size_t shown)
{
    Problems problems;
    const std::vector<Found> found = shards_in(stores, question, problems);
    std::map<int, Found> by_shard;
    for (const Found& one : found) {
        const Found& first = found.front();
        if (one.plan.shards != first.plan.shards) {
            problems.push_back(shard_problem(
                one.store->path(),
                fmt::format("has shard {}, and {} has shard {}", to_text(number_of(one.plan)),
                            first.store->path(), to_text(number_of(first.plan))),
                "merge shards of one division"));
            continue;
        }
        const auto [twin, fresh] = by_shard.emplace(one.plan.shard, one);
        if (!fresh)
            problems.push_back(
                shard_problem(one.store->path(),
                              fmt::format("shard {} is in {} too", to_text(number_of(one.plan)),
                                          twin->second.store->path()),
                              "leave one of them out"));
        check(one, shown, problems);
    }
    if (problems.empty() && static_cast<int>(by_shard.size()) < found.front().plan.shards) {
        const int count = found.front().plan.shards;
        problems.push_back(shard_problem(
            "--merge",
            fmt::format("of {} shards these are missing: {}", count, missing_text(by_shard, count)),
            "run them with --shard and --store, and name all files"));
    }
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    std::vector<PossibleLayouts> parts;
    for (const auto& [shard, one] : by_shard)
        parts.push_back(one.store->bounds(one.plan.row));
    return together(std::move(parts));
}

} // namespace trainyard
