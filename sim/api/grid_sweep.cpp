#include "sim/api/grid_sweep.h"

#include "sim/study/problems.h"
#include "sim/study/search/searched_grid.h"
#include "sim/study/session.h"

#include <mutex>

namespace trainyard {
namespace {

// A grid, and which of its points are looked at.
struct ChosenGrid {
    SweepGrid grid;
    std::optional<std::vector<std::size_t>> points = {}; // absent: all
    std::optional<std::uint64_t> combinations = {};
};

// What is "auto" takes the values that the search has.
Checked<ChosenGrid> searched(const GridQuestion& question, const SweepGrid& grid,
                             const ScenarioFile& base, const WorkControl& work)
{
    Checked<SearchedGrid> found = searched_grid(grid, base, question.headroom, work);
    if (!found)
        return tl::unexpected(found.error());
    if (Problems problems = grid_problems(found->grid, base); !problems.empty())
        return tl::unexpected(std::move(problems));
    return ChosenGrid{std::move(found->grid), std::move(found->points), found->combinations};
}

Checked<ChosenGrid> chosen_grid(const GridQuestion& question, const ScenarioFile& base,
                                const WorkControl& work)
{
    SweepGrid grid;
    grid.batch = question.nearest_batch ? BatchRule::nearest : BatchRule::as_asked;
    Problems problems;
    for (const std::string& text : question.axes) {
        Checked<SweepAxis> axis = parse_axis(text);
        if (axis)
            grid.axes.push_back(std::move(*axis));
        else
            append(problems, axis.error());
    }
    const SweepGrid given = without_searched_axes(grid);
    if (problems.empty())
        problems = grid_problems(given, base);
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return given == grid ? ChosenGrid{std::move(grid)} : searched(question, grid, base, work);
}

} // namespace

Checked<GridTask> grid_task(const ScenarioFile& scenario, const std::string& name,
                            const GridQuestion& question, const WorkControl& work)
{
    Checked<ChosenGrid> chosen = chosen_grid(question, scenario, work);
    if (!chosen)
        return tl::unexpected(std::move(chosen.error()));
    SweepTitle title{
        name, chosen->grid, following_fields(chosen->grid, scenario.scenario), question.measure,
        {},   scenario.json};
    Checked<ScenarioFile> base = let_follow(scenario, title.following, title.grid);
    if (!base)
        return tl::unexpected(std::move(base.error()));
    return GridTask{std::move(*base), std::move(title), std::move(chosen->points),
                    chosen->combinations};
}

Checked<GridAnswer> sweep_grid(const ScenarioFile& scenario, const std::string& name,
                               const GridQuestion& question, std::size_t shown, int threads,
                               Session& session, const WorkControl& work)
{
    Checked<GridTask> task = grid_task(scenario, name, question, work);
    if (!task)
        return tl::unexpected(std::move(task.error()));
    GridAnswer out{std::move(*task), {}, {question.measure, shown, question.headroom}};
    GridOrder in_order([&](const PointRow& row) { out.rows.push_back(row); }, out.task.points);
    std::mutex mutex;
    out.task.title.end = sweep(out.task.base, out.task.title.grid, session,
                               {threads, work, out.task.points}, [&](SweepPoint&& point) {
                                   PointRow row = row_of(point);
                                   const std::lock_guard lock(mutex);
                                   out.best.add(row);
                                   in_order.add(std::move(row));
                               });
    in_order.finish();
    return out;
}

std::string sweep_json_text(const GridAnswer& answer)
{
    const double headroom = answer.best.headroom();
    std::string out = sweep_json_head(answer.task.title, headroom);
    for (const PointRow& row : answer.rows)
        out += (&row == &answer.rows.front() ? "" : ",\n") +
               to_text(to_json(answer.task.title.grid, row, headroom), JsonStyle::compact);
    return out + sweep_json_tail(answer.task.title, answer.best);
}

std::string report_text(const GridAnswer& answer, std::size_t width)
{
    return sweep_text(answer.task.title, answer.best, Paint(Colour::none), width);
}

} // namespace trainyard
