#include "sim/study/jobs/first_training.h"

#include "sim/cost/kernel_time.h"
#include "sim/topology/used_devices.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::int64_t least_tokens = std::int64_t{1} << 20; // per step; usual is 1 to 16 million
constexpr std::int64_t most_tokens = std::int64_t{1} << 24;
constexpr std::int64_t tokens_per_gpu = 4096;
constexpr std::int64_t images_per_gpu = 32;
constexpr std::int64_t usual_sequence = 4096;

void choose_precision(FirstTraining& out, const Device& device)
{
    Training& training = out.scenario.training;
    training.precision = executed_precision(Precision::bf16, device) == Precision::bf16
                             ? Precision::bf16
                             : Precision::fp16;
    out.reasons.push_back(
        fmt::format("training.precision {}: the 16-bit format that {} multiplies in",
                    to_name(training.precision), device.name));
}

void choose_sequence(FirstTraining& out, const StartRequest& request, const Transformer& model)
{
    Training& training = out.scenario.training;
    const bool limited = model.position == PositionKind::learned && model.max_positions > 0;
    training.sequence_length = request.sequence_length.value_or(
        limited ? std::min(usual_sequence, model.max_positions) : usual_sequence);
    if (!request.sequence_length)
        out.reasons.push_back(fmt::format("training.sequence_length {}: {}",
                                          training.sequence_length,
                                          limited ? "what the learned positions reach" : "usual"));
}

// The same for all layouts, so that their steps compare.
void choose_batch(FirstTraining& out, const Parts& parts)
{
    Training& training = out.scenario.training;
    std::int64_t& batch = training.global_batch;
    const std::int64_t gpus = parts.topology->device_count();
    if (std::get_if<Transformer>(&parts.model->architecture) == nullptr) {
        batch = images_per_gpu * gpus;
        out.reasons.push_back(
            fmt::format("training.global_batch {}: {} samples per GPU", batch, images_per_gpu));
        return;
    }
    const std::int64_t tokens = std::clamp(tokens_per_gpu * gpus, least_tokens, most_tokens);
    const std::int64_t wanted = std::max<std::int64_t>(1, tokens / training.sequence_length);
    // Of domains that are no power of two some devices may be left idle.
    const int domain = std::max(1, largest_domain(*parts.topology));
    const std::int64_t domains = gpus / domain;
    const std::int64_t most = domains > 1 ? domains * even_part(domain) : gpus;
    std::int64_t unit = most;
    while (unit > wanted || most % unit != 0)
        --unit;
    // Shares of replicas that are powers of two times something make micro-batches of many sizes.
    constexpr std::int64_t evened = 8;
    constexpr double more = 1.1;
    for (std::int64_t even = evened * unit; even > unit; even /= 2)
        if (static_cast<double>((wanted + even - 1) / even * even) <=
            more * static_cast<double>(wanted)) {
            unit = even;
            break;
        }
    batch = (wanted + unit - 1) / unit * unit;
    out.reasons.push_back(
        fmt::format("training.global_batch {}: about {:.2g} million tokens a step{}", batch,
                    static_cast<double>(batch * training.sequence_length) / 1e6,
                    unit > 1 ? fmt::format(", a multiple of {}", unit) : ""));
}

} // namespace

Checked<Parts> start_parts(const StartRequest& request)
{
    Scenario probe;
    probe.model = request.model;
    probe.topology = request.topology;
    probe.training.global_batch = 1;
    probe.strategy.dp = 1;
    // Learned positions may be fewer than any default.
    probe.training.sequence_length = request.sequence_length.value_or(1);
    StageMemos memos;
    return build_job_parts(scenario_in_memory(probe, request.folder, ""), memos);
}

FirstTraining first_training(const StartRequest& request, const Parts& parts,
                             std::optional<std::int64_t> instead)
{
    FirstTraining out;
    out.scenario.model = request.model;
    out.scenario.topology = request.topology;
    choose_precision(out, parts.cost->profile().hardware.device);
    if (const auto* model = std::get_if<Transformer>(&parts.model->architecture))
        choose_sequence(out, request, *model);
    std::int64_t& batch = out.scenario.training.global_batch;
    if (request.global_batch)
        batch = *request.global_batch;
    else if (instead) {
        batch = *instead;
        out.reasons.push_back(fmt::format(
            "training.global_batch {}: the nearest to the usual one that a layout divides", batch));
    } else
        choose_batch(out, parts);
    return out;
}

} // namespace trainyard
