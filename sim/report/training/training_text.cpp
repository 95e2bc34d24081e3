#include "sim/report/training/training_text.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

constexpr std::size_t sensitivities_shown = 8;
constexpr double dear = 0.05; // of the cost: what moves more is shown besides

std::string days_text(const WholeTraining& training)
{
    const bool fails = training.time.deviation.value() > 0;
    const bool sure = is_step_sure(training.request);
    if (!fails && sure)
        return "always: nothing fails";
    return fmt::format("{} to {} (90 %, by {})", wall_text(training.wall.low),
                       wall_text(training.wall.high),
                       sure    ? "when things fail"
                       : fails ? "when things fail and how long steps take"
                               : "how long steps take; nothing fails");
}

std::string deadline_text(const WholeTraining& training)
{
    return fmt::format("chance to end within {}", wall_text(*training.request.deadline));
}

std::string budget_text(const WholeTraining& training)
{
    return fmt::format("chance to cost no more than {}", money_text(*training.request.budget));
}

std::string failures_text(const WholeTraining& training)
{
    const ExpectedTime& time = training.time;
    std::string text = time.failures > 0
                           ? fmt::format("one every {}", wall_text(time.mean() / time.failures))
                           : "none of nodes";
    if (time.interruptions > 0)
        text += fmt::format(", and {} interruptions of spot capacity",
                            to_display_count(time.interruptions));
    if (training.process.spare_nodes > 0)
        text += "; " + spares_text(training.process.spare_nodes);
    return text;
}

std::string checkpoints_text(const WholeTraining& training)
{
    const CheckpointCost& cost = training.process.checkpoint;
    const bool behind = cost.block < cost.write;
    return fmt::format("{}{}",
                       behind ? fmt::format("block {} each, written in {}", wall_text(cost.block),
                                            wall_text(cost.write))
                              : fmt::format("{} each", wall_text(cost.write)),
                       training.request.checkpoints.interval ? "" : "; the best interval");
}

std::string cost_text(const WholeTraining& training)
{
    const WholeTrainingRequest& request = training.request;
    const double money = *training.cost.money;
    const int spares = training.process.spare_nodes;
    return fmt::format("{} per M {}, {} {} per ${}", money_text(1e6 * money / request.tokens),
                       request.unit, to_display_count(request.tokens / money), request.unit,
                       spares > 0 ? "; " + spares_text(spares) + " paid, too" : "");
}

std::string energy_text(const WholeTraining& training)
{
    return fmt::format("{} with a PUE of {:.3g}, {:.3g} kWh per GPU hour",
                       watts_text(*training.cost.mean_watts), training.request.power.pue,
                       *training.cost.energy_kwh / training.cost.gpu_hours);
}

std::string answer_text(const TrainingReport& report, const Paint& paint, std::size_t width)
{
    TextTable table({Align::left, Align::left, Align::left});
    for (TrainingFact& fact : training_facts(report))
        table.add({paint.dim(fact.name), paint.bold(fact.value), std::move(fact.more)});
    return table.text_within(width);
}

std::string account_text(const WholeTraining& training)
{
    const WallAccount& account = training.time.account;
    TextTable table({Align::left, Align::right, Align::right});
    for (std::size_t i = 0; i < wall_time_kinds; ++i) {
        const Seconds part = account.by_cause[i];
        if (part.value() > 0)
            table.add({std::string(title_of(static_cast<WallTime>(i))), wall_text(part),
                       percent(part / account.total())});
    }
    return table.text();
}

std::string sensitivity_text(const TrainingReport& report, const Paint& paint, std::size_t width)
{
    const WholeTraining& training = report.training;
    const bool priced = training.cost.money.has_value();
    TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right,
                     Align::right, Align::right});
    std::vector<std::string> head{"if it were", "low", "high", "time, low", "high"};
    if (priced)
        head.insert(head.end(), {"$, low", "high"});
    for (std::string& cell : head)
        cell = paint.dim(cell);
    table.add(std::move(head));
    const Seconds wall = training.time.mean();
    for (std::size_t i = 0; i < report.sensitivities.size(); ++i) {
        const TrainingSensitivity& one = report.sensitivities[i];
        const bool costs = priced && one.low_money && one.high_money &&
                           std::abs(*one.high_money - *one.low_money) > dear * *training.cost.money;
        if (i >= sensitivities_shown && !costs)
            continue;
        std::vector<std::string> cells{one.name, one.low_value, one.high_value,
                                       moved_text(one.low_wall, wall),
                                       moved_text(one.high_wall, wall)};
        if (priced) {
            cells.push_back(moved_text(one.low_money, training.cost.money));
            cells.push_back(moved_text(one.high_money, training.cost.money));
        }
        table.add(std::move(cells));
    }
    return table.text_within(width);
}

} // namespace

std::string_view title_of(WallTime cause)
{
    static constexpr std::array<std::string_view, wall_time_kinds> titles{
        "steps",     "stragglers", "evaluation",        "checkpoints",
        "work lost", "detection",  "waiting for nodes", "restarts"};
    return titles[static_cast<std::size_t>(cause)];
}

std::vector<TrainingFact> training_facts(const TrainingReport& report)
{
    const WholeTraining& training = report.training;
    std::vector<TrainingFact> facts{
        {"Wall time", wall_text(training.time.mean()), days_text(training)}};
    if (training.in_time)
        facts.push_back({"In time", percent(*training.in_time), deadline_text(training)});
    if (training.in_budget)
        facts.push_back({"In budget", percent(*training.in_budget), budget_text(training)});
    facts.push_back(
        {"Goodput", percent(training.goodput()),
         fmt::format("steps of {} alone take {}", to_display(training.request.step_time),
                     wall_text(training.process.steps))});
    if (training.process.rate() > 0) {
        facts.push_back(
            {"Failures", fmt::format("{:.4g}", training.time.failures), failures_text(training)});
        facts.push_back({"Checkpoints", fmt::format("every {}", wall_text(training.interval())),
                         checkpoints_text(training)});
    }
    if (training.cost.money)
        facts.push_back({"Cost", money_text(*training.cost.money), cost_text(training)});
    if (training.cost.energy_kwh)
        facts.push_back({"Energy", kwh_text(*training.cost.energy_kwh), energy_text(training)});
    return facts;
}

std::string moved_text(const std::optional<Seconds>& wall, Seconds from)
{
    if (!wall)
        return "never ends";
    const Seconds by = *wall - from;
    if (by.value() == 0)
        return "";
    return (by.value() < 0 ? "-" : "+") + wall_text(Seconds(std::abs(by.value())));
}

std::string moved_text(const std::optional<double>& money, const std::optional<double>& from)
{
    if (!money || !from || *money == *from)
        return "";
    return fmt::format("{}{}", *money < *from ? "-" : "+",
                       money_text(std::abs(*money - *from)).substr(2));
}

std::string spares_text(int nodes)
{
    return fmt::format("{} spare {}", nodes, nodes == 1 ? "node" : "nodes");
}

std::string paid_text(const WholeTraining& training)
{
    if (!training.cost.money)
        return "";
    const int spares = training.process.spare_nodes;
    return money_text(*training.cost.money) + (spares > 0 ? " with " + spares_text(spares) : "");
}

std::string kwh_text(double kwh)
{
    return kwh < 1000 ? fmt::format("{:.4g} kWh", kwh) : fmt::format("{:.4g} MWh", kwh / 1000);
}

std::string watts_text(double watts)
{
    return watts < 1e6 ? fmt::format("{:.3g} kW", watts / 1000)
                       : fmt::format("{:.3g} MW", watts / 1e6);
}

std::string money_text(double money)
{
    return "$ " + (money < 1000 ? fmt::format("{:.3g}", money) : to_display_count(money));
}

std::string wall_text(Seconds time)
{
    struct Unit {
        double seconds;
        std::string_view name;
    };
    static constexpr std::array units{Unit{86400, "d"}, Unit{3600, "h"}, Unit{60, "min"}};
    for (const Unit& unit : units)
        if (time.value() >= 2 * unit.seconds) {
            const double count = time.value() / unit.seconds;
            return fmt::format("{:.{}f} {}", count, count < 99.95 ? 1 : 0, unit.name);
        }
    return to_display(time);
}

std::string training_text(const TrainingReport& report, const Paint& paint, std::size_t width)
{
    const WholeTraining& training = report.training;
    const WholeTrainingRequest& request = training.request;
    std::string out =
        paint.bold(fmt::format("The whole training")) +
        fmt::format(" ({} {} on {} GPUs, {} steps)\n", to_display_count(request.tokens),
                    request.unit, request.gpus, to_display_count(training.steps.steps));
    out += answer_text(report, paint, width);
    out += "\n" + paint.bold("Where the time goes") + "\n" + account_text(training);
    if (!report.sensitivities.empty())
        out +=
            "\n" + paint.bold("What matters most") + "\n" + sensitivity_text(report, paint, width);
    if (!training.assumptions.empty())
        out += "\n";
    for (const std::string& assumption : training.assumptions)
        out += hung("  ", assumption, width);
    return out;
}

} // namespace trainyard
