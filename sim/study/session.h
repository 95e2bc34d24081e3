#pragma once

// From a scenario to a prediction. Stages are memoised by the hash of their inputs, so that a
// changed field redoes only what depends on it.

#include "sim/study/outcome.h"
#include "sim/study/samples.h"
#include "sim/study/stuck.h"

#include <functional>

namespace trainyard {

// What to do with a job that needs more memory than a device has.
enum class Unfit : std::uint8_t {
    simulate, // all the same
    refuse    // as a problem that says how much is missing; nothing is run
};

struct SimulateRequest {
    std::optional<RecordRequest> record; // for timelines
    WorkControl work;
    Unfit unfit = Unfit::simulate;
    // Stages whose requests go through the allocator: with `fullest_stage` quicker, and one nearly
    // as full that fragments more may be missed.
    AllocatorView memory = AllocatorView::every_stage;
    // Hears what the stages would hold before anything is run, of jobs that are refused too.
    std::function<void(const MemoryEstimate&)> weighed = {};
    // Sees which ranks are simulated, and their program, before anything is run; nothing is where
    // it finds problems. The outcome has job, plan and binding, no result.
    std::function<Problems(const Outcome&)> laid_out = {};
};

// Any number of threads may call it at once; they share what it remembers.
class Session {
public:
    Session();
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Problems of the input come back located in the scenario file or the file it names; the
    // world's are thrown.
    Checked<Outcome> simulate(const ScenarioFile& file, const SimulateRequest& request = {});

    // Of a scenario in which ranks hang or die: who is stuck. Empty where all steps come to their
    // end before.
    Checked<std::optional<Stuck>> stuck(const ScenarioFile& file, const WorkControl& work = {});

    // The step time under `count` seeds, from run.seed on, on all cores. The same inputs give the
    // same numbers.
    Checked<Samples> samples(const ScenarioFile& file, int count, const WorkControl& work = {});

    // Which one `simulate` takes.
    Checked<FidelityChoice> fidelity(const ScenarioFile& file);

    // Everything up to the program, without running it: is this scenario right?
    Problems check(const ScenarioFile& file);
    // The same without the program: do the settings agree?
    Problems check_job(const ScenarioFile& file);

    // What each stage's device would hold; nothing is run.
    Checked<MemoryEstimate> memory(const ScenarioFile& file,
                                   const MemoryOptions& options = {
                                       .view = AllocatorView::fullest_stage});
    // `value`, a stage's total of such an estimate, with its interval.
    Checked<PeakPrediction> predicted_peak(const ScenarioFile& file, Bytes value);

    // How often each stage was built: for tests of the memo.
    struct StageCounts {
        int topology = 0;
        int model = 0;
        int profile = 0;
        int plan = 0;
        int memory = 0;
        int binding = 0;
        int run = 0;

        bool operator==(const StageCounts&) const = default;
    };
    StageCounts counts() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace trainyard
