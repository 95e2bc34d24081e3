#include "tests/validation/loop/training.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>

namespace trainyard::loop {
namespace {

using Clock = std::chrono::steady_clock;

constexpr float rate = 0.01f;
constexpr float inertia = 0.9f;

double seconds(Clock::duration duration)
{
    return std::chrono::duration<double>(duration).count();
}

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    if (values.size() % 2 == 1)
        return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Of all bits, in numbers that a double holds exactly (FNV-1a).
std::array<double, 2> fingerprint(std::span<const float> values)
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const float value : values)
        hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001b3u;
    return {static_cast<double>(hash >> 32), static_cast<double>(hash & 0xffffffffu)};
}

bool same_on_all_ranks(Group& group, std::span<const float> values)
{
    const auto [high, low] = fingerprint(values);
    std::array<double, 4> ends{high, -high, low, -low};
    group.largest(ends);
    return ends[0] == -ends[1] && ends[2] == -ends[3];
}

struct StepTimes {
    double forward;
    double backward;
    double waiting;
    double update;

    double sum() const { return forward + backward + waiting + update; }
};

class Trainer {
public:
    Trainer(Group& group, const TrainingPlan& plan)
        : group_(group),
          network_(plan.sizes, 1),
          reducer_(group, network_.gradients(), network_.tensor_sizes(), plan.overlap),
          rate_(rate / static_cast<float>(group.ranks()))
    {
        network_.draw_samples(1000 + static_cast<unsigned>(group.rank()));
    }

    StepTimes step()
    {
        const auto start = Clock::now();
        loss_ = network_.forward();
        const auto forward = Clock::now();
        network_.backward([this](std::size_t count) { reducer_.made(count); });
        const auto backward = Clock::now();
        reducer_.finish();
        const auto reduced = Clock::now();
        network_.update(rate_, inertia);
        return {seconds(forward - start), seconds(backward - forward), seconds(reduced - backward),
                seconds(Clock::now() - reduced)};
    }

    bool gradients_agree() { return same_on_all_ranks(group_, network_.gradients()); }
    bool parameters_agree() { return same_on_all_ranks(group_, network_.parameters()); }
    double loss() const { return loss_; }
    const Reducer& reducer() const { return reducer_; }

private:
    Group& group_;
    Perceptron network_;
    Reducer reducer_;
    float rate_; // of a sum of all ranks' mean gradients
    double loss_ = 0;
};

double slowest_median(Group& group, const std::vector<StepTimes>& times, double StepTimes::*part)
{
    std::vector<double> parts;
    for (const StepTimes& step : times)
        parts.push_back(step.*part);
    std::array<double, 1> value{median(std::move(parts))};
    group.largest(value);
    return value[0];
}

} // namespace

TrainingResult train(Group& group, const TrainingPlan& plan)
{
    Trainer trainer(group, plan);
    TrainingResult result;
    result.ranks = group.ranks();
    result.ranks_agree = true;
    for (int i = 0; i < plan.warm_up; ++i) {
        trainer.step();
        result.ranks_agree &= trainer.gradients_agree();
        if (i == 0)
            result.first_loss = trainer.loss();
    }
    const std::uint64_t bytes_before = trainer.reducer().bytes();
    std::vector<StepTimes> times;
    for (int i = 0; i < plan.steps; ++i)
        times.push_back(trainer.step());
    result.bytes_per_step = (trainer.reducer().bytes() - bytes_before) /
                            static_cast<std::uint64_t>(std::max(plan.steps, 1));
    result.ranks_agree &= trainer.parameters_agree();

    for (const StepTimes& step : times)
        result.steps.push_back(step.sum());
    group.largest(result.steps);
    result.step = median(result.steps);
    result.forward = slowest_median(group, times, &StepTimes::forward);
    result.backward = slowest_median(group, times, &StepTimes::backward);
    result.waiting = slowest_median(group, times, &StepTimes::waiting);
    result.update = slowest_median(group, times, &StepTimes::update);
    result.buckets = trainer.reducer().buckets();
    std::array losses{result.first_loss, trainer.loss()};
    group.largest(losses);
    result.first_loss = losses[0];
    result.last_loss = losses[1];
    return result;
}

std::string to_json(const TrainingResult& result)
{
    return nlohmann::ordered_json{{"ranks", result.ranks},
                                  {"step_s", result.step},
                                  {"forward_s", result.forward},
                                  {"backward_s", result.backward},
                                  {"waiting_s", result.waiting},
                                  {"update_s", result.update},
                                  {"steps_s", result.steps},
                                  {"buckets", result.buckets},
                                  {"bytes_per_step", result.bytes_per_step},
                                  {"first_loss", result.first_loss},
                                  {"last_loss", result.last_loss},
                                  {"ranks_agree", result.ranks_agree}}
        .dump();
}

} // namespace trainyard::loop
