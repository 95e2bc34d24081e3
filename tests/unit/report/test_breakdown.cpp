#include "sim/report/kinds.h"
#include "sim/study/breakdown.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("the parts of a breakdown add up to the step, of one rank and of the mean")
{
    const Outcome outcome = small_outcome();
    const double step = to_seconds(outcome.result->step_time).value();
    CHECK_THAT(sum_of(shares_of(outcome.result->lanes[0])).value(), WithinRel(step, 1e-12));
    CHECK_THAT(sum_of(mean_shares(*outcome.result, *outcome.binding)).value(),
               WithinRel(step, 1e-12));
}

TEST_CASE("a lane counts in the mean as often as it stands for ranks")
{
    // One lane waits 30 ms and one 34. With equal numbers of ranks the mean is 32; when the second
    // stands for three times as many, (30 + 3 x 34) / 4 = 33.
    const Outcome outcome = small_outcome(Lanes::folded);
    StepResult result = *outcome.result;
    Binding binding = *outcome.binding;
    result.lanes[0].time[index_of(TimeKind::waiting)] = to_sim_time(Seconds(0.030));
    result.lanes[1].time[index_of(TimeKind::waiting)] = to_sim_time(Seconds(0.034));
    const auto waiting = [&] {
        return mean_shares(result, binding)[index_of(TimeKind::waiting)].value();
    };
    CHECK_THAT(waiting(), WithinRel(0.032, 1e-12));
    binding.lanes[0].multiplicity = 1;
    binding.lanes[1].multiplicity = 3;
    CHECK_THAT(waiting(), WithinRel(0.033, 1e-12));
}

TEST_CASE("folded and unfolded lanes give the same mean")
{
    const Outcome folded = small_outcome(Lanes::folded);
    const Outcome all = small_outcome(Lanes::all);
    const TimeShares a = mean_shares(*folded.result, *folded.binding);
    const TimeShares b = mean_shares(*all.result, *all.binding);
    for (const TimeKind kind : time_kinds())
        CHECK_THAT(a[index_of(kind)].value(), WithinAbs(b[index_of(kind)].value(), 1e-15));
}

TEST_CASE("the mean of a lane that stands for many ranks is that of these ranks to the last bit")
{
    // Added up as doubles, 1,001 times a third of a microsecond is not 1,001 thirds.
    const SimTime third{333'333};
    StepResult one;
    one.lanes.resize(1);
    one.lanes[0].time[index_of(TimeKind::forward)] = third;
    StepResult each;
    each.lanes.assign(1001, one.lanes[0]);
    Binding folded;
    folded.lanes.resize(1);
    folded.lanes[0].multiplicity = 1001;
    Binding whole;
    whole.lanes.resize(1001);
    const Seconds mean = mean_shares(each, whole)[index_of(TimeKind::forward)];
    CHECK(mean == mean_shares(one, folded)[index_of(TimeKind::forward)]);
    CHECK(mean == to_seconds(third));
}

TEST_CASE("exposed communication leaves out waiting and slowed compute")
{
    TimeShares shares;
    for (const TimeKind kind : time_kinds())
        shares[index_of(kind)] = Seconds(1);
    // tp, cp, ep, dp, pp.
    CHECK(exposed_communication(shares).value() == 5.0);
}

TEST_CASE("kinds that would show as 0.0 % in both columns are left out")
{
    TimeShares critical{};
    TimeShares mean{};
    critical[index_of(TimeKind::forward)] = mean[index_of(TimeKind::forward)] = Seconds(1);
    critical[index_of(TimeKind::host)] = Seconds(0.0004);
    mean[index_of(TimeKind::host)] = Seconds(0.0004);
    mean[index_of(TimeKind::bubble)] = Seconds(0.1);
    CHECK(visible_kinds(std::array{critical, mean}) ==
          std::vector{TimeKind::forward, TimeKind::bubble});
    CHECK(share_of(TimeShares{}, TimeKind::forward) == 0.0);
}

TEST_CASE("every time kind has a title of its own and a name in files")
{
    std::vector<std::string> seen;
    for (const TimeKind kind : time_kinds()) {
        CHECK(to_name(kind) != "?");
        seen.emplace_back(title_of(kind));
    }
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
}
