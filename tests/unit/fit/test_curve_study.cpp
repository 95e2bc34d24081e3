#include "calibrate/fit/curve_study.h"
#include "calibrate/fit/sweep_fit.h"
#include "tests/catch.h"
#include "tests/unit/fit/support.h"

#include <algorithm>
#include <cmath>

using namespace trainyard;

namespace {

double straight(double size)
{
    return 10e-6 + size / 100e9;
}

constexpr std::size_t bad = 9;

// One launch of 8 ranks whose tenth size was disturbed, both ways, so that no rule takes it out.
Sweep disturbed()
{
    Sweep out = made_sweep(1 << 10, 20, straight);
    out.rows[bad].out_of_place->time *= 1.35;
    out.rows[bad].in_place = out.rows[bad].out_of_place;
    return out;
}

const StudiedSize& at(const CurveStudy& study, Bytes size)
{
    const auto found = std::find_if(study.sizes.begin(), study.sizes.end(),
                                    [&](const StudiedSize& one) { return one.size == size; });
    REQUIRE(found != study.sizes.end());
    return *found;
}

CurveStudy out_of_place(const std::vector<Sweep>& sweeps, const Exclusions& excluded = {})
{
    return study_curves(sweeps, excluded).front();
}

} // namespace

TEST_CASE("a study says of a sweep what its fit says")
{
    const std::vector<Sweep> sweeps{disturbed()};
    const SweepFit fit = fit_sweep(sweeps.front());
    const std::vector<CurveStudy> studies = study_curves(sweeps);
    REQUIRE(studies.size() == 2); // out of place, then in place
    CHECK(studies[1].buffers == Buffers::in_place);
    const CurveStudy& study = studies[0];
    CHECK(study.table.samples == fit.curve);
    CHECK(study.table.lines == fit.lines);
    CHECK(study.left_out == fit.leave_one_out);
    REQUIRE(study.sizes.size() == fit.points.size());
    CHECK_FALSE(study.sizes.front().left_out);
    CHECK_FALSE(study.sizes.back().left_out);
    for (const Residual& residual : fit.left_out)
        CHECK(at(study, residual.size).left_out == residual.error);
}

TEST_CASE("a size kept out is still judged, and the curve is that of the others")
{
    const std::vector<Sweep> sweeps{disturbed()};
    const CurveStudy before = out_of_place(sweeps);
    const Bytes size = sweeps[0].rows[bad].size;
    const CurveStudy after =
        out_of_place(sweeps, {{before.configuration, Buffers::out_of_place, size}});

    std::vector<Sweep> never = sweeps;
    never[0].rows.erase(never[0].rows.begin() + bad);
    CHECK(after.table.samples == out_of_place(never).table.samples);

    const StudiedSize& out = at(after, size);
    CHECK(out.excluded);
    CHECK(out.time == at(before, size).time);
    // The others lie on a line, and the disturbed one takes 1.35 times as long.
    CHECK_THAT(*out.left_out, WithinAbs(1 / 1.35 - 1, 0.005));
    CHECK(*median_error(after) <= *median_error(before));
    CHECK(after.left_out.mean() < 0.3 * before.left_out.mean());
}

TEST_CASE("keeping sizes out of one use of the buffers leaves the other as it is")
{
    const std::vector<Sweep> sweeps{disturbed()};
    const std::vector<CurveStudy> before = study_curves(sweeps);
    const Exclusions excluded{
        {before[0].configuration, Buffers::out_of_place, sweeps[0].rows[bad].size}};
    CHECK(study_curves(sweeps, excluded)[1].table.samples == before[1].table.samples);
    CHECK(without(sweeps, excluded)[0].rows.size() == sweeps[0].rows.size());
    CHECK(without(sweeps, {}) == sweeps);
}

TEST_CASE("without sizes there is no curve, and the study says so")
{
    const std::vector<Sweep> sweeps{made_sweep(1 << 20, 3, straight)};
    const CurveStudy before = out_of_place(sweeps);
    Exclusions excluded;
    for (const StudiedSize& size : before.sizes)
        excluded.insert({before.configuration, Buffers::out_of_place, size.size});
    const CurveStudy after = out_of_place(sweeps, excluded);
    CHECK(after.table.samples.empty());
    CHECK(after.sizes.size() == 3);
    CHECK_FALSE(median_error(after));
    REQUIRE_FALSE(after.flags.empty());
    CHECK(after.flags.back() == "no size is left: no curve");
}

TEST_CASE("what the fit itself replaced is told with both times")
{
    std::vector<Sweep> sweeps{made_sweep(1 << 20, 5, straight)};
    const Seconds honest = sweeps[0].rows[2].in_place->time;
    sweeps[0].rows[2].out_of_place->time = honest * 5.0;
    const CurveStudy study = out_of_place(sweeps);
    REQUIRE(study.replaced.size() == 1);
    CHECK(study.replaced[0].size == sweeps[0].rows[2].size);
    CHECK(study.replaced[0].measured == honest * 5.0);
    CHECK(study.replaced[0].taken == honest);
    CHECK(study.sizes[2].time == honest);
}

TEST_CASE("the interval of several launches is theirs")
{
    std::vector<Sweep> sweeps;
    for (const double factor : {1.0, 1.1, 0.9})
        sweeps.push_back(
            made_sweep(1 << 10, 12, [&](double size) { return factor * straight(size); }));
    const CurveStudy study = out_of_place(sweeps);
    for (const StudiedSize& size : study.sizes) {
        CHECK(size.launches == 3);
        CHECK_THAT(size.low / size.time, WithinRel(0.9, 1e-9));
        CHECK_THAT(size.high / size.time, WithinRel(1.1, 1e-9));
    }
}

TEST_CASE("a table without samples keeps its curve and its own intervals")
{
    KnotTable table = out_of_place({disturbed()}).table;
    for (Knot& knot : table.samples.knots) {
        knot.low = knot.time * 0.5;
        knot.high = knot.time * 3.0;
    }
    table.raw = {};
    const CurveStudy study = study_table(table);
    CHECK(study.sizes.empty());
    CHECK(study.configuration.ranks == 8);
    const Bytes size(5'000'000);
    const double time = time_at(table.samples, size).value();
    CHECK_THAT(prediction_interval(study, size).low, WithinRel(0.5 * time, 1e-9));
    CHECK_THAT(prediction_interval(study, size).high, WithinRel(3.0 * time, 1e-9));
}

TEST_CASE("an interval is as wide as the errors of its band of sizes, around the curve")
{
    const CurveStudy study = out_of_place({disturbed()});
    const Bytes size(512 << 10); // in the band of the disturbed size
    const double time = time_at(study.table.samples, size).value();
    const Interval interval = prediction_interval(study, size);
    const double share = 2.06 * study.left_out.mean(band_of(size));
    CHECK(share > 0.02);
    CHECK_THAT(interval.high / time, WithinRel(1 + share, 1e-9));
    CHECK_THAT(time / interval.low, WithinRel(1 + share, 1e-9));
}
