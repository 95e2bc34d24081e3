#include "gui/model/headline.h"

#include "gui/model/qt_text.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"

#include <QCoreApplication>
#include <cmath>

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

HeadlineItem item_of(const Figure& figure, const Summary& now, const Summary* before)
{
    HeadlineItem item;
    item.name = capitalised(figure.title_for("device"));
    item.value = text_of(figure.text(figure.number(now)));
    item.explanation = text_of(figure.meaning);
    if (before != nullptr)
        tell_change(item, figure.number(now), figure.number(*before), figure.better);
    return item;
}

HeadlineItem step_item(const Summary& now, const Summary* before)
{
    const Prediction& step = now.step_time;
    HeadlineItem item = item_of(figure_of("step_time_s"), now, before);
    item.interval = interval_text(text_of(to_display(step.low)), text_of(to_display(step.high)));
    item.explanation += headline_text("; %1. Constants: %2.")
                            .arg(text_of(step.basis), text_of(to_name(step.grade)));
    return item;
}

// A rate follows from the step time: its interval is the step's, turned round.
HeadlineItem rate_item(const Figure& figure, const Summary& now, const Summary* before)
{
    const Prediction& step = now.step_time;
    const double rate = figure.number(now);
    HeadlineItem item = item_of(figure, now, before);
    item.interval = interval_text(text_of(figure.text(rate * (step.value / step.high))),
                                  text_of(figure.text(rate * (step.value / step.low))));
    return item;
}

HeadlineItem throughput_item(const Summary& now, const Summary* before)
{
    const bool tokens = now.work() == WorkUnit::tokens;
    const Figure& all = figure_of(tokens ? "tokens_per_s" : "samples_per_s");
    HeadlineItem item = rate_item(
        figure_of(tokens ? "tokens_per_s_per_gpu" : "samples_per_s_per_gpu"), now, before);
    item.explanation = headline_text("%1 %2 on all devices")
                           .arg(text_of(all.text(all.number(now))), text_of(all.title));
    return item;
}

HeadlineItem mfu_item(const Summary& now, const Summary* before)
{
    HeadlineItem item = rate_item(figure_of("mfu"), now, before);
    item.explanation += headline_text(" in %1; HFU (with recomputation) %2")
                            .arg(text_of(to_name(now.peak_precision)), text_of(percent(now.hfu)));
    return item;
}

HeadlineItem memory_item(const Summary& now, const Summary* before)
{
    HeadlineItem item = item_of(figure_of("peak_memory_bytes"), now, before);
    const QString capacity = text_of(to_display(now.capacity));
    item.interval = now.fits ? headline_text("fits %1").arg(capacity)
                             : headline_text("does not fit %1").arg(capacity);
    item.impossible = !now.fits;
    return item;
}

HeadlineItem cost_item(const Summary& now, const Summary* before, const Price& price)
{
    const Figure& figure = figure_of("cost_per_day");
    const bool priced = price.per_device_hour > 0;
    HeadlineItem item = item_of(figure, now, priced ? before : nullptr);
    if (!priced) {
        item.value = QStringLiteral("–");
        item.interval = headline_text("no price given");
        item.explanation = headline_text("Set what a device costs in an hour (Run > Price).");
        return item;
    }
    const auto money = [&](double amount) {
        return QStringLiteral("%1 %2").arg(text_of(figure.text(amount)), price.currency);
    };
    item.value = money(price.per_device_hour * figure.number(now));
    if (now.work() != WorkUnit::tokens)
        return item;
    const Prediction& step = now.step_time;
    const double billion = price.per_device_hour * figure_of("cost_per_billion_tokens").number(now);
    const double low = billion * (step.low / step.value);
    const double high = billion * (step.high / step.value);
    item.interval = headline_text("%1 – %2 per 10⁹ tokens")
                        .arg(text_of(figure.text(low)), text_of(figure.text(high)));
    item.explanation =
        headline_text("%1 devices at %2 an hour; 10⁹ tokens cost %3 (%4 – %5)")
            .arg(now.gpus)
            .arg(money(price.per_device_hour), money(billion), money(low), money(high));
    return item;
}

} // namespace

std::vector<HeadlineItem> headline_of(const RunView& run, const RunView* baseline,
                                      const Price& price)
{
    const auto possible = [](const RunView& view) { return view.outcome && view.summary.fits; };
    if (baseline != nullptr && !(possible(run) && possible(*baseline)))
        baseline = nullptr;
    const Summary* const before = baseline != nullptr ? &baseline->summary : nullptr;
    const Summary& now = run.summary;
    return {step_item(now, before), throughput_item(now, before), mfu_item(now, before),
            memory_item(now, before), cost_item(now, before, price)};
}

} // namespace trainyard::gui
