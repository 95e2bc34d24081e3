#include "sim/report/figures.h"
#include "sim/report/traces/rebuilt_text.h"
#include "sim/report/traces/recorded_parts.h"
#include "sim/report/traces/recorded_run.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::size_t rows_of_a_table = 8;
constexpr std::size_t cells_of_a_name = 48;

} // namespace

std::vector<std::string> recorded_head_lines(const RunSummary& run)
{
    std::string text =
        fmt::format("Recorded {} rank{}", run.ranks.size(), run.ranks.size() == 1 ? "" : "s");
    if (run.world)
        text += fmt::format(" of {}", *run.world);
    if (!run.device.empty())
        text += fmt::format(" on {}", run.device);
    if (!run.backend.empty() && run.backend != "undefined")
        text += fmt::format(", {}", run.backend);
    for (std::size_t kind = 0; kind < group_kind_count; ++kind)
        if (run.sizes[kind])
            text += fmt::format(", {} {}", to_name(static_cast<GroupKind>(kind)), *run.sizes[kind]);
    std::string steps = steps_text(run);
    if (run.times == TimesStated::timeline)
        steps += fmt::format("; {} on average", to_display(run.step));
    return {std::move(text), std::move(steps)};
}

std::string recorded_head(const RunSummary& run, std::size_t width)
{
    std::string out;
    for (const std::string& text : run.doubts)
        out += hung("Doubtful: ", text, width);
    if (!out.empty())
        out += "\n";
    for (const std::string& line : recorded_head_lines(run))
        out += hung("", line, width);
    return out;
}

std::string transfer_title(const TransferRow& row)
{
    return fmt::format("{}{}", row.kind ? to_name(*row.kind) : "not named",
                       row.role ? fmt::format(" {}", to_name(*row.role)) : "");
}

std::string assumed_text(const RunSummary& run, std::size_t width)
{
    std::string out;
    for (const std::string& text : run.assumed)
        out += hung("  ", text, width);
    return out.empty() ? "" : "Assumed\n" + out;
}

std::string recorded_run_text(const RunSummary& run, std::size_t width)
{
    if (run.times != TimesStated::timeline)
        return recorded_graph_text(run, width);
    std::string out = recorded_head(run, width);
    const auto add = [&](const std::string& part) {
        if (!part.empty())
            out += "\n" + part;
    };
    add(breakdown_part(run).text(width));
    if (const std::string verdict = verdict_sentence(run); !verdict.empty())
        add(hung("", verdict, width));
    add(device_work_part(run).text(width));
    add(transfers_part(run, rows_of_a_table).text(width));
    add(stragglers_part(run, rows_of_a_table).text(width));
    add(kernels_part(run, rows_of_a_table, cells_of_a_name).text(width));
    if (run.rebuilt)
        add(rebuilt_step_part(run).text(width));
    if (run.scaled)
        add(hung("", scaled_step_sentence(*run.scaled), width) +
            scaled_step_part(*run.scaled).text(width));
    add(assumed_text(run, width));
    return out;
}

} // namespace trainyard
