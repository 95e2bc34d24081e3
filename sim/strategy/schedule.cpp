#include "sim/strategy/schedule.h"

namespace trainyard {

// Each in the file of its name, in pipeline/.
const PipelineSchedule& gpipe_schedule();
const PipelineSchedule& one_f_one_b_schedule();
const PipelineSchedule& interleaved_one_f_one_b_schedule();
const PipelineSchedule& breadth_first_schedule();
const PipelineSchedule& zb_h1_schedule();
const PipelineSchedule& zb_h2_schedule();
const PipelineSchedule& zb_v_schedule();
const PipelineSchedule& dual_pipe_schedule();
const PipelineSchedule& dual_pipe_v_schedule();

const std::vector<const PipelineSchedule*>& schedules()
{
    static const std::vector<const PipelineSchedule*> all = {
        &gpipe_schedule(),         &one_f_one_b_schedule(), &interleaved_one_f_one_b_schedule(),
        &breadth_first_schedule(), &zb_h1_schedule(),       &zb_h2_schedule(),
        &zb_v_schedule(),          &dual_pipe_schedule(),   &dual_pipe_v_schedule(),
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
