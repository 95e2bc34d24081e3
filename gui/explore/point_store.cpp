#include "gui/explore/point_store.h"

#include <algorithm>

namespace trainyard::gui {

const std::vector<const Figure*>& kept_figures()
{
    static const std::vector<const Figure*> figures = grouped_figures_in(in_window);
    return figures;
}

FoundPoint found_point(const PointRow& row)
{
    FoundPoint out{row.index, {}, row.reason, row.hint, row.hindrance};
    for (const Figure* figure : kept_figures()) {
        const bool known =
            row.feasible() || (figure->group == FigureGroup::memory && row.capacity.value() > 0);
        out.figures.push_back(known ? figure->number(row) : no_number);
    }
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

void PointStore::set_guest(std::optional<Guest> of)
{
    guest_ = std::move(of);
}

void PointStore::add(std::vector<FoundPoint> found)
{
    for (FoundPoint& point : found) {
        const std::uint32_t number = size();
        index_.push_back(point.index);
        for (std::size_t column = 0; column < figures_.size(); ++column)
            figures_[column].push_back(point.figures[column]);
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
        kinds_.push_back({point.reason, point.hint, 0,
                          point.hindrance.kind == Hindrance::Kind::memory,
                          point.hindrance.pointer});
    ++kinds_[at->second].count;
    return at->second;
}

std::optional<std::uint32_t> PointStore::find(std::size_t index) const
{
    const auto at = std::ranges::find(index_, index);
    return at == index_.end() ? std::nullopt
                              : std::optional(static_cast<std::uint32_t>(at - index_.begin()));
}

double PointStore::figure(std::uint32_t point, std::string_view key) const
{
    const auto at = std::ranges::find(kept_figures(), key, &Figure::key);
    return figure(point, static_cast<std::size_t>(at - kept_figures().begin()));
}

double missing_memory(const PointStore& store, std::uint32_t point)
{
    return store.figure(point, "peak_memory_bytes") - store.figure(point, "device_memory_bytes");
}

} // namespace trainyard::gui
