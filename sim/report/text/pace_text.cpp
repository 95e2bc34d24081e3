#include "sim/report/text/pace_text.h"

#include "sim/base/units.h"
#include "sim/report/collectives.h"
#include "sim/report/figures.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/json_member.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>

namespace trainyard {

namespace {

constexpr std::size_t rows_shown = 6;
constexpr std::size_t culprits_shown = 8;
constexpr int bins = 24;

// Longer than without, as a share of the step.
std::string cost(Seconds step, Seconds without)
{
    return fmt::format("{} of the step", percent((step - without) / step));
}

// Bars of eighths, the highest full.
std::string histogram_line(const std::vector<int>& counts)
{
    static constexpr std::array<std::string_view, 9> part{" ", "▁", "▂", "▃", "▄",
                                                          "▅", "▆", "▇", "█"};
    const int most = std::ranges::max(counts);
    std::string out;
    for (const int count : counts) {
        const int eighths = count == 0 ? 0 : std::max(1, (8 * count + most / 2) / most);
        out += part[static_cast<std::size_t>(eighths)];
    }
    return out;
}

} // namespace

std::string pace_sentence(const Pace& pace, Seconds step)
{
    std::string out = fmt::format("Rank {} sets the pace", pace.rank);
    if (!pace.waits.empty()) {
        const WaitRow& row = pace.waits.front();
        out +=
            fmt::format(": rank {} waits {} for it in {} transfer{} ({}{})", row.longest_rank,
                        to_display(row.longest), row.transfers, row.transfers == 1 ? "" : "s",
                        title_of(row.group),
                        row.group == GroupKind::pp ? ", the pipeline's own bubble included" : "");
    }
    if (pace.lanes_not_watched > 0)
        out += fmt::format("; of {}{} that communicate with it the waits are not known",
                           pace.lanes_not_watched, pace.waits.empty() ? "" : " more");
    out += ". ";
    if (!pace.culprits.empty() && pace.culprits.front().without < step)
        out += fmt::format("The costliest perturbation takes {} ({}): without it a step takes {}",
                           cost(step, pace.culprits.front().without),
                           describe(pace.culprits.front().perturbation),
                           to_display(pace.culprits.front().without));
    else if (pace.not_tried > 0)
        out += fmt::format("None of the first {} perturbations alone costs time, {} more were not "
                           "tried",
                           pace.culprits.size(), pace.not_tried);
    else if (pace.without_all < step)
        out +=
            "Without any single perturbation the step is no shorter: others hold it back as much";
    else
        out += "The perturbations cost no time";
    return out + fmt::format("; without any {}.", to_display(pace.without_all));
}

std::string not_tried_text(int entries)
{
    return entries == 1 ? "The last entry was not tried by itself"
                        : fmt::format("The last {} entries were not tried one by one", entries);
}

std::string pace_text(const Pace& pace, Seconds step, const Paint& paint, std::size_t width)
{
    std::string out = paint.bold("Who sets the pace") + "\n";
    out += hung("  ", pace_sentence(pace, step), width);
    if (!pace.waits.empty()) {
        TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right});
        table.add({paint.dim("waiting for it"), paint.dim("transfers"), paint.dim("mean"),
                   paint.dim("longest"), paint.dim("rank")});
        for (std::size_t i = 0; i < std::min(rows_shown, pace.waits.size()); ++i) {
            const WaitRow& row = pace.waits[i];
            table.add({fmt::format("{} {}", title_of(row.group), row.members),
                       fmt::format("{}", row.transfers), to_display(row.mean),
                       to_display(row.longest), fmt::format("{}", row.longest_rank)});
        }
        out += table.text_within(width);
    }
    if (!pace.culprits.empty()) {
        TextTable table({Align::left, Align::right, Align::right});
        table.add({paint.dim("without"), paint.dim("step"), paint.dim("gain")});
        const std::size_t shown = std::min(culprits_shown, pace.culprits.size());
        for (const CulpritRow& row : std::span(pace.culprits).first(shown))
            table.add({shortened(describe(row.perturbation), width - 30), to_display(row.without),
                       percent((step - row.without) / step)});
        table.add(
            {"all of it", to_display(pace.without_all), percent((step - pace.without_all) / step)});
        out += table.text_within(width);
        if (shown < pace.culprits.size())
            out += fmt::format("  and {} more that cost less (--json has them)\n",
                               pace.culprits.size() - shown);
        if (pace.not_tried > 0)
            out += "  " + not_tried_text(pace.not_tried) + "\n";
    }
    return out;
}

Json to_json(const Pace& pace, Seconds step)
{
    Json waits = Json::array();
    for (const WaitRow& row : pace.waits)
        waits.push_back(Json::Object{
            member("group", to_name(row.group)), member("ranks", row.members),
            member("transfers", row.transfers), member("mean_s", row.mean.value()),
            member("longest_s", row.longest.value()), member("longest_rank", row.longest_rank)});
    Json culprits = Json::array();
    for (const CulpritRow& row : pace.culprits)
        culprits.push_back(
            Json::Object{member("perturbation", static_cast<std::uint64_t>(row.entry)),
                         member("name", describe(row.perturbation)),
                         member("step_time_without_s", row.without.value()),
                         member("gain", (step - row.without) / step)});
    return Json::Object{member("rank", pace.rank),
                        member("waited_for_it", std::move(waits)),
                        member("culprits", std::move(culprits)),
                        member("culprits_not_tried", pace.not_tried),
                        member("lanes_not_watched", pace.lanes_not_watched),
                        member("step_time_without_all_s", pace.without_all.value())};
}

std::string samples_text(const Samples& samples, const Paint& paint)
{
    const Seconds least = quantile(samples, 0);
    const Seconds most = quantile(samples, 1);
    std::string out =
        paint.bold("Step time over seeds") +
        paint.dim(fmt::format(" ({} sample{}, seeds {} to {})", samples.step_times.size(),
                              samples.step_times.size() == 1 ? "" : "s", samples.first_seed,
                              samples.first_seed + samples.step_times.size() - 1)) +
        "\n";
    TextTable table({Align::right, Align::right, Align::right, Align::right, Align::right});
    table.add(
        {paint.dim("mean"), paint.dim("p5"), paint.dim("p50"), paint.dim("p95"), paint.dim("max")});
    table.add({to_display(mean(samples)), to_display(quantile(samples, 0.05)),
               to_display(quantile(samples, 0.5)), to_display(quantile(samples, 0.95)),
               to_display(most)});
    return out + table.text() +
           fmt::format("  {} {} {}\n", to_display(least), histogram_line(histogram(samples, bins)),
                       to_display(most));
}

Json to_json(const Samples& samples)
{
    Json times = Json::array();
    for (const SimTime time : samples.step_times)
        times.push_back(to_seconds(time).value());
    Json counts = Json::array();
    for (const int count : histogram(samples, bins))
        counts.push_back(count);
    return Json::Object{member("first_seed", samples.first_seed),
                        member("mean_s", mean(samples).value()),
                        member("p5_s", quantile(samples, 0.05).value()),
                        member("p50_s", quantile(samples, 0.5).value()),
                        member("p95_s", quantile(samples, 0.95).value()),
                        member("max_s", quantile(samples, 1).value()),
                        member("histogram", std::move(counts)),
                        member("step_times_s", std::move(times))};
}

} // namespace trainyard
