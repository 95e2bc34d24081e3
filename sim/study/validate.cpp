#include "sim/study/validate.h"

#include "sim/study/inputs.h"
#include "sim/study/record_scenario.h"
#include "sim/study/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace trainyard {

namespace {

std::string first_problem(const Problems& problems)
{
    for (const Diagnostic& problem : problems)
        if (problem.severity == Severity::error)
            return problem.pointer.empty() ? problem.message
                                           : problem.message + " at " + problem.pointer;
    return "the scenario could not be built";
}

// The dimensions in use, e.g. "fsdp+tp"; "single" on one GPU.
std::string strategy_name(const Strategy& strategy)
{
    std::string name;
    const auto add = [&](bool used, std::string_view word) {
        if (used)
            name += (name.empty() ? "" : "+") + std::string(word);
    };
    const bool replicated = strategy.dp.value_or(1) > 1;
    add(strategy.zero == 3 && replicated, "fsdp");
    add(strategy.tp > 1, "tp");
    add(strategy.pp > 1, "pp");
    add(strategy.cp > 1, "cp");
    add(strategy.ep > 1, "ep");
    add(name.empty() && replicated, "dp");
    return name.empty() ? "single" : name;
}

RecordVerdict blank_verdict(const MeasuredRecord& record)
{
    RecordVerdict verdict;
    verdict.id = record.id;
    verdict.source = record.source.key;
    verdict.gpu =
        record.hardware.gpu_family.empty() ? record.hardware.gpu : record.hardware.gpu_family;
    verdict.architecture =
        record.model.architecture.empty() ? "not stated" : record.model.architecture;
    verdict.quality = record.quality;
    if (record.step_time)
        verdict.measured = Seconds(*record.step_time);
    return verdict;
}

ScenarioFile file_of(const Scenario& scenario, const std::string& id)
{
    return scenario_in_memory(scenario, {}, id);
}

// A run that was measured did fit, and the estimate is good to about a tenth: recompute is assumed
// only where it exceeds the device by more.
bool may_fit(const MemoryEstimate& memory)
{
    constexpr double doubt = 1.1;
    return static_cast<double>(memory.peak().value()) <=
           doubt * static_cast<double>(memory.capacity.value());
}

bool states_fit(const MemoryEstimate& memory)
{
    double states = 0;
    for (const char* kind : {"parameters", "gradients", "optimizer"})
        if (const auto found = memory.stages[0].kinds.find(kind);
            found != memory.stages[0].kinds.end())
            states += static_cast<double>(found->second.value());
    return states <= 0.95 * static_cast<double>(memory.capacity.value());
}

// Sets the smallest number of recomputed layers that fits, if any does; else all. What it chose
// goes to the assumptions.
Problems fit_recompute(Session& session, RecordScenario& made)
{
    Training& training = made.scenario.training;
    const auto memory_with = [&](int layers) {
        training.recompute = layers == 0 ? Recompute::none : Recompute::full;
        training.recompute_layers = layers == 0 ? std::nullopt : std::optional<int>(layers);
        return session.memory(file_of(made.scenario, made.scenario.description));
    };
    Checked<MemoryEstimate> none = memory_with(0);
    if (!none)
        return none.error();
    // No recompute makes room for states.
    Strategy& strategy = made.scenario.strategy;
    if (strategy.zero <= 1 && strategy.pp == 1 && *strategy.dp > 1 && !states_fit(*none)) {
        strategy.zero = 3;
        made.assumptions.push_back("model states do not fit a GPU: sharded as FSDP does");
        none = memory_with(0);
        if (!none)
            return none.error();
    }
    if (may_fit(*none)) {
        made.assumptions.push_back("recompute not stated: none (fits)");
        return {};
    }
    int too_few = 0; // does not fit
    int enough = made.layers_per_device;
    while (enough - too_few > 1) {
        const int middle = (too_few + enough) / 2;
        const Checked<MemoryEstimate> memory = memory_with(middle);
        if (!memory)
            return memory.error();
        (may_fit(*memory) ? enough : too_few) = middle;
    }
    const int layers = made.recompute_parts ? (enough + 1) / 2 : enough;
    const Checked<MemoryEstimate> chosen = memory_with(layers);
    if (!chosen)
        return chosen.error();
    if (made.recompute_parts && !may_fit(*chosen)) {
        // What a policy neither keeps nor recomputes it may offload.
        strategy.offload.activation_layers = made.layers_per_device - layers;
        made.assumptions.push_back("activations that are not recomputed wait on the host");
    }
    made.assumptions.push_back(
        made.recompute_parts
            ? fmt::format("recompute not stated: about half of {} of {} layers, to fit", enough,
                          made.layers_per_device)
            : fmt::format("recompute not stated: {} of {} layers, to fit", enough,
                          made.layers_per_device));
    return {};
}

void judge_memory(const MeasuredRecord& record, const MemoryEstimate& memory,
                  RecordVerdict& verdict)
{
    const StageMemory& stage = memory.stages[static_cast<std::size_t>(memory.fullest_stage)];
    if (!stage.allocator)
        return;
    const AllocatorTotals& peak = stage.allocator->peak;
    if (record.peak_memory)
        verdict.allocated_error = static_cast<double>(peak.allocated) / *record.peak_memory - 1;
    if (record.peak_reserved)
        verdict.reserved_error = static_cast<double>(peak.reserved) / *record.peak_reserved - 1;
}

// A scenario to compare a record with, or why there is none.
struct Question {
    ScenarioFile file;
    std::string strategy; // dimensions in use, as the record has them
    std::vector<std::string> assumptions;
    std::string skipped;
};

// The record's own scenario.
Question own_question(const MeasuredRecord& record)
{
    Question out;
    out.skipped = why_not_scored(record);
    if (!out.skipped.empty())
        return out;
    Checked<ScenarioFile> file = scenario_from(record.scenario, record.file);
    if (!file) {
        out.skipped = first_problem(file.error());
        return out;
    }
    out.file = std::move(*file);
    out.strategy = strategy_name(out.file.scenario.strategy);
    return out;
}

// By rules on what the record says.
Question ruled_question(const MeasuredRecord& record, Session& session)
{
    Question out;
    auto made = scenario_of(record);
    if (!made) {
        out.skipped = made.error();
        return out;
    }
    out.strategy = strategy_name(made->scenario.strategy);
    if (made->recompute_to_fit)
        if (const Problems problems = fit_recompute(session, *made); !problems.empty())
            out.skipped = first_problem(problems);
    out.file = file_of(made->scenario, record.id);
    out.assumptions = std::move(made->assumptions);
    return out;
}

RecordVerdict judge(const MeasuredRecord& record, Session& session, const WorkControl& work)
{
    RecordVerdict verdict = blank_verdict(record);
    const Question question =
        record.scenario.is_null() ? ruled_question(record, session) : own_question(record);
    verdict.strategy = question.strategy;
    verdict.skipped = question.skipped;
    if (!verdict.skipped.empty())
        return verdict;
    verdict.shipped_constants = question.file.scenario.profile.empty();
    const Checked<Outcome> outcome = session.simulate(question.file, {std::nullopt, work});
    if (!outcome) {
        verdict.skipped = first_problem(outcome.error());
        return verdict;
    }
    const Profile& profile = outcome->cost->profile();
    verdict.device = profile.hardware.device.name;
    verdict.software = profile.software.name;
    verdict.predicted = outcome->step_time;
    verdict.layout = measured_layout(record, question.file, outcome->job.dp());
    verdict.peak_memory = outcome->memory.peak();
    judge_memory(record, outcome->memory, verdict);
    verdict.fits = outcome->memory.fits();
    verdict.assumptions = question.assumptions;
    if (record.out_of_memory) {
        verdict.out_of_memory = true;
        verdict.skipped = "ran out of memory when measured";
    }
    return verdict;
}

bool selected(const std::string& id, const std::string& source, const std::string& only)
{
    return only.empty() || id.find(only) != std::string::npos ||
           source.find(only) != std::string::npos;
}

// Records one after the other, on several threads with a session each.
class Judges {
public:
    Judges(std::vector<const MeasuredRecord*> records, const ValidateOptions& options)
        : records_(std::move(records)), options_(options), verdicts_(records_.size())
    {}

    std::vector<RecordVerdict> run()
    {
        const std::size_t wanted = static_cast<std::size_t>(std::max(1, options_.threads));
        std::vector<std::thread> threads;
        for (std::size_t i = 1; i < std::min(wanted, records_.size()); ++i)
            threads.emplace_back([this] { work(); });
        work();
        for (std::thread& thread : threads)
            thread.join();
        if (failure_)
            std::rethrow_exception(failure_);
        return std::move(verdicts_);
    }

private:
    void work()
    {
        try {
            Session session;
            const WorkControl quiet{options_.work.cancel, {}};
            while (!stopped_) {
                const std::size_t index = next_++;
                if (index >= records_.size())
                    return;
                options_.work.check();
                verdicts_[index] = judge(*records_[index], session, quiet);
                count();
            }
        } catch (...) {
            const std::lock_guard lock(mutex_);
            stopped_ = true;
            if (!failure_)
                failure_ = std::current_exception();
        }
    }

    void count()
    {
        const std::lock_guard lock(mutex_);
        ++done_;
        options_.work.report("validate", static_cast<double>(done_),
                             static_cast<double>(records_.size()));
    }

    std::vector<const MeasuredRecord*> records_;
    const ValidateOptions& options_;
    std::vector<RecordVerdict> verdicts_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::size_t done_ = 0;
    std::exception_ptr failure_;
};

} // namespace

ValidationReport validate(std::span<const RecordFile> files, const ValidateOptions& options)
{
    std::vector<const MeasuredRecord*> records;
    std::vector<RecordVerdict> unreadable;
    for (const RecordFile& file : files) {
        for (const MeasuredRecord& record : file.records)
            if (selected(record.id, record.source.key, options.only))
                records.push_back(&record);
        for (const UnreadableRecord& bad : file.unreadable)
            if (selected(bad.id, {}, options.only)) {
                RecordVerdict verdict;
                verdict.id = bad.id;
                verdict.architecture = "not stated";
                verdict.skipped = "unreadable: " + first_problem(bad.problems);
                unreadable.push_back(std::move(verdict));
            }
    }
    std::vector<RecordVerdict> verdicts = Judges(std::move(records), options).run();
    verdicts.insert(verdicts.end(), unreadable.begin(), unreadable.end());
    return summarized(std::move(verdicts));
}

} // namespace trainyard
