#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/study/inputs.h"
#include "sim/study/sweep_follow.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

// A line per axis, as --grid takes them, of a shipped scenario.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const std::string path = data_dir() / "scenarios" / "llama3-8b-h100-8.json";
    static const ScenarioFile base = scenario_from(read_json_file(path).value(), path).value();
    SweepGrid grid;
    std::string_view text = fuzz::text_of(data, size);
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const Checked<SweepAxis> axis = parse_axis(line);
        fuzz::require(axis || !axis.error().empty(), "a refused axis has a reason");
        if (axis)
            grid.axes.push_back(*axis);
    }
    if (has_errors(grid_problems(grid, base)))
        return 0;
    fuzz::require(grid.points() <= most_sweep_points, "a grid is bounded");
    for (const std::size_t point : {std::size_t{0}, grid.points() - 1})
        scenario_at(grid, point, base);
    return 0;
}
