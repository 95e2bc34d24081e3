#include "sim/api/evaluation.h"

#include "sim/base/parallel.h"
#include "sim/report/summary.h"
#include "sim/report/text/describe.h"
#include "sim/study/session.h"

#include <atomic>
#include <mutex>

namespace trainyard {
namespace {

Evaluated whole_evaluation(const ScenarioFile& file, Session& session,
                           const EvaluationOptions& options)
{
    options.work.check();
    Evaluated out;
    SimulateRequest request;
    request.work.cancel = options.work.cancel;
    request.unfit = options.unfit;
    request.weighed = [&](const MemoryEstimate& memory) {
        out.peak_memory = memory.peak();
        out.capacity = memory.capacity;
        out.fits = memory.fits();
    };
    const bool open = !file.scenario.run.fidelity;
    const Checked<Outcome> outcome =
        session.simulate(open ? in_fidelity(file, Fidelity::alpha_beta) : file, request);
    if (!outcome) {
        out.problems = outcome.error();
        return out;
    }
    static_cast<StepFigures&>(out) = run_figures(*outcome);
    out.fidelity = outcome->engine.network.fidelity;
    out.input_hash = outcome->input_hash;
    out.warnings = outcome->warnings;
    return out;
}

Evaluated evaluate_one(const ScenarioFile& file, Session& session, const EvaluationOptions& options)
{
    try {
        return whole_evaluation(file, session, options);
    } catch (const Cancelled&) {
        Evaluated out;
        out.cut_short = true;
        return out;
    }
}

} // namespace

std::vector<Evaluated> evaluate_scenarios(std::span<const ScenarioFile> files, Session& session,
                                          const EvaluationOptions& options)
{
    std::vector<Evaluated> out(files.size());
    std::mutex mutex;
    std::size_t done = 0;
    for_each_index(files.size(), options.threads > 0 ? options.threads : usable_threads(),
                   [&](std::size_t i) {
                       out[i] = evaluate_one(files[i], session, options);
                       if (out[i].cut_short)
                           return;
                       const std::lock_guard lock(mutex);
                       options.work.report("evaluate", static_cast<double>(++done),
                                           static_cast<double>(files.size()));
                   });
    return out;
}

Json to_json(const Evaluated& evaluated)
{
    Json out = Json::object();
    out["feasible"] = evaluated.feasible();
    if (evaluated.feasible()) {
        out["hash"] = hash_text(evaluated.input_hash);
        out["fidelity"] = to_name(evaluated.fidelity);
        for (const Figure* figure : figures_in(in_json))
            out[figure->key] = figure->value(evaluated);
        return out;
    }
    if (evaluated.capacity.value() > 0) {
        out["peak_memory_bytes"] = evaluated.peak_memory.value();
        out["memory_capacity_bytes"] = evaluated.capacity.value();
    }
    return out;
}

} // namespace trainyard
