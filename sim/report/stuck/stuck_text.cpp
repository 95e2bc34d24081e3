#include "sim/base/units.h"
#include "sim/report/stuck/stuck_summary.h"
#include "sim/report/text/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::size_t most_rows = 12;
constexpr std::size_t most_culprits = 8;

// "into the step": after it began, or before.
std::string moment(Seconds time)
{
    return time.value() < 0 ? fmt::format("{} before the measured step", to_display(-time))
                            : fmt::format("{} into the step", to_display(time));
}

std::string text_of(const SomeRanks& ranks)
{
    std::string text = fmt::format("{}", fmt::join(ranks.numbers, ", "));
    const int more = ranks.count - static_cast<int>(ranks.numbers.size());
    return more > 0 ? fmt::format("{} and {} more", text, more) : text;
}

std::string where(const StuckPlace& place)
{
    std::string text = fmt::format("stream {}", place.stream);
    if (place.micro_batch)
        text += fmt::format(", micro-batch {}", *place.micro_batch);
    if (place.layer)
        text += fmt::format(", layer {}", *place.layer);
    if (place.steps_after == 1)
        text += ", next step";
    else if (place.steps_after > 1)
        text += fmt::format(", {} steps later", place.steps_after);
    return text;
}

std::string op_of(const StuckPlace& place)
{
    return place.collective.empty() ? fmt::format("\"{}\"", place.op)
                                    : fmt::format("{} \"{}\"", place.collective, place.op);
}

std::string culprit_text(const StuckCulprit& culprit)
{
    const bool hangs = culprit.kind == StopKind::hangs;
    std::string text =
        fmt::format("rank {} (node {}, stage {}) {} {}\n", culprit.rank, culprit.node,
                    culprit.stage, hangs ? "hangs" : "dies", moment(culprit.at));
    if (culprit.ranks > 1)
        text += fmt::format("    and {} ranks like it\n", culprit.ranks - 1);
    if (!culprit.place.op.empty())
        text += fmt::format("    {} {}: {}\n",
                            hangs ? "its host never issues" : "unfinished:", op_of(culprit.place),
                            where(culprit.place));
    return text;
}

std::string reason(const StuckWait& row)
{
    switch (row.cause) {
    case WaitCause::dead_link:
        return "a dead link";
    case WaitCause::death:
        return fmt::format("{}, dead", text_of(row.missing));
    case WaitCause::absence:
        break;
    }
    return text_of(row.missing);
}

// Whether no rank is left that could wait.
bool all_stopped(const StuckSummary& summary)
{
    int stopped = 0;
    for (const StuckCulprit& culprit : summary.culprits)
        stopped += culprit.ranks;
    return stopped == summary.ranks;
}

bool any_dies(const StuckSummary& summary)
{
    return std::ranges::any_of(summary.culprits, [](const StuckCulprit& culprit) {
        return culprit.kind == StopKind::dies;
    });
}

std::string notice_text(const StuckSummary& summary)
{
    if (summary.waits.empty())
        return fmt::format(
            "  nobody {}{}\n",
            all_stopped(summary) ? "is left to wait for them" : "waits for what they hold",
            any_dies(summary) ? "; a launcher that watches its processes ends the job"
                              : ", and no time-out runs");
    if (!summary.notice)
        return "  nobody gives up: the libraries in use have no time-out\n";
    const StuckNotice& notice = *summary.notice;
    std::string text = fmt::format(
        "  noticed     {} at the latest, by rank {}: it issued {} {}\n"
        "              and gives up {} later ({})\n",
        moment(notice.issued + notice.time_out), notice.rank, op_of(notice.place),
        moment(notice.issued), to_display(notice.time_out),
        notice.is_default ? fmt::format("PyTorch's default for {}", to_name(notice.backend))
                          : "software.timeout");
    if (any_dies(summary))
        text += "              a launcher that watches its processes ends the job sooner\n";
    return text;
}

std::string waits_text(const StuckSummary& summary)
{
    TextTable table(
        {Align::left, Align::left, Align::left, Align::left, Align::right, Align::left});
    table.add({"ranks that wait", "in", "where", "of", "since", "for ranks"});
    for (std::size_t i = 0; i < std::min(summary.waits.size(), most_rows); ++i) {
        const StuckWait& row = summary.waits[i];
        table.add({text_of(row.waiting), op_of(row.place), where(row.place),
                   fmt::format("{} of {} ranks", to_name(row.group), row.group_ranks),
                   to_display(row.since), reason(row)});
    }
    std::string text = table.text();
    if (summary.waits.size() > most_rows)
        text += fmt::format("  and {} more kinds of waits, all behind these (--json has them)\n",
                            summary.waits.size() - most_rows);
    return text;
}

} // namespace

std::string stuck_text(const StuckSummary& summary)
{
    std::string text = all_stopped(summary)
                           ? fmt::format("\nSTUCK: all {} ranks stop\n\n", summary.ranks)
                           : fmt::format("\nSTUCK: {} of {} ranks wait for ever\n\n",
                                         summary.waiting, summary.ranks);
    for (std::size_t i = 0; i < std::min(summary.culprits.size(), most_culprits); ++i)
        text += "  because of  " + culprit_text(summary.culprits[i]);
    if (summary.culprits.size() > most_culprits)
        text += fmt::format("  and {} more that stop\n", summary.culprits.size() - most_culprits);
    text += notice_text(summary);
    return summary.waits.empty() ? text : text + "\n" + waits_text(summary);
}

} // namespace trainyard
