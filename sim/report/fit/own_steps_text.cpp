#include "sim/report/fit/own_steps_text.h"

#include "sim/base/units.h"
#include "sim/report/text/table.h"
#include "sim/study/own_steps/own_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr std::size_t further_shown = 3;
constexpr std::size_t text_columns = 100;

// Shares of the prior's variance: above the first a rate is known from the steps, above the second
// they narrow it.
constexpr double known = 0.5;
constexpr double narrowed_some = 0.05;

std::string percent_change(double log_change)
{
    const double percent = std::round(1000 * std::expm1(log_change)) / 10;
    return percent == 0 ? "0 %" : fmt::format("{:+.1f} %", percent);
}

std::string steps_table(const OwnStepsReport& report)
{
    TextTable table(
        {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right});
    table.add({"own step", "measured", "base profile", "error", "fitted", "error"});
    for (std::size_t i = 0; i < report.steps.steps.size(); ++i) {
        const MeasuredStep& step = report.steps.steps[i];
        const Seconds fitted = step.measured * std::exp(-report.fit.residuals[i]);
        table.add({shortened(step.id, 44), to_display(step.measured), to_display(step.predicted),
                   percent_change(-step.error()), to_display(fitted),
                   percent_change(-report.fit.residuals[i])});
    }
    return table.text();
}

std::string verdict_on(const RateFit& fit, std::size_t rate)
{
    if (fit.at_limit(rate))
        return "at its limit, the steps ask for more";
    const double learnt = fit.learnt(rate);
    if (learnt >= known)
        return "known from the steps";
    return learnt >= narrowed_some ? "narrowed" : "held by its prior";
}

std::string rates_table(const OwnStepsReport& report)
{
    const RateFit& fit = report.fit;
    TextTable table({Align::left, Align::right, Align::right, Align::right, Align::left});
    table.add({"rate", "before", "now", "learnt", ""});
    for (std::size_t k = 0; k < own_rates().size(); ++k) {
        if (!told_by_steps(own_rates()[k], report.steps.base))
            continue;
        constexpr double unfelt = 0.001;
        if (fit.learnt(k) < unfelt)
            continue;
        constexpr double ninety = 1.645;
        table.add({own_rates()[k].title,
                   fmt::format("+-{:.0f} %", 100 * std::expm1(ninety * fit.prior[k])),
                   fmt::format("{} +-{:.0f} %", percent_change(fit.changes[k]),
                               100 * std::expm1(ninety * fit.spread[k])),
                   fmt::format("{:.0f} %", 100 * fit.learnt(k)), verdict_on(fit, k)});
    }
    return table.text();
}

std::string unfelt_text(const OwnStepsReport& report)
{
    std::string names;
    for (std::size_t k = 0; k < own_rates().size(); ++k)
        if (told_by_steps(own_rates()[k], report.steps.base) && report.fit.learnt(k) < 0.001)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", own_rates()[k].title);
    return names.empty() ? std::string()
                         : hung("  ", "the steps say nothing of: " + names, text_columns);
}

} // namespace

std::string contradiction_text(const StepContradiction& found)
{
    const std::string off =
        fmt::format("{} takes {:.2g} times what {} say{}", found.step, 1 + found.error,
                    found.alone ? "the profile's rates" : "the others and the profile",
                    found.alone ? "" : " and was left out");
    if (!found.explained)
        return off + "; no single rate explains it: check how it was measured and what ran besides";
    const OwnRate& rate = own_rates()[found.rate];
    if (found.slower < 1)
        return fmt::format("{}; it needs a {} {:.2g} times faster than stated", off, rate.title,
                           1 / found.slower);
    return fmt::format("{}; it needs a {} {:.2g} times slower than stated: {}?", off, rate.title,
                       found.slower, rate.when_slow);
}

namespace {

std::string further_text(const OwnStepsReport& report)
{
    if (report.further.empty())
        return {};
    std::string out = fmt::format("\nA further run would tell of {}, as the first step with\n",
                                  report.target.empty() ? "the rates" : report.target);
    TextTable table({Align::left, Align::right, Align::right, Align::left});
    table.add({"change", "predicted", "doubt less", "most of"});
    for (std::size_t i = 0; i < std::min(further_shown, report.further.size()); ++i) {
        const FurtherRun& run = report.further[i];
        table.add({run.change, to_display(Seconds(run.predicted)),
                   fmt::format("{:.0f} %", 100 * run.told), run.best_rate});
    }
    return out + table.text();
}

} // namespace

std::string own_steps_text(const OwnStepsReport& report)
{
    std::string out = fmt::format("{} own step{} on {}, {}\n", report.steps.steps.size(),
                                  report.steps.steps.size() == 1 ? "" : "s", report.steps.device,
                                  report.steps.network);
    out += steps_table(report) + "\n" + rates_table(report) + unfelt_text(report);
    out += fmt::format("  like jobs: 90 % within {:.0f} % below to {:.0f} % above; {:.1f} % of a "
                       "step stays unexplained\n",
                       -100 * std::expm1(-report.fit.reach), 100 * std::expm1(report.fit.reach),
                       100 * report.fit.unexplained);
    for (const StepContradiction& found : report.contradictions)
        out += hung("contradiction: ", contradiction_text(found), text_columns);
    return out + further_text(report);
}

Json to_json(const OwnStepsReport& report)
{
    Json out = Json::object();
    out["device"] = report.steps.device;
    out["network"] = report.steps.network;
    out["base"] = report.steps.base_name;
    Json steps = Json::array();
    for (std::size_t i = 0; i < report.steps.steps.size(); ++i) {
        const MeasuredStep& step = report.steps.steps[i];
        Json one = Json::object();
        one["id"] = step.id;
        one["measured_s"] = step.measured.value();
        one["base_s"] = step.predicted.value();
        one["fitted_s"] = step.measured.value() * std::exp(-report.fit.residuals[i]);
        steps.push_back(std::move(one));
    }
    out["steps"] = std::move(steps);
    Json rates = Json::array();
    for (std::size_t k = 0; k < own_rates().size(); ++k) {
        Json one = Json::object();
        one["rate"] = own_rates()[k].name;
        one["title"] = own_rates()[k].title;
        one["log_change"] = report.fit.changes[k];
        one["prior_spread"] = report.fit.prior[k];
        one["spread"] = report.fit.spread[k];
        one["learnt"] = report.fit.learnt(k);
        one["at_limit"] = report.fit.at_limit(k);
        rates.push_back(std::move(one));
    }
    out["rates"] = std::move(rates);
    out["unexplained"] = report.fit.unexplained;
    out["reach"] = report.fit.reach;
    Json contradictions = Json::array();
    for (const StepContradiction& found : report.contradictions) {
        Json one = Json::object();
        one["step"] = found.step;
        one["error"] = found.error;
        one["left_out"] = true; // always: a field stays
        if (found.explained) {
            one["rate"] = own_rates()[found.rate].name;
            one["times_slower"] = found.slower;
        }
        one["text"] = contradiction_text(found);
        contradictions.push_back(std::move(one));
    }
    out["contradictions"] = std::move(contradictions);
    Json further = Json::array();
    for (const FurtherRun& run : report.further) {
        Json one = Json::object();
        one["change"] = run.change;
        one["predicted_s"] = run.predicted;
        one["told"] = run.told;
        one["best_rate"] = run.best_rate;
        further.push_back(std::move(one));
    }
    out["further"] = std::move(further);
    return out;
}

} // namespace trainyard
