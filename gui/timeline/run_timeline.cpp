#include "gui/timeline/run_timeline.h"

#include "sim/report/timeline/recorded.h"

namespace trainyard::gui {

namespace {

// The run with records.
std::shared_ptr<const Outcome> recorded(const RunView& run, Session& session,
                                        const WorkControl& work)
{
    if (run.recorded)
        return run.outcome;
    SimulateRequest request;
    request.memory = AllocatorView::fullest_stage;
    request.record = picture_lanes(*run.outcome);
    request.work = work;
    Checked<Outcome> outcome = session.simulate(*run.file, request);
    if (!outcome) // it was simulated before, without records
        throw WorldError{render(outcome.error(), "")};
    return std::make_shared<const Outcome>(std::move(*outcome));
}

} // namespace

std::shared_ptr<const TimelineModel> timeline_of(const RunView& run, const RunView* compared,
                                                 Session& session, const WorkControl& work)
{
    std::vector outcomes{recorded(run, session, work)};
    if (compared != nullptr)
        outcomes.push_back(recorded(*compared, session, work));
    return std::make_shared<const TimelineModel>(outcomes, work);
}

} // namespace trainyard::gui
