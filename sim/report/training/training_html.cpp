#include "sim/report/training/training_html.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/html/bar_chart.h"
#include "sim/report/html/html_table.h"
#include "sim/report/html/page.h"
#include "sim/report/html/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

std::string facts_table(const TrainingReport& report)
{
    HtmlTable table({{"", HtmlCell::text}, {"", HtmlCell::text}, {"", HtmlCell::text}});
    for (const TrainingFact& fact : training_facts(report))
        table.add({escaped(fact.name), "<b>" + escaped(fact.value) + "</b>", escaped(fact.more)});
    return table.html();
}

std::string account_table(const WholeTraining& training)
{
    HtmlTable table({{"of the wall time", HtmlCell::text}, {"time"}, {"share"}});
    const WallAccount& account = training.time.account;
    for (std::size_t i = 0; i < wall_time_kinds; ++i) {
        const Seconds part = account.by_cause[i];
        if (part.value() > 0)
            table.add({escaped(title_of(static_cast<WallTime>(i))), wall_text(part),
                       percent(part / account.total())});
    }
    return table.html();
}

// What the training takes with an assumption moved, less the answer.
std::optional<double> days_moved(const std::optional<Seconds>& wall, Seconds from)
{
    return wall ? std::optional((*wall - from).value() / 86400) : std::nullopt;
}

std::optional<double> money_moved(const std::optional<double>& money, double from)
{
    return money ? std::optional(*money - from) : std::nullopt;
}

bool moves(const SwingBar& bar)
{
    return bar.low.value_or(1) != 0 || bar.high.value_or(1) != 0;
}

std::string swings(const TrainingReport& report)
{
    const WholeTraining& training = report.training;
    const Seconds wall = training.time.mean();
    std::vector<SwingBar> days;
    std::vector<SwingBar> money;
    for (const TrainingSensitivity& one : report.sensitivities) {
        const SwingBar words{one.name, one.low_value, one.high_value, {}, {}, {}, {}};
        SwingBar bar = words;
        bar.low = days_moved(one.low_wall, wall);
        bar.high = days_moved(one.high_wall, wall);
        bar.low_text = moved_text(one.low_wall, wall);
        bar.high_text = moved_text(one.high_wall, wall);
        if (moves(bar))
            days.push_back(bar);
        if (!training.cost.money)
            continue;
        bar = words;
        bar.low = money_moved(one.low_money, *training.cost.money);
        bar.high = money_moved(one.high_money, *training.cost.money);
        bar.low_text = moved_text(one.low_money, training.cost.money);
        bar.high_text = moved_text(one.high_money, training.cost.money);
        if (moves(bar))
            money.push_back(bar);
    }
    const auto swing = [](const SwingBar& bar) {
        constexpr double endless = std::numeric_limits<double>::infinity();
        return std::abs(bar.low.value_or(endless)) + std::abs(bar.high.value_or(endless));
    };
    std::ranges::stable_sort(days, std::ranges::greater(), swing);
    std::ranges::stable_sort(money, std::ranges::greater(), swing);
    const auto figure = [](std::string_view title, const std::vector<SwingBar>& bars) {
        const std::string svg = swing_figure(title, bars);
        return svg.empty() ? "" : fmt::format("<h3>{}</h3>\n{}", title, svg);
    };
    return figure("Wall time, one assumption moved at a time", days) +
           figure("Cost, one assumption moved at a time", money);
}

} // namespace

std::string training_html(const TrainingReport& report)
{
    const WholeTraining& training = report.training;
    const std::string subject =
        fmt::format("<p class=\"sub\">{} {} on {} GPUs, {} steps</p>\n",
                    to_display_count(training.request.tokens), escaped(training.request.unit),
                    training.request.gpus, to_display_count(training.steps.steps));
    return section("The whole training", subject + facts_table(report) + account_table(training)) +
           section("What matters most", swings(report)) +
           section("What is assumed of the training", list_html(training.assumptions));
}

} // namespace trainyard
