#include "gui/explore/compared.h"

#include "sim/study/inputs.h"

#include <algorithm>

namespace trainyard::gui {

namespace {

// In which those that were not run yet are, where they leave it open.
Fidelity fidelity_of_runs(const std::vector<Compared>& wanted)
{
    const auto run = std::ranges::find_if(wanted, [](const Compared& one) { return !!one.run; });
    return run == wanted.end() ? Fidelity::alpha_beta : run->run->outcome->engine.network.fidelity;
}

Checked<Outcome> outcome_of(const Compared& one, Fidelity fidelity, Session& session,
                            const WorkControl& work)
{
    if (one.run)
        return *one.run->outcome;
    Checked<ScenarioFile> file = scenario_from(one.scenario, one.file);
    if (!file)
        return tl::unexpected(file.error());
    if (!file->scenario.run.fidelity)
        file = in_fidelity(std::move(*file), fidelity);
    SimulateRequest request;
    request.work = work;
    return session.simulate(*file, request);
}

} // namespace

std::shared_ptr<const ComparedResult> compare_all(const std::vector<Compared>& wanted,
                                                  Session& session, const WorkControl& work)
{
    auto out = std::make_shared<ComparedResult>();
    std::vector<ComparedRun> runs;
    const Fidelity fidelity = fidelity_of_runs(wanted);
    for (const Compared& one : wanted) {
        Checked<Outcome> outcome = outcome_of(one, fidelity, session, work);
        if (!outcome) {
            out->problem +=
                QStringLiteral("%1: %2\n")
                    .arg(one.name, QString::fromStdString(outcome.error().front().message));
            continue;
        }
        Summary summary = summarize(*outcome);
        out->names.push_back(one.name);
        out->summaries.push_back(summary);
        runs.push_back({one.name.toStdString(), std::move(*outcome), std::move(summary)});
    }
    if (!runs.empty())
        out->comparison = compare(runs);
    return out;
}

} // namespace trainyard::gui
