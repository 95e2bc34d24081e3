#include "sim/api/validation.h"

#include "sim/base/input_limits.h"
#include "sim/study/problems.h"

namespace trainyard {
namespace {

template <class File>
void take_measured(Checked<File> file, std::vector<File>& to, Problems& problems)
{
    if (file)
        to.push_back(std::move(*file));
    else
        append(problems, file.error());
}

} // namespace

Checked<MeasuredInput> read_measured(std::span<const std::string> files)
{
    MeasuredInput input;
    Problems problems;
    for (const std::string& path : files) {
        const Checked<Json> json = read_json_file(path, record_limits);
        if (!json)
            append(problems, json.error());
        else if (holds_published_runs(*json))
            take_measured(published_runs_from(*json, path), input.trainings, problems);
        else
            take_measured(records_from(*json, path), input.steps, problems);
    }
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return input;
}

bool Validation::scored() const
{
    return (steps && steps->all.scored > 0) ||
           (trainings &&
            trainings->step.scored + trainings->goodput.scored + trainings->wall.scored > 0);
}

Validation validate_measured(const MeasuredInput& input, const ValidateOptions& options)
{
    Validation out;
    if (!input.steps.empty()) {
        out.steps = validate(input.steps, options);
        out.doubtful = contradictions(input.steps, out.steps->records);
    }
    if (!input.trainings.empty())
        out.trainings = score_runs(input.trainings, options);
    return out;
}

Json to_json(const Validation& validation)
{
    Json out = Json::object();
    if (validation.steps) {
        out = to_json(*validation.steps);
        out["contradictions"] = to_json(validation.doubtful);
    }
    if (validation.trainings)
        out["trainings"] = to_json(*validation.trainings);
    return out;
}

std::string report_text(const Validation& validation, ScoreDetail detail)
{
    std::string out;
    if (validation.steps)
        out = (detail == ScoreDetail::summary ? "" : records_text(*validation.steps) + "\n") +
              summary_text(*validation.steps) + contradictions_text(validation.doubtful);
    if (validation.trainings)
        out += (out.empty() ? "" : "\n") + run_scores_text(*validation.trainings, detail);
    return out;
}

} // namespace trainyard
