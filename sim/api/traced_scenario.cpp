#include "sim/api/traced_scenario.h"

#include "sim/report/timeline/recorded.h"
#include "sim/study/traced/expected_rates.h"
#include "sim/traces/trace_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

namespace trainyard {

namespace {

bool is_same_file(const std::string& a, const std::string& b)
{
    std::error_code ignored; // of a file that is not there
    return std::filesystem::equivalent(a, b, ignored);
}

Problems given_twice(const std::vector<std::string>& files)
{
    Problems problems;
    for (auto file = files.begin(); file != files.end(); ++file)
        if (std::any_of(files.begin(), file,
                        [&](const std::string& before) { return is_same_file(before, *file); }))
            problems.push_back(
                {*file, 0, "", "is given twice", "one file of each rank", Severity::error});
    return problems;
}

} // namespace

Checked<JobTrace> read_job_trace(const std::vector<std::string>& files, const WorkControl& work)
{
    TraceFile all;
    Problems problems = given_twice(files);
    for (const std::string& file : files) {
        Checked<TraceFile> read = read_trace_file(file, work);
        if (!read) {
            problems.insert(problems.end(), read.error().begin(), read.error().end());
            continue;
        }
        std::move(read->ranks.begin(), read->ranks.end(), std::back_inserter(all.ranks));
        std::move(read->groups.begin(), read->groups.end(), std::back_inserter(all.groups));
    }
    if (problems.empty() && all.ranks.empty())
        problems.push_back({files.front(), 0, "",
                            all.groups.empty() ? "holds no trace of a rank"
                                               : "lists communicators: no trace of a rank",
                            "give the traces beside it", Severity::error});
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return join_ranks(std::move(all.ranks), all.groups);
}

Problems without_timeline(const RunSummary& run, const std::string& trace)
{
    if (run.times == TimesStated::timeline)
        return {};
    return {{trace, 0, "", "is an execution trace, which does not say when ops ran",
             "a trace of the profiler (torch.profiler, Nsight Systems) of the same job does",
             Severity::error}};
}

Problems lost_files(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs)
{
    namespace fs = std::filesystem;
    Problems problems;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const auto same = [&](const std::string& other) {
            return is_same_file(outputs[i], other) ||
                   fs::path(outputs[i]).lexically_normal() == fs::path(other).lexically_normal();
        };
        std::error_code ignored;
        const fs::file_status status = fs::status(outputs[i], ignored);
        if (outputs[i].empty() || (fs::exists(status) && !fs::is_regular_file(status)))
            continue;
        const auto before = outputs.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::any_of(inputs.begin(), inputs.end(), same))
            problems.push_back({outputs[i], 0, "", "is read, and would be written over",
                                "write to another file", Severity::error});
        else if (std::any_of(outputs.begin(), before, same))
            problems.push_back({outputs[i], 0, "", "would be written twice",
                                "write to another file", Severity::error});
    }
    return problems;
}

Checked<Outcome> simulate_beside(const ScenarioFile& scenario, RunSummary& run,
                                 const std::string& trace, Session& session,
                                 const WorkControl& work)
{
    if (Problems problems = without_timeline(run, trace); !problems.empty())
        return tl::unexpected(std::move(problems));
    SimulateRequest request;
    request.work = work;
    Checked<Outcome> outcome = session.simulate(scenario, request);
    if (!outcome)
        return outcome;
    if (std::optional<std::string> why = mismatch_of(run, *outcome))
        return rejected(trace, std::move(*why), "the scenario of the job that was recorded");
    if (!run.world)
        run.assumed.push_back(fmt::format("recorded on {} ranks, as the scenario has: the trace "
                                          "does not say",
                                          outcome->engine.ranks));
    if (std::none_of(run.transfers.begin(), run.transfers.end(),
                     [](const TransferRow& row) { return row.expected.has_value(); }))
        add_expected_rates(run, *outcome->topology, *outcome->cost);
    request.record = default_trace_lanes(*outcome);
    return session.simulate(scenario, request); // again: now it is known which lanes to record
}

Checked<TracedScenario> simulate_beside(const std::string& scenario,
                                        const std::vector<std::string>& changes, RunSummary& run,
                                        const std::string& trace, Session& session,
                                        const WorkControl& work)
{
    if (Problems problems = without_timeline(run, trace); !problems.empty())
        return tl::unexpected(std::move(problems));
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
    Checked<Outcome> outcome = simulate_beside(*file, run, trace, session, work);
    if (!outcome)
        return tl::unexpected(outcome.error());
    return TracedScenario{std::move(*file), std::move(*outcome)};
}

} // namespace trainyard
