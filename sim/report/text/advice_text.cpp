#include "sim/report/text/advice_text.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/text/paste.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

namespace trainyard {
std::string tried_text(const AdviceReport& advice)
{
    std::string out = fmt::format("{} setting{} tried", advice.tried, advice.tried == 1 ? "" : "s");
    if (advice.left_out > 0)
        out += fmt::format(", {} left out (--advice {} tries all)", advice.left_out,
                           advice.tried + advice.left_out);
    return out;
}

std::string gain_text(double gain)
{
    return fmt::format("{:.1f} %", without_zeros_sign(100 * gain));
}

std::string advice_text(const AdviceReport& advice, bool fits, const Paint& paint,
                        std::size_t width)
{
    if (advice.tried + advice.left_out == 0)
        return "";
    if (advice.tried == 0)
        return paint.bold("What would help most") + "\n" +
               hung("  ",
                    fmt::format("{} settings could be tried, each as long a simulation as this one "
                                "(--advice {})",
                                advice.left_out, advice.left_out),
                    width);
    std::string out = hung("",
                           paint.bold(fits ? "What would help most" : "What would make it fit") +
                               paint.dim(fmt::format(" ({})", tried_text(advice))),
                           width);
    if (advice.best.empty())
        return out + (fits ? "  none of them saves half a per cent\n" : "  none of them\n");
    TextTable table({Align::left, Align::left, Align::left});
    for (const Advice& row : advice.best)
        table.add(
            {paint.bold(paste_text(row.set)),
             fits ? fmt::format("saves {} ({})", gain_text(row.gain), to_display(row.step_time))
                  : fmt::format("fits, {}", to_display(row.step_time)),
             paint.dim(row.note)});
    return out + table.text_within(width);
}

std::string what_if_text(std::span<const WhatIf> rows, const Paint& paint, std::size_t width)
{
    if (rows.empty())
        return "";
    TextTable table({Align::left, Align::left, Align::right, Align::right});
    table.add({paint.dim("resource"), paint.dim("if"), paint.dim("saves"), paint.dim("step time")});
    for (const WhatIf& row : rows)
        table.add({row.resource, row.change, gain_text(row.gain), to_display(row.step_time)});
    return paint.bold("What if") + paint.dim(" (each by itself, simulated again)") + "\n" +
           table.text_within(width);
}

Json to_json(const AdviceReport& advice)
{
    Json best = Json::array();
    for (const Advice& row : advice.best) {
        Json set = Json::object();
        for (const Override& change : row.set)
            set[change.field] = json_value(change.value);
        Json::Object out{
            {"set", std::move(set)}, {"step_time_s", row.step_time.value()}, {"gain", row.gain}};
        if (!row.note.empty())
            out.emplace_back("note", row.note);
        best.push_back(std::move(out));
    }
    return Json::Object{
        {"best", std::move(best)}, {"tried", advice.tried}, {"left_out", advice.left_out}};
}

Json to_json(std::span<const WhatIf> rows)
{
    Json out = Json::array();
    for (const WhatIf& row : rows)
        out.push_back(Json::Object{{"resource", row.resource},
                                   {"change", row.change},
                                   {"step_time_s", row.step_time.value()},
                                   {"gain", row.gain}});
    return out;
}

} // namespace trainyard
