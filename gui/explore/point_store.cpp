#include "gui/explore/point_store.h"

#include <algorithm>

namespace trainyard::gui {

FoundPoint found_point(const PointRow& row)
{
    FoundPoint out;
    out.index = row.index;
    out.reason = row.reason;
    out.hint = row.hint;
    out.hindrance = row.hindrance;
    out.figures.fill(unknown);
    const auto set = [&](Figure figure, double value) {
        out.figures[static_cast<std::size_t>(figure)] = value;
    };
    if (row.capacity.value() > 0) {
        set(Figure::memory, static_cast<double>(row.peak_memory.value()));
        set(Figure::capacity, static_cast<double>(row.capacity.value()));
    }
    if (!row.feasible())
        return out;
    set(Figure::step_time, row.step_time.value.value());
    set(Figure::step_low, row.step_time.low.value());
    set(Figure::step_high, row.step_time.high.value());
    set(Figure::rate, row.work_per_s() / std::max(1, row.gpus));
    set(Figure::mfu, row.mfu);
    set(Figure::exposed, row.exposed_share);
    set(Figure::bubble, row.bubble_share);
    set(Figure::devices, row.gpus);
    return out;
}

void PointStore::reset(SweepGrid grid)
{
    *this = PointStore();
    grid_ = std::move(grid);
    std::size_t stride = 1;
    strides_.resize(grid_.axes.size());
    for (std::size_t axis = grid_.axes.size(); axis-- > 0;) {
        strides_[axis] = stride;
        stride *= grid_.axes[axis].values.size();
    }
}

void PointStore::add(std::vector<FoundPoint> found)
{
    for (FoundPoint& point : found) {
        const std::uint32_t number = size();
        index_.push_back(point.index);
        for (std::size_t figure = 0; figure < figure_count; ++figure)
            figures_[figure].push_back(point.figures[figure]);
        const std::uint32_t kind = kind_of(point);
        kind_.push_back(kind);
        reason_.push_back(std::move(point.reason));
        if (kind == 0)
            ++feasible_count_;
        else if (kinds_[kind].memory &&
                 (!nearest_ || missing_memory(*this, number) < missing_memory(*this, *nearest_)))
            nearest_ = number;
    }
}

std::uint32_t PointStore::kind_of(const FoundPoint& point)
{
    if (point.reason.empty())
        return 0;
    const auto [at, is_new] =
        kind_by_hindrance_.try_emplace(point.hindrance, static_cast<std::uint32_t>(kinds_.size()));
    if (is_new)
        kinds_.push_back(
            {point.reason, point.hint, 0, point.hindrance.kind == Hindrance::Kind::memory});
    ++kinds_[at->second].count;
    return at->second;
}

std::optional<std::uint32_t> PointStore::find(std::size_t index) const
{
    const auto at = std::ranges::find(index_, index);
    return at == index_.end() ? std::nullopt
                              : std::optional(static_cast<std::uint32_t>(at - index_.begin()));
}

double missing_memory(const PointStore& store, std::uint32_t point)
{
    return store.figure(point, Figure::memory) - store.figure(point, Figure::capacity);
}

} // namespace trainyard::gui
