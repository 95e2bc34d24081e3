#include "sim/study/training/training_request.h"

#include "sim/base/fields.h"
#include "sim/base/units.h"
#include "sim/study/training/checkpoint_cost.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

constexpr double shortest = 1e-9;    // of a time that must not be zero, in seconds
constexpr double most_tokens = 1e30; // of tokens and of parameters

class Contradictions {
public:
    explicit Contradictions(Problems& problems) : problems_(problems) {}

    void when(bool wrong, std::string pointer, std::string message, std::string hint)
    {
        if (wrong)
            problems_.push_back(
                {{}, 0, std::move(pointer), std::move(message), std::move(hint), Severity::error});
    }

private:
    Problems& problems_;
};

void check_amounts(const WholeTrainingRequest& request, Contradictions& contradiction)
{
    double ramped = 0;
    for (const BatchRamp& stage : request.ramp)
        ramped += stage.tokens;
    contradiction.when(ramped > request.tokens, "/ramp",
                       fmt::format("the ramp takes {} {}, the whole training has {}",
                                   to_display_count(ramped), request.unit,
                                   to_display_count(request.tokens)),
                       "shorten the ramp, or train on more");
    contradiction.when(request.batch_tokens > request.tokens, "/batch_tokens",
                       fmt::format("a step takes {} {}, the whole training has {}",
                                   to_display_count(request.batch_tokens), request.unit,
                                   to_display_count(request.tokens)),
                       "");
    contradiction.when(
        request.step_time_low && request.step_time_high &&
            (request.step_time < *request.step_time_low ||
             *request.step_time_high < request.step_time),
        "/step_time",
        fmt::format("the step time {} lies outside its interval", to_text(request.step_time)), "");
    contradiction.when(request.prices.gpu_hour && request.prices.node_hour, "/prices",
                       "both gpu_hour and node_hour are given", "give one of them");
}

void check_checkpoints(const WholeTrainingRequest& request, Contradictions& contradiction)
{
    const CheckpointModel& model = request.checkpoints;
    contradiction.when(model.time && (model.bytes || model.bandwidth), "/checkpoints/time",
                       "the time of a checkpoint is given, and its bytes or bandwidth too",
                       "give the time, or what it follows from");
    contradiction.when(model.block && !model.asynchronous, "/checkpoints/block",
                       "only an asynchronous checkpoint blocks for less than it takes",
                       "set asynchronous, or take block out");
    const CheckpointCost cost = checkpoint_cost(request);
    contradiction.when(cost.block > cost.write, "/checkpoints/block",
                       fmt::format("a checkpoint of {} cannot block for {}", to_text(cost.write),
                                   to_text(cost.block)),
                       "");
    if (!model.interval)
        return;
    contradiction.when(*model.interval < cost.write, "/checkpoints/interval",
                       fmt::format("a checkpoint every {} takes {} to write",
                                   to_text(*model.interval), to_text(cost.write)),
                       "write fewer, or faster");
}

void check_failures(const WholeTrainingRequest& request, Contradictions& contradiction)
{
    const FailureModel& model = request.failures;
    contradiction.when(
        model.spare_nodes && *model.spare_nodes > most_spares(request), "/failures/spare_nodes",
        fmt::format("{} spare nodes for {}", *model.spare_nodes, request.nodes()), "");
    contradiction.when(request.power.stalled > request.power.busy, "/power/stalled",
                       fmt::format("a stalled GPU draws {} of its power, a busy one {}",
                                   request.power.stalled, request.power.busy),
                       "");
}

} // namespace

template <>
const FieldTable<BatchRamp>& fields_of<BatchRamp>()
{
    using T = BatchRamp;
    static const auto table =
        FieldTable<T>("batch_ramp", "A part of the training in smaller batches.")
            .field("tokens", &T::tokens,
                   {.help = "tokens of this part", .min = 1, .max = most_tokens})
            .field("batch_tokens", &T::batch_tokens,
                   {.help = "tokens of a step of it", .min = 1, .max = most_tokens})
            .field(
                "step_time", &T::step_time,
                {.help = "of that batch; else in proportion to the full one's", .min = shortest});
    return table;
}

template <>
const FieldTable<FailureModel>& fields_of<FailureModel>()
{
    using T = FailureModel;
    static const auto table =
        FieldTable<T>("failures", "What fails, and what that takes.")
            .field("mtbf_per_gpu", &T::mtbf_per_gpu,
                   {.help = "mean time between failures of one GPU", .min = 1})
            .field("mtbf_per_node", &T::mtbf_per_node,
                   {.help = "of one node, beside those of its GPUs", .min = 1})
            .field("detection", &T::detection,
                   {.help = "until a failure is found and its place known", .min = 0})
            .field("restart", &T::restart,
                   {.help = "from there to the first step: start, load, warm up", .min = 0})
            .field("replaced", &T::replaced,
                   {.help = "share of failures that need another node", .min = 0, .max = 1})
            .field("repair", &T::repair, {.help = "mean repair time of a node", .min = 0})
            .field(
                "spare_nodes", &T::spare_nodes,
                {.help = "nodes held ready and paid; absent: as many as make the training cheapest",
                 .min = 0})
            .field("spot_mtbf_per_node", &T::spot_mtbf_per_node,
                   {.help = "mean time until spot capacity of a node is taken away", .min = 1})
            .field("spot_notice", &T::spot_notice,
                   {.help = "before it is: enough to save, or not", .min = 0})
            .field("spot_return", &T::spot_return,
                   {.help = "until other capacity takes its place", .min = 0});
    return table;
}

template <>
const FieldTable<CheckpointModel>& fields_of<CheckpointModel>()
{
    using T = CheckpointModel;
    static const auto table =
        FieldTable<T>("checkpoints", "What is saved when, and how long that takes.")
            .field("interval", &T::interval,
                   {.help = "training between two; absent: the best", .min = shortest})
            .field("time", &T::time, {.help = "to write one", .min = 0})
            .field("bytes", &T::bytes, {.help = "of one; absent: 14 per parameter", .min = 0})
            .field(
                "bandwidth", &T::bandwidth,
                {.help = "to storage, of the whole job; absent: 0.15 GB/s per GPU, 2 TB/s at most",
                 .min = 1})
            .field("asynchronous", &T::asynchronous,
                   {.help = "written while training goes on; only the copy to the host blocks"})
            .field("block", &T::block, {.help = "how long that copy blocks", .min = 0});
    return table;
}

template <>
const FieldTable<PriceModel>& fields_of<PriceModel>()
{
    using T = PriceModel;
    static const auto table =
        FieldTable<T>("prices", "What is paid, in one currency.")
            .field("gpu_hour", &T::gpu_hour, {.help = "of a GPU, spares too", .min = 0})
            .field("node_hour", &T::node_hour, {.help = "of a node, spares too", .min = 0})
            .field("kilowatt_hour", &T::kilowatt_hour,
                   {.help = "of electricity, where it is paid apart", .min = 0})
            .field("terabyte_month", &T::terabyte_month,
                   {.help = "of storage for the checkpoints that are kept", .min = 0})
            .field("checkpoints_kept", &T::checkpoints_kept,
                   {.help = "checkpoints stored at a time", .min = 1});
    return table;
}

template <>
const FieldTable<PowerModel>& fields_of<PowerModel>()
{
    using T = PowerModel;
    static const auto table =
        FieldTable<T>("power", "What a node draws.")
            .field("gpu_watts", &T::gpu_watts, {.help = "rated power of a GPU, in W", .min = 0})
            .field("busy", &T::busy, {.help = "share of it while steps run", .min = 0, .max = 2})
            .field("stalled", &T::stalled,
                   {.help = "share of it while none does", .min = 0, .max = 2})
            .field(
                "node_watts", &T::node_watts,
                {.help = "of a node beside its GPUs, with its part of the network, in W", .min = 0})
            .field("pue", &T::pue,
                   {.help = "power of the site over that of its computers", .min = 1, .max = 10});
    return table;
}

template <>
const FieldTable<WholeTrainingRequest>& fields_of<WholeTrainingRequest>()
{
    using T = WholeTrainingRequest;
    static const auto table =
        FieldTable<T>("whole_training", "A training from its first step to its last.")
            .field("tokens", &T::tokens,
                   {.help = "to train on", .min = 1, .max = most_tokens, .required = true})
            .field("batch_tokens", &T::batch_tokens,
                   {.help = "tokens of a step", .min = 1, .max = most_tokens, .required = true})
            .field("unit", &T::unit, {.help = "what is counted: tokens, samples, images"})
            .field("step_time", &T::step_time,
                   {.help = "of the full batch", .min = shortest, .required = true})
            .field("step_time_low", &T::step_time_low, {.help = "the least it may be", .min = 0})
            .field("step_time_high", &T::step_time_high, {.help = "the most it may be", .min = 0})
            .field("ramp", &T::ramp, {.help = "smaller batches at the start"})
            .field("device", &T::device, {.help = "model of the GPU"})
            .field("gpus", &T::gpus, {.help = "that train", .min = 1, .required = true})
            .field("gpus_per_node", &T::gpus_per_node,
                   {.help = "GPUs that fail together", .min = 1})
            .field("parameters", &T::parameters,
                   {.help = "of the model, for the size of a checkpoint",
                    .min = 0,
                    .max = most_tokens})
            .field("evaluation", &T::evaluation,
                   {.help = "time beside the steps, as a share of theirs", .min = 0, .max = 10})
            .field("stragglers", &T::stragglers,
                   {.help = "what slow devices add to the steps, as a share", .min = 0, .max = 10})
            .field("deadline", &T::deadline, {.help = "of the whole training", .min = 0})
            .field("budget", &T::budget, {.help = "what it may cost", .min = 0})
            .field(
                "certainty", &T::certainty,
                {.help = "the chance to meet deadline and budget that is enough; 0.5: on average",
                 .min = 0,
                 .max = 1})
            .field("failures", &T::failures, {.help = "what fails"})
            .field("checkpoints", &T::checkpoints, {.help = "what is saved"})
            .field("prices", &T::prices, {.help = "what is paid"})
            .field("power", &T::power, {.help = "what is drawn"});
    return table;
}

// Ranges are the fields' own: the values are written and read again.
Problems problems_of(const WholeTrainingRequest& request)
{
    Problems problems;
    const Json written = fields_of<WholeTrainingRequest>().write(request);
    WholeTrainingRequest again;
    fields_of<WholeTrainingRequest>().read(Reader(written, {}, problems), again);
    if (!problems.empty())
        return problems;
    Contradictions contradiction(problems);
    check_amounts(request, contradiction);
    check_checkpoints(request, contradiction);
    check_failures(request, contradiction);
    return problems;
}

} // namespace trainyard
