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

QString money(double amount, const Price& price)
{
    return QStringLiteral("%1 %2").arg(text_of(count_text(amount)), price.currency);
}

// A rate follows from the step time: its interval is the step's, turned round.
struct StepRate {
    double value = 0;
    double before = 0;
    QString (*text)(double) = nullptr;
};

HeadlineItem rate_item(const QString& name, const StepRate& rate, const Prediction& step)
{
    HeadlineItem item;
    item.name = name;
    item.value = rate.text(rate.value);
    item.interval = interval_text(rate.text(rate.value * (step.value / step.high)),
                                  rate.text(rate.value * (step.value / step.low)));
    tell_change(item, rate.value, rate.before, Better::higher);
    return item;
}

HeadlineItem step_item(const Prediction& step, const Summary* before)
{
    HeadlineItem item;
    item.name = headline_text("Step time");
    item.value = text_of(to_display(step.value));
    item.interval = interval_text(text_of(to_display(step.low)), text_of(to_display(step.high)));
    item.explanation = headline_text("of one optimizer step; %1. Constants: %2.")
                           .arg(text_of(step.basis), text_of(std::string(to_name(step.grade))));
    if (before != nullptr)
        tell_change(item, step.value.value(), before->step_time.value.value(), Better::lower);
    return item;
}

HeadlineItem throughput_item(const Summary& now, const Summary* before)
{
    const auto text = [](double rate) { return text_of(count_text(rate)); };
    const bool tokens = now.tokens_per_s > 0;
    const StepRate rate{tokens ? now.tokens_per_s_per_gpu() : now.samples_per_s_per_gpu(),
                        before == nullptr ? 0
                        : tokens          ? before->tokens_per_s_per_gpu()
                                          : before->samples_per_s_per_gpu(),
                        text};
    HeadlineItem item = rate_item(tokens ? headline_text("Tokens/s per device")
                                         : headline_text("Samples/s per device"),
                                  rate, now.step_time);
    item.explanation = headline_text("%1 %2 on all devices")
                           .arg(text(tokens ? now.tokens_per_s : now.samples_per_s),
                                tokens ? headline_text("tokens/s") : headline_text("samples/s"));
    return item;
}

HeadlineItem mfu_item(const Summary& now, const Summary* before)
{
    const auto text = [](double share) { return text_of(percent(share)); };
    HeadlineItem item = rate_item(
        headline_text("MFU"), {now.mfu, before == nullptr ? 0 : before->mfu, text}, now.step_time);
    item.explanation =
        headline_text("model FLOPs over the devices' dense peak in %1; HFU (with recomputation) %2")
            .arg(text_of(std::string(to_name(now.peak_precision))), text(now.hfu));
    return item;
}

HeadlineItem memory_item(const Summary& now, const Summary* before)
{
    HeadlineItem item;
    item.name = headline_text("Peak memory");
    item.value = text_of(to_display(now.peak_memory));
    item.interval = now.fits
                        ? headline_text("fits %1").arg(text_of(to_display(now.capacity)))
                        : headline_text("does not fit %1").arg(text_of(to_display(now.capacity)));
    item.impossible = !now.fits;
    item.explanation = headline_text("of the fullest device, allocator included");
    if (before != nullptr)
        tell_change(item, static_cast<double>(now.peak_memory.value()),
                    static_cast<double>(before->peak_memory.value()), Better::lower);
    return item;
}

HeadlineItem cost_item(const RunView& run, const RunView* baseline, const Price& price)
{
    HeadlineItem item;
    item.name = headline_text("Cost per day");
    if (price.per_device_hour <= 0) {
        item.value = QStringLiteral("–");
        item.interval = headline_text("no price given");
        item.explanation = headline_text("Set what a device costs in an hour (Run > Price).");
        return item;
    }
    const auto per_day = [&](const RunView& view) {
        return view.outcome->engine.ranks * 24 * price.per_device_hour;
    };
    item.value = money(per_day(run), price);
    if (baseline != nullptr)
        tell_change(item, per_day(run), per_day(*baseline), Better::lower);
    const double tokens_per_day = run.summary.tokens_per_s * 86'400;
    if (tokens_per_day > 0) {
        const Prediction& step = run.summary.step_time;
        const double billion = 1e9 * per_day(run) / tokens_per_day;
        const double low = billion * (step.low / step.value);
        const double high = billion * (step.high / step.value);
        item.interval = headline_text("%1 – %2 per 10⁹ tokens")
                            .arg(text_of(count_text(low)), text_of(count_text(high)));
        item.explanation = headline_text("%1 devices at %2 an hour; 10⁹ tokens cost %3 (%4 – %5)")
                               .arg(run.outcome->engine.ranks)
                               .arg(money(price.per_device_hour, price), money(billion, price),
                                    money(low, price), money(high, price));
    }
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
    return {step_item(run.summary.step_time, before), throughput_item(run.summary, before),
            mfu_item(run.summary, before), memory_item(run.summary, before),
            cost_item(run, baseline, price)};
}

} // namespace trainyard::gui
