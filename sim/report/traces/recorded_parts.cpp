#include "sim/report/traces/recorded_parts.h"

#include "sim/report/figures.h"
#include "sim/report/kinds.h"
#include "sim/report/traces/recorded_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

Seconds of(const std::array<Seconds, time_kind_count>& time, TimeKind kind)
{
    return time[static_cast<std::size_t>(kind)];
}

Seconds mean_of(const RunSummary& run, Seconds RankSummary::*time)
{
    Seconds mean;
    for (const RankSummary& rank : run.ranks)
        mean += (1 / static_cast<double>(run.ranks.size())) * rank.*time;
    return mean;
}

// The rank that waits least: it sets the pace.
const RankSummary& pacing_rank(const RunSummary& run)
{
    const auto waits = [](const RankSummary& rank) {
        return of(rank.time, TimeKind::waiting) + of(rank.time, TimeKind::bubble);
    };
    return *std::min_element(
        run.ranks.begin(), run.ranks.end(),
        [&](const RankSummary& a, const RankSummary& b) { return waits(a) < waits(b); });
}

// How certain the time is in which data move.
std::string_view mark_of(MovingFrom source)
{
    switch (source) {
    case MovingFrom::stated:
    case MovingFrom::arrivals:
        return "";
    case MovingFrom::quickest:
        return "~";
    case MovingFrom::own_start:
        break;
    }
    return "<=";
}

std::vector<std::string> transfer_cells(const TransferRow& row)
{
    return {transfer_title(row),
            row.ranks > 0 ? std::to_string(row.ranks) : "?",
            row.bytes > 0 ? to_display(Bytes(row.bytes)) : "?",
            count_text(row.count),
            to_display(row.kernel),
            fmt::format("{}{}", mark_of(row.source), to_display(row.moving)),
            row.bus_bandwidth.value() > 0 ? to_display(row.bus_bandwidth) : ""};
}

} // namespace

std::string steps_text(const RunSummary& run)
{
    const std::size_t count = run.step_numbers.size();
    switch (run.step_source) {
    case StepSource::annotations:
        return count == 1 ? fmt::format("step {}", run.step_numbers.front())
                          : fmt::format("{} steps ({} to {})", count, run.step_numbers.front(),
                                        run.step_numbers.back());
    case StepSource::periodicity:
        return fmt::format("{} steps, told by what repeats in the kernels", count);
    case StepSource::whole:
        break;
    }
    return run.times == TimesStated::timeline
               ? "all that was recorded, as one step: none is annotated, and nothing that repeats "
                 "is surely one"
               : "all that was recorded, as one step: none is annotated";
}

ReportPart breakdown_part(const RunSummary& run)
{
    const RankSummary& pacing = pacing_rank(run);
    const double share = 1 / static_cast<double>(run.ranks.size());
    TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right});
    table.add({"of the step", fmt::format("rank {}", pacing.rank), "", "mean", ""});
    const auto add = [&](std::string_view title, Seconds of_rank, Seconds mean) {
        if (of_rank.value() > 0 || mean.value() > 0)
            table.add({std::string(title), to_display(of_rank), percent(of_rank / pacing.step),
                       to_display(mean), percent(mean / run.step)});
    };
    for (std::size_t k = 0; k < time_kind_count; ++k) {
        Seconds mean;
        for (const RankSummary& rank : run.ranks)
            mean += share * rank.time[k];
        add(title_of(static_cast<TimeKind>(k)), pacing.time[k], mean);
    }
    add("between queued kernels", pacing.gaps, mean_of(run, &RankSummary::gaps));
    add("idle, launches unknown", pacing.untold, mean_of(run, &RankSummary::untold));
    return {std::move(table), {}};
}

ReportPart device_work_part(const RunSummary& run)
{
    struct WorkRow {
        DeviceWork work;
        Seconds time;
        double ops = 0;
    };
    std::vector<WorkRow> rows;
    Seconds sum;
    const double share = 1 / static_cast<double>(run.ranks.size());
    for (std::size_t w = 0; w < device_work_count; ++w) {
        WorkRow row{static_cast<DeviceWork>(w), Seconds(), 0};
        for (const RankSummary& rank : run.ranks) {
            row.time += share * rank.work[w];
            row.ops += share * rank.ops[w];
        }
        sum += row.time;
        if (row.ops > 0)
            rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const WorkRow& a, const WorkRow& b) { return a.time > b.time; });
    TextTable table({Align::left, Align::right, Align::right, Align::right});
    table.add({run.on_host ? "the host's ops" : "the device's ops", "time", "", "ops"});
    for (const WorkRow& row : rows)
        table.add({std::string(title_of(row.work)), to_display(row.time),
                   percent(sum.value() > 0 ? row.time / sum : 0), count_text(std::round(row.ops))});
    return {std::move(table), {}};
}

ReportPart transfers_part(const RunSummary& run, std::size_t most)
{
    const bool expected =
        std::any_of(run.transfers.begin(), run.transfers.end(),
                    [](const TransferRow& row) { return row.expected.has_value(); });
    std::vector<std::string> heads{"transfers", "ranks", "size", "a step",
                                   "kernel",    "moves", "bus"};
    if (expected)
        heads.insert(heads.end(), {"expected", ""});
    std::vector<Align> columns(heads.size(), Align::right);
    columns.front() = Align::left;
    TextTable table(std::move(columns));
    table.add(std::move(heads));
    std::array<bool, 4> sources{};
    for (std::size_t i = 0; i < std::min(run.transfers.size(), most); ++i) {
        const TransferRow& row = run.transfers[i];
        sources[static_cast<std::size_t>(row.source)] = true;
        std::vector<std::string> cells = transfer_cells(row);
        if (row.expected)
            cells.insert(cells.end(), {to_display(*row.expected),
                                       fmt::format("x {:.2f}", row.moving / *row.expected)});
        table.add(std::move(cells));
    }
    std::vector<std::string> notes;
    if (run.transfers.size() > most)
        notes.push_back(fmt::format("and {} more kinds and sizes", run.transfers.size() - most));
    if (sources[static_cast<std::size_t>(MovingFrom::quickest)])
        notes.emplace_back("~ members are missing: as long as the quickest alike on its rank");
    if (sources[static_cast<std::size_t>(MovingFrom::own_start)])
        notes.emplace_back("<= waiting cannot be told from moving: the whole kernel");
    return {std::move(table), std::move(notes)};
}

ReportPart stragglers_part(const RunSummary& run, std::size_t most)
{
    TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right});
    table.add({"who waits for whom", "came last", "others waited", "waited itself", "clock"});
    for (std::size_t i = 0; i < std::min(run.stragglers.size(), most); ++i) {
        const StragglerRow& row = run.stragglers[i];
        const auto rank = std::find_if(run.ranks.begin(), run.ranks.end(),
                                       [&](const RankSummary& of) { return of.rank == row.rank; });
        table.add({fmt::format("rank {}", row.rank), count_text(row.last), to_display(row.kept),
                   to_display(row.waited),
                   fmt::format("{:+.1f} us", rank->clock_offset.value() * 1e6)});
    }
    std::vector<std::string> notes;
    if (run.stragglers.size() > most)
        notes.push_back(fmt::format("and {} more ranks", run.stragglers.size() - most));
    return {std::move(table), std::move(notes)};
}

ReportPart kernels_part(const RunSummary& run, std::size_t most, std::size_t cells)
{
    TextTable table({Align::left, Align::left, Align::right, Align::right});
    table.add({"longest kernels", "", "a step", "time"});
    for (std::size_t i = 0; i < std::min(run.kernels.size(), most); ++i) {
        const RecordedKernel& use = run.kernels[i];
        const std::string& text = use.shapes.empty() ? use.name : use.shapes;
        table.add({std::string(title_of(use.work)), shortened(text, cells), count_text(use.count),
                   to_display(use.time)});
    }
    return {std::move(table), {}};
}

std::string verdict_sentence(const RunSummary& run)
{
    std::array<Seconds, time_kind_count> mean{};
    const Seconds gaps = mean_of(run, &RankSummary::gaps);
    const Seconds untold = mean_of(run, &RankSummary::untold);
    for (const RankSummary& rank : run.ranks)
        for (std::size_t k = 0; k < time_kind_count; ++k)
            mean[k] += (1 / static_cast<double>(run.ranks.size())) * rank.time[k];
    const TimeKind loss = largest_loss(mean);
    const auto of_step = [&](Seconds time) { return percent(time / run.step); };
    std::string text;
    const auto add = [&](const std::string& sentence) {
        text += (text.empty() ? "" : " ") + sentence;
    };
    const bool any = of(mean, loss).value() > 0;
    if (any)
        text = fmt::format("The largest loss is {}: {} of the step.", noun_of(loss),
                           of_step(of(mean, loss)));
    if (gaps > of(mean, loss))
        add(fmt::format("{}, nothing runs although the next kernel is queued: the device waits for "
                        "an event, or is another process's.",
                        any ? fmt::format("Longer than that, {} of it", of_step(gaps))
                            : fmt::format("In {} of the step", of_step(gaps))));
    if (untold > of(mean, loss))
        add(fmt::format("In {} of the step nothing runs, and the launch of what runs next was not "
                        "recorded: whether the host or the device is late cannot be told.",
                        of_step(untold)));
    return text;
}

} // namespace trainyard
