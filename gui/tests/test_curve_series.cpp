#include "gui/calibration/curve_series.h"
#include "sim/cost/collective_form.h"
#include "tests/catch.h"
#include "tests/unit/fit/support.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

// Twelve sizes on a line, the sixth disturbed.
std::vector<Sweep> sweeps()
{
    std::vector<Sweep> out{
        made_sweep(1 << 16, 12, [](double size) { return 20e-6 + size / 100e9; })};
    out[0].rows[5].out_of_place->time *= 1.3;
    out[0].rows[5].in_place.reset();
    return out;
}

CurveStudy study(const Exclusions& excluded = {})
{
    return study_curves(sweeps(), excluded).front();
}

} // namespace

TEST_CASE("bus bandwidth is what nccl-tests prints")
{
    const CurveStudy one = study();
    const CurveSeries series = series_of(one, CurveAxis::bus_bandwidth);
    for (std::size_t i = 0; i < series.points.size(); ++i) {
        const StudiedSize& size = one.sizes[i];
        const double algorithm = static_cast<double>(size.size.value()) / size.time.value();
        CHECK_THAT(series.points[i].value, WithinRel(1.75 * algorithm / 1e9, 1e-12)); // 2(n-1)/n
    }
}

TEST_CASE("bounds stay in order whatever the axis shows")
{
    for (const CurveAxis quantity : {CurveAxis::time, CurveAxis::bus_bandwidth}) {
        const CurveSeries series = series_of(study(), quantity);
        REQUIRE(series.fitted.size() == series.sizes.size());
        for (std::size_t i = 0; i < series.sizes.size(); ++i) {
            CHECK(series.low[i] < series.fitted[i]);
            CHECK(series.fitted[i] < series.high[i]);
            CHECK(series.least < series.low[i]);
            CHECK(series.most > series.high[i]);
        }
        CHECK(std::is_sorted(series.sizes.begin(), series.sizes.end()));
        CHECK(series.smallest < static_cast<double>(series.points.front().size.value()));
        CHECK(series.largest > static_cast<double>(series.points.back().size.value()));
    }
}

TEST_CASE("sizes are in binary units, whole or not")
{
    CHECK(size_text(Bytes(1000)) == "1000 B");
    CHECK(size_text(Bytes(4096)) == "4 KiB");
    CHECK(size_text(Bytes(843'000)) == "823.2 KiB");
    CHECK(size_text(Bytes(std::uint64_t{3} << 29)) == "1.5 GiB");
}

TEST_CASE("a point says what it is, and that it is excluded")
{
    const CurveStudy before = study();
    const Bytes size = before.sizes[5].size;
    const CurveSeries counted = series_of(before, CurveAxis::time);
    CHECK(counted.points[5].facts.contains("2 MiB"));
    CHECK(counted.points[5].facts.contains("residual"));
    CHECK_FALSE(counted.points[5].facts.contains("excluded"));
    const CurveStudy after = study({{before.configuration, Buffers::out_of_place, size}});
    const CurveSeries series = series_of(after, CurveAxis::time);
    CHECK(series.points[5].excluded);
    CHECK(series.points[5].facts.contains("excluded by hand"));
    // 1 / 1.3 - 1, in percent.
    CHECK_THAT(*series.points[5].residual, WithinAbs(-23.1, 1.0));
    CHECK(series.residual_range >= 23.1);
}

TEST_CASE("the table has a row for every size, and says which do not count")
{
    const CurveStudy before = study();
    const TableData table =
        table_of(study({{before.configuration, Buffers::out_of_place, before.sizes[5].size}}));
    REQUIRE(table.rows.size() == 12);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        CHECK(table.rows[i].size() == table.columns.size());
        CHECK(table.rows[i].back() == (i == 5 ? "excluded by hand" : "yes"));
    }
}

TEST_CASE("a first-use cost is drawn where it was measured, with the reason")
{
    std::vector<Sweep> spiked{
        made_sweep(1 << 16, 8, [](double size) { return 20e-6 + size / 100e9; })};
    spiked[0].rows[3].out_of_place->time *= 5;
    const CurveSeries series = series_of(study_curves(spiked).front(), CurveAxis::time);
    REQUIRE(series.replaced.size() == 1);
    CHECK_THAT(series.replaced[0].value,
               WithinRel(spiked[0].rows[3].out_of_place->time.value(), 1e-12));
    CHECK(series.replaced[0].facts.contains("first-use"));
    CHECK(series.most > series.replaced[0].value);
}

TEST_CASE("a profile's table without samples is a curve that says so")
{
    KnotTable table = study().table;
    table.raw = {};
    table.grade = Grade::published;
    const CurveSeries series = series_of(study_table(table), CurveAxis::time);
    CHECK(series.points.empty());
    CHECK_FALSE(series.fitted.empty());
    CHECK(series.note.contains("no measured points, so no residuals"));
    CHECK(series.note.contains("published"));
    CHECK(table_of(study_table(table)).rows.size() == table.samples.knots.size());
}

TEST_CASE("nothing at all is an empty chart, not a crash")
{
    const CurveSeries series = series_of(CurveStudy{}, CurveAxis::bus_bandwidth);
    CHECK(series.points.empty());
    CHECK(series.fitted.empty());
    CHECK(table_of(CurveStudy{}).rows.empty());
}
