#pragma once

// The best layouts of a scenario's model on its cluster: what `trainyard plan` asks and tells of
// one cluster.

#include "sim/report/plan/plan_report.h"
#include "sim/study/capacity/longest_context.h"
#include "sim/study/training/training_request.h"

namespace trainyard {

struct LayoutQuestion {
    std::vector<std::string> axes; // "strategy.tp=2,4": in place of the usual values
    std::size_t top = 10;          // layouts to tell of
    bool front = false;            // also those that none is both quicker and smaller than
    double headroom = 0.05;        // share of a device's memory that stays free
    int threads = 0;               // 0: as many as the machine runs at once
};

// A field's values are given once.
Problems repeated_axes(const std::vector<std::string>& axes);

// Problems name axes by their text.
Checked<std::vector<SweepAxis>> search_axes(const std::vector<std::string>& axes);

struct LayoutTask {
    ScenarioFile asked;
    SearchBase base;
    SearchRequest request;
    WholeTrainingRequest training; // tokens 0: nobody asks for it
};

Checked<LayoutTask> layout_task(const ScenarioFile& file, const LayoutQuestion& question,
                                const WholeTrainingRequest& training = {});

// What the search found, with the outcomes that a report tells of. `axes`: those of the question,
// for the smallest cluster where no layout fits. `context`: whether the length of the sequences was
// searched for, too. Cancelled work leaves out what it would have added.
Checked<PlanReport> layout_report(const LayoutTask& task, const std::vector<SweepAxis>& axes,
                                  const SearchResult& result, bool context, Session& session,
                                  const WorkControl& work);

// A scenario that a plan found, to be kept.
struct PlannedScenario {
    std::string name; // of its files, without what ends it: "1", "h100-32"
    Scenario scenario;
    std::filesystem::path base; // where its paths start
};

// Numbered as they are shown.
std::vector<PlannedScenario> planned_layouts(const SearchResult& result, const SearchBase& base);

std::vector<PlannedScenario> planned_front(const SearchResult& result, const SearchBase& base);

struct LayoutAnswer {
    PlanReport report;
    std::vector<PlannedScenario> planned;    // by row
    std::vector<PlannedScenario> front;      // by row of the front
    std::optional<PlannedScenario> smallest; // the report's, where no layout fits
};

// The best of a search under way, for people.
struct LayoutNews {
    std::string layout; // in words
    Seconds step_time;
    double work_per_s = 0; // tokens, or samples of a model that has none
    double mfu = 0;
};
LayoutNews news_of(const RankedLayout& best, const SearchBase& base);

// Searches in one go. Of cancelled work what was found. `axes`: those of the question.
Checked<LayoutAnswer> plan_layouts(const LayoutTask& task, const std::vector<SweepAxis>& axes,
                                   Session& session);

// The same for a scenario and a question.
Checked<LayoutAnswer> plan_layouts(const ScenarioFile& file, const LayoutQuestion& question,
                                   Session& session, const WorkControl& work,
                                   const WholeTrainingRequest& training = {});

// The longest sequences that a cluster trains on, and the layouts for them.
struct ContextPlan {
    LongestContext lengths;
    std::optional<LayoutAnswer> layouts; // nothing where no length does
};

// With tokens and a deadline a length also has to be trained in time. Of cancelled work what was
// found.
Checked<ContextPlan> plan_context(const ScenarioFile& file, const LayoutQuestion& question,
                                  Session& session, const WorkControl& work,
                                  const WholeTrainingRequest& training = {});

// As `trainyard plan --longest-context` tells it.
Json to_json(const ContextPlan& plan);
std::string context_plan_text(const ContextPlan& plan, const Paint& paint, std::size_t width = 100);

} // namespace trainyard
