#include "calibrate/measure/design/next_sizes.h"

#include "calibrate/fit/curve.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr Bytes dense_first{std::uint64_t{1} << 20};
constexpr Bytes dense_last{std::uint64_t{16} << 20};
constexpr double least_ratio = 1.2;
constexpr double preference = 2; // of gaps where algorithms switch

Bytes rounded_down(Bytes size, Bytes step)
{
    return Bytes(size.value() / step.value() * step.value());
}

Bytes rounded_up(Bytes size, Bytes step)
{
    return rounded_down(Bytes(size.value() + step.value() - 1), step);
}

// The size after `size`.
Bytes following(Bytes size, const SizeRange& range)
{
    const bool dense = size >= dense_first && size < dense_last;
    Bytes next = scaled(size, dense ? range.dense_ratio : range.ratio);
    if (size < dense_first)
        next = std::min(next, dense_first);
    return std::max(rounded_down(next, range.step), size + range.step);
}

double half_width(const Knot& knot)
{
    return (knot.high - knot.low) / knot.time / 2;
}

const Knot* knot_at(std::span<const Knot> knots, Bytes size)
{
    const auto found =
        std::find_if(knots.begin(), knots.end(), [&](const Knot& k) { return k.size == size; });
    return found == knots.end() ? nullptr : &*found;
}

// How far the curve of all sizes but those inside the gap is from the time of `knot` in it; 0 where
// the intervals of that time and of those at the ends explain it. Requires the ends.
double miss_in(const SizeGap& gap, const Knot& knot, std::span<const Knot> sorted)
{
    std::vector<TimedSize> others;
    for (const Knot& other : sorted)
        if (other.size <= gap.from || other.size >= gap.to)
            others.push_back({other.size, other.time});
    const double off = std::abs(time_at(fit_curve(others), knot.size) / knot.time - 1);
    const double of_ends =
        std::hypot(half_width(*knot_at(sorted, gap.from)), half_width(*knot_at(sorted, gap.to))) /
        2;
    return off > std::hypot(half_width(knot), of_ends) ? off : 0;
}

bool more_urgent(const SizeGap& a, const SizeGap& b)
{
    const auto weight = [](const SizeGap& gap) {
        return gap.to > dense_first && gap.from < dense_last ? preference * gap.miss : gap.miss;
    };
    return weight(a) != weight(b) ? weight(a) > weight(b) : a.from < b.from;
}

} // namespace

std::vector<Bytes> starting_sizes(const SizeRange& range)
{
    const Bytes first = std::max(rounded_up(range.first, range.step), range.step);
    const Bytes last = std::max(rounded_down(range.last, range.step), first);
    std::vector<Bytes> out{first};
    for (Bytes size = following(first, range); size < last; size = following(size, range))
        if (size / out.back() >= least_ratio && last / size >= least_ratio)
            out.push_back(size);
    if (last > first)
        out.push_back(last);
    return out;
}

std::vector<Bytes> SizeLoop::next(std::span<const Knot> measured, std::size_t at_most)
{
    std::vector<Knot> sorted(measured.begin(), measured.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const Knot& a, const Knot& b) { return a.size < b.size; });
    if (started_)
        look_at_answers(sorted);
    else
        open_by_left_out(sorted);
    started_ = true;

    std::sort(open_.begin(), open_.end(), more_urgent);
    const std::size_t count = std::min(at_most, open_.size());
    asked_.assign(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(count));
    open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<Bytes> out;
    for (const SizeGap& gap : asked_)
        out.push_back(middle(gap));
    return out;
}

std::vector<SizeGap> SizeLoop::unresolved() const
{
    std::vector<SizeGap> out = open_;
    out.insert(out.end(), narrow_.begin(), narrow_.end());
    std::sort(out.begin(), out.end(),
              [](const SizeGap& a, const SizeGap& b) { return a.from < b.from; });
    return out;
}

void SizeLoop::open_by_left_out(std::span<const Knot> sorted)
{
    std::vector<double> misses(sorted.size(), sorted.size() == 2 ? 1 : 0);
    for (std::size_t i = 1; i + 1 < sorted.size(); ++i)
        misses[i] = miss_in({sorted[i - 1].size, sorted[i + 1].size}, sorted[i], sorted);
    for (std::size_t i = 0; i + 1 < sorted.size(); ++i)
        open({sorted[i].size, sorted[i + 1].size, std::max(misses[i], misses[i + 1])}, sorted);
}

// What was asked for and could not be measured closes its gap.
void SizeLoop::look_at_answers(std::span<const Knot> sorted)
{
    for (const SizeGap& gap : asked_)
        if (const Knot* knot = knot_at(sorted, middle(gap)))
            split(gap, *knot, sorted);
}

void SizeLoop::split(const SizeGap& gap, const Knot& at, std::span<const Knot> sorted)
{
    const double miss = miss_in(gap, at, sorted);
    open({gap.from, at.size, miss}, sorted);
    open({at.size, gap.to, miss}, sorted);
}

// Unless it is good enough.
void SizeLoop::open(const SizeGap& gap, std::span<const Knot> sorted)
{
    if (gap.miss <= goal_.miss)
        return;
    const Bytes size = middle(gap);
    if (size / gap.from < goal_.finest || gap.to / size < goal_.finest)
        narrow_.push_back(gap);
    else if (const Knot* knot = knot_at(sorted, size))
        split(gap, *knot, sorted); // somebody else has measured it
    else
        open_.push_back(gap);
}

Bytes SizeLoop::middle(const SizeGap& gap) const
{
    const double size =
        std::sqrt(static_cast<double>(gap.from.value()) * static_cast<double>(gap.to.value()));
    const auto steps = std::llround(size / static_cast<double>(step_.value()));
    return Bytes(static_cast<std::uint64_t>(steps) * step_.value());
}

} // namespace trainyard
