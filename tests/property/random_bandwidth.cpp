#include "tests/catch.h"
#include "tests/property/random_laws.h"
#include "tests/unit/strategy/plans.h"

#include <set>

namespace trainyard::testing {

namespace {

// The transfers of one kind of group.
std::set<CostId> costs_of(const Plan& plan, GroupKind group)
{
    std::set<CostId> costs;
    for (const Block& block : plan.program.blocks)
        for (const Op& op : block.ops) {
            if (plan.program.labels[op.label.value].group != group)
                continue;
            if (op.kind == OpKind::collective)
                costs.insert(op.cost);
            for (std::size_t p = 0; op.kind == OpKind::exchange && p < op.part_count; ++p)
                costs.insert(block.parts[op.part_first + p].cost);
        }
    return costs;
}

// Those transfers at twice the rate.
Binding faster(const Binding& binding, const std::set<CostId>& costs)
{
    Binding out = binding;
    for (auto& variant : out.costs.transfers)
        for (const CostId id : costs)
            variant[id.value].ceiling = ByteRate(variant[id.value].ceiling.value() * 2);
    return out;
}

// Compute, copies and host work that `chosen` accepts take half as long.
template <class Chosen>
Binding faster(const Binding& binding, const Plan& plan, Chosen chosen)
{
    Binding out = binding;
    for (std::size_t i = 0; i < plan.compute.size(); ++i)
        if (chosen(plan.compute[i]))
            out.costs.compute[i] = out.costs.compute[i] / std::int64_t{2};
    return out;
}

bool multiplies(const ComputeRequest& request)
{
    return std::ranges::any_of(request.kernels, [](const WorkItem& item) {
        const Kernel* kernel = std::get_if<Kernel>(&item);
        return kernel != nullptr && kernel->kind == KernelKind::gemm;
    });
}

void leave_out_interference(Binding& binding)
{
    for (auto& variant : binding.costs.transfers)
        for (TransferCost& cost : variant)
            cost.sm_share = cost.traffic_share = 0;
}

std::vector<std::pair<std::string, Binding>> improvements(const Binding& binding, const Plan& plan)
{
    std::vector<std::pair<std::string, Binding>> out;
    for (const EnumName<GroupKind>& group : enum_names<GroupKind>())
        if (const std::set<CostId> costs = costs_of(plan, group.value); !costs.empty())
            out.emplace_back(std::string(group.name), faster(binding, costs));
    out.emplace_back("flops", faster(binding, plan, multiplies));
    out.emplace_back("memory", faster(binding, plan, [](const ComputeRequest& request) {
                         return !request.kernels.empty() && !multiplies(request);
                     }));
    out.emplace_back("host link and host", faster(binding, plan, [](const ComputeRequest& request) {
                         return request.kernels.empty();
                     }));
    Binding launches = binding;
    for (SimTime& time : launches.costs.host_per_kernel)
        time = time / std::int64_t{2};
    out.emplace_back("launches", std::move(launches));
    return out;
}

} // namespace

// Ops start when others have ended, in an order that is written down: an end is a sum of maxima of
// durations, and grows with each of them. That holds for the end of every step, not for the
// difference of two; and not exactly where transfers slow the compute beside them: a rank that
// computes faster arrives earlier and its waiting kernel holds SMs for longer.
void check_more_bandwidth(const Draws& draws)
{
    constexpr double anomaly = 0.02; // by which interference may turn it around
    const Topology cluster = cluster_for_random_jobs();
    each_job(draws, random_request, [&](const JobRequest&, const Job& job) {
        const Plan plan = make_plan(job);
        BindOptions options;
        options.folding = Folding::replicas;
        const Binding beside = bind(plan, job, cluster, h100_costs(), options);
        Binding alone = beside;
        leave_out_interference(alone);
        const std::vector<SimTime> ends = run(plan.program, alone, 3).step_ends;
        for (const auto& [what, better] : improvements(alone, plan)) {
            CAPTURE(what);
            const std::vector<SimTime> sooner = run(plan.program, better, 3).step_ends;
            for (std::size_t step = 0; step < ends.size(); ++step)
                CHECK(sooner[step] <= ends[step]);
        }
        const double last = to_seconds(run(plan.program, beside, 3).step_ends.back()).value();
        for (const auto& [what, better] : improvements(beside, plan)) {
            CAPTURE(what);
            CHECK(to_seconds(run(plan.program, better, 3).step_ends.back()).value() <=
                  last * (1 + anomaly));
        }
    });
}

} // namespace trainyard::testing
