#include "sim/report/html/bar_chart.h"
#include "sim/report/html/xy_chart.h"
#include "tests/catch.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <regex>

using namespace trainyard;

namespace {

XyChart small_chart(AxisScale scale)
{
    const auto text = [](double value) { return fmt::format("{:g}", value); };
    return {"a chart",
            {"GPUs", scale, text},
            {"days", scale, text},
            {{"h100", 0, ChartJoin::line, true, {{8, 100, "8"}, {16, 52, "16"}, {64, 15, "64"}}}},
            {}};
}

std::vector<std::pair<double, double>> discs(const std::string& svg)
{
    std::vector<std::pair<double, double>> out;
    const std::regex disc("<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\" r=\"4\" class=\"s-3 mark\"><");
    for (std::sregex_iterator at(svg.begin(), svg.end(), disc), end; at != end; ++at)
        out.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
    return out;
}

} // namespace

TEST_CASE("on logarithmic axes equal ratios are equal distances")
{
    // 8 to 16 is one octave, 16 to 64 two.
    const auto at = discs(xy_figure(small_chart(AxisScale::octaves)));
    REQUIRE(at.size() == 3);
    CHECK_THAT(at[2].first - at[1].first, WithinRel(2 * (at[1].first - at[0].first), 1e-3));
    CHECK(at[0].second < at[1].second); // more is higher
    CHECK(at[1].second < at[2].second);
}

TEST_CASE("on linear axes equal differences are equal distances")
{
    const auto at = discs(xy_figure(small_chart(AxisScale::linear)));
    REQUIRE(at.size() == 3);
    CHECK_THAT((at[2].first - at[1].first) / (at[1].first - at[0].first),
               WithinRel(48 / 8.0, 1e-3));
}

TEST_CASE("a limit near the values is drawn and named, one far from them is not")
{
    XyChart chart = small_chart(AxisScale::log);
    chart.limits = {{ChartLimit::Of::y, 40, "deadline"}, {ChartLimit::Of::y, 1e6, "far"}};
    const std::string svg = xy_figure(chart);
    CHECK_THAT(svg, ContainsSubstring(">deadline<"));
    CHECK_THAT(svg, !ContainsSubstring(">far<"));
}

TEST_CASE("charts of one point, of equal points and of none")
{
    XyChart chart = small_chart(AxisScale::octaves);
    chart.series[0].points = {{8, 3, "8"}};
    CHECK(discs(xy_figure(chart)).size() == 1);
    chart.series[0].points = {{8, 3}, {8, 3}};
    CHECK_THAT(xy_figure(chart), !ContainsSubstring("nan"));
    chart.series[0].points.clear();
    CHECK(xy_figure(chart).empty());
}

TEST_CASE("ticks of a logarithmic axis are round and within it")
{
    CHECK(log_ticks(8, 700) == std::vector<double>{10, 20, 50, 100, 200, 500});
    CHECK(log_ticks(1, 1e5).size() == 6); // powers of ten
    for (const double tick : log_ticks(31, 44))
        CHECK((tick >= 31 && tick <= 44));
    CHECK(log_ticks(31, 44).size() >= 3);
}

TEST_CASE("no stretch of a logarithmic axis is without ticks, wherever it begins")
{
    for (double low = 1; low < 10; low *= 1.037)
        for (const double ratio : {1.2, 1.9, 2.5, 3.1, 5.0, 7.9, 8.1, 30.0}) {
            std::vector<double> ends = log_ticks(low, low * ratio);
            ends.insert(ends.begin(), low);
            ends.push_back(low * ratio);
            double widest = 0;
            for (std::size_t i = 1; i < ends.size(); ++i)
                widest = std::max(widest, std::log(ends[i] / ends[i - 1]) / std::log(ratio));
            INFO(low << " to " << low * ratio);
            CHECK(widest < 0.45);
        }
}

TEST_CASE("bars of counts tell each count exactly, those of swings both ends")
{
    const std::string counts = count_bars_figure(
        "left out", {{"tp < 1 does not fit", 345'048}, {"memory", 1}, {"none", 0}});
    for (const char* part : {">345,048<", ">1<", ">0<", "tp &lt; 1 does not fit"})
        CHECK_THAT(counts, ContainsSubstring(part));
    const std::string swings = swing_figure(
        "wall time", {{"step time", "2 s", "4 s", -3.0, 6.0, "-3 d", "+6 d"},
                      {"MTBF", "1 h", "4 h", std::nullopt, -1.0, "never ends", "-1 d"}});
    for (const char* part : {"2 s: -3 d", "4 s: +6 d", "1 h: never ends"})
        CHECK_THAT(swings, ContainsSubstring(part));
    CHECK(swing_figure("nothing moves", {}).empty());
}
