#include "sim/study/validate.h"

#include "sim/study/record_question.h"
#include "sim/study/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace trainyard {

namespace {

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

void judge_memory(const MeasuredRecord& record, const MemoryEstimate& memory,
                  RecordVerdict& verdict)
{
    const StageMemory& stage = memory.stages[static_cast<std::size_t>(memory.fullest_stage)];
    if (!stage.allocator)
        return;
    const AllocatorTotals& peak = stage.allocator->peak;
    double held = 0; // all the time, whatever else a pass needs
    for (const MemoryKind kind : {MemoryKind::parameters, MemoryKind::optimizer})
        if (const auto found = stage.kinds.find(std::string(to_name(kind)));
            found != stage.kinds.end())
            held += static_cast<double>(found->second.value());
    for (const std::optional<double>& measured : {record.peak_memory, record.peak_reserved})
        verdict.holds_less = verdict.holds_less || (measured && *measured < held);
    if (record.peak_memory)
        verdict.allocated_error = static_cast<double>(peak.allocated) / *record.peak_memory - 1;
    if (record.peak_reserved)
        verdict.reserved_error = static_cast<double>(peak.reserved) / *record.peak_reserved - 1;
}

RecordVerdict judge(const MeasuredRecord& record, Session& session, const WorkControl& work)
{
    RecordVerdict verdict = blank_verdict(record);
    const RecordQuestion question = question_of(record, session);
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
    verdict.peak = outcome->peak_memory;
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
