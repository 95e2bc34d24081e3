#include "sim/base/json.h"
#include "sim/study/own_steps/own_steps_scores.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

std::string rows_text(const std::vector<OwnStepsScore>& scores)
{
    std::string out = fmt::format("    {:<56} {:>7} {:>6} {:>9} {:>8} {:>9} {:>9}\n", "", "records",
                                  "fits", "as stated", "fitted", "inside 90", "high/low");
    for (const OwnStepsScore& score : scores)
        out += fmt::format("    {:<56} {:>7} {:>6} {:>8.1f}% {:>7.1f}% {:>8.0f}% {:>9.2f}\n",
                           score.name, score.records, score.fits, 100 * score.as_stated,
                           100 * score.fitted, 100 * score.covered, score.high_over_low);
    return out;
}

Json rows_json(const std::vector<OwnStepsScore>& scores)
{
    Json out = Json::array();
    for (const OwnStepsScore& score : scores) {
        Json row = Json::object();
        row["name"] = score.name;
        row["records"] = score.records;
        row["fits"] = score.fits;
        row["as_stated"] = score.as_stated;
        row["fitted"] = score.fitted;
        row["covered"] = score.covered;
        row["high_over_low"] = score.high_over_low;
        out.push_back(std::move(row));
    }
    return out;
}

} // namespace

std::string own_steps_scores_text(const OwnStepsScores& scores)
{
    std::string out = fmt::format(
        "Every {} in turn as the only own step{}: mean |error| of the "
        "others of its source and machine\n",
        scores.own_steps == 1 ? std::string("record") : fmt::format("{} records", scores.own_steps),
        scores.own_steps == 1 ? "" : "s");
    out += rows_text(scores.machines);
    if (!scores.alike.empty())
        out += "Of like jobs alone (one model, recipe and kind of layout, within 4 times in "
               "devices and length)\n" +
               rows_text(scores.alike);
    if (!scores.skipped.empty())
        out += fmt::format("    {} records could not be simulated\n", scores.skipped.size());
    return out;
}

Json to_json(const OwnStepsScores& scores)
{
    Json out = Json::object();
    out["own_steps"] = scores.own_steps;
    out["machines"] = rows_json(scores.machines);
    out["alike"] = rows_json(scores.alike);
    out["skipped"] = scores.skipped;
    return out;
}

} // namespace trainyard
