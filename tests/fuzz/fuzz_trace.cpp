#include "sim/traces/kineto_reader.h"
#include "sim/traces/run_summary.h"
#include "tests/fuzz/file_in_memory.h"

using namespace trainyard;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::FileInMemory file(fuzz::text_of(data, size));
    Checked<std::vector<RankTrace>> ranks = read_kineto(file.name());
    if (!ranks) {
        fuzz::require(!ranks.error().empty(), "a refused trace has a reason");
        return 0;
    }
    std::vector<DigestedRank> digested;
    for (RankTrace& rank : *ranks) {
        fuzz::require(!rank.device_events.empty(), "a rank that is read did something");
        digested.push_back(digest(std::move(rank)));
    }
    const Checked<JobTrace> job = join_ranks(std::move(digested));
    if (!job) {
        fuzz::require(!job.error().empty(), "refused ranks have a reason");
        return 0;
    }
    for (const RankSummary& rank : run_summary(*job).ranks) {
        Seconds sum = rank.gaps + rank.untold;
        for (const Seconds time : rank.time)
            sum += time;
        const double off = (sum - rank.step).value();
        fuzz::require(off < 1e-6 * (1 + rank.step.value()) && -off < 1e-6 * (1 + rank.step.value()),
                      "the kinds of time add up to the step");
    }
    return 0;
}
