#include "gui/timeline/geometry.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr std::int64_t shortest = 1000; // ps in sight
constexpr std::size_t lines_of_a_screen = 60;

SimTime rounded(double picoseconds)
{
    const auto most = static_cast<double>(longest_sim_time.value());
    return SimTime(std::llround(std::clamp(picoseconds, -most, most)));
}

} // namespace

double TimeScale::x_of(SimTime time) const
{
    return left + pixels(time - range.from);
}

SimTime TimeScale::time_at(double x) const
{
    return range.from + time_of(x - left);
}

double TimeScale::pixels(SimTime length) const
{
    return as_double(length) / as_double(range.length()) * width;
}

SimTime TimeScale::time_of(double pixels) const
{
    return rounded(pixels / width * as_double(range.length()));
}

TimeRange TimeScale::zoomed(double factor, SimTime about) const
{
    const double length = std::max(as_double(range.length()) / factor, double{shortest});
    const double before = as_double(about - range.from) / as_double(range.length()) * length;
    const SimTime from = about - rounded(before);
    return {from, from + rounded(length)};
}

TimeRange TimeScale::panned(double pixels) const
{
    const SimTime by = time_of(pixels);
    return {range.from + by, range.to + by};
}

AxisTicks ticks_of(const TimeScale& scale, SimTime origin, double apart)
{
    const double wanted = std::max(1.0, apart / scale.width * as_double(scale.range.length()));
    const double power = std::pow(10.0, std::floor(std::log10(wanted)));
    double step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0})
        if (factor * power >= wanted)
            step = factor * power;
    const SimTime by = rounded(step);
    const std::int64_t since = (scale.range.from - origin).value();
    std::int64_t count = since / by.value();
    if (count * by.value() < since)
        ++count;
    return {origin + by * count, by};
}

TrackLayout::TrackLayout(const TimelineData& data) : data_(&data), open_(data.tracks.size(), true)
{
    lay_out();
    for (const TrackKind kind : {TrackKind::rank, TrackKind::node})
        if (lines_.size() > lines_of_a_screen)
            set_all_open(kind, false);
}

void TrackLayout::set_line_height(int height)
{
    line_height_ = std::clamp(height, least_line_height, most_line_height);
    lay_out();
}

bool TrackLayout::can_open(std::uint32_t track) const
{
    return data_->tracks[track].end > track + 1;
}

void TrackLayout::set_open(std::uint32_t track, bool open)
{
    if (open_[track] == open)
        return;
    open_[track] = open;
    lay_out();
}

void TrackLayout::set_all_open(TrackKind kind, bool open)
{
    for (std::size_t i = 0; i < open_.size(); ++i)
        if (data_->tracks[i].kind == kind)
            open_[i] = open;
    lay_out();
}

void TrackLayout::reveal(std::uint32_t track)
{
    for (std::uint32_t up = data_->tracks[track].parent; up != nothing;
         up = data_->tracks[up].parent)
        open_[up] = true;
    lay_out();
}

void TrackLayout::lay_out()
{
    lines_.clear();
    int y = 0;
    for (std::uint32_t track = 0; track < open_.size();) {
        lines_.push_back({track, y, line_height_});
        y += line_height_;
        track = open_[track] ? track + 1 : data_->tracks[track].end;
    }
}

std::optional<std::size_t> TrackLayout::line_at(int y) const
{
    const std::size_t line = first_line(y);
    if (y < 0 || line == lines_.size())
        return std::nullopt;
    return line;
}

std::optional<std::size_t> TrackLayout::line_of(std::uint32_t track) const
{
    const auto found = std::partition_point(lines_.begin(), lines_.end(),
                                            [&](const Line& line) { return line.track < track; });
    if (found == lines_.end() || found->track != track)
        return std::nullopt;
    return static_cast<std::size_t>(found - lines_.begin());
}

std::size_t TrackLayout::first_line(int y) const
{
    const auto found = std::partition_point(lines_.begin(), lines_.end(),
                                            [&](const Line& line) { return line.bottom() <= y; });
    return static_cast<std::size_t>(found - lines_.begin());
}

std::uint32_t hit_slice(const TimelineData& data, const SliceRow& row, const TimeScale& scale,
                        double x, double reach)
{
    const SimTime time = scale.time_at(x);
    const std::uint32_t behind = data.first_ending_after(row, time);
    if (behind < row.end() && data.slices.start[behind] <= time)
        return behind;
    const auto left = [&] { return x - scale.x_of(data.slices.end[behind - 1]); };
    const auto right = [&] { return scale.x_of(data.slices.start[behind]) - x; };
    const double to_left = behind > row.first ? left() : reach + 1;
    const double to_right = behind < row.end() ? right() : reach + 1;
    if (std::min(to_left, to_right) > reach)
        return nothing;
    return to_left <= to_right ? behind - 1 : behind;
}

} // namespace trainyard::gui
