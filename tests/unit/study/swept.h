#pragma once

// Scenarios that are shipped, and grids over them.

#include "sim/base/build_info.h"
#include "sim/study/session.h"
#include "sim/study/sweep.h"
#include "tests/catch.h"

namespace trainyard {

inline ScenarioFile shipped(const std::string& name, std::vector<Override> changes = {})
{
    const std::string path = (data_dir() / "scenarios" / name).string();
    Checked<ScenarioFile> file = read_scenario_file(path, changes);
    if (!file)
        FAIL(render(file.error(), ""));
    return *file;
}

inline SweepGrid grid_of(std::initializer_list<const char*> axes,
                         BatchRule batch = BatchRule::as_asked)
{
    SweepGrid grid;
    for (const char* text : axes)
        grid.axes.push_back(parse_axis(text).value());
    grid.batch = batch;
    return grid;
}

} // namespace trainyard
