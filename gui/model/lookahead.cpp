#include "gui/model/lookahead.h"

namespace trainyard::gui {

void Lookahead::foresee(std::vector<ScenarioFile> next)
{
    task_.start([this, next = std::move(next)](const WorkControl& work) -> BackgroundTask::Answer {
        step_back();
        for (const ScenarioFile& file : next)
            live_.session().simulate(file, headline_request(work));
        return [] {};
    });
}

} // namespace trainyard::gui
