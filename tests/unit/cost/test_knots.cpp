#include "sim/base/fields.h"
#include "tests/unit/cost/support.h"

using namespace trainyard;
using namespace trainyard::literals;

namespace {

Problems read_curve(std::string_view text, KnotCurve& out)
{
    const Checked<Json> json = parse_json(text, "knots.json");
    REQUIRE(json);
    Problems problems;
    FieldValue<KnotCurve>::read(Reader(*json, "knots.json", problems), out);
    return problems;
}

} // namespace

TEST_CASE("between knots the time is linear in size, beyond them the last slope goes on")
{
    const KnotCurve curve{
        {{1_KiB, 10_us, 10_us, 10_us}, {2_KiB, 12_us, 12_us, 12_us}, {4_KiB, 20_us, 20_us, 20_us}}};
    CHECK(time_at(curve, 1_B) == 10_us);
    CHECK(time_at(curve, 2_KiB) == 12_us);
    CHECK_THAT(time_at(curve, 3_KiB).value(), WithinRel(16e-6, 1e-12));
    CHECK_THAT(time_at(curve, 8_KiB).value(), WithinRel(36e-6, 1e-12));
}

TEST_CASE("a curve that ends flat is scaled beyond its end, not held")
{
    const KnotCurve curve{{{1_MiB, 10_us, 10_us, 10_us}, {2_MiB, 10_us, 10_us, 10_us}}};
    CHECK_THAT(time_at(curve, 8_MiB).value(), WithinRel(40e-6, 1e-12));
}

TEST_CASE("units of a column are read, whatever they are, and written as bytes and microseconds")
{
    KnotCurve curve;
    CHECK(
        read_curve(R"({"columns": ["time [ms]", "size [MiB]"], "rows": [[0.5, 1], [2, 4]]})", curve)
            .empty());
    REQUIRE(curve.knots.size() == 2);
    CHECK(curve.knots[1].size == 4_MiB);
    CHECK_THAT(curve.knots[0].time.value(), WithinRel(500e-6, 1e-12));
    CHECK(curve.knots[0].low == curve.knots[0].time); // no interval: the value itself
    KnotCurve again;
    CHECK(read_curve(to_text(FieldValue<KnotCurve>::write(curve)), again).empty());
    CHECK(again == curve);
}

TEST_CASE("bad samples are refused with the row and the reason")
{
    struct Case {
        const char* text;
        const char* pointer;
        const char* message;
    };
    for (const Case& bad :
         {Case{R"({"columns": ["size", "time [us]"], "rows": [[1, 2]]})", "/columns/0", "unit"},
          Case{R"({"columns": ["size [us]", "time [us]"], "rows": [[1, 2]]})", "/columns/0",
               "unit"},
          Case{R"({"columns": ["size [B]", "tiem [us]"], "rows": [[1, 2]]})", "/columns/1",
               "unknown column"},
          Case{R"({"columns": ["size [B]"], "rows": [[1]]})", "/columns", "both needed"},
          Case{R"({"columns": ["size [B]", "time [us]"], "rows": []})", "/rows", "no rows"},
          Case{R"({"columns": ["size [B]", "time [us]"], "rows": [[1, 2], [3]]})", "/rows/1",
               "row of 2"},
          Case{R"({"columns": ["size [B]", "time [us]"], "rows": [[1, -2]]})", "/rows/0",
               "negative"},
          Case{R"({"columns": ["size [B]", "time [us]"], "rows": [[2, 1], [1, 2]]})", "/rows/1",
               "not sorted"},
          Case{R"({"columns": ["size [B]", "time [us]"], "rows": [[1, 9], [2, 3]]})", "/rows/1",
               "falls"}})
    {
        KnotCurve curve;
        const Problems problems = read_curve(bad.text, curve);
        INFO(bad.text);
        REQUIRE(problems.size() == 1);
        CHECK(problems[0].pointer == bad.pointer);
        CHECK_THAT(problems[0].message, ContainsSubstring(bad.message));
    }
}

TEST_CASE(
    "a measured size takes exactly the measured time, and only on the links it was measured on")
{
    Profile profile = standing_alone(assembled("H100"));
    const CostModel model(profile);
    const KnotTable* table = nullptr;
    for (const KnotTable& t : profile.hardware.knots)
        if (t.collective == CollectiveKind::all_gather && t.ranks_per_domain == 8 && t.domains == 1)
            table = &t;
    REQUIRE(table != nullptr);
    GroupShape shape = whole_domains(profile, 8, 1, 8, 50_GBps);
    for (const Knot& knot : table->samples.knots)
        CHECK(model.collective(CollectiveKind::all_gather, knot.size, shape, Backend::nccl).total ==
              knot.time);
    const CostModel form(bare_form(profile));
    shape.nvlink = 900_GBps; // what-if: twice the links; the sweep says nothing about it
    CHECK(model.collective(CollectiveKind::all_gather, 1_GiB, shape, Backend::nccl).total ==
          form.collective(CollectiveKind::all_gather, 1_GiB, shape, Backend::nccl).total);
}

TEST_CASE("a sweep that starts at large sizes leaves small ones to the form")
{
    const CostModel model(standing_alone(assembled("GB200")));
    const CostModel form(bare_form(assembled("GB200")));
    const GroupShape rack = whole_domains(model.profile(), 72, 1, 72, 50_GBps);
    const auto kind = CollectiveKind::all_reduce;
    CHECK(model.collective(kind, 4_KiB, rack, Backend::nccl).total ==
          form.collective(kind, 4_KiB, rack, Backend::nccl).total);
    CHECK(model.collective(kind, 8_GiB, rack, Backend::nccl).algorithm != nullptr);
}
