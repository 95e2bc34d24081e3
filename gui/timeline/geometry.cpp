#include "gui/timeline/geometry.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard::gui {

namespace {

constexpr std::int64_t shortest = 1000; // ps in sight
constexpr std::size_t lines_at_a_glance = 16;
constexpr std::size_t lines_of_a_screen = 60;

SimTime rounded(double picoseconds)
{
    const auto most = static_cast<double>(longest_sim_time.value());
    return SimTime(std::llround(std::clamp(picoseconds, -most, most)));
}

// From its rank down, the same in every order of ranks.
std::string lane_name(const TimelineData& data, std::uint32_t track)
{
    const Track& at = data.tracks[track];
    const bool top =
        at.kind == TrackKind::group || at.kind == TrackKind::rank || at.parent == nothing;
    const std::string own = top && at.run != 0 ? "baseline/" + at.name : at.name;
    return top ? own : lane_name(data, at.parent) + "/" + own;
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
    if (lines_.size() > lines_at_a_glance)
        set_all_open(TrackKind::rank, false);
    if (lines_.size() > lines_of_a_screen)
        set_all_open(TrackKind::group, false);
}

void TrackLayout::adopt(const TrackLayout& before)
{
    // Ranks and what hangs in them; groups are others in another order.
    const auto key = [](const TimelineData& data, std::uint32_t t) {
        const Track& track = data.tracks[t];
        return std::tuple(track.run, track.rank, track.kind, track.name);
    };
    std::map<std::tuple<std::uint8_t, RankId, TrackKind, std::string>, std::uint32_t> now;
    for (std::uint32_t t = 0; t < open_.size(); ++t)
        if (data_->tracks[t].kind != TrackKind::group)
            now.emplace(key(*data_, t), t);
    const auto same = [&](std::uint32_t t) {
        const auto found = now.find(key(*before.data_, t));
        return found == now.end() ? nothing : found->second;
    };
    for (std::uint32_t t = 0; t < before.open_.size(); ++t)
        if (const std::uint32_t own = same(t); own != nothing)
            open_[own] = before.open_[t];
    for (const std::uint32_t t : before.pinned_)
        if (const std::uint32_t own = same(t); own != nothing)
            pinned_.push_back(own);
    for (const std::uint32_t t : before.hidden_)
        if (const std::uint32_t own = same(t); own != nothing)
            hidden_.insert(own);
    line_height_ = before.line_height_;
    lay_out();
}

void TrackLayout::set_line_height(int height)
{
    line_height_ = std::clamp(height, least_line_height, most_line_height);
    lay_out();
}

int TrackLayout::held_height(int room) const
{
    return std::min(pinned_height_, std::max(0, room) / 2 / line_height_ * line_height_);
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
         up = data_->tracks[up].parent) {
        // A line that was pinned is in sight by itself.
        if (pinned(track))
            break;
        open_[up] = true;
        hidden_.erase(up);
    }
    hidden_.erase(track);
    lay_out();
}

bool TrackLayout::pinned(std::uint32_t track) const
{
    return std::ranges::find(pinned_, track) != pinned_.end();
}

void TrackLayout::set_pinned(std::uint32_t track, bool pinned)
{
    std::erase(pinned_, track);
    if (pinned) {
        pinned_.push_back(track);
        hidden_.erase(track);
    }
    lay_out();
}

void TrackLayout::hide(std::uint32_t track)
{
    const auto before = pinned_;
    std::erase(pinned_, track);
    hidden_.insert(track);
    lay_out();
    if (!lines_.empty())
        return;
    hidden_.erase(track);
    pinned_ = before;
    lay_out();
}

void TrackLayout::show_hidden()
{
    hidden_.clear();
    lay_out();
}

LaneMarks TrackLayout::marks() const
{
    LaneMarks marks;
    for (const std::uint32_t track : pinned_)
        marks.pinned.push_back(lane_name(*data_, track));
    for (const std::uint32_t track : hidden_)
        marks.hidden.push_back(lane_name(*data_, track));
    return marks;
}

void TrackLayout::clear_marks()
{
    pinned_.clear();
    hidden_.clear();
    lay_out();
}

void TrackLayout::mark(const LaneMarks& marks)
{
    if (data_ == nullptr || (marks.pinned.empty() && marks.hidden.empty()))
        return;
    std::unordered_map<std::string, std::uint32_t> tracks;
    for (std::uint32_t track = 0; track < open_.size(); ++track)
        tracks.emplace(lane_name(*data_, track), track);
    for (const std::string& name : marks.pinned)
        if (const auto at = tracks.find(name); at != tracks.end() && !pinned(at->second))
            pinned_.push_back(at->second);
    for (const std::string& name : marks.hidden)
        if (const auto at = tracks.find(name); at != tracks.end() && !pinned(at->second))
            hidden_.insert(at->second);
    lay_out();
    if (lines_.empty())
        show_hidden();
}

void TrackLayout::lay_out()
{
    lines_.clear();
    line_of_.assign(open_.size(), nothing);
    for (const std::uint32_t track : pinned_)
        add_lines(track, data_->tracks[track].end);
    pinned_height_ = height();
    add_lines(0, static_cast<std::uint32_t>(open_.size()));
}

// Each once: what is pinned is not shown again where it belongs.
void TrackLayout::add_lines(std::uint32_t first, std::uint32_t end)
{
    int y = height();
    for (std::uint32_t track = first; track < end;) {
        if (hidden_.contains(track) || line_of_[track] != nothing ||
            (track != first && pinned(track))) {
            track = data_->tracks[track].end;
            continue;
        }
        line_of_[track] = static_cast<std::uint32_t>(lines_.size());
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
    if (track >= line_of_.size() || line_of_[track] == nothing)
        return std::nullopt;
    return line_of_[track];
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
