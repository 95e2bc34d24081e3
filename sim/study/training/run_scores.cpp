#include "sim/study/training/run_scores.h"

#include "sim/study/record_machine.h"
#include "sim/study/session.h"
#include "sim/study/training/unstated_settings.h"
#include "sim/study/training/whole_training.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

// Llama 3 405B: one failure in 50,677 GPU hours (FailureModel).
constexpr Seconds usual_mtbf{50'000 * 3600.0};

// A step with another time would be scored against nothing: any above zero does.
constexpr double unstated_step = 1;

WholeTrainingRequest request_of(const PublishedRun& run, Seconds step)
{
    const MeasuredRecord& record = run.record;
    WholeTrainingRequest request;
    request.tokens = run.tokens;
    request.batch_tokens = run.batch_tokens();
    request.step_time = step;
    request.gpus = record.gpus.value_or(1);
    if (const KnownDevice* const known = device_of(record))
        request.gpus_per_node = std::max(1, known->device.usual_node.gpus);
    request.parameters = run.parameters;
    request.failures.mtbf_per_gpu = usual_mtbf;
    return request;
}

bool is_whole(const PublishedRun& run)
{
    return run.tokens > 0 && run.batch_tokens() > 0 && run.record.gpus.value_or(0) > 0;
}

// Steps of the stated time where there is one, so that errors of the step stay out of the goodput;
// the wall time has both.
void predict_whole(const PublishedRun& run, RunScore& score)
{
    if (!is_whole(run))
        return;
    const auto predicted = [&](double step) {
        return whole_training(request_of(run, Seconds(step)));
    };
    if (const auto basis = run.step ? std::optional(run.step->value) : score.step.predicted)
        if (const auto whole = predicted(*basis))
            score.goodput.predicted = whole->goodput();
    if (score.step.predicted)
        if (const auto whole = predicted(*score.step.predicted))
            score.wall.predicted = whole->time.mean().value();
}

RunScore score_of(const PublishedRun& run, const RecordVerdict& verdict)
{
    RunScore score;
    score.id = run.record.id;
    score.skipped = verdict.skipped;
    score.step.stated = run.step;
    score.goodput.stated = run.goodput;
    score.wall.stated = run.wall;
    if (verdict.predicted)
        score.step.predicted = verdict.predicted->value.value();
    score.assumptions = run.assumptions;
    score.assumptions.insert(score.assumptions.end(), verdict.assumptions.begin(),
                             verdict.assumptions.end());
    if (run.record.quality != "C")
        predict_whole(run, score);
    return score;
}

ErrorOfFigure errors_of(const std::vector<RunScore>& runs, ScoredFigure RunScore::*figure)
{
    ErrorOfFigure out;
    std::vector<double> sizes;
    for (const RunScore& run : runs)
        if ((run.*figure).scored()) {
            sizes.push_back(std::abs((run.*figure).error()));
            out.bias += (run.*figure).error();
        }
    out.scored = sizes.size();
    if (sizes.empty())
        return out;
    const double count = static_cast<double>(sizes.size());
    out.bias /= count;
    for (const double size : sizes)
        out.mean += size / count;
    std::sort(sizes.begin(), sizes.end());
    out.median = (sizes[(sizes.size() - 1) / 2] + sizes[sizes.size() / 2]) / 2;
    return out;
}

} // namespace

RunScores score_runs(std::vector<PublishedRunFile> files, const ValidateOptions& options)
{
    std::vector<RecordFile> records;
    Session session;
    for (PublishedRunFile& file : files) {
        RecordFile& out = records.emplace_back();
        out.file = file.file;
        out.unreadable = file.unreadable;
        for (PublishedRun& run : file.runs) {
            if (run.record.id.find(options.only) == std::string::npos)
                continue;
            options.work.check();
            fill_unstated(run, session, options);
            out.records.push_back(run.record);
            if (!run.step)
                out.records.back().step_time = unstated_step;
        }
    }
    RunScores out;
    std::map<std::string, const PublishedRun*> runs;
    for (const PublishedRunFile& file : files)
        for (const PublishedRun& run : file.runs)
            runs[run.record.id] = &run;
    for (const RecordVerdict& verdict : validate(records, options).records) {
        const auto found = runs.find(verdict.id);
        if (found != runs.end() && verdict.skipped.rfind("unreadable", 0) != 0) {
            out.runs.push_back(score_of(*found->second, verdict));
            continue;
        }
        RunScore unreadable;
        unreadable.id = verdict.id;
        unreadable.skipped = verdict.skipped;
        out.runs.push_back(std::move(unreadable));
    }
    out.step = errors_of(out.runs, &RunScore::step);
    out.goodput = errors_of(out.runs, &RunScore::goodput);
    out.wall = errors_of(out.runs, &RunScore::wall);
    return out;
}

} // namespace trainyard
