#include "sim/api/comparison.h"

#include "sim/study/problems.h"
#include "sim/study/sensitivity/sensitivity.h"

namespace trainyard {
namespace {

void settle_fidelity(std::vector<ScenarioFile>& files, Session& session)
{
    std::vector<FidelityChoice> choices;
    for (const ScenarioFile& file : files)
        if (const Checked<FidelityChoice> choice = session.fidelity(file))
            choices.push_back(*choice);
    const Fidelity common = common_fidelity(choices);
    for (ScenarioFile& file : files)
        if (!file.scenario.run.fidelity)
            file = in_fidelity(std::move(file), common);
}

} // namespace

Checked<ScenarioComparison> compare_scenarios(std::vector<ScenarioFile> files, Session& session,
                                              const WorkControl& work)
{
    ScenarioComparison out;
    settle_fidelity(files, session);
    Problems problems;
    for (const ScenarioFile& file : files) {
        Checked<Outcome> outcome = session.simulate(file, {{}, work});
        if (!outcome) {
            append(problems, outcome.error());
            continue;
        }
        append(problems, outcome->warnings);
        Summary summary = summarize(*outcome, sensitivity_of(session, file, *outcome).value());
        out.runs.push_back({file.file, std::move(*outcome), std::move(summary)});
    }
    if (has_errors(problems))
        return tl::unexpected(std::move(problems));
    out.warnings = std::move(problems);
    return out;
}

} // namespace trainyard
