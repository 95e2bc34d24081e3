#include "sim/api/step_fit.h"

#include "sim/api/traced_scenario.h"
#include "sim/study/cost_part.h"
#include "sim/study/own_steps/own_profile.h"
#include "sim/study/own_steps/step_findings.h"
#include "sim/study/problems.h"
#include "sim/study/traced/other_job.h"

namespace trainyard {
namespace {

Checked<std::vector<RecordFile>> read_steps(const std::vector<std::string>& files)
{
    std::vector<RecordFile> out;
    Problems problems;
    for (const std::string& path : files) {
        Checked<RecordFile> file = read_records(path);
        if (file)
            out.push_back(std::move(*file));
        else
            append(problems, file.error());
    }
    if (!problems.empty())
        return tl::unexpected(problems);
    return out;
}

std::vector<MeasuredStep> only(const std::vector<MeasuredStep>& steps,
                               const std::vector<std::size_t>& kept)
{
    std::vector<MeasuredStep> out;
    for (const std::size_t i : kept)
        out.push_back(steps[i]);
    return out;
}

Problems nothing_agrees(const MeasuredSteps& steps, const StepAgreement& agreement)
{
    const MeasuredStep& only = steps.steps.front();
    return {{only.file, only.line, "", contradiction_text(agreement.contradictions.front()),
             "add steps of the same machine: those that agree with one another are fitted",
             Severity::error}};
}

} // namespace

Checked<OwnStepsReport> fit_own_steps(const OwnStepsQuestion& question, Session& session,
                                      const WorkControl& work)
{
    const Checked<std::vector<RecordFile>> files = read_steps(question.files);
    if (!files)
        return tl::unexpected(files.error());
    std::optional<ScenarioFile> target;
    if (!question.target.empty()) {
        Checked<ScenarioFile> file = read_scenario_file(question.target);
        if (!file)
            return tl::unexpected(file.error());
        target = std::move(*file);
    }
    Checked<MeasuredSteps> steps = measured_steps(*files, question.base, session, work);
    if (!steps)
        return tl::unexpected(steps.error());
    RateTrials trials(session, steps->base);
    const RateFitOptions options = fit_options(*steps);
    Checked<RateFit> fit = fit_rates(*steps, trials, options, work);
    if (!fit)
        return tl::unexpected(fit.error());
    Checked<StepAgreement> agreement = step_agreement(*steps, *fit, trials, options, work);
    if (!agreement)
        return tl::unexpected(agreement.error());
    if (agreement->agreeing.empty())
        return tl::unexpected(nothing_agrees(*steps, *agreement));
    if (agreement->agreeing.size() < steps->steps.size()) {
        steps->steps = only(steps->steps, agreement->agreeing);
        fit = fit_rates(*steps, trials, options, work);
        if (!fit)
            return tl::unexpected(fit.error());
    }
    Checked<std::vector<FurtherRun>> further =
        further_runs(*steps, *fit, trials, target ? &*target : nullptr, options, work);
    if (!further)
        return tl::unexpected(further.error());
    return OwnStepsReport{std::move(*steps), std::move(*fit), std::move(agreement->contradictions),
                          std::move(*further), question.target};
}

Json profile_of(const OwnStepsReport& report, const std::string& name)
{
    return own_profile(report.steps, report.fit, name);
}

Checked<TraceFit> fit_recorded_step(const TraceFitQuestion& question, Session& session,
                                    const WorkControl& work)
{
    const Checked<JobTrace> job = read_job_trace(question.files, work);
    if (!job)
        return tl::unexpected(job.error());
    if (job->simulated)
        return tl::unexpected(Problems{
            {question.files.front(), 0, "",
             "is a simulated step, which tells of no machine: its ops are parts of layers, "
             "not kernels",
             "trainyard import trace FILE ... --against SCENARIO lays it beside another",
             Severity::error}});
    RunSummary run = run_summary(*job);
    std::vector<std::string> changes;
    if (!question.base.empty())
        changes.push_back("profile=" + question.base);
    const Checked<TracedScenario> scenario =
        simulate_beside(question.scenario, changes, run, question.files.front(), session, work);
    if (!scenario)
        return tl::unexpected(scenario.error());
    if (std::optional<std::string> why = width_contradiction(run, scenario->outcome.job.model))
        return rejected(question.files.front(), std::move(*why),
                        "trainyard import trace FILE ... --against SCENARIO shows what differs");
    const Checked<Profile> base =
        stated_constants(scenario->file, scenario->outcome.cost->profile());
    if (!base)
        return tl::unexpected(base.error());
    Checked<TraceFit> fit = fit_traced_job(*job, run,
                                           {scenario->file, *scenario->outcome.topology,
                                            to_json(*base), question.name, question.files.front()},
                                           session, work);
    if (!fit)
        return fit;
    if (Problems problems =
            judge_layers(*fit, layer_sides(*job, scenario->outcome), question.files.front());
        !problems.empty())
        return tl::unexpected(std::move(problems));
    return fit;
}

} // namespace trainyard
