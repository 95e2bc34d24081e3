#include "sim/study/search/searched_grid.h"

#include "sim/base/fields.h"
#include "sim/base/parallel.h"
#include "sim/base/units.h"
#include "sim/study/inputs.h"
#include "sim/study/problems.h"
#include "sim/study/search/search.h"
#include "sim/study/sweep_follow.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace trainyard {

namespace {

constexpr std::string_view replicas_field = "strategy.dp";

bool is_searched_field(const std::string& field)
{
    const std::vector<std::string> known = searched_fields();
    return std::ranges::find(known, field) != known.end();
}

bool follows(const std::string& value)
{
    return value == "null" || value == auto_size;
}

bool has_axis(const SweepGrid& grid, std::string_view field)
{
    return std::ranges::find(grid.axes, field, &SweepAxis::field) != grid.axes.end();
}

// Numbers by size, all else as it came.
void sort_values(std::vector<std::string>& values)
{
    const auto number = [](const std::string& text) {
        std::int64_t value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    };
    std::ranges::stable_sort(values, {}, number);
}

// The points that were found, as values by axis, and the values of the axes left to the search.
class FoundPoints {
public:
    explicit FoundPoints(const SweepGrid& grid) : grid_(grid), searched_(grid.axes.size()) {}

    void add(std::vector<std::string> values)
    {
        for (std::size_t a = 0; a < values.size(); ++a)
            if (is_left_to_search(grid_.axes[a]))
                searched_[a].insert(values[a]);
        points_.push_back(std::move(values));
    }

    bool empty() const { return points_.empty(); }

    SearchedGrid take() const
    {
        SearchedGrid out{grid_, {}, 0};
        std::vector<std::map<std::string, std::size_t>> places(grid_.axes.size());
        for (std::size_t a = 0; a < out.grid.axes.size(); ++a) {
            std::vector<std::string>& values = out.grid.axes[a].values;
            if (is_left_to_search(grid_.axes[a])) {
                values.assign(searched_[a].begin(), searched_[a].end());
                sort_values(values);
            }
            for (std::size_t v = 0; v < values.size(); ++v)
                places[a].emplace(values[v], v);
        }
        for (const std::vector<std::string>& point : points_) {
            std::size_t index = 0;
            for (std::size_t a = 0; a < point.size(); ++a)
                index = index * out.grid.axes[a].values.size() + places[a].at(point[a]);
            out.points.push_back(index);
        }
        std::ranges::sort(out.points);
        out.points.erase(std::unique(out.points.begin(), out.points.end()), out.points.end());
        return out;
    }

private:
    const SweepGrid& grid_;
    std::vector<std::set<std::string>> searched_;
    std::vector<std::vector<std::string>> points_;
};

class GridSearch {
public:
    GridSearch(const SweepGrid& grid, const ScenarioFile& base, double headroom,
               const WorkControl& work)
        : grid_(grid), base_(base), work_(work), found_(grid_)
    {
        request_.headroom = headroom;
        for (const SweepAxis& axis : grid_.axes) {
            if (axis.field == batch_field && is_left_to_search(axis)) {
                grid_.batch = BatchRule::nearest;
                batch_is_searched_ = true;
            }
            const bool stages = axis.field == "strategy.pp" || axis.field == "strategy.vpp";
            if (stages && is_left_to_search(axis) && !has_axis(grid_, "strategy.stage_layers"))
                grid_.layers = LayerRule::spread;
            if (!is_searched_field(axis.field) && axis.field != replicas_field)
                outer_.axes.push_back(axis);
        }
    }

    Checked<SearchedGrid> run()
    {
        for (std::size_t i = 0; i < outer_.points(); ++i)
            if (Problems problems = add_space(outer_.point(i)); !problems.empty())
                return tl::unexpected(std::move(problems));
        if (found_.empty())
            return tl::unexpected(nothing_left());
        SearchedGrid out = found_.take();
        out.combinations = combinations_;
        return out;
    }

private:
    // The layouts of the scenario with these values of other axes.
    Problems add_space(const std::vector<Override>& others)
    {
        std::vector<Override> known = others;
        std::erase_if(known, [](const Override& change) { return follows(change.value); });
        const Checked<ScenarioFile> file = scenario_from(base_.json, base_.file, known);
        const Checked<SearchBase> base =
            file ? search_base(*file) : Checked<SearchBase>(tl::unexpected(file.error()));
        if (!base)
            return base.error();
        SearchSpace space = own_space(base->file.scenario);
        const SearchSpace usual = usual_space(base->file.scenario, base->facts);
        for (const SweepAxis& axis : grid_.axes) {
            if (is_left_to_search(axis)) {
                take_values(space, usual, axis.field);
                continue;
            }
            if (!is_searched_field(axis.field))
                continue;
            if (Problems problems = restrict(space, axis); !problems.empty())
                return problems;
        }
        keep_recomputed_layers(space, base->file.scenario.training);
        add_layouts(space, *base, others);
        return {};
    }

    // A grid has no axis for "full:4"; with full, so many layers are recomputed as the scenario
    // says.
    static void keep_recomputed_layers(SearchSpace& space, const Training& training)
    {
        std::vector<RecomputeChoice> kinds;
        for (RecomputeChoice choice : space.recompute) {
            choice.layers =
                choice.kind == Recompute::full ? training.recompute_layers : std::nullopt;
            if (std::ranges::find(kinds, choice) == kinds.end())
                kinds.push_back(choice);
        }
        space.recompute = std::move(kinds);
    }

    // One size of groups after the other, for the batches that are nearest depend on dp.
    void add_layouts(const SearchSpace& space, const SearchBase& base,
                     const std::vector<Override>& others)
    {
        const std::vector<std::int64_t> asked = space.global_batches;
        combinations_ += space.points();
        SearchSpace part = space;
        for (const int tp : space.tp)
            for (const int cp : space.cp)
                for (const int pp : space.pp) {
                    work_.check();
                    const std::int64_t ranks = std::int64_t{tp} * cp * pp;
                    if (ranks > base.facts.devices || base.facts.devices % ranks != 0)
                        continue;
                    part.tp = {tp};
                    part.cp = {cp};
                    part.pp = {pp};
                    for (const std::int64_t batch : asked) {
                        part.global_batches = batches_for(batch, space, base.facts.devices / ranks);
                        add_part(part, base, others, batch);
                    }
                }
    }

    std::vector<std::int64_t> batches_for(std::int64_t asked, const SearchSpace& space,
                                          std::int64_t dp) const
    {
        if (grid_.batch == BatchRule::as_asked)
            return {asked};
        std::set<std::int64_t> out;
        for (const std::int64_t micro_batch : space.micro_batches)
            out.insert(nearest_batch(asked, micro_batch * dp));
        return {out.begin(), out.end()};
    }

    void add_part(const SearchSpace& part, const SearchBase& base,
                  const std::vector<Override>& others, std::int64_t asked)
    {
        const int threads = usable_threads();
        PossibleLayouts possible = possible_layouts(
            part, base, room_of(base, request_), {work_.cancel, {}}, {.lanes = threads}, threads);
        work_.check();
        if (possible.nearest && (!nearest_ || possible.nearest->memory < nearest_->memory))
            nearest_ = possible.nearest;
        for (const PossibleLayout& layout : possible.layouts) {
            const LayoutChoice& choice = layout.choice;
            const std::int64_t dp = replicas_of(choice, base.facts);
            const std::int64_t batch = choice.global_batch;
            if (grid_.batch == BatchRule::nearest &&
                batch != nearest_batch(asked, choice.micro_batch * dp))
                continue;
            if (batch_is_searched_ && (batch > 2 * asked || 2 * batch < asked))
                continue;
            add_point(choice, dp, others, asked);
        }
    }

    // In each way that the axis of dp can say it, if there is one.
    void add_point(const LayoutChoice& choice, std::int64_t dp, const std::vector<Override>& others,
                   std::int64_t asked)
    {
        std::vector<std::string> values;
        std::optional<std::size_t> replicas;
        auto other = others.begin();
        for (const SweepAxis& axis : grid_.axes) {
            if (axis.field == replicas_field)
                replicas = values.size();
            if (axis.field == replicas_field || axis.field == batch_field)
                values.push_back(std::to_string(asked));
            else if (is_searched_field(axis.field))
                values.push_back(value_of(choice, axis.field));
            else
                values.push_back((other++)->value);
        }
        if (!replicas)
            return found_.add(std::move(values));
        for (const std::string& value : grid_.axes[*replicas].values)
            if (follows(value) || value == std::to_string(dp)) {
                values[*replicas] = value;
                found_.add(values);
            }
    }

    Problems nothing_left() const
    {
        std::vector<std::string> axes;
        for (const SweepAxis& axis : grid_.axes)
            if (is_left_to_search(axis))
                axes.push_back(axis.field + "=auto");
        return one_problem(
            fmt::format("--grid {}: no values make a layout that divides the devices and the batch "
                        "and fits",
                        fmt::join(axes, ", ")),
            nearest_ ? fmt::format("the nearest to fitting needs at least {} of the fullest device",
                                   to_display(nearest_->memory))
                     : "leave more fields to it, or --nearest-batch");
    }

    SweepGrid grid_;
    SweepGrid outer_; // axes that are no layout's
    const ScenarioFile& base_;
    const WorkControl& work_;
    SearchRequest request_;
    bool batch_is_searched_ = false;
    FoundPoints found_;
    std::optional<LargeLayout> nearest_;
    std::uint64_t combinations_ = 0;
};

} // namespace

bool is_left_to_search(const SweepAxis& axis)
{
    return axis.values.size() == 1 && axis.values.front() == auto_size &&
           is_searched_field(axis.field);
}

SweepGrid without_searched_axes(SweepGrid grid)
{
    std::erase_if(grid.axes, is_left_to_search);
    return grid;
}

Checked<SearchedGrid> searched_grid(const SweepGrid& grid, const ScenarioFile& base,
                                    double headroom, const WorkControl& work)
{
    return GridSearch(grid, base, headroom, work).run();
}

} // namespace trainyard
