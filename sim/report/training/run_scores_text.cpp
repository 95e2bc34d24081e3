#include "sim/report/training/run_scores_text.h"

#include "sim/report/text/table.h"
#include "sim/report/training/training_text.h"

#include <fmt/core.h>

#include <functional>

namespace trainyard {

namespace {

using FigureText = std::function<std::string(double)>;

std::string seconds(double value)
{
    return wall_text(Seconds(value));
}

std::string share(double value)
{
    return fmt::format("{:.1f} %", 100 * value);
}

void add_figure(std::vector<std::string>& cells, const ScoredFigure& figure, const FigureText& text)
{
    cells.push_back(figure.stated ? text(figure.stated->value) : "");
    cells.push_back(figure.predicted ? text(*figure.predicted) : "");
    cells.push_back(figure.scored() ? fmt::format("{:+.1f} %", 100 * figure.error()) : "");
}

bool has_score(const RunScore& run)
{
    return run.step.scored() || run.goodput.scored() || run.wall.scored();
}

std::string score_table(const RunScores& scores)
{
    std::vector<Align> aligns(10, Align::right);
    aligns.front() = Align::left;
    TextTable table(aligns);
    table.add({"training", "step", "predicted", "error", "goodput", "predicted", "error", "wall",
               "predicted", "error"});
    for (const RunScore& run : scores.runs) {
        if (!has_score(run))
            continue;
        std::vector<std::string> cells{run.id};
        add_figure(cells, run.step, seconds);
        add_figure(cells, run.goodput, share);
        add_figure(cells, run.wall, seconds);
        table.add(std::move(cells));
    }
    return table.text(0);
}

std::string notes_of(const RunScores& scores)
{
    std::string out;
    for (const RunScore& run : scores.runs) {
        if (!has_score(run))
            continue;
        out += run.id + "\n";
        for (const auto& [name, figure] :
             {std::pair{"step", &run.step}, {"goodput", &run.goodput}, {"wall time", &run.wall}})
            if (figure->stated)
                out += hung("    ", fmt::format("{}: {}", name, figure->stated->basis), 100);
        for (const std::string& assumption : run.assumptions)
            out += hung("    ", assumption, 100);
        if (!run.skipped.empty())
            out += hung("    ", "step not predicted: " + run.skipped, 100);
    }
    for (const RunScore& run : scores.runs)
        if (!has_score(run))
            out += fmt::format("{}: not scored: {}\n", run.id,
                               run.skipped.empty() ? "nothing to compare" : run.skipped);
    return out;
}

Json figure_json(const ScoredFigure& figure)
{
    Json out = Json::object();
    out["stated"] = figure.stated ? Json(figure.stated->value) : Json();
    out["basis"] = figure.stated ? Json(figure.stated->basis) : Json();
    out["predicted"] = figure.predicted ? Json(*figure.predicted) : Json();
    out["error"] = figure.scored() ? Json(figure.error()) : Json();
    return out;
}

Json errors_json(const ErrorOfFigure& errors)
{
    Json out = Json::object();
    out["scored"] = static_cast<std::uint64_t>(errors.scored);
    if (errors.scored == 0)
        return out;
    out["median_ape"] = errors.median;
    out["mape"] = errors.mean;
    out["bias"] = errors.bias;
    return out;
}

} // namespace

std::string run_scores_text(const RunScores& scores, ScoreDetail detail)
{
    std::string out;
    if (detail == ScoreDetail::runs)
        out += score_table(scores) + "\n" + notes_of(scores) + "\n";
    TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right});
    table.add({"error of", "scored", "median", "mean", "bias"});
    for (const auto& [name, errors] : {std::pair{"step time", &scores.step},
                                       {"goodput", &scores.goodput},
                                       {"wall time", &scores.wall}})
        table.add({name, fmt::format("{}", errors->scored), share(errors->median),
                   share(errors->mean), fmt::format("{:+.1f} %", 100 * errors->bias)});
    return out + table.text(0);
}

Json to_json(const RunScores& scores)
{
    Json out = Json::object();
    out["step_time"] = errors_json(scores.step);
    out["goodput"] = errors_json(scores.goodput);
    out["wall_time"] = errors_json(scores.wall);
    out["runs"] = Json::array();
    for (const RunScore& run : scores.runs) {
        Json one = Json::object();
        one["id"] = run.id;
        one["step_s"] = figure_json(run.step);
        one["goodput"] = figure_json(run.goodput);
        one["wall_s"] = figure_json(run.wall);
        one["skipped"] = run.skipped.empty() ? Json() : Json(run.skipped);
        one["assumptions"] = run.assumptions;
        out["runs"].push_back(std::move(one));
    }
    return out;
}

} // namespace trainyard
