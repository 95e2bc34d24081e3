#include "sim/report/figures.h"
#include "sim/report/kernel_classes.h"
#include "sim/report/text/table.h"
#include "sim/report/traces/recorded_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace trainyard {
namespace {

constexpr std::size_t graph_rows_shown = 8;
constexpr std::size_t shape_cells = 48;

bool has_durations(const RunSummary& run)
{
    return run.times == TimesStated::durations;
}

// A row of the tables below: what, how many, operations, and the time where it is stated.
struct GraphRow {
    std::string title;
    double ops = 0;
    double flops = 0;
    Seconds time;
};

std::string rows_text(const RunSummary& run, std::string_view title, std::vector<GraphRow> rows,
                      std::size_t width)
{
    std::vector<Align> columns(has_durations(run) ? 4 : 3, Align::right);
    columns.front() = Align::left;
    TextTable table(std::move(columns));
    const auto add = [&](std::vector<std::string> cells, std::string time) {
        if (has_durations(run))
            cells.push_back(std::move(time));
        table.add(std::move(cells));
    };
    add({std::string(title), "ops", "FLOPs"}, "time");
    for (const GraphRow& row : rows)
        add({row.title, count_text(std::round(row.ops)),
             row.flops > 0 ? to_display(Flops(row.flops)) : ""},
            row.time.value() > 0 ? to_display(row.time) : "not stated");
    return rows.empty() ? "" : table.text_within(width);
}

std::string graph_phases(const RunSummary& run, std::size_t width)
{
    std::vector<GraphRow> rows;
    const double share = 1 / static_cast<double>(run.ranks.size());
    for (std::size_t p = 0; p < phase_count; ++p) {
        GraphRow row;
        row.title = title_of(static_cast<Phase>(p));
        for (const RankSummary& rank : run.ranks) {
            row.ops += share * rank.phases[p].ops;
            row.flops += share * rank.phases[p].flops;
            row.time += share * rank.phases[p].time;
        }
        if (row.ops > 0)
            rows.push_back(std::move(row));
    }
    // All in the last of them: the trace tells none.
    const bool told =
        rows.size() > 1 || (!rows.empty() && rows.front().title != title_of(Phase::other));
    return told ? rows_text(run, "a step of a rank", std::move(rows), width) : "";
}

std::string graph_works(const RunSummary& run, std::size_t width)
{
    std::vector<GraphRow> rows;
    const double share = 1 / static_cast<double>(run.ranks.size());
    for (std::size_t w = 0; w < device_work_count; ++w) {
        GraphRow row;
        row.title = title_of(static_cast<DeviceWork>(w));
        for (const RankSummary& rank : run.ranks) {
            row.ops += share * rank.ops[w];
            row.flops += share * rank.flops[w];
            row.time += share * rank.work[w];
        }
        if (row.ops > 0)
            rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const GraphRow& a, const GraphRow& b) {
        return std::tuple(a.time, a.flops, a.ops) > std::tuple(b.time, b.flops, b.ops);
    });
    return rows_text(run, run.on_host ? "the host's ops" : "the device's ops", std::move(rows),
                     width);
}

std::string graph_transfers(const RunSummary& run, std::size_t width)
{
    if (run.transfers.empty())
        return "";
    std::vector<Align> columns(has_durations(run) ? 6 : 5, Align::right);
    columns.front() = Align::left;
    TextTable table(std::move(columns));
    std::vector<std::string> heads{"transfers", "ranks", "size", "a step", "type"};
    if (has_durations(run))
        heads.emplace_back("kernel");
    table.add(std::move(heads));
    std::vector<const TransferRow*> rows;
    for (const TransferRow& row : run.transfers)
        rows.push_back(&row);
    const auto weight = [](const TransferRow* row) {
        return std::tuple(row->count * row->kernel.value(),
                          row->count * static_cast<double>(row->bytes));
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const TransferRow* a, const TransferRow* b) {
        return weight(a) > weight(b);
    });
    for (std::size_t i = 0; i < std::min(rows.size(), graph_rows_shown); ++i) {
        const TransferRow& row = *rows[i];
        std::vector<std::string> cells{
            transfer_title(row), row.ranks > 0 ? std::to_string(row.ranks) : "?",
            row.bytes > 0 ? to_display(Bytes(row.bytes)) : "?", count_text(row.count), row.dtype};
        if (has_durations(run))
            cells.push_back(row.kernel.value() > 0 ? to_display(row.kernel) : "not stated");
        table.add(std::move(cells));
    }
    std::string out = table.text_within(width);
    if (rows.size() > graph_rows_shown)
        out += fmt::format("  and {} more kinds and sizes\n", rows.size() - graph_rows_shown);
    return out;
}

std::string graph_kernels(const RunSummary& run, std::size_t width)
{
    TextTable table({Align::left, Align::left, Align::right, Align::right});
    table.add({has_durations(run) ? "longest ops" : "largest ops", "", "a step",
               has_durations(run) ? "time" : "FLOPs"});
    std::size_t shown = 0;
    for (const RecordedKernel& use : run.kernels) {
        const double figure = has_durations(run) ? use.time.value() : use.flops;
        if (figure <= 0 || shown == graph_rows_shown)
            break;
        ++shown;
        table.add({std::string(title_of(use.work)),
                   shortened(use.shapes.empty() ? use.name : use.shapes, shape_cells),
                   count_text(use.count),
                   has_durations(run) ? to_display(use.time) : to_display(Flops(use.flops))});
    }
    return shown == 0 ? "" : table.text_within(width);
}

// How the nodes hang together, of the rank whose chain is the longest.
std::string graph_chains(const RunSummary& run, std::size_t width)
{
    const RankSummary& rank = *std::max_element(
        run.ranks.begin(), run.ranks.end(), [](const RankSummary& a, const RankSummary& b) {
            return std::tie(a.graph->critical_path, a.graph->depth) <
                   std::tie(b.graph->critical_path, b.graph->depth);
        });
    const GraphFacts& graph = *rank.graph;
    std::string text = fmt::format(
        "Rank {}: {} nodes that wait {} times for one another; the longest chain has {} ops",
        rank.rank, grouped(graph.nodes), grouped(graph.waits), grouped(graph.depth));
    if (has_durations(run))
        text += fmt::format(", and the stated durations along a chain come to {}",
                            to_display(graph.critical_path));
    text += ".";
    if (graph.tensors > 0)
        text += fmt::format(" {} tensors lie in storages of {}.", grouped(graph.tensors),
                            to_display(Bytes(static_cast<std::uint64_t>(graph.tensor_bytes))));
    if (graph.waits_for_unknown > 0)
        text += fmt::format(" {} waits are for nodes that the file has not.",
                            grouped(graph.waits_for_unknown));
    return hung("", text, width);
}

} // namespace

std::string recorded_graph_text(const RunSummary& run, std::size_t width)
{
    std::string out = recorded_head(run, width);
    out += hung("",
                has_durations(run)
                    ? "An execution trace: it states how long ops take, not when they run."
                    : "An execution trace: it states no times.",
                width);
    for (const std::string& part :
         {graph_phases(run, width), graph_works(run, width), graph_transfers(run, width),
          graph_kernels(run, width), graph_chains(run, width), assumed_text(run, width)})
        if (!part.empty())
            out += "\n" + part;
    return out;
}

} // namespace trainyard
