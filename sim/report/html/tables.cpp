#include "sim/report/html/tables.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/health.h"
#include "sim/report/html/html_table.h"
#include "sim/report/html/palette.h"
#include "sim/report/html/svg.h"
#include "sim/report/text/advice_text.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/pace_text.h"
#include "sim/report/text/paste.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

std::string swatch(TimeKind kind)
{
    return fmt::format("<svg class=\"swatch\" aria-hidden=\"true\">{}</svg>",
                       svg_rect({0, 0, 12, 12}, css_class(kind)));
}

std::string links_table(const Summary& summary)
{
    HtmlTable table(
        {{"links", HtmlCell::text}, {"count"}, {"line rate"}, {"moved per step"}, {"busy"}});
    for (const LinkClassRow& row : summary.links)
        table.add({escaped(row.name), fmt::format("{}", row.links), to_display(row.capacity),
                   to_display(Bytes(static_cast<std::uint64_t>(std::max(row.bytes, 0.0)))),
                   percent(row.utilization)});
    return table.html();
}

std::string cluster_table(const Summary& summary)
{
    HtmlTable table({{"all ranks, alone (as nccl-tests)", HtmlCell::text},
                     {"ranks"},
                     {"size"},
                     {"time"},
                     {"algorithm bandwidth"},
                     {"bus bandwidth in the step"},
                     {"time in a step"},
                     {"bus bandwidth in a step"}});
    for (const ClusterCollectiveRow& row : summary.cluster_collectives) {
        const bool moves = row.size.value() > 0;
        table.add({title_of(row.collective), fmt::format("{}", row.ranks),
                   moves ? to_display(row.size) : "", to_display(row.time),
                   moves ? to_display(row.algorithm_bandwidth) : "",
                   moves ? to_display(row.bus_bandwidth) : "", to_display(row.in_step_time),
                   moves ? to_display(row.in_step_bus_bandwidth) : ""});
    }
    return table.html();
}

// As long as the share that is saved.
std::string gain_bar(double gain)
{
    constexpr double full = 200; // pixels
    const double length = full * std::clamp(gain, 0.0, 1.0);
    return fmt::format("<svg width=\"{}\" height=\"12\" aria-hidden=\"true\">{}</svg>", full,
                       svg_rect({0, 0, length, 12}, css_class(TimeKind::forward)));
}

} // namespace

std::string breakdown_table(const Summary& summary)
{
    HtmlTable table({{"of the step", HtmlCell::text},
                     {fmt::format("rank {}, {}", summary.critical_rank,
                                  summary.pace && summary.pace->rank != summary.critical_rank
                                      ? "the least idle"
                                      : "which sets the pace")},
                     {""},
                     {"mean of all ranks"},
                     {""}});
    for (const TimeKind kind : visible_kinds(std::array{summary.critical, summary.mean}))
        table.add({swatch(kind) + std::string(title_of(kind)),
                   to_display(summary.critical[index_of(kind)]),
                   percent(share_of(summary.critical, kind)),
                   to_display(summary.mean[index_of(kind)]),
                   percent(share_of(summary.mean, kind))});
    return table.html();
}

std::string health_table(const Summary& summary)
{
    HtmlTable table({{"mean of all ranks", HtmlCell::text},
                     {"share"},
                     {"", HtmlCell::text},
                     {"usual target", HtmlCell::text}});
    for (const HealthRow& row : health_rows(summary)) {
        const std::string_view word = row.verdict ? to_word(*row.verdict) : "";
        table.add({escaped(row.name), percent(row.value),
                   fmt::format("<span class=\"{0}\">{0}</span>", word), escaped(row.target)});
    }
    return table.html();
}

std::string advice_table(const Summary& summary)
{
    if (summary.advice.tried == 0)
        return "";
    HtmlTable table({{"setting", HtmlCell::text}, {"saves"}, {"step time"}, {"", HtmlCell::text}});
    for (const Advice& row : summary.advice.best)
        table.add({fmt::format("<code>{}</code>", escaped(paste_text(row.set))),
                   summary.fits ? percent(row.gain) : "fits", to_display(row.step_time),
                   escaped(row.note)});
    const std::string tried =
        fmt::format("<p class=\"sub\">{}: {}.</p>\n",
                    summary.advice.best.empty() ? "None of the settings tried helps"
                                                : "Each simulated by itself",
                    tried_text(summary.advice));
    return tried + table.html();
}

std::string what_if_table(const Summary& summary)
{
    HtmlTable table({{"resource", HtmlCell::text},
                     {"if", HtmlCell::text},
                     {"saves"},
                     {"step time"},
                     {"", HtmlCell::text}});
    for (const WhatIf& row : summary.what_if)
        table.add({escaped(row.resource), escaped(row.change), gain_text(row.gain),
                   to_display(row.step_time), gain_bar(row.gain)});
    return table.html();
}

std::string loading_table(const Summary& summary)
{
    HtmlTable table({{"samples/s of a rank", HtmlCell::text}, {"at most"}, {"", HtmlCell::text}});
    if (!summary.loading)
        return "";
    const Loading& loading = *summary.loading;
    const auto add = [&](const std::string& part, double rate, const std::string& remark) {
        table.add({part, std::isfinite(rate) ? to_display_count(rate) : "no limit", remark});
    };
    add("storage", loading.rates.storage,
        fmt::format("the page cache answers {} of the reads", percent(loading.rates.hit_share)));
    add(loading.workers > 0 ? fmt::format("{} workers", loading.workers) : "training process",
        loading.rates.workers,
        fmt::format("{} of their time waits for small reads",
                    percent(loading.rates.waiting_share)));
    add("copies to the device", loading.rates.copy, "");
    add("the rest of the step", loading.needed, "could take as many");
    return table.html();
}

std::string pace_tables(const Summary& summary)
{
    if (!summary.pace)
        return "";
    const Pace& pace = *summary.pace;
    const Seconds step = summary.step_time.value;
    HtmlTable waits({{fmt::format("waiting for rank {}", pace.rank), HtmlCell::text},
                     {"ranks"},
                     {"transfers"},
                     {"mean"},
                     {"longest"},
                     {"rank"}});
    for (const WaitRow& row : pace.waits)
        waits.add({escaped(title_of(row.group)), fmt::format("{}", row.members),
                   fmt::format("{}", row.transfers), to_display(row.mean), to_display(row.longest),
                   fmt::format("{}", row.longest_rank)});
    HtmlTable culprits({{"without", HtmlCell::text}, {"step"}, {"gain"}});
    for (const CulpritRow& row : pace.culprits)
        culprits.add({escaped(describe(row.perturbation)), to_display(row.without),
                      percent((step - row.without) / step)});
    culprits.add(
        {"all of it", to_display(pace.without_all), percent((step - pace.without_all) / step)});
    const std::string not_tried = pace.not_tried > 0 ? fmt::format("<p class=\"sub\">{}.</p>\n",
                                                                   not_tried_text(pace.not_tried))
                                                     : "";
    return waits.html() + culprits.html() + not_tried;
}

std::string collectives_table(const Summary& summary)
{
    HtmlTable table({{"per rank and step", HtmlCell::text},
                     {"group", HtmlCell::text},
                     {"ranks"},
                     {"count"},
                     {"size"},
                     {"time"},
                     {"algorithm bandwidth"},
                     {"bus bandwidth in the step"},
                     {"total"},
                     {"exposed"},
                     {"waiting"}});
    for (const CollectiveRow& row : summary.collectives)
        table.add({title_of(row.collective), title_of(row.group), fmt::format("{}", row.ranks),
                   count_text(row.count_per_rank), to_display(row.mean_size),
                   to_display(row.mean_time), to_display(row.algorithm_bandwidth),
                   to_display(row.bus_bandwidth), to_display(row.total_per_rank),
                   to_display(row.exposed_per_rank), to_display(row.waiting_per_rank)});
    return table.html();
}

std::string network_tables(const Summary& summary)
{
    std::string out = links_table(summary);
    if (summary.node_latency.value() > 0)
        out += fmt::format(
            "<p>Between two nodes, per {} when all send: {} for a small message, {} for "
            "a large one.</p>\n",
            summary.device_word(), to_display(summary.node_latency),
            to_display(summary.node_bandwidth));
    out += cluster_table(summary);
    return out.empty() ? "" : "<h3>Network</h3>\n" + out;
}

} // namespace trainyard
