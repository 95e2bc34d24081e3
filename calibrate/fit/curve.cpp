#include "calibrate/fit/curve.h"

#include "calibrate/fit/size_band.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr double corner_share = 0.2;   // of the way from the chord to the prolonged lines
constexpr double worth_a_knot = 0.002; // of the time
constexpr double normal_90 = 1.645;    // half-width of 90 % of a normal distribution, in deviations

struct Line {
    double x = 0;
    double y = 0;
    double slope = 0;

    double at(double size) const { return y + slope * (size - x); }
};

Line through(const TimedSize& a, const TimedSize& b)
{
    const double x = static_cast<double>(a.size.value());
    const double rise = (b.time - a.time).value();
    return {x, a.time.value(), rise / (static_cast<double>(b.size.value()) - x)};
}

// Where two lines meet; nothing when they are parallel.
std::optional<double> meeting(const Line& a, const Line& b)
{
    const double difference = a.slope - b.slope;
    if (difference == 0)
        return std::nullopt;
    return (b.at(0) - a.at(0)) / difference;
}

// What the curve does between two points: chord, prolonged neighbours, and the two times as limits.
class Between {
public:
    Between(std::span<const TimedSize> points, std::size_t left)
        : chord_(through(points[left], points[left + 1])),
          low_(points[left].time.value()),
          high_(points[left + 1].time.value()),
          begin_(points[left].size),
          end_(points[left + 1].size)
    {
        if (left + 2 == points.size())
            return; // its slope is what the curve goes on with
        if (left > 0)
            lines_.push_back(through(points[left - 1], points[left]));
        lines_.push_back(through(points[left + 1], points[left + 2]));
    }

    double at(double size) const
    {
        const double chord = chord_.at(size);
        if (lines_.empty())
            return chord;
        double above = lines_.front().at(size);
        for (const Line& line : lines_)
            above = std::min(above, line.at(size));
        return chord + corner_share * (std::clamp(above, low_, high_) - chord);
    }

    // Sizes strictly inside where the slope may change, in order.
    std::vector<Bytes> corners() const
    {
        std::vector<Bytes> out;
        const auto add = [&](std::optional<double> size) {
            if (!size || !(*size > static_cast<double>(begin_.value()) + 1) ||
                !(*size < static_cast<double>(end_.value()) - 1))
                return;
            const Bytes at(static_cast<std::uint64_t>(std::llround(*size)));
            if (std::abs(this->at(*size) / chord_.at(*size) - 1) > worth_a_knot)
                out.push_back(at);
        };
        for (const Line& line : lines_)
            for (const double limit : {low_, high_})
                add(meeting(line, {0, limit, 0}));
        if (lines_.size() == 2)
            add(meeting(lines_[0], lines_[1]));
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    }

private:
    Line chord_;
    double low_;
    double high_;
    Bytes begin_;
    Bytes end_;
    std::vector<Line> lines_;
};

Knot knot_at(Bytes size, double seconds)
{
    const double half = normal_90 * noise_floor(size) * seconds;
    return {size, Seconds(seconds), Seconds(seconds - half), Seconds(seconds + half)};
}

} // namespace

double noise_floor(Bytes size)
{
    switch (band_of(size)) {
    case SizeBand::up_to_64k:
        return 0.029;
    case SizeBand::up_to_1m:
    case SizeBand::up_to_16m:
        return 0.016;
    case SizeBand::above:
        break;
    }
    return 0.004;
}

std::vector<TimedSize> isotonic(std::span<const TimedSize> points)
{
    struct Block {
        double log_time = 0; // mean
        std::size_t count = 0;
    };
    std::vector<Block> blocks;
    for (const TimedSize& point : points) {
        blocks.push_back({std::log(point.time.value()), 1});
        while (blocks.size() > 1 && blocks[blocks.size() - 2].log_time > blocks.back().log_time) {
            const Block last = blocks.back();
            blocks.pop_back();
            Block& before = blocks.back();
            const std::size_t count = before.count + last.count;
            before.log_time = (before.log_time * static_cast<double>(before.count) +
                               last.log_time * static_cast<double>(last.count)) /
                              static_cast<double>(count);
            before.count = count;
        }
    }
    std::vector<TimedSize> out(points.begin(), points.end());
    std::size_t next = 0;
    for (const Block& block : blocks)
        for (std::size_t i = 0; i < block.count; ++i, ++next)
            if (block.count > 1)
                out[next].time = Seconds(std::exp(block.log_time));
    return out;
}

KnotCurve fit_curve(std::span<const TimedSize> points)
{
    KnotCurve out;
    const std::vector<TimedSize> smooth = isotonic(points);
    for (std::size_t i = 0; i < smooth.size(); ++i) {
        out.knots.push_back(knot_at(smooth[i].size, smooth[i].time.value()));
        if (i + 1 == smooth.size())
            break;
        const Between between(smooth, i);
        for (const Bytes corner : between.corners()) {
            const double time = between.at(static_cast<double>(corner.value()));
            out.knots.push_back(knot_at(corner, std::clamp(time, out.knots.back().time.value(),
                                                           smooth[i + 1].time.value())));
        }
    }
    return out;
}

} // namespace trainyard
