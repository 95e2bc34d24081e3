#pragma once

// How a plan is searched: in one go, with a store, a shard of it, or from shards made before.

#include "sim/study/ranks/crew.h"
#include "sim/study/store/shards.h"

namespace CLI {
class App;
}

namespace trainyard {

struct PlanSearchOptions {
    std::string store;              // a file
    std::string shard;              // "3/16"
    std::vector<std::string> merge; // files

    bool is_used() const { return !store.empty() || !shard.empty() || !merge.empty(); }
};

void add_plan_search_options(CLI::App& command, PlanSearchOptions& options);

SpaceShare share_of(const PlanSearchOptions& options);

// What all ranks must agree on, with the threads of this one.
CrewTask crew_task(const PlanSearchOptions& options, const SearchBase& base,
                   const SearchRequest& request);

class PlanSearch {
public:
    // `crew`: null where there are no other ranks. Throws WorldError where a file cannot be used.
    PlanSearch(const PlanSearchOptions& options, const SearchBase& base,
               const SearchRequest& request, std::string scenario, Crew* crew);

    // Before anything is run: what is wrong with the files.
    Problems prepare();

    SearchResult run(Session& session, const WorkControl& work);

    // With the report of a whole plan; to be called before anything is told.
    void finish(const SearchResult& result, const std::string& report_json);

    bool is_shard() const { return share_.shards > 1; }
    // Of a shard, instead of a report.
    std::string shard_text(const SearchResult& result) const;
    // Of a search that was interrupted; empty where nothing is kept.
    std::string kept_text() const;

private:
    PossibleLayouts bounds();
    PossibleLayouts bounds_of_all();
    SearchResult best_of_stores(PossibleLayouts possible, Points& source);

    const PlanSearchOptions& options_;
    const SearchBase& base_;
    SearchRequest request_;
    std::string scenario_;
    Crew* crew_;
    SpaceShare share_;
    std::vector<std::unique_ptr<PlanStore>> stores_;
    StoredPlan plan_;
    std::optional<PossibleLayouts> known_;
};

} // namespace trainyard
