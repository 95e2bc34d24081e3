#include "gui/breakdown/icicle.h"
#include "gui/tests/recorded_job.h"
#include "sim/study/breakdown.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::gui::test;

namespace {

const IciclePart* part_named(const std::vector<IciclePart>& parts, const std::string& path)
{
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (path_of(parts, i) == path)
            return &parts[i];
    return nullptr;
}

} // namespace

TEST_CASE("an icicle's parts fill what they are in, and the whole is a step")
{
    const auto outcome = recorded_job(5);
    for (const IcicleOf of : {IcicleOf::critical, IcicleOf::mean}) {
        const std::vector<IciclePart> parts = make_icicle(*outcome, of);
        REQUIRE(parts.size() > 20);
        CHECK_THAT(parts[0].length.value(),
                   WithinRel(to_seconds(outcome->result->step_time).value(), 1e-6));
        for (std::uint32_t p = 0; p < parts.size(); ++p) {
            double sum = 0;
            double at = parts[p].from.value();
            for (std::uint32_t i = p + 1; i < parts[p].end; i = parts[i].end) {
                REQUIRE(parts[i].parent == p);
                CHECK_THAT(parts[i].from.value(), WithinAbs(at, 1e-9));
                at += parts[i].length.value();
                sum += parts[i].length.value();
            }
            if (parts[p].end > p + 1)
                CHECK_THAT(sum, WithinAbs(parts[p].length.value(), 1e-9));
        }
        const auto stages = std::ranges::count(parts, IcicleLevel::stage, &IciclePart::level);
        CHECK(stages == (of == IcicleOf::critical ? 1 : 2));
        const auto named = [&](std::string_view name) {
            return std::ranges::count(parts, name, &IciclePart::name) > 0;
        };
        CHECK(named("layer 1") == named("embedding")); // of the first stage
        if (of == IcicleOf::mean)
            CHECK((named("embedding") && named("head")));
        CHECK_FALSE(named("layer 0"));
    }
}

TEST_CASE("an icicle's kinds are those of the bars")
{
    const auto outcome = recorded_job();
    const std::vector<IciclePart> parts = make_icicle(*outcome, IcicleOf::mean);
    const TimeShares mean = mean_shares(*outcome->result, *outcome->binding);
    for (const TimeKind kind : {TimeKind::exposed_tp, TimeKind::bubble}) {
        double sum = 0;
        for (const IciclePart& part : parts)
            if (part.level == IcicleLevel::layer && part.kind == kind)
                sum += part.length.value();
        CHECK(sum > 0);
        CHECK_THAT(sum, WithinRel(mean[index_of(kind)].value(), 1e-6));
    }
}

TEST_CASE("parts of the same names are compared, also where a slow device moved them")
{
    const auto slow = recorded_job(5); // of the second stage's ranks
    const auto sound = recorded_job();
    std::vector<IciclePart> parts = make_icicle(*slow, IcicleOf::mean);
    const std::vector<IciclePart> before = make_icicle(*sound, IcicleOf::mean);
    compare(parts, before);
    std::size_t compared = 0;
    for (const IciclePart& part : parts)
        compared += part.before ? 1 : 0;
    CHECK(compared > parts.size() / 2);
    REQUIRE(parts[0].before);
    CHECK(*parts[0].before == before[0].length);
    const IciclePart* layer = nullptr;
    for (std::size_t i = 0; i < parts.size() && layer == nullptr; ++i)
        if (parts[i].level == IcicleLevel::layer && !parts[i].kind && parts[i].before &&
            part_named(before, path_of(parts, i))->length < parts[i].length)
            layer = &parts[i];
    CHECK(layer != nullptr); // the slow device's layers take longer
}

TEST_CASE("without the critical rank's ops there is no icicle of it")
{
    auto outcome = std::make_shared<Outcome>(*recorded_job());
    StepResult result = *outcome->result;
    std::erase_if(result.records,
                  [&](const OpRecord& record) { return record.lane == result.critical_lane; });
    outcome->result = std::make_shared<const StepResult>(std::move(result));
    CHECK(make_icicle(*outcome, IcicleOf::critical).empty());
    CHECK_FALSE(make_icicle(*outcome, IcicleOf::mean).empty());
}
