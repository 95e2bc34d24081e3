#include "sim/report/traces/side_by_side_text.h"

#include "sim/report/figures.h"
#include "sim/report/kinds.h"
#include "sim/report/text/table.h"
#include "sim/report/traces/layer_sides_text.h"

#include <fmt/core.h>

#include <cmath>

namespace trainyard {
namespace {

constexpr double told = 0.01;         // of a rate's variance
constexpr double shown_share = 0.001; // of the longer step

std::string ops_text(double ops)
{
    return ops > 0 ? fmt::format("{:.0f}", ops) : std::string();
}

std::string transfers_text(double count, double bytes)
{
    if (count <= 0)
        return {};
    return fmt::format("{:.0f} x {}", count,
                       to_display(Bytes(static_cast<std::uint64_t>(std::llround(bytes / count)))));
}

ReportPart time_part(const SideBySide& sides)
{
    const Seconds least = shown_share * std::max(sides.recorded, sides.simulated);
    TextTable step({Align::left, Align::right, Align::right, Align::left});
    step.add({"beside the simulated step", "recorded", "simulated", ""});
    const auto add = [&](std::string_view title, Seconds recorded, Seconds simulated) {
        if (recorded > least || simulated > least)
            step.add({std::string(title), to_display(recorded), to_display(simulated),
                      ratio_text(recorded, simulated)});
    };
    add("step", sides.recorded, sides.simulated);
    for (std::size_t k = 0; k < time_kind_count; ++k)
        add(title_of(static_cast<TimeKind>(k)), sides.recorded_time[k], sides.simulated_time[k]);
    add("between queued kernels", sides.recorded_gaps, Seconds());
    add("idle, launches unknown", sides.recorded_untold, Seconds());
    return {std::move(step), {}};
}

ReportPart work_part(const SideBySide& sides)
{
    TextTable work(
        {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left});
    work.add({"kernels and transfers", "recorded", "", "simulated", "", ""});
    for (std::size_t w = 0; w < compared_work_count; ++w) {
        const WorkPair& pair = sides.work[w];
        if (pair.recorded.value() > 0 || pair.simulated.value() > 0)
            work.add({std::string(title_of(static_cast<ComparedWork>(w))),
                      ops_text(pair.recorded_ops), to_display(pair.recorded),
                      ops_text(pair.simulated_ops), to_display(pair.simulated),
                      ratio_text(pair.recorded, pair.simulated)});
    }
    for (const TransferPair& pair : sides.transfers)
        work.add({fmt::format("{}, {}", to_name(pair.collective), slice_title_of(pair.purpose)),
                  transfers_text(pair.recorded_count, pair.recorded_bytes),
                  to_display(pair.recorded),
                  transfers_text(pair.simulated_count, pair.simulated_bytes),
                  to_display(pair.simulated), ratio_text(pair.recorded, pair.simulated)});
    return {std::move(work),
            {fmt::format("Kernels that the host launches in a step: {:.0f} recorded, {:.0f} "
                         "simulated. Times of kernels are alone on the device in the simulation, "
                         "beside transfers in the recording.",
                         sides.recorded_launches, sides.simulated_launches)}};
}

// Curves and losses, a sentence each kind.
std::string constants_text(const TraceFit& fit, std::size_t width)
{
    std::string curves;
    for (const TracedCurve& curve : fit.curves)
        curves += fmt::format("{}{} among {}{}, {} {}", curves.empty() ? "" : "; ",
                              to_name(curve.collective), curve.ranks,
                              curve.domains > 1 ? fmt::format(" in {} domains", curve.domains) : "",
                              curve.sizes, curve.sizes == 1 ? "size" : "sizes");
    std::string out;
    if (!curves.empty())
        out += hung("  ", "Curves of collectives: " + curves + ".", width);
    for (const TracedLoss& loss : fit.losses)
        out += hung("  ",
                    fmt::format("{}: {:.3g}, {:.3g} to {:.3g} (before {:.3g}), by {} kernels "
                                "beside transfers.",
                                loss.constant, loss.after, loss.low, loss.high, loss.before,
                                loss.kernels),
                    width);
    for (const std::string& text : fit.left_out)
        out += hung("  ", "Left as it was: " + text + ".", width);
    return out;
}

} // namespace

std::vector<ReportPart> side_by_side_parts(const SideBySide& sides)
{
    std::vector<ReportPart> out{time_part(sides), work_part(sides)};
    for (ReportPart& part : stage_parts(sides.stages))
        out.push_back(std::move(part));
    return out;
}

std::string side_by_side_text(const SideBySide& sides, std::size_t width)
{
    std::string out;
    for (const ReportPart& part : side_by_side_parts(sides))
        if (!part.empty())
            out += (out.empty() ? "" : "\n") + part.text(width);
    return out;
}

Json to_json(const SideBySide& sides)
{
    Json time = Json::object();
    for (std::size_t k = 0; k < time_kind_count; ++k)
        time[to_name(static_cast<TimeKind>(k))] =
            Json::Object{{"recorded_seconds", sides.recorded_time[k].value()},
                         {"simulated_seconds", sides.simulated_time[k].value()}};
    Json work = Json::object();
    for (std::size_t w = 0; w < compared_work_count; ++w)
        work[key_of(static_cast<ComparedWork>(w))] =
            Json::Object{{"recorded_seconds", sides.work[w].recorded.value()},
                         {"simulated_seconds", sides.work[w].simulated.value()},
                         {"recorded_ops", sides.work[w].recorded_ops},
                         {"simulated_ops", sides.work[w].simulated_ops}};
    Json transfers = Json::array();
    for (const TransferPair& pair : sides.transfers)
        transfers.push_back(Json::Object{{"collective", to_name(pair.collective)},
                                         {"purpose", to_name(pair.purpose)},
                                         {"recorded_count", pair.recorded_count},
                                         {"simulated_count", pair.simulated_count},
                                         {"recorded_bytes", pair.recorded_bytes},
                                         {"simulated_bytes", pair.simulated_bytes},
                                         {"recorded_seconds", pair.recorded.value()},
                                         {"simulated_seconds", pair.simulated.value()}});
    return Json::Object{{"recorded_seconds", sides.recorded.value()},
                        {"simulated_seconds", sides.simulated.value()},
                        {"time", std::move(time)},
                        {"recorded_queued_gaps", sides.recorded_gaps.value()},
                        {"recorded_idle_launches_unknown", sides.recorded_untold.value()},
                        {"work", std::move(work)},
                        {"transfers", std::move(transfers)},
                        {"recorded_launches", sides.recorded_launches},
                        {"simulated_launches", sides.simulated_launches},
                        {"stages", to_json(sides.stages)}};
}

std::string trace_fit_text(const TraceFit& fit, std::size_t width)
{
    TextTable rates({Align::left, Align::right, Align::left});
    rates.add({"rate", "x", ""});
    for (std::size_t k = 0; k < own_rates().size(); ++k)
        if (fit.rates.learnt(k) >= told)
            rates.add({own_rates()[k].title, fmt::format("{:.3f}", std::exp(fit.rates.changes[k])),
                       fmt::format("+- {:.1f} %, +- {:.1f} % before", 100 * fit.rates.spread[k],
                                   100 * fit.rates.prior[k])});
    TextTable classes({Align::left, Align::right, Align::right, Align::right, Align::left});
    classes.add({"a rank and step", "recorded", "simulated", "with rates", ""});
    const auto add = [&](const std::string& title, Seconds recorded, Seconds before,
                         Seconds after) {
        classes.add({title, to_display(recorded), to_display(before), to_display(after),
                     ratio_text(recorded, after)});
    };
    for (const TracedClass& one : fit.classes)
        add(one.title, one.recorded, one.before, one.after);
    add("step", fit.recorded, fit.before, fit.after);
    std::string doubts;
    for (const std::string& doubt : fit.doubts)
        doubts += hung("  ", doubt, width);
    return rates.text_within(width) + "\n" + classes.text_within(width) + doubts +
           constants_text(fit, width) +
           hung("  ",
                "The host is left as it was: a profiler slows it, and with it the recorded step.",
                width);
}

Json to_json(const TraceFit& fit)
{
    Json rates = Json::array();
    for (std::size_t k = 0; k < own_rates().size(); ++k)
        if (fit.rates.learnt(k) >= told)
            rates.push_back(Json::Object{{"rate", own_rates()[k].name},
                                         {"factor", std::exp(fit.rates.changes[k])},
                                         {"spread", fit.rates.spread[k]},
                                         {"spread_before", fit.rates.prior[k]}});
    Json classes = Json::array();
    for (const TracedClass& one : fit.classes)
        classes.push_back(Json::Object{{"class", one.title},
                                       {"recorded_seconds", one.recorded.value()},
                                       {"before_seconds", one.before.value()},
                                       {"after_seconds", one.after.value()}});
    Json curves = Json::array();
    for (const TracedCurve& curve : fit.curves)
        curves.push_back(Json::Object{{"collective", to_name(curve.collective)},
                                      {"ranks", curve.ranks},
                                      {"domains", curve.domains},
                                      {"sizes", static_cast<std::int64_t>(curve.sizes)},
                                      {"bends_other", curve.bends_other}});
    Json losses = Json::array();
    for (const TracedLoss& loss : fit.losses)
        losses.push_back(Json::Object{{"constant", loss.constant},
                                      {"value", loss.after},
                                      {"low", loss.low},
                                      {"high", loss.high},
                                      {"before", loss.before},
                                      {"kernels", static_cast<std::int64_t>(loss.kernels)}});
    return Json::Object{{"rates", std::move(rates)},
                        {"curves", std::move(curves)},
                        {"losses", std::move(losses)},
                        {"left_out", fit.left_out},
                        {"doubts", fit.doubts},
                        {"classes", std::move(classes)},
                        {"recorded_kernels", fit.recorded_kernels},
                        {"simulated_kernels", fit.simulated_kernels},
                        {"recorded_seconds", fit.recorded.value()},
                        {"before_seconds", fit.before.value()},
                        {"after_seconds", fit.after.value()}};
}

} // namespace trainyard
