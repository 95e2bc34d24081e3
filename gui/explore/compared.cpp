#include "gui/explore/compared.h"

#include "sim/study/inputs.h"

namespace trainyard::gui {

namespace {

Checked<Outcome> outcome_of(const Compared& one, Session& session, const WorkControl& work)
{
    if (one.run)
        return *one.run->outcome;
    const Checked<ScenarioFile> file = scenario_from(one.scenario, one.file);
    if (!file)
        return tl::unexpected(file.error());
    SimulateRequest request;
    request.memory = AllocatorView::fullest_stage;
    request.work = work;
    return session.simulate(*file, request);
}

} // namespace

std::shared_ptr<const ComparedResult> compare_all(const std::vector<Compared>& wanted,
                                                  Session& session, const WorkControl& work)
{
    auto out = std::make_shared<ComparedResult>();
    std::vector<ComparedRun> runs;
    for (const Compared& one : wanted) {
        Checked<Outcome> outcome = outcome_of(one, session, work);
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
