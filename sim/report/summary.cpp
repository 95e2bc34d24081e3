#include "sim/report/summary.h"

#include "sim/cost/kernel_time.h"
#include "sim/report/flops.h"

namespace trainyard {

namespace {

void add_throughput(Summary& summary, const Outcome& outcome)
{
    const Seconds step = outcome.step_time.value;
    const Job& job = outcome.job;
    const int gpus = job.world();
    if (step.value() <= 0)
        return;
    summary.samples_per_s = static_cast<double>(job.training.global_batch) / step.value();
    if (job.model.is_transformer())
        summary.tokens_per_s =
            summary.samples_per_s * static_cast<double>(job.training.sequence_length);
    summary.samples_per_s_per_gpu = summary.samples_per_s / gpus;
    summary.tokens_per_s_per_gpu = summary.tokens_per_s / gpus;
}

void add_flops(Summary& summary, const Outcome& outcome)
{
    const Seconds step = outcome.step_time.value;
    const int gpus = outcome.job.world();
    const Flops model = model_flops_per_step(outcome.job);
    const Flops hardware = hardware_flops_per_step(*outcome.plan, *outcome.binding);
    const Device& device = outcome.cost->profile().hardware.device;
    summary.peak_precision =
        executed_precision(main_precision(*outcome.plan, outcome.job.training.precision), device);
    summary.peak_flops_per_gpu = device.peak.at(summary.peak_precision);
    summary.on_cpus = device.is_cpu();
    const Model& trained = outcome.job.model;
    const bool half =
        summary.peak_precision == Precision::bf16 || summary.peak_precision == Precision::fp16;
    summary.has_usual_mfu =
        half && !summary.on_cpus && trained.is_transformer() && !trained.is_moe();
    summary.mfu = flops_utilization(model, step, summary.peak_flops_per_gpu, gpus);
    summary.hfu = flops_utilization(hardware, step, summary.peak_flops_per_gpu, gpus);
    if (step.value() > 0)
        summary.model_flops_per_gpu = model / step / static_cast<double>(gpus);
}

void add_breakdown(Summary& summary, const Outcome& outcome)
{
    const StepResult& result = *outcome.result;
    const Seconds step = to_seconds(result.step_time);
    const std::size_t critical = result.critical_lane.value;
    summary.critical_rank = static_cast<int>(outcome.binding->lanes[critical].rank.value);
    summary.critical = shares_of(result.lanes[critical]);
    summary.mean = mean_shares(result, *outcome.binding);
    if (step.value() <= 0)
        return;
    const auto mean_share = [&](SimTime LaneTotals::*figure) {
        return mean_over_ranks(result, *outcome.binding,
                               [&](const LaneTotals& lane) { return lane.*figure; }) /
               step;
    };
    summary.communication_summed_fraction = mean_share(&LaneTotals::communication_busy);
    summary.compute_utilization = mean_share(&LaneTotals::compute_busy);
    summary.communication_exposed_fraction = exposed_communication(summary.mean) / step;
    summary.synchronization_share = summary.mean[index_of(TimeKind::waiting)] / step;
    summary.bubble_share = summary.mean[index_of(TimeKind::bubble)] / step;
}

} // namespace

Summary summarize(const Outcome& outcome)
{
    Summary summary;
    summary.step_time = outcome.step_time;
    summary.peak_memory = outcome.memory.peak();
    summary.capacity = outcome.memory.capacity;
    summary.fits = outcome.memory.fits();
    add_throughput(summary, outcome);
    add_flops(summary, outcome);
    add_breakdown(summary, outcome);
    summary.collectives = collective_rows(outcome);
    summary.cluster_collectives = cluster_collective_rows(outcome);
    summary.links = link_rows(outcome);
    const NodePair pair = node_pair(outcome);
    summary.node_latency = pair.latency;
    summary.node_bandwidth = pair.bandwidth;
    Symptoms symptoms = symptoms_of(outcome);
    symptoms.mfu = summary.mfu;
    summary.loading = symptoms.loading;
    summary.bottleneck = find_bottleneck(symptoms);
    return summary;
}

} // namespace trainyard
