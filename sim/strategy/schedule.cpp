#include "sim/strategy/schedule.h"

namespace trainyard {

// Each in the file of its name.
const PipelineSchedule& gpipe_schedule();
const PipelineSchedule& one_f_one_b_schedule();
const PipelineSchedule& interleaved_one_f_one_b_schedule();

const std::vector<const PipelineSchedule*>& schedules()
{
    static const std::vector<const PipelineSchedule*> all = {
        &gpipe_schedule(),
        &one_f_one_b_schedule(),
        &interleaved_one_f_one_b_schedule(),
    };
    return all;
}

const PipelineSchedule* find_schedule(std::string_view name)
{
    for (const PipelineSchedule* schedule : schedules())
        if (schedule->name() == name)
            return schedule;
    return nullptr;
}

std::vector<std::string> schedule_names()
{
    std::vector<std::string> names;
    for (const PipelineSchedule* schedule : schedules())
        names.emplace_back(schedule->name());
    return names;
}

} // namespace trainyard
