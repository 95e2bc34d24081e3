#include "sim/study/sensitivity/advice.h"

#include "sim/base/parallel.h"
#include "sim/study/inputs.h"
#include "sim/study/run_setup.h"
#include "sim/study/session.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr std::size_t shown = 3;
constexpr double worth_telling = 0.005;

// Ops of the whole run, each role of the program once where ranks fold (they are simulated once
// then, unless folding is switched off), else each rank.
double simulated_ops(const Outcome& outcome)
{
    const bool each_rank = outcome.engine.network.fidelity == Fidelity::chunk;
    const Program& program = outcome.plan->program;
    std::vector<double> ranks(program.roles.size(), each_rank ? 0.0 : 1.0);
    if (each_rank)
        for (const Lane& lane : outcome.binding->lanes)
            ranks[lane.role.value] += lane.multiplicity;
    double ops = 0;
    for (std::size_t r = 0; r < program.roles.size(); ++r)
        ops += ranks[r] * static_cast<double>(op_count(program, program.roles[r]));
    return ops * steps_of(outcome.scenario);
}

// Candidates that are quick to simulate beside the job itself, and a few of a longer job: by the
// operations that the job has, since neither a clock nor the way it is run may change the advice.
// Shared links make an operation dearer.
int usual_tries(const Outcome& outcome)
{
    constexpr double quick_operations = 1.2e6;
    constexpr double most_operations = 1e7;
    constexpr double few = 4;
    constexpr double dearer_with_links = 20;
    const bool links = shares_links(outcome.engine.network.fidelity);
    const double each = std::max(1.0, simulated_ops(outcome)) * (links ? dearer_with_links : 1);
    const double quick = std::min(std::floor(quick_operations / each), 8.0);
    return static_cast<int>(std::max(quick, std::min(std::floor(most_operations / each), few)));
}

struct Trial {
    Candidate candidate;
    ScenarioFile file;
    std::optional<Seconds> step; // when it runs and fits
};

// The loss that a bottleneck is about.
BottleneckClass loss_of(BottleneckClass kind)
{
    return kind == BottleneckClass::network ? BottleneckClass::communication : kind;
}

bool is_possible(const ScenarioFile& file, Session& session)
{
    if (has_errors(session.check_job(file)))
        return false;
    const Checked<MemoryEstimate> memory = session.memory(file);
    return memory && memory->fits();
}

// How many trials, and the loss that one of them should go for.
struct Wanted {
    std::size_t most = 0;
    BottleneckClass loss = BottleneckClass::compute;
};

// The first candidates that agree with all other settings and fit. Before all others one against
// the bottleneck, so that what the report advises in words is tried.
std::vector<Trial> possible_trials(const Outcome& outcome, const ScenarioFile& file,
                                   Session& session, const Wanted& wanted, int& left_out)
{
    std::vector<Candidate> candidates = candidates_for(outcome);
    std::vector<Trial> trials;
    // Whether it was possible; takes the candidate out either way.
    const auto take = [&](std::vector<Candidate>::iterator at) {
        Checked<ScenarioFile> changed = scenario_from(file.json, file.file, at->set);
        const bool possible = changed && is_possible(*changed, session);
        if (possible)
            trials.push_back({std::move(*at), std::move(*changed), std::nullopt});
        candidates.erase(at);
        return possible;
    };
    const auto next_answer = [&] {
        return std::ranges::find(candidates, wanted.loss, &Candidate::against);
    };
    for (auto at = next_answer(); wanted.most > 0 && at != candidates.end(); at = next_answer())
        if (take(at))
            break;
    while (trials.size() < wanted.most && !candidates.empty())
        take(candidates.begin());
    left_out = static_cast<int>(candidates.size());
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
    const BottleneckClass loss = loss_of(options.bottleneck);
    std::vector<Trial> trials = possible_trials(
        outcome, file, session, {static_cast<std::size_t>(most), loss}, report.left_out);
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
    const auto gain_of = [&](const Trial& trial) {
        return fits && base.value() > 0 ? 1 - *trial.step / base : 0;
    };
    const auto advice_of = [&](const Trial& trial) {
        return Advice{trial.candidate.set, *trial.step, gain_of(trial), trial.candidate.note};
    };
    const auto answer =
        std::ranges::find(trials, loss, [](const Trial& trial) { return trial.candidate.against; });
    if (answer != trials.end())
        report.answer = advice_of(*answer);
    for (const Trial& trial : trials) {
        const double gain = gain_of(trial);
        if (report.best.size() == shown || (fits && gain < worth_telling))
            break;
        // Settings with the same effect say the same: the most promising of them speaks.
        if (std::ranges::find(report.best, *trial.step, &Advice::step_time) != report.best.end())
            continue;
        // Sure that it fits, every stage looked at.
        if (step_of(trial.file, session, AllocatorView::every_stage, options.work.cancel))
            report.best.push_back(advice_of(trial));
    }
    return report;
}

} // namespace trainyard
