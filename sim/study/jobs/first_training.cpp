#include "sim/study/jobs/first_training.h"

#include "sim/cost/kernel_time.h"
#include "sim/study/search/nearest_batches.h"

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
    if (request.sequence_length) {
        training.sequence_length = *request.sequence_length;
        return;
    }
    training.sequence_length = usual_sequence;
    const char* reason = "usual";
    const auto at_most = [&](std::int64_t tokens, const char* why) {
        if (tokens <= 0 || tokens >= training.sequence_length)
            return;
        training.sequence_length = tokens;
        reason = why;
    };
    if (model.cross_attention && !model.encoders.empty())
        at_most(model.encoders.front().tokens, "as long as what its encoder reads");
    if (model.position == PositionKind::learned)
        at_most(model.max_positions, "what the learned positions reach");
    out.reasons.push_back(
        fmt::format("training.sequence_length {}: {}", training.sequence_length, reason));
}

std::int64_t usual_batch(const Parts& parts, std::int64_t sequence_length)
{
    const std::int64_t gpus = parts.topology->device_count();
    if (std::get_if<Transformer>(&parts.model->architecture) == nullptr)
        return images_per_gpu * gpus;
    const std::int64_t tokens = std::clamp(tokens_per_gpu * gpus, least_tokens, most_tokens);
    return std::max<std::int64_t>(1, tokens / sequence_length);
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
    } else {
        batch = usual_batch(parts, out.scenario.training.sequence_length);
        out.fits_batch = true;
    }
    return out;
}

std::int64_t fitted_batch(std::int64_t usual, int devices)
{
    constexpr double near = 0.125;
    return batch_near(static_cast<double>(usual), devices, near);
}

std::string batch_reason(const Model& model, const Training& training)
{
    const std::int64_t batch = training.global_batch;
    if (std::get_if<Transformer>(&model.architecture) == nullptr)
        return fmt::format("training.global_batch {}: about {} samples per GPU", batch,
                           images_per_gpu);
    return fmt::format("training.global_batch {}: about {:.2g} million tokens a step", batch,
                       static_cast<double>(batch * training.sequence_length) / 1e6);
}

} // namespace trainyard
