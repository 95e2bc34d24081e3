#include "sim/report/traces/rebuilt_text.h"

#include "sim/report/figures.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr double least_share = 0.02; // of the device's time, to be shown
constexpr std::size_t scaled_rows_shown = 6;
constexpr double far_off = 4; // times slower or faster than constants say, of transfers

// "rank 2", "ranks 2 to 5", "ranks 2, 3 and 2 more".
std::string ranks_text(const RebuiltStep& step, bool known)
{
    std::vector<int> ranks;
    for (const RebuiltRank& rank : step.ranks)
        if (rank.known == known)
            ranks.push_back(rank.rank);
    if (ranks.size() == 1)
        return fmt::format("rank {}", ranks.front());
    const bool run = std::adjacent_find(ranks.begin(), ranks.end(),
                                        [](int a, int b) { return b != a + 1; }) == ranks.end();
    if (ranks.size() == 2)
        return fmt::format("ranks {} and {}", ranks[0], ranks[1]);
    if (run)
        return fmt::format("ranks {} to {}", ranks.front(), ranks.back());
    return fmt::format("ranks {}, {} and {} more", ranks[0], ranks[1], ranks.size() - 2);
}

std::string difference(Seconds is, Seconds should_be)
{
    const double tenths = std::round(1000 * (is / should_be - 1));
    return fmt::format("{:+.1f} %", tenths == 0 ? 0.0 : tenths / 10);
}

std::string_view title_of(const RecordedPathShare& share)
{
    switch (share.thing) {
    case PathThing::op:
        return title_of(share.work);
    case PathThing::host:
        return "host";
    case PathThing::waiting:
        return "waiting for others";
    case PathThing::queued:
        return "between queued kernels";
    case PathThing::untold:
        break;
    }
    return "idle with launches unknown";
}

// Its parts in shares; empty where none is known.
std::string critical_path_sentence(const std::vector<RecordedPathShare>& path)
{
    Seconds whole;
    for (const RecordedPathShare& share : path)
        whole += share.time;
    std::string text;
    for (const RecordedPathShare& share : path) {
        if (share.time < least_share * whole)
            break;
        text += fmt::format("{}{} {}", text.empty() ? "Critical path over the ranks: " : ", ",
                            title_of(share), percent(share.time / whole));
    }
    return text.empty() ? text : text + ".";
}

} // namespace

ReportPart rebuilt_step_part(const RunSummary& run)
{
    const RebuiltStep& step = *run.rebuilt;
    TextTable table({Align::left, Align::right, Align::right, Align::right});
    table.add({"rebuilt from its ops", "recorded", "rebuilt", ""});
    const auto add = [&](std::string_view title, Seconds recorded, Seconds rebuilt) {
        table.add({std::string(title), to_display(recorded), to_display(rebuilt),
                   difference(rebuilt, recorded)});
    };
    add(step.steps == 1 ? "step" : fmt::format("mean of {} steps", step.steps), step.recorded(),
        step.rebuilt());
    Seconds device;
    for (const Seconds time : step.recorded_work)
        device += time;
    for (std::size_t w = 0; w < device_work_count; ++w)
        if (step.recorded_work[w].value() > least_share * device.value())
            add(title_of(static_cast<DeviceWork>(w)), step.recorded_work[w], step.rebuilt_work[w]);
    std::string how =
        step.judged()
            ? fmt::format("Ops take what they took on {}; compared on {}.", ranks_text(step, true),
                          ranks_text(step, false))
            : std::string("Ops take what they took in the mean; no other rank is there to compare "
                          "with.");
    if (step.slowdown > 1.005)
        how += fmt::format(" Beside transfers compute takes {:.2f} times as long.", step.slowdown);
    if (step.lone > 0)
        how += fmt::format(" {} as recorded: members are missing.",
                           step.lone == 1 ? std::string("A transfer waits")
                                          : fmt::format("{} transfers wait", step.lone));
    if (step.unknown > 0)
        how += fmt::format(" Of {} ops {} are like none there.", step.ops, step.unknown);
    ReportPart out{std::move(table), {std::move(how)}};
    if (std::string path = critical_path_sentence(run.path); !path.empty())
        out.notes.push_back(std::move(path));
    return out;
}

std::string scaled_step_sentence(const ScaledStep& step)
{
    const double longer = step.scaled_step / step.rebuilt;
    return fmt::format("On {} ranks instead of {}, the same work on each: {} a step, {:.1f} % "
                       "longer; {:.0f} % of linear scaling.",
                       step.scaled, step.world, to_display(step.predicted()), 100 * (longer - 1),
                       100 / longer);
}

ReportPart scaled_step_part(const ScaledStep& step)
{
    TextTable table(
        {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right});
    table.add({"data move for", "size", "ranks", "", "scaled", ""});
    for (std::size_t i = 0; i < std::min(step.transfers.size(), scaled_rows_shown); ++i) {
        const ScaledTransfer& row = step.transfers[i];
        table.add({fmt::format("{} {}", to_name(row.kind), to_name(row.role)),
                   to_display(Bytes(row.bytes)), std::to_string(row.ranks),
                   (row.may_wait ? "~" : "") + to_display(row.recorded),
                   std::to_string(row.scaled_ranks), to_display(row.scaled)});
    }
    ReportPart out{std::move(table), {}};
    if (std::ranges::any_of(step.transfers, &ScaledTransfer::may_wait))
        out.notes.push_back("~: may hold waiting for ranks that were not recorded, which is kept; "
                            "only what the cluster's constants explain of it grows");
    if (step.unchanged > 0)
        out.notes.push_back(fmt::format(
            "as long as recorded, their groups, kinds or sizes are unknown: {} transfers",
            step.unchanged));
    if (const double slowness = step.slowness(); slowness > far_off || slowness < 1 / far_off)
        out.notes.push_back(fmt::format(
            "Doubtful: the recorded transfers took {} times what the cluster's constants say, so "
            "they hardly ran on such a cluster",
            slowness >= 10 ? fmt::format("{:.0f}", slowness) : fmt::format("{:.2g}", slowness)));
    return out;
}

} // namespace trainyard
