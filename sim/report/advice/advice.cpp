#include "sim/report/advice/advice.h"

#include "sim/base/parallel.h"
#include "sim/study/inputs.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr std::size_t shown = 3;
constexpr double worth_telling = 0.005;

// Candidates that are quick to simulate beside the job itself: by operations, since a clock would
// make advice depend on the machine. Shared links make an operation dearer.
int usual_tries(const Outcome& outcome)
{
    constexpr double quick_operations = 1.2e6;
    constexpr double dearer_with_links = 20;
    const bool links = outcome.scenario.run.fidelity != Fidelity::alpha_beta;
    const double each = static_cast<double>(std::max<std::uint64_t>(1, outcome.engine.ops)) *
                        (links ? dearer_with_links : 1);
    return static_cast<int>(std::clamp(std::floor(quick_operations / each), 0.0, 8.0));
}

struct Trial {
    Candidate candidate;
    ScenarioFile file;
    std::optional<Seconds> step; // when it runs and fits
};

// The first candidates that agree with all other settings.
std::vector<Trial> legal_trials(const Outcome& outcome, const ScenarioFile& file, Session& session,
                                std::size_t most, int& left_out)
{
    std::vector<Trial> trials;
    for (Candidate& candidate : candidates_for(outcome)) {
        if (trials.size() == most) {
            ++left_out;
            continue;
        }
        Checked<ScenarioFile> changed = scenario_from(file.json, file.file, candidate.set);
        if (changed && !has_errors(session.check_job(*changed)))
            trials.push_back({std::move(candidate), std::move(*changed), std::nullopt});
    }
    return trials;
}

std::optional<Seconds> step_of(const ScenarioFile& file, Session& session, AllocatorView view,
                               const CancelFlag* cancel)
{
    const Checked<Outcome> outcome = session.simulate(
        file, {.record = {}, .work = {cancel, {}}, .unfit = Unfit::refuse, .memory = view});
    return outcome ? std::optional(to_seconds(outcome->result->step_time)) : std::nullopt;
}

} // namespace

AdviceReport advise(const Outcome& outcome, const ScenarioFile& file, Session& session,
                    const AdviceOptions& options)
{
    AdviceReport report;
    const int most = options.most.value_or(usual_tries(outcome));
    if (options.most == 0)
        return report;
    std::vector<Trial> trials =
        legal_trials(outcome, file, session, static_cast<std::size_t>(most), report.left_out);
    report.tried = static_cast<int>(trials.size());
    const int threads = options.threads > 0 ? options.threads : usable_threads();
    for_each_index(trials.size(), threads, [&](std::size_t i) {
        options.work.check();
        trials[i].step =
            step_of(trials[i].file, session, AllocatorView::fullest_stage, options.work.cancel);
    });
    std::erase_if(trials, [](const Trial& trial) { return !trial.step; });
    std::ranges::stable_sort(trials, std::ranges::less{}, [](const Trial& t) { return *t.step; });
    const Seconds base = to_seconds(outcome.result->step_time);
    const bool fits = outcome.memory.fits();
    for (const Trial& trial : trials) {
        const double gain = fits && base.value() > 0 ? 1 - *trial.step / base : 0;
        if (report.best.size() == shown || (fits && gain < worth_telling))
            break;
        // Settings with the same effect say the same: the most promising of them speaks.
        if (std::ranges::find(report.best, *trial.step, &Advice::step_time) != report.best.end())
            continue;
        // Sure that it fits, every stage looked at.
        if (step_of(trial.file, session, AllocatorView::every_stage, options.work.cancel))
            report.best.push_back({trial.candidate.set, *trial.step, gain, trial.candidate.note});
    }
    return report;
}

} // namespace trainyard
