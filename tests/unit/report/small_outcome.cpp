#include "tests/unit/report/small_outcome.h"

namespace trainyard::test {

namespace {

using namespace trainyard::literals;

void set(LaneTotals& lane, TimeKind kind, std::int64_t value)
{
    lane.time[static_cast<std::size_t>(kind)] = ms(value);
}

LaneTotals lane_totals()
{
    LaneTotals lane;
    set(lane, TimeKind::forward, 20);
    set(lane, TimeKind::backward, 40);
    set(lane, TimeKind::optimizer, 2);
    set(lane, TimeKind::exposed_dp, 5);
    set(lane, TimeKind::exposed_pp, 2);
    set(lane, TimeKind::bubble, 31);
    lane.compute_busy = ms(62);
    lane.communication_busy = ms(9);
    return lane;
}

StepResult small_result(const Binding& binding)
{
    StepResult result;
    result.step_time = ms(100);
    result.step_ends = {ms(100), ms(200)};
    result.lanes.assign(binding.lanes.size(), lane_totals());
    result.lane_ends.assign(binding.lanes.size(), ms(200));
    result.critical_lane = LaneId{0};
    TransferTotals gradients;
    gradients.collective = CollectiveKind::all_reduce;
    gradients.group = GroupKind::dp;
    gradients.count = 4;
    gradients.bytes = 4e9;
    gradients.transfer_seconds = gradients.exposed_seconds = 4 * 5e-3;
    TransferTotals messages;
    messages.collective = CollectiveKind::send_receive;
    messages.group = GroupKind::pp;
    messages.count = 16; // 8 messages, two sides
    messages.bytes = 8 * 40e6;
    messages.transfer_seconds = 16e-3;
    messages.exposed_seconds = 8e-3;
    result.transfers = {messages, gradients};
    result.ops = 2 * 36;
    result.events = 99;
    return result;
}

// Adds the records of one lane, in the second step.
class Recording {
public:
    Recording(const Plan& plan, StepResult& result, std::uint32_t lane)
        : plan_(plan), result_(result), lane_(lane)
    {}

    void op(const char* name, Phase phase, StreamId stream, std::uint16_t micro_batch,
            std::array<std::int64_t, 3> start_transfer_end)
    {
        OpRecord record;
        record.lane = LaneId{lane_};
        record.op = next_op_++;
        record.stream = stream;
        record.label = label(name, phase);
        record.kind = stream == compute_stream ? OpKind::compute
                      : stream == pp_stream    ? OpKind::exchange
                                               : OpKind::collective;
        record.micro_batch = micro_batch;
        record.step = 1;
        record.start = ms(100 + start_transfer_end[0]);
        record.transfer_start = ms(100 + start_transfer_end[1]);
        record.end = ms(100 + start_transfer_end[2]);
        record.issued = ms(100) + SimTime(issued_++ * 5'000'000);
        if (record.kind == OpKind::collective) {
            record.group = GroupId{0};
            record.bytes = gradient_bytes;
            record.last_arriver = LaneId{0};
        }
        if (record.kind == OpKind::exchange)
            record.bytes = message_bytes;
        result_.records.push_back(record);
    }

private:
    LabelId label(const char* name, Phase phase) const
    {
        for (std::size_t i = 0; i < plan_.program.labels.size(); ++i)
            if (plan_.program.labels[i].name == name && plan_.program.labels[i].phase == phase)
                return make_id<LabelId>(i);
        return {};
    }

    const Plan& plan_;
    StepResult& result_;
    std::uint32_t lane_;
    std::int64_t issued_ = 0;
    std::uint32_t next_op_ = 0;
};

void record_first_stage(Recording recording)
{
    using enum Phase;
    constexpr std::uint16_t none = BlockUse::no_index;
    recording.op("layers", forward, compute_stream, 0, {0, 0, 10});
    recording.op("send", forward, pp_stream, 0, {10, 10, 11});
    recording.op("layers", forward, compute_stream, 1, {10, 10, 20});
    recording.op("send", forward, pp_stream, 1, {20, 20, 21});
    recording.op("receive gradient", backward, pp_stream, 0, {21, 41, 42});
    recording.op("layers", backward, compute_stream, 0, {42, 42, 62});
    recording.op("receive gradient", backward, pp_stream, 1, {42, 72, 73});
    recording.op("layers", backward, compute_stream, 1, {73, 73, 93});
    recording.op("gradients", gradient_sync, dp_stream, none, {93, 93, 98});
    recording.op("adam", optimizer, compute_stream, none, {98, 98, 100});
}

void record_second_stage(Recording recording)
{
    using enum Phase;
    constexpr std::uint16_t none = BlockUse::no_index;
    recording.op("receive", forward, pp_stream, 0, {0, 10, 11});
    recording.op("layers", forward, compute_stream, 0, {11, 11, 21});
    recording.op("layers", backward, compute_stream, 0, {21, 21, 41});
    recording.op("send gradient", backward, pp_stream, 0, {41, 41, 42});
    recording.op("receive", forward, pp_stream, 1, {42, 42, 42});
    recording.op("layers", forward, compute_stream, 1, {42, 42, 52});
    recording.op("layers", backward, compute_stream, 1, {52, 52, 72});
    recording.op("send gradient", backward, pp_stream, 1, {72, 72, 73});
    recording.op("gradients", gradient_sync, dp_stream, none, {73, 73, 78});
    recording.op("adam", optimizer, compute_stream, none, {78, 78, 80});
}

Job small_job()
{
    Job job;
    Transformer transformer;
    transformer.hidden = 1024;
    transformer.layers = 4;
    transformer.heads = transformer.kv_heads = 8;
    transformer.head_dim = 128;
    transformer.ffn = 4096;
    transformer.vocabulary = 32000;
    job.model.name = "tiny";
    job.model.architecture = transformer;
    job.training.sequence_length = 2048;
    job.training.global_batch = 4;
    job.training.fp32_gradients = true;
    job.strategy.pp = 2;
    job.strategy.dp = 2;
    job.strategy.sequence_parallel = false;
    job.strategy.tensor.beside_weight_gradient = false;
    job.gpus_per_node = 2;
    return job;
}

Profile small_profile()
{
    Profile profile;
    profile.hardware.device.name = "H100-SXM5-80GB";
    profile.hardware.device.peak.bf16 = device_peak;
    return profile;
}

MemoryEstimate small_memory()
{
    MemoryEstimate memory;
    memory.capacity = 80_GB;
    memory.stages.resize(2);
    memory.stages[0].kinds = {{"parameters", 10_GB}, {"optimizer", 30_GB}, {"activations", 20_GB}};
    memory.stages[1].kinds = {{"parameters", 10_GB}, {"optimizer", 30_GB}, {"logits", 5_GB}};
    return memory;
}

} // namespace

Outcome small_outcome(Lanes lanes)
{
    Outcome outcome;
    outcome.job = small_job();
    outcome.topology = std::make_shared<const Topology>(small_cluster(2));
    outcome.cost = std::make_shared<const CostModel>(small_profile());
    outcome.plan = std::make_shared<const Plan>(small_plan());
    outcome.binding = std::make_shared<const Binding>(small_binding(lanes));
    outcome.result = std::make_shared<const StepResult>(small_result(*outcome.binding));
    outcome.memory = small_memory();
    outcome.step_time.value = 100.0_ms;
    outcome.step_time.low = 72.0_ms;
    outcome.step_time.high = 128.0_ms;
    outcome.step_time.grade = Grade::published;
    outcome.step_time.basis = "dense decoders";
    outcome.engine.ranks = 4;
    outcome.engine.lanes = static_cast<int>(outcome.binding->lanes.size());
    outcome.engine.ops = outcome.result->ops;
    outcome.engine.events = outcome.result->events;
    outcome.engine.wall_ms = 12;
    outcome.input_hash = 0x0123456789abcdefULL;
    outcome.scenario.training = outcome.job.training;
    outcome.scenario.strategy = outcome.job.strategy;
    return outcome;
}

Outcome recorded_outcome(Lanes lanes)
{
    Outcome outcome = small_outcome(lanes);
    StepResult result = *outcome.result;
    for (std::uint32_t i = 0; i < outcome.binding->lanes.size(); ++i) {
        const Recording recording(*outcome.plan, result, i);
        if (outcome.binding->lanes[i].role == RoleId{0})
            record_first_stage(recording);
        else
            record_second_stage(recording);
    }
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    return outcome;
}

Outcome single_gpu_outcome()
{
    Outcome outcome = small_outcome();
    outcome.job.strategy.pp = 1;
    outcome.job.strategy.dp = 1;
    outcome.topology = std::make_shared<const Topology>(small_cluster(1));
    Plan plan = *outcome.plan;
    plan.program.roles.resize(1);
    plan.program.roles[0].order = {{BlockId{0}}, {BlockId{1}}};
    outcome.plan = std::make_shared<const Plan>(std::move(plan));
    Binding binding;
    binding.lanes.resize(1);
    binding.lanes[0].role = RoleId{0};
    binding.lanes[0].rank = RankId{0};
    outcome.binding = std::make_shared<const Binding>(std::move(binding));
    StepResult result;
    result.step_time = ms(30);
    result.step_ends = {ms(30), ms(60)};
    result.lanes.resize(1);
    set(result.lanes[0], TimeKind::forward, 10);
    set(result.lanes[0], TimeKind::backward, 20);
    result.lanes[0].compute_busy = ms(30);
    result.critical_lane = LaneId{0};
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    outcome.memory.stages.resize(1);
    outcome.step_time.value = 30.0_ms;
    return outcome;
}

Summary small_summary()
{
    const Outcome outcome = small_outcome();
    Summary summary;
    summary.gpus = 4;
    summary.step_time = outcome.step_time;
    summary.tokens_per_s = 81920;
    summary.samples_per_s = 40;
    summary.mfu = 0.412;
    summary.hfu = 0.433;
    summary.model_flops_per_gpu = FlopRate(407e12);
    summary.peak_flops_per_gpu = device_peak;
    summary.peak_memory = 60_GB;
    summary.capacity = 80_GB;
    summary.critical = shares_of(outcome.result->lanes[0]);
    summary.mean = mean_shares(*outcome.result, *outcome.binding);
    summary.communication_summed_fraction = 0.09;
    summary.communication_exposed_fraction = 0.07;
    summary.compute_utilization = 0.62;
    summary.bubble_share = 0.31;
    summary.scaling_efficiency = 0.94;
    summary.scaling_base_gpus = 2;
    summary.collectives = collective_rows(outcome);
    summary.cluster_collectives = {{CollectiveKind::all_reduce, 4, cluster_collective_size, 20.0_ms,
                                    54_GBps, 80_GBps, 25.0_ms, 64_GBps},
                                   {CollectiveKind::barrier, 4, 0_B, 25.0_us, {}, {}, 31.0_us, {}}};
    summary.links = link_rows(outcome);
    summary.node_latency = 12.0_us;
    summary.node_bandwidth = 44_GBps;
    summary.bottleneck = {BottleneckClass::bubble, "31 % of the step is bubble",
                          "more micro-batches"};
    return summary;
}

} // namespace trainyard::test
