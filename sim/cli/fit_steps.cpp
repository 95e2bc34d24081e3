#include "sim/cli/fit_steps.h"

#include "calibrate/fit/table_text.h"
#include "sim/base/files.h"
#include "sim/cli/terminal.h"
#include "sim/report/fit/own_steps_text.h"
#include "sim/study/own_steps/own_profile.h"
#include "sim/study/own_steps/step_findings.h"

#include <fmt/core.h>

#include <filesystem>

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
            problems.insert(problems.end(), file.error().begin(), file.error().end());
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

Checked<OwnStepsReport> report_of(const FitStepsCommand& command,
                                  const std::vector<RecordFile>& files, const WorkControl& work)
{
    std::optional<ScenarioFile> target;
    if (!command.target.empty()) {
        Checked<ScenarioFile> file = read_scenario_file(command.target);
        if (!file)
            return tl::unexpected(file.error());
        target = std::move(*file);
    }
    Session session;
    Checked<MeasuredSteps> steps = measured_steps(files, command.base, session, work);
    if (!steps)
        return tl::unexpected(steps.error());
    RateTrials trials(session, steps->base);
    const RateFitOptions options;
    Checked<RateFit> fit = fit_rates(*steps, trials, options, work);
    if (!fit)
        return tl::unexpected(fit.error());
    Checked<StepAgreement> agreement = step_agreement(*steps, *fit, trials, options, work);
    if (!agreement)
        return tl::unexpected(agreement.error());
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
                          std::move(*further), command.target};
}

} // namespace

ExitCode run_fit_steps(const FitStepsCommand& command)
{
    if (!command.output.empty())
        require_writable(command.output);
    const Checked<std::vector<RecordFile>> files = read_steps(command.files);
    if (!files)
        return refuse(files.error(), "nothing was fitted.");
    const WorkControl work{&interrupt_flag(), {}};
    const Checked<OwnStepsReport> report = report_of(command, *files, work);
    if (!report)
        return refuse(report.error(), "nothing was fitted.");
    for (const std::string& note : report->steps.notes)
        print_talk(fmt::format("assumed: {}\n", note));
    if (!command.output.empty()) {
        const std::string name = command.name.empty()
                                     ? std::filesystem::path(command.output).stem().string()
                                     : command.name;
        work.check();
        write_file(command.output, table_text(own_profile(report->steps, report->fit, name)));
        print_talk(fmt::format("wrote {}: simulate, plan or compare with --profile {}\n",
                               command.output, command.output));
    }
    print_data(command.json ? to_text(to_json(*report)) + "\n" : own_steps_text(*report));
    return exit_ok;
}

} // namespace trainyard
