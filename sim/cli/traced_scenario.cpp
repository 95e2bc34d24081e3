#include "sim/cli/traced_scenario.h"

#include "sim/cli/terminal.h"
#include "sim/report/timeline/recorded.h"
#include "sim/study/traced/expected_rates.h"
#include "sim/traces/kineto_reader.h"

namespace trainyard {

Checked<JobTrace> read_job_trace(const std::vector<std::string>& files)
{
    WorkControl work;
    work.cancel = &interrupt_flag();
    std::vector<DigestedRank> ranks;
    Problems problems;
    for (const std::string& file : files) {
        Checked<std::vector<RankTrace>> read = read_kineto(file, work);
        if (read)
            for (RankTrace& rank : *read)
                ranks.push_back(digest(std::move(rank)));
        else
            problems.insert(problems.end(), read.error().begin(), read.error().end());
    }
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return join_ranks(std::move(ranks));
}

Checked<TracedScenario> simulate_beside(const std::string& scenario,
                                        const std::vector<std::string>& changes, RunSummary& run,
                                        const std::string& trace, Session& session)
{
    std::vector<Override> overrides;
    for (const std::string& change : changes) {
        Checked<Override> parsed = parse_override(change);
        if (!parsed)
            return tl::unexpected(parsed.error());
        overrides.push_back(std::move(*parsed));
    }
    Checked<ScenarioFile> file = read_scenario_file(scenario, overrides);
    if (!file)
        return tl::unexpected(file.error());
    SimulateRequest request;
    request.work.cancel = &interrupt_flag();
    Checked<Outcome> outcome = session.simulate(*file, request);
    if (!outcome)
        return tl::unexpected(outcome.error());
    if (std::optional<std::string> why = mismatch_of(run, *outcome))
        return tl::unexpected(
            Problems{{trace, 0, "", std::move(*why), "the scenario of the job that was recorded",
                      Severity::error}});
    if (std::none_of(run.transfers.begin(), run.transfers.end(),
                     [](const TransferRow& row) { return row.expected.has_value(); }))
        add_expected_rates(run, *outcome->topology, *outcome->cost);
    request.record = default_trace_lanes(*outcome);
    outcome = session.simulate(*file, request); // again: now it is known which lanes to record
    if (!outcome)
        return tl::unexpected(outcome.error());
    return TracedScenario{std::move(*file), std::move(*outcome)};
}

} // namespace trainyard
