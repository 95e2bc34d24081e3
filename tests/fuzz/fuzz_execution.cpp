// Execution traces in all their forms, alone and as two ranks of a job.

#include "sim/traces/run_summary.h"
#include "sim/traces/trace_file.h"
#include "tests/fuzz/file_in_memory.h"

using namespace trainyard;

namespace {

void require_sound(const RankSummary& rank)
{
    if (!rank.graph)
        return;
    const GraphFacts& graph = *rank.graph;
    fuzz::require(graph.depth <= graph.nodes, "no chain is longer than there are nodes");
    double ops = 0;
    double in_phases = 0;
    for (const double of_work : rank.ops)
        ops += of_work;
    for (const PhaseWork& phase : rank.phases)
        in_phases += phase.ops;
    fuzz::require(ops > 0 && ops <= static_cast<double>(graph.nodes), "ops are nodes");
    fuzz::require(in_phases - ops < 1e-6 * ops && ops - in_phases < 1e-6 * ops,
                  "every op is in a phase");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::FileInMemory file(fuzz::text_of(data, size));
    Checked<TraceFile> read = read_trace_file(file.name());
    if (!read) {
        fuzz::require(!read.error().empty() && !read.error().front().message.empty(),
                      "a refused trace has a reason");
        return 0;
    }
    if (read->ranks.empty())
        return 0;
    const Checked<JobTrace> job = join_ranks(std::move(read->ranks), read->groups);
    if (!job) {
        fuzz::require(!job.error().empty(), "refused ranks have a reason");
        return 0;
    }
    const RunSummary run = run_summary(*job);
    for (const RankSummary& rank : run.ranks)
        require_sound(rank);
    return 0;
}
