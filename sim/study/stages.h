#pragma once

// What a scenario names, built: topology, model, costs, job and program, each once per distinct
// input.

#include "sim/strategy/memory.h"
#include "sim/strategy/plan.h"
#include "sim/study/cost_part.h"
#include "sim/study/fidelity_choice.h"
#include "sim/topology/read_topology.h"

namespace trainyard {

struct StageMemos {
    Memo<TopologyFile> topologies{8};
    Memo<Model> models{16};
    CostMemos costs;
    Memo<Plan> plans{8};
};

// The parts of a scenario with the hashes that later stages are known by.
struct Parts {
    std::shared_ptr<const Topology> topology; // its links as perturbed
    std::shared_ptr<const Topology> sound;    // as described
    int cluster_devices = 0;                  // also those that the strategy leaves out
    std::shared_ptr<const Model> model;
    std::shared_ptr<const CostModel> cost;
    std::shared_ptr<const Plan> plan;
    Job job;
    FidelityChoice network; // with the plan
    std::uint64_t topology_hash = 0;
    std::uint64_t model_hash = 0;
    std::uint64_t cost_hash = 0;
    std::uint64_t job_hash = 0;
    Problems warnings;
};

// Up to the job: no plan. All problems of all parts at once, located in the scenario or the file
// that has them.
Checked<Parts> build_job_parts(const ScenarioFile& file, StageMemos& memos);

// What the job lowers to.
std::shared_ptr<const Plan> plan_of(const Parts& parts, StageMemos& memos);

// Lowers the job of parts that have no plan yet.
void add_plan(Parts& parts, const ScenarioFile& file, StageMemos& memos);

// The job with its plan.
Checked<Parts> build_parts(const ScenarioFile& file, StageMemos& memos);

// That the fullest stage needs more than a device has, by how much, and what helps. Empty: it fits.
Problems fit_problems(const MemoryEstimate& memory);

DeviceMemory device_memory(const Profile& profile);

// The worst grade among the constants that decide the job's time: rates of GEMMs, attention and
// memory in its precision, and of the links it uses; over libraries on the host, of the sweeps of
// its data-parallel collectives, else of the library's rates. Latencies, launch gaps and counts are
// left out: they move a step by a few per cent.
Grade grade_of(const CostModel& cost, const Job& job, const Topology& topology);

// Half of the 90 % interval of the rates of matrix products, as a logarithm: of the widest of the
// constants that give them; 0 where they come with none.
double product_doubt_of(const CostModel& cost, const Job& job);

} // namespace trainyard
