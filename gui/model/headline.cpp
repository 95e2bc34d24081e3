#include "gui/model/headline.h"

#include "gui/model/qt_text.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/text/describe.h"
#include "sim/report/training/training_text.h"
#include "sim/study/training/training_values.h"

#include <fmt/core.h>

#include <QCoreApplication>
#include <array>
#include <cmath>
#include <utility>

namespace trainyard::gui {

namespace {

QString headline_text(const char* text)
{
    return QCoreApplication::translate("headline", text);
}

// "+3.1 %", where both are known and they differ visibly.
void tell_change(HeadlineItem& item, double now, double before, Better better)
{
    if (!(before > 0) || !(now > 0))
        return;
    const double change = now / before - 1;
    if (std::abs(change) < 0.0005)
        return;
    item.change = QStringLiteral("%1%2").arg(change > 0 ? QStringLiteral("+") : QStringLiteral("−"),
                                             text_of(percent(std::abs(change))));
    if (better != Better::neither)
        item.trend = (change < 0) == (better == Better::lower) ? Trend::better : Trend::worse;
}

QString interval_text(const QString& low, const QString& high)
{
    return QStringLiteral("%1 – %2").arg(low, high);
}

HeadlineItem item_of(const Figure& figure, const RunFigures& now, const RunFigures* before)
{
    HeadlineItem item;
    item.name = capitalised(figure.title_for("device"));
    item.value = text_of(figure.text(figure.number(now)));
    item.explanation = text_of(figure.meaning);
    if (before != nullptr)
        tell_change(item, figure.number(now), figure.number(*before), figure.better);
    return item;
}

HeadlineItem step_item(const RunFigures& now, const RunFigures* before)
{
    const Prediction& step = now.step_time;
    HeadlineItem item = item_of(figure_of("step_time_s"), now, before);
    item.view = QStringLiteral("timeline");
    item.interval = interval_text(text_of(to_display(step.low)), text_of(to_display(step.high)));
    item.explanation += headline_text("; %1. Constants: %2.")
                            .arg(text_of(step.basis), text_of(to_name(step.grade)));
    return item;
}

// A rate follows from the step time: its interval is the step's, turned round.
HeadlineItem rate_item(const Figure& figure, const RunFigures& now, const RunFigures* before)
{
    const Prediction& step = now.step_time;
    const double rate = figure.number(now);
    HeadlineItem item = item_of(figure, now, before);
    item.interval = interval_text(text_of(figure.text(rate * (step.value / step.high))),
                                  text_of(figure.text(rate * (step.value / step.low))));
    return item;
}

// Of all devices; beside the interval what each of them does.
HeadlineItem throughput_item(const RunFigures& now, const RunFigures* before)
{
    const bool tokens = now.work() == WorkUnit::tokens;
    const Figure& each = figure_of(tokens ? "tokens_per_s_per_gpu" : "samples_per_s_per_gpu");
    HeadlineItem item =
        rate_item(figure_of(tokens ? "tokens_per_s" : "samples_per_s"), now, before);
    const QString one = headline_text("%1 per %2")
                            .arg(text_of(each.text(each.number(now))), text_of(now.device_word()));
    item.explanation = headline_text("on all %L1 devices together; %2").arg(now.gpus).arg(one);
    item.interval += QStringLiteral("; ") + one;
    item.view = QStringLiteral("breakdown");
    item.part = QStringLiteral("breakdown-time");
    return item;
}

HeadlineItem mfu_item(const RunFigures& now, const RunFigures* before)
{
    HeadlineItem item = rate_item(figure_of("mfu"), now, before);
    item.explanation += headline_text(" in %1; HFU (with recomputation) %2")
                            .arg(text_of(to_name(now.peak_precision)), text_of(percent(now.hfu)));
    if (now.has_usual_mfu)
        item.interval += QStringLiteral("; ") + text_of(mfu_target.text);
    item.view = QStringLiteral("breakdown");
    item.part = QStringLiteral("breakdown-roofline");
    return item;
}

// Of devices with that much memory: "%1".
QString memory_fit_words(MemoryFit fit)
{
    switch (fit) {
    case MemoryFit::fits:
        return headline_text("fits %1");
    case MemoryFit::probably_fits:
        return headline_text("probably fits %1");
    case MemoryFit::probably_not:
        return headline_text("probably does not fit %1");
    case MemoryFit::does_not:
        break;
    }
    return headline_text("does not fit %1");
}

HeadlineItem memory_item(const RunFigures& now, const RunFigures* before)
{
    HeadlineItem item = item_of(figure_of("peak_memory_bytes"), now, before);
    item.name = headline_text("Peak memory, reserved");
    item.view = QStringLiteral("breakdown");
    item.part = QStringLiteral("breakdown-memory");
    const PeakPrediction& peak = now.peak;
    const QString fit = memory_fit_words(now.memory_fit()).arg(text_of(to_display(now.capacity)));
    item.interval = peak.has_interval() ? interval_text(text_of(to_display(peak.low)),
                                                        text_of(to_display(peak.high))) +
                                              QStringLiteral("; ") + fit
                                        : fit;
    if (peak.has_interval())
        item.explanation += headline_text("; the interval holds %1: %2. Evidence: %3.")
                                .arg(text_of(percent(peak.share)), text_of(peak.basis),
                                     text_of(to_name(peak.grade)));
    item.impossible = !now.fits;
    return item;
}

// How long `tokens` take, as a text.
QString duration_of(double tokens, double tokens_per_s)
{
    return text_of(wall_text(Seconds(tokens / tokens_per_s)));
}

// Of the whole training where it is said how long that is, else of a day.
HeadlineItem cost_item(const RunFigures& now, const RunFigures* before, const Price& price)
{
    const bool words = now.work() == WorkUnit::tokens;
    const bool whole = words && price.tokens > 0;
    const Figure& figure = figure_of(words ? "cost_per_billion_tokens" : "cost_per_day");
    const bool priced = price.per_device_hour > 0;
    HeadlineItem item = item_of(figure, now, priced ? before : nullptr);
    item.name = whole   ? headline_text("Cost of %1 tokens").arg(text_of(count_text(price.tokens)))
                : words ? headline_text("Cost of 10⁹ tokens")
                        : item.name;
    if (!priced) {
        item.value = QStringLiteral("–");
        item.interval = whole ? headline_text("takes %1; no price given")
                                    .arg(duration_of(price.tokens, now.tokens_per_s))
                              : headline_text("no price given");
        item.explanation =
            headline_text("Set what a device costs in an hour, and how many tokens are to be "
                          "trained on (a click here, or Run > Price).");
        return item;
    }
    const auto money = [&](double amount) {
        return in_currency(text_of(money_text(amount)), price);
    };
    constexpr double billion = 1e9;
    const double times = whole ? price.tokens / billion : 1;
    const double cost = times * price.per_device_hour * figure.number(now);
    const double day = price.per_device_hour * figure_of("cost_per_day").number(now);
    item.value = money(cost);
    item.explanation = headline_text("%1 devices at %2 an hour, %3 a day")
                           .arg(now.gpus)
                           .arg(money(price.per_device_hour), money(day));
    if (!words)
        return item;
    const Prediction& step = now.step_time;
    const double low = cost * (step.low / step.value);
    const double high = cost * (step.high / step.value);
    item.interval = interval_text(text_of(figure.text(low)), text_of(figure.text(high)));
    if (!whole)
        return item;
    const QString time = duration_of(price.tokens, now.tokens_per_s);
    item.interval += headline_text("; takes %1").arg(time);
    item.explanation += headline_text("; without failures and checkpoints, which the planner "
                                      "counts");
    return item;
}

} // namespace

QString in_currency(QString text, const Price& price)
{
    return price.currency == QLatin1String("USD") ? text : text.replace('$', price.currency);
}

QString typed_count(double count)
{
    using Unit = std::pair<double, const char*>;
    for (const auto& [unit, name] :
         std::array{Unit(1e12, "T"), Unit(1e9, "B"), Unit(1e6, "M"), Unit(1e3, "k")})
    {
        const std::string text = fmt::format("{:.6g}{}", count / unit, name);
        if (count >= unit && parse_count(text) == count)
            return text_of(text);
    }
    return text_of(fmt::format("{:.15g}", count));
}

std::vector<HeadlineItem> headline_of(const RunView& run, const RunView* other, const Price& price)
{
    const auto possible = [](const RunView& view) { return view.outcome && view.summary.fits; };
    const bool comparable = other != nullptr && possible(run) && possible(*other);
    const RunFigures* const before = comparable ? &other->summary : nullptr;
    const RunFigures& now = run.summary;
    return {step_item(now, before), throughput_item(now, before), mfu_item(now, before),
            memory_item(now, before), cost_item(now, before, price)};
}

std::vector<StatusChip> chips_of(const RunView& run)
{
    const Outcome& outcome = *run.outcome;
    const Prediction& step = outcome.step_time;
    std::vector<StatusChip> chips{{headline_text("evidence: %1").arg(text_of(to_name(step.grade))),
                                   StatusChip::Kind::plain, text_of(step.basis)},
                                  {text_of(to_name(outcome.engine.network.fidelity)),
                                   StatusChip::Kind::plain, text_of(engine_words(outcome))}};
    if (!run.summary.fits)
        chips.push_back({headline_text("does not fit"), StatusChip::Kind::error,
                         headline_text("The figures are what it would be with more memory.")});
    else if (run.summary.memory_fit() == MemoryFit::probably_fits)
        chips.push_back({headline_text("memory: probably fits"), StatusChip::Kind::plain,
                         headline_text("The interval of its peak reaches to %1, a device has %2.")
                             .arg(text_of(to_display(run.summary.peak.high)),
                                  text_of(to_display(run.summary.capacity)))});
    return chips;
}

} // namespace trainyard::gui
