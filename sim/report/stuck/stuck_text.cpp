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
        text += ", " + place.layer_name;
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

std::string culprit_text(const StuckCulprit& culprit, std::size_t width)
{
    const bool hangs = culprit.kind == StopKind::hangs;
    std::string text =
        hung("  because of  ",
             fmt::format("rank {} (node {}, stage {}) {} {}", culprit.rank, culprit.node,
                         culprit.stage, hangs ? "hangs" : "dies", moment(culprit.at)),
             width);
    if (culprit.ranks > 1)
        text += fmt::format("    and {} rank{} like it\n", culprit.ranks - 1,
                            culprit.ranks == 2 ? "" : "s");
    if (!culprit.place.op.empty())
        text += hung("    ",
                     fmt::format("{} {}: {}", hangs ? "its host never issues" : "unfinished:",
                                 op_of(culprit.place), where(culprit.place)),
                     width);
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

std::string notice_text(const StuckSummary& summary, std::size_t width)
{
    if (summary.waits.empty())
        return hung("  ",
                    fmt::format("nobody {}{}",
                                all_stopped(summary) ? "is left to wait for them"
                                                     : "waits for what they hold",
                                any_dies(summary)
                                    ? "; a launcher that watches its processes ends the job"
                                    : ", and no time-out runs"),
                    width);
    if (!summary.notice)
        return "  nobody gives up: the libraries in use have no time-out\n";
    const StuckNotice& notice = *summary.notice;
    std::string text = fmt::format(
        "{} at the latest, by rank {}: it issued {} {} and gives up {} later ({})",
        moment(notice.issued + notice.time_out), notice.rank, op_of(notice.place),
        moment(notice.issued), to_display(notice.time_out),
        notice.is_default ? fmt::format("PyTorch's default for {}", to_name(notice.backend))
                          : "software.timeout");
    if (any_dies(summary))
        text += "; a launcher that watches its processes ends the job sooner";
    return hung("  noticed     ", text, width);
}

std::string waits_text(const StuckSummary& summary, std::size_t width)
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
    std::string text = table.text_within(width);
    if (summary.waits.size() > most_rows)
        text += fmt::format("  and {} more kind{} of waits, all behind these (--json has them)\n",
                            summary.waits.size() - most_rows,
                            summary.waits.size() - most_rows == 1 ? "" : "s");
    return text;
}

} // namespace

std::string stuck_text(const StuckSummary& summary, std::size_t width)
{
    std::string text = all_stopped(summary)
                           ? fmt::format("\nSTUCK: all {} ranks stop\n\n", summary.ranks)
                           : fmt::format("\nSTUCK: {} of {} ranks wait for ever\n\n",
                                         summary.waiting, summary.ranks);
    for (std::size_t i = 0; i < std::min(summary.culprits.size(), most_culprits); ++i)
        text += culprit_text(summary.culprits[i], width);
    if (summary.culprits.size() > most_culprits)
        text += fmt::format("  and {} more that stop\n", summary.culprits.size() - most_culprits);
    text += notice_text(summary, width);
    return summary.waits.empty() ? text : text + "\n" + waits_text(summary, width);
}

} // namespace trainyard
