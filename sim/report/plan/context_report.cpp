#include "sim/report/plan/context_report.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

std::string verdict(const ContextLength& length)
{
    if (length.meets)
        return std::string(fit_cell(length.fit.value_or(MemoryFit::fits)));
    if (length.fits)
        return "too late";
    return length.searched ? "no: the allocator needs too much" : "no: needs too much by its bound";
}

std::string tokens_text(std::int64_t tokens)
{
    return fmt::format("{} tokens", grouped(static_cast<std::uint64_t>(tokens)));
}

std::string beyond_text(const LongestContext& found)
{
    const ContextLength* const next = found.first_beyond();
    if (found.interrupted)
        return "Interrupted: longer ones may do, too.";
    if (next == nullptr)
        return fmt::format("No longer one was looked at: {} are the most.",
                           tokens_text(found.most));
    if (next->fits)
        return fmt::format("{} fit, but are not trained in time.", tokens_text(next->tokens));
    if (next->possible > 0)
        return fmt::format("Of {} no layout fits: each of the {} that may have room was simulated.",
                           tokens_text(next->tokens), next->possible);
    return next->nearest ? fmt::format("Of {} no layout fits: the nearest needs at least {} of the "
                                       "{} of a device.",
                                       tokens_text(next->tokens), to_display(next->nearest->memory),
                                       to_display(found.capacity))
                         : fmt::format("Of {} no layout can be.", tokens_text(next->tokens));
}

} // namespace

std::string context_proof(const LongestContext& found)
{
    return beyond_text(found) +
           fmt::format(" Lengths are looked at in steps of {}.", tokens_text(found.step));
}

TableCells context_table(const LongestContext& found)
{
    TableCells table{{"tokens", "layouts with room", "best step", "does"}, {}};
    for (const ContextLength& length : found.lengths)
        if (length.is_decided())
            table.rows.push_back(
                {fmt::format("{}", length.tokens), fmt::format("{}", length.possible),
                 length.step_time ? to_display(*length.step_time) : "", verdict(length)});
    return table;
}

std::string context_text(const LongestContext& found, const Paint& paint, std::size_t width)
{
    std::string out =
        found.answer ? paint.bold(fmt::format("Longest context: {} tokens", found.longest())) +
                           fmt::format(", --set training.sequence_length={}\n", found.longest())
                     : std::string("No length of a sequence does.\n");
    for (const std::string& line : wrapped(context_proof(found), width))
        out += line + "\n";
    const TableCells cells = context_table(found);
    return out + "\n" + text_within(cells, words_last(cells), paint, width);
}

Json to_json(const LongestContext& found)
{
    Json lengths = Json::array();
    for (const ContextLength& length : found.lengths) {
        Json row = Json::Object{{"tokens", Json(length.tokens)},
                                {"layouts_with_room", Json(length.possible)},
                                {"searched", Json(length.searched)},
                                {"fits", length.is_decided() ? Json(length.fits) : Json()},
                                {"meets", length.is_decided() ? Json(length.meets) : Json()}};
        if (length.nearest)
            row["least_memory_too_large"] = Json(length.nearest->memory.value());
        if (length.fit)
            row["memory_fit"] = Json(to_name(*length.fit));
        if (length.step_time)
            row["step_time"] = Json(length.step_time->value());
        if (length.training_time)
            row["training_time"] = Json(length.training_time->value());
        lengths.push_back(std::move(row));
    }
    return Json::Object{{"longest", Json(found.longest())},
                        {"step", Json(found.step)},
                        {"most", Json(found.most)},
                        {"interrupted", Json(found.interrupted)},
                        {"lengths", std::move(lengths)}};
}

} // namespace trainyard
