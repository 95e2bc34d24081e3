#include "gui/timeline/run_timeline.h"

#include "sim/report/timeline/recorded.h"

namespace trainyard::gui {

std::shared_ptr<const Outcome> recorded_outcome(const RunView& run, const LaneChoice& lanes,
                                                Session& session, const WorkControl& work)
{
    if (run.recorded && run.lanes == lanes)
        return run.outcome;
    SimulateRequest request;
    request.record = chosen_lanes(*run.outcome, lanes);
    request.work = work;
    Checked<Outcome> outcome = session.simulate(*run.file, request);
    if (!outcome) // it was simulated before, without records
        throw WorldError{render(outcome.error(), "")};
    return std::make_shared<const Outcome>(std::move(*outcome));
}

std::shared_ptr<const TimelineModel> timeline_of(const RunView& run, const RunView* compared,
                                                 LaneOrder order, Session& session,
                                                 const WorkControl& work)
{
    std::vector outcomes{run.outcome};
    if (compared != nullptr)
        outcomes.push_back(recorded_outcome(*compared, run.lanes, session, work));
    return std::make_shared<const TimelineModel>(outcomes, work, order);
}

} // namespace trainyard::gui
