#include "sim/report/text/terminal.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/headline.h"
#include "sim/report/health.h"
#include "sim/report/kinds.h"
#include "sim/report/network_notes.h"
#include "sim/report/text/advice_text.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/pace_text.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr std::size_t collectives_shown = 6;
constexpr std::size_t stages_shown = 8;
constexpr std::size_t warnings_shown = 8;

std::string coloured(const Paint& paint, TimeKind kind, std::string_view text)
{
    switch (class_of(kind)) {
    case TimeClass::compute:
        return paint.good(text);
    case TimeClass::communication:
        return paint.fair(text);
    case TimeClass::idle:
        break;
    }
    return paint.bad(text);
}

std::string repeated(std::string_view text, std::size_t times)
{
    std::string out;
    for (std::size_t i = 0; i < times; ++i)
        out += text;
    return out;
}

// A bar of eighths of a cell.
std::string bar(double share, std::size_t cells)
{
    static constexpr std::array<std::string_view, 8> part{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto eighths = static_cast<std::size_t>(
        std::lround(std::clamp(share, 0.0, 1.0) * 8 * static_cast<double>(cells)));
    return repeated("█", eighths / 8) + std::string(part[eighths % 8]);
}

std::string memory_verdict(const Outcome& outcome, const Summary& summary, const Paint& paint)
{
    if (summary.fits)
        return fmt::format("{} on the fullest stage ({})", memory_fit_text(summary),
                           outcome.memory.fullest_stage);
    // No colour has to tell it.
    std::string verdict(to_name(summary.memory_fit()));
    std::ranges::transform(verdict, verdict.begin(), [](char letter) {
        return 'a' <= letter && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    });
    return paint.alarm(fmt::format("{}: {} too much on stage {}", verdict,
                                   to_display(summary.peak_memory - summary.capacity),
                                   outcome.memory.fullest_stage));
}

std::string loader_text(const Loading& loading)
{
    return fmt::format("{} samples/s", count_text(loading.slowest_rate));
}

std::string loader_details(const Loading& loading)
{
    const auto rate = [](double samples) {
        return std::isfinite(samples) ? count_text(samples) : std::string("no limit");
    };
    return fmt::format(
        "per rank at most: storage {}, {} {}, copy {}; page cache {}", rate(loading.rates.storage),
        loading.workers > 0 ? fmt::format("{} workers", loading.workers)
                            : std::string("training process"),
        rate(loading.rates.workers), rate(loading.rates.copy), percent(loading.rates.hit_share));
}

std::string headline(const Outcome& outcome, const Summary& summary, const Paint& paint,
                     std::size_t width)
{
    TextTable table({Align::left, Align::left, Align::left});
    for (const HeadlineRow& row : headline_rows(summary))
        table.add({std::string(row.name), paint.bold(row.value), row.note});
    const bool ranges = summary.peak.has_interval();
    table.add(
        {"Memory", paint.bold(to_display(summary.peak_memory)),
         fmt::format("{}reserved of {}: {}", ranges ? peak_interval_text(summary.peak) + "; " : "",
                     to_display(summary.capacity), memory_verdict(outcome, summary, paint))});
    if (ranges) {
        const HeadlineRow row = peak_interval_row(summary.peak);
        table.add({std::string(row.name), paint.bold(row.value), row.note});
    }
    if (summary.loading)
        table.add({"Loader", paint.bold(loader_text(*summary.loading)),
                   loader_details(*summary.loading)});
    std::string out = table.text_within(width);
    const std::string name = fmt::format("Bottleneck  {}", to_name(summary.bottleneck.kind));
    out += "  " + paint.bold(name) + "\n";
    for (const std::string& text : {summary.bottleneck.evidence, summary.bottleneck.advice})
        out += hung(std::string(14, ' '), text, width);
    return out;
}

std::string breakdown(const Summary& summary, const Paint& paint, std::size_t width)
{
    const std::size_t bar_cells = width < 90 ? 20 : 30;
    TextTable table(
        {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left});
    table.add({paint.dim("of the step"), paint.dim(fmt::format("rank {}", summary.critical_rank)),
               "", paint.dim("mean"), "", ""});
    for (const TimeKind kind : visible_kinds(std::array{summary.critical, summary.mean})) {
        const Seconds critical = summary.critical[index_of(kind)];
        const Seconds mean = summary.mean[index_of(kind)];
        const double critical_share = share_of(summary.critical, kind);
        const double mean_share = share_of(summary.mean, kind);
        table.add({std::string(title_of(kind)), to_display(critical), percent(critical_share),
                   to_display(mean), percent(mean_share),
                   coloured(paint, kind, bar(critical_share, bar_cells))});
    }
    const bool sets_the_pace = !summary.pace || summary.pace->rank == summary.critical_rank;
    return paint.bold("Where the time goes") +
           paint.dim(sets_the_pace ? " (the rank that sets the pace, and all)"
                                   : " (the least idle rank, and all)") +
           "\n" + table.text_within(width);
}

std::string health(const Summary& summary, const Paint& paint, std::size_t width)
{
    TextTable table({Align::left, Align::right, Align::left, Align::left});
    for (const HealthRow& row : health_rows(summary))
        table.add({row.name, percent(row.value), row.verdict ? paint.verdict(*row.verdict) : "",
                   row.target.empty() ? "" : paint.dim(row.target)});
    return paint.bold("Health") + paint.dim(" (mean of all ranks)") + "\n" +
           table.text_within(width);
}

std::string group_title(const CollectiveRow& row)
{
    return row.ranks > 1 ? fmt::format("{} {}", title_of(row.group), row.ranks)
                         : title_of(row.group);
}

std::string collectives(const Summary& summary, const Paint& paint, std::size_t width)
{
    if (summary.collectives.empty())
        return "";
    TextTable table({Align::left, Align::left, Align::right, Align::right, Align::right,
                     Align::right, Align::right, Align::right, Align::right});
    std::vector<std::string> head;
    for (const std::string_view title : {"per rank and step", "group", "count", "size", "time",
                                         "bus bandwidth", "total", "exposed", "waiting"})
        head.push_back(paint.dim(title));
    table.add(std::move(head));
    const std::size_t shown = std::min(collectives_shown, summary.collectives.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const CollectiveRow& row = summary.collectives[i];
        table.add({title_of(row.collective), group_title(row), count_text(row.count_per_rank),
                   to_display(row.mean_size), to_display(row.mean_time),
                   to_display(row.bus_bandwidth), to_display(row.total_per_rank),
                   to_display(row.exposed_per_rank), to_display(row.waiting_per_rank)});
    }
    std::string out = paint.bold("Communication") + "\n" + table.text_within(width);
    if (shown < summary.collectives.size())
        out += fmt::format("  and {} smaller kind{}\n", summary.collectives.size() - shown,
                           summary.collectives.size() - shown == 1 ? "" : "s");
    return out;
}

// A line of `network`, with what it is about ahead.
std::string network_line(std::string_view about, const std::string& text, const Paint& paint,
                         std::size_t width)
{
    return hung(fmt::format("  {} ", paint.dim(about)), text, width);
}

// "all-reduce 289 GB/s, broadcast 288 GB/s (bus bandwidth), barrier 80.2 us"
std::string cluster_rates(const Summary& summary, Bandwidth ClusterCollectiveRow::*rate,
                          Seconds ClusterCollectiveRow::*time)
{
    std::string out;
    for (const ClusterCollectiveRow& row : summary.cluster_collectives) {
        if (row.collective == CollectiveKind::barrier)
            out += fmt::format(" (bus bandwidth), barrier {}", to_display(row.*time));
        else if (row.collective == CollectiveKind::all_reduce ||
                 row.collective == CollectiveKind::broadcast)
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", title_of(row.collective),
                               to_display(row.*rate));
    }
    return out;
}

std::string network(const Summary& summary, const Paint& paint, std::size_t width)
{
    std::string out;
    for (const LinkClassRow& row : summary.links)
        if (row.bytes > 0)
            out += fmt::format("{}{} {} of {}", out.empty() ? "" : ", ", row.name,
                               percent(row.utilization), to_display(row.capacity));
    if (!out.empty())
        out = network_line("links busy:", out, paint, width);
    if (summary.node_latency.value() > 0)
        out += network_line("node to node:",
                            fmt::format("{} latency, {} per {} when all send",
                                        to_display(summary.node_latency),
                                        to_display(summary.node_bandwidth), summary.device_word()),
                            paint, width);
    if (!summary.cluster_collectives.empty()) {
        out += network_line("all ranks, 1 GiB:",
                            cluster_rates(summary, &ClusterCollectiveRow::bus_bandwidth,
                                          &ClusterCollectiveRow::time),
                            paint, width);
        out += network_line("the same in a step:",
                            cluster_rates(summary, &ClusterCollectiveRow::in_step_bus_bandwidth,
                                          &ClusterCollectiveRow::in_step_time),
                            paint, width);
    }
    return out;
}

// The largest kinds that fit into `width`.
std::string memory_kinds(const StageMemory& stage, std::size_t width)
{
    std::vector<std::pair<std::string, Bytes>> kinds(stage.kinds.begin(), stage.kinds.end());
    std::stable_sort(kinds.begin(), kinds.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string out;
    for (const auto& [name, bytes] : kinds) {
        const std::string more =
            fmt::format("{}{} {}", out.empty() ? "" : ", ", name, to_display(bytes));
        if (bytes.value() == 0 || text_width(out) + text_width(more) > width)
            break;
        out += more;
    }
    return out;
}

// The fullest stages when there are too many.
std::vector<std::size_t> stages_to_show(const MemoryEstimate& memory)
{
    std::vector<std::size_t> order(memory.stages.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    if (order.size() <= stages_shown)
        return order;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return memory.stages[a].total() > memory.stages[b].total();
    });
    order.resize(stages_shown);
    std::sort(order.begin(), order.end());
    return order;
}

std::string memory(const Outcome& outcome, const Paint& paint, std::size_t width)
{
    TextTable table({Align::left, Align::right, Align::right, Align::left, Align::left});
    for (const std::size_t i : stages_to_show(outcome.memory)) {
        const StageMemory& stage = outcome.memory.stages[i];
        const double share = stage.total() / outcome.memory.capacity;
        const std::string filled = bar(share, 12);
        const std::size_t rest = 12 - std::min<std::size_t>(12, text_width(filled));
        table.add({fmt::format("stage {}", i), to_display(stage.total()),
                   to_display(stage.in_use()),
                   (share > 1 ? paint.alarm(filled) : filled) + paint.dim(repeated("░", rest)),
                   memory_kinds(stage, width - 49)});
    }
    std::string out =
        paint.bold("Memory") +
        paint.dim(fmt::format(" (peak per stage, of {}: reserved, and in use of that)",
                              to_display(outcome.memory.capacity))) +
        "\n" + table.text_within(width);
    if (outcome.memory.stages.size() > stages_shown)
        out +=
            fmt::format("  and {} emptier stages\n", outcome.memory.stages.size() - stages_shown);
    return out;
}

std::string warnings(const Outcome& outcome, std::size_t width)
{
    std::string out;
    for (std::size_t i = 0; i < std::min(warnings_shown, outcome.warnings.size()); ++i) {
        const Diagnostic& warning = outcome.warnings[i];
        std::string text = "warning: " + warning.message;
        if (!warning.pointer.empty())
            text += " at " + warning.pointer;
        if (!warning.hint.empty())
            text += ": " + warning.hint;
        for (const std::string& line : wrapped(text, width - 2))
            out += "  " + line + "\n";
    }
    if (outcome.warnings.size() > warnings_shown)
        out += fmt::format("  and {} more warnings (--json has them)\n",
                           outcome.warnings.size() - warnings_shown);
    return out;
}

std::string footer(const Outcome& outcome, const Paint& paint, std::size_t width)
{
    const EngineReport& engine = outcome.engine;
    const std::string line = fmt::format(
        "{}, {}, {} rank{} in {} lane{}, {} ops in {:.0f} ms; inputs {}", engine_words(outcome),
        to_name(engine.network.fidelity), engine.ranks, engine.ranks == 1 ? "" : "s", engine.lanes,
        engine.lanes == 1 ? "" : "s", count_text(static_cast<double>(engine.ops)), engine.wall_ms,
        hash_text(outcome.input_hash));
    std::string notes;
    for (const std::string& note : sharing_notes(outcome))
        for (const std::string& part : wrapped(note, width))
            notes += paint.dim(part) + "\n";
    for (const std::string& part : wrapped(line, width))
        notes += paint.dim(part) + "\n";
    return warnings(outcome, width) + notes;
}

} // namespace

std::string terminal_text(const Outcome& outcome, const Summary& summary,
                          const TerminalStyle& style)
{
    const Paint paint(style.colour);
    const std::size_t width = std::max<std::size_t>(style.width, 80);
    std::string out = paint.bold(shortened(job_title(outcome), width)) + "\n";
    for (const std::string& line : wrapped(job_settings(outcome), width))
        out += line + "\n";
    out += "\n" + headline(outcome, summary, paint, width);
    if (summary.pace)
        out += "\n" + pace_text(*summary.pace, summary.step_time.value, paint, width);
    for (const std::string& part : {advice_text(summary.advice, summary.fits, paint, width),
                                    what_if_text(summary.what_if, paint, width)})
        if (!part.empty())
            out += "\n" + part;
    out += "\n" + breakdown(summary, paint, width);
    out += "\n" + health(summary, paint, width);
    const std::string communication =
        collectives(summary, paint, width) + network(summary, paint, width);
    if (!communication.empty())
        out += "\n" + communication;
    out += "\n" + memory(outcome, paint, width);
    return out + "\n" + footer(outcome, paint, width);
}

} // namespace trainyard
