#include "calibrate/fit/compact_form.h"

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {
namespace {

using Lines = std::vector<AlphaBetaLine>;

double bytes(Bytes size)
{
    return static_cast<double>(size.value());
}

double line_time(const AlphaBetaLine& line, Bytes size)
{
    return line.alpha.value() + bytes(size) / line.rate.value();
}

// A line's rate where the points show no bandwidth term: too fast to matter.
constexpr double unbounded_rate = 1e15;

AlphaBetaLine line_of(double alpha, double beta)
{
    return {Seconds(alpha), Bandwidth(1 / std::max(beta, 1 / unbounded_rate))};
}

double squared_error(const Lines& lines, std::span<const TimedSize> points)
{
    double sum = 0;
    for (const TimedSize& point : points) {
        const double error = time_at(lines, point.size) / point.time - 1;
        sum += error * error;
    }
    return sum;
}

// Lines of the best division of the points into `count` runs. Requires as many points.
Lines divided(std::span<const TimedSize> points, std::size_t count)
{
    const std::size_t n = points.size();
    struct Best {
        double error = std::numeric_limits<double>::infinity();
        std::size_t begin = 0;
        AlphaBetaLine line;
    };
    std::vector<std::vector<Best>> best(count, std::vector<Best>(n + 1)); // of the first `end`
    for (std::size_t begin = 0; begin < n; ++begin)
        for (std::size_t end = begin + 1; end <= n; ++end) {
            const auto run = points.subspan(begin, end - begin);
            const AlphaBetaLine line = fit_line(run);
            const double error = squared_error({line}, run);
            for (std::size_t k = begin == 0 ? 0 : 1; k < (begin == 0 ? 1 : count); ++k) {
                const double before = begin == 0 ? 0 : best[k - 1][begin].error;
                if (before + error < best[k][end].error)
                    best[k][end] = {before + error, begin, line};
            }
        }
    Lines out;
    std::size_t end = n;
    for (std::size_t k = count; k-- > 0; end = best[k][end].begin)
        out.push_back(best[k][end].line);
    std::reverse(out.begin(), out.end());
    return out;
}

// Each line fitted again to the points at which it is the lowest.
Lines reassigned(const Lines& lines, std::span<const TimedSize> points)
{
    std::vector<std::vector<TimedSize>> own(lines.size());
    for (const TimedSize& point : points) {
        const auto lowest = std::min_element(
            lines.begin(), lines.end(), [&](const AlphaBetaLine& a, const AlphaBetaLine& b) {
                return line_time(a, point.size) < line_time(b, point.size);
            });
        own[static_cast<std::size_t>(lowest - lines.begin())].push_back(point);
    }
    Lines out;
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (!own[i].empty())
            out.push_back(own[i].size() > 1 ? fit_line(own[i]) : lines[i]);
    return out;
}

// By growing alpha, without lines that are nowhere lowest.
Lines tidied(Lines lines, std::span<const TimedSize> points)
{
    std::sort(lines.begin(), lines.end(),
              [](const AlphaBetaLine& a, const AlphaBetaLine& b) { return a.alpha < b.alpha; });
    std::erase_if(lines, [&, all = lines](const AlphaBetaLine& line) {
        return std::none_of(points.begin(), points.end(), [&](const TimedSize& point) {
            return Seconds(line_time(line, point.size)) <= time_at(all, point.size);
        });
    });
    return lines;
}

} // namespace

// Minimises sum ((alpha + beta S) / T - 1)^2: rows (1/T, S/T), right-hand side 1. S is scaled by
// the largest size, so that both columns are of one magnitude.
AlphaBetaLine fit_line(std::span<const TimedSize> points)
{
    const double scale = bytes(points.back().size);
    Eigen::MatrixX2d rows(static_cast<Eigen::Index>(points.size()), 2);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto row = static_cast<Eigen::Index>(i);
        rows(row, 0) = 1 / points[i].time.value();
        rows(row, 1) = bytes(points[i].size) / scale / points[i].time.value();
    }
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(rows.rows());
    const auto alone = [&](Eigen::Index column) {
        return rows.col(column).sum() / rows.col(column).squaredNorm();
    };
    if (points.size() == 1)
        return line_of(points.front().time.value(), 0);
    const Eigen::Vector2d both = rows.colPivHouseholderQr().solve(ones);
    if (both(0) < 0)
        return line_of(0, alone(1) / scale);
    if (both(1) < 0)
        return line_of(alone(0), 0);
    return line_of(both(0), both(1) / scale);
}

std::vector<AlphaBetaLine> fit_lines(std::span<const TimedSize> points, std::size_t lines)
{
    constexpr int enough = 50; // turns; a few are usual
    Lines best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t count = 1; count <= std::min(lines, points.size()); ++count) {
        Lines now = divided(points, count);
        double before = std::numeric_limits<double>::infinity();
        for (int turn = 0; turn < enough; ++turn) {
            const double error = squared_error(now, points);
            if (error < least) {
                least = error;
                best = now;
            }
            if (error >= before)
                break;
            before = error;
            now = reassigned(now, points);
        }
    }
    return tidied(std::move(best), points);
}

Seconds time_at(std::span<const AlphaBetaLine> lines, Bytes size)
{
    double lowest = line_time(lines.front(), size);
    for (const AlphaBetaLine& line : lines)
        lowest = std::min(lowest, line_time(line, size));
    return Seconds(lowest);
}

std::vector<Bytes> switch_points(std::span<const AlphaBetaLine> lines)
{
    std::vector<Bytes> out;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const double slope = 1 / lines[i - 1].rate.value() - 1 / lines[i].rate.value();
        const double rise = (lines[i].alpha - lines[i - 1].alpha).value();
        if (slope > 0 && rise >= 0)
            out.emplace_back(static_cast<std::uint64_t>(std::llround(rise / slope)));
    }
    return out;
}

} // namespace trainyard
