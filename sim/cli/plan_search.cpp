#include "sim/cli/plan_search.h"

#include "sim/study/session.h"
#include "sim/study/store/stored_points.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

std::string check_shard(const std::string& text)
{
    return parse_shard(text) ? "" : fmt::format("\"{}\" is no shard such as 3/16", text);
}

} // namespace

void add_plan_search_options(CLI::App& command, PlanSearchOptions& options)
{
    CLI::Option* const store =
        command
            .add_option("--store", options.store,
                        "keep every simulated layout in this SQLite file; the same command again "
                        "goes on where it ended, other plans take what they have in common")
            ->type_name("FILE");
    CLI::Option* const shard =
        command
            .add_option("--shard", options.shard,
                        "search the third of sixteen parts of the space (3/16), into --store")
            ->type_name("I/N")
            ->check(check_shard)
            ->needs(store);
    command
        .add_option("--merge", options.merge,
                    "put the shards in these files together: the result is that of one search")
        ->type_name("FILE")
        ->excludes(store)
        ->excludes(shard);
    for (const char* name : {"--output", "--csv", "--json", "--html", "--front", "--export"})
        shard->excludes(command.get_option(name));
}

SpaceShare share_of(const PlanSearchOptions& options)
{
    const ShardNumber shard = parse_shard(options.shard).value_or(ShardNumber{});
    return {.shard = shard.index, .shards = shard.count};
}

CrewTask crew_task(const PlanSearchOptions& options, const SearchBase& base,
                   const SearchRequest& request)
{
    return {fmt::format("{} {} {}", Questions(base).plan(request), options.shard, program_name()),
            threads_of(request)};
}

PlanSearch::PlanSearch(const PlanSearchOptions& options, const SearchBase& base,
                       const SearchRequest& request, std::string scenario, Crew* crew)
    : options_(options),
      base_(base),
      request_(request),
      scenario_(std::move(scenario)),
      crew_(crew),
      share_(share_of(options))
{
    if (crew_ != nullptr)
        crew_->meet(crew_task(options, base, request));
    if (!options.store.empty())
        stores_.push_back(std::make_unique<PlanStore>(options.store, DatabaseAccess::write));
    for (const std::string& file : options.merge)
        stores_.push_back(std::make_unique<PlanStore>(file, DatabaseAccess::read));
    if (!stores_.empty())
        plan_ = {0, Questions(base).plan(request), share_.shard, share_.shards, {}};
}

Problems PlanSearch::prepare()
{
    if (!options_.merge.empty()) {
        Checked<PossibleLayouts> merged = merged_bounds(stores_, plan_.question, request_.top);
        if (!merged)
            return merged.error();
        known_ = std::move(*merged);
    } else if (!stores_.empty()) {
        for (const StoredPlan& plan : stores_.front()->plans())
            if (plan.question == plan_.question && plan.shard == plan_.shard &&
                plan.shards == plan_.shards)
                plan_ = plan;
        if (plan_.row > 0)
            known_ = stores_.front()->bounds(plan_.row);
    }
    return {};
}

PossibleLayouts PlanSearch::bounds_of_all()
{
    const int threads = threads_of(request_);
    SpaceShare share = share_;
    share.lanes = threads;
    if (crew_ != nullptr)
        share = crew_->own_lanes(share);
    PossibleLayouts own = possible_layouts(request_.space, base_, room_of(base_, request_),
                                           request_.work, share, threads);
    if (crew_ == nullptr)
        return own;
    std::vector<PossibleLayouts> parts{std::move(own), crew_->bounds_of_others()};
    return together(std::move(parts));
}

PossibleLayouts PlanSearch::bounds()
{
    if (crew_ != nullptr)
        crew_->begin(!known_);
    if (known_)
        return std::move(*known_);
    PossibleLayouts found = bounds_of_all();
    if (!stores_.empty() && found.whole)
        plan_.row = stores_.front()->keep_bounds(
            plan_,
            {scenario_, to_text(to_json(base_.file.scenario), JsonStyle::compact),
             to_text(to_json(request_.space), JsonStyle::compact), request_.headroom},
            found, base_.facts);
    return found;
}

SearchResult PlanSearch::run(Session& session, const WorkControl& work)
{
    request_.work = work;
    PossibleLayouts possible = bounds();
    EnginePoints engine(base_, session, work.cancel, threads_of(request_));
    if (crew_ == nullptr)
        return best_of_stores(std::move(possible), engine);
    CrewPoints all(*crew_, engine);
    return best_of_stores(std::move(possible), all);
}

SearchResult PlanSearch::best_of_stores(PossibleLayouts possible, Points& source)
{
    if (stores_.empty())
        return best_of(std::move(possible), base_, request_, source);
    std::vector<PlanStore*> stores;
    for (const std::unique_ptr<PlanStore>& store : stores_)
        stores.push_back(store.get());
    PlanStore* const keeps = options_.merge.empty() ? stores.front() : nullptr;
    StoredPoints points(base_, std::move(stores), keeps, source);
    SearchResult result = best_of(std::move(possible), base_, request_, points);
    if (keeps != nullptr)
        keeps->commit();
    return result;
}

void PlanSearch::finish(const SearchResult& result, const std::string& report_json)
{
    if (!options_.store.empty() && result.open == 0 && (!result.front || result.front->open == 0) &&
        plan_.row > 0)
        stores_.front()->finish(plan_.row, request_.top, report_json);
}

std::string PlanSearch::shard_text(const SearchResult& result) const
{
    return fmt::format("{}: shard {} of the space: {} of {} layouts, {} with room for them, {} "
                       "simulated; in {}\n",
                       scenario_, options_.shard, result.bounded, result.points, result.possible,
                       result.simulated, options_.store);
}

std::string PlanSearch::kept_text() const
{
    return options_.store.empty()
               ? ""
               : fmt::format("what was simulated is in {}: the same command goes on from there\n",
                             options_.store);
}

} // namespace trainyard
