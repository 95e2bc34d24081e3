// ZB-V (Qi 2023, section 6; the order of PyTorch's ScheduleZBVZeroBubble): two chunks per device,
// there and back, so that the first device also ends the pipe.
//
// A stage's own idle time is nothing when F = B = W and m >= 2p - 1; in flight at most 2p chunks of
// half a stage: as much as 1F1B's first stage. With fewer micro-batches the passes of those that do
// not exist are left out.

#include "sim/strategy/schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

class Order {
public:
    void forward(int chunk) { add(PassKind::forward, forwards_, chunk); }
    void input(int chunk) { add(PassKind::backward_input, inputs_, chunk); }
    void weights(int chunk) { add(PassKind::backward_weight, weights_, chunk); }
    void backward(int chunk)
    {
        input(chunk);
        weights(chunk);
    }

    int forwards(int chunk) const { return forwards_[static_cast<std::size_t>(chunk)]; }
    bool owes_weights(int chunk) const
    {
        const auto c = static_cast<std::size_t>(chunk);
        return weights_[c] < inputs_[c];
    }

    std::vector<Pass> of(int micro_batches) &&
    {
        std::erase_if(passes_, [&](const Pass& pass) { return pass.micro_batch >= micro_batches; });
        return std::move(passes_);
    }

private:
    using Counts = std::array<int, 2>; // by chunk

    void add(PassKind kind, Counts& counts, int chunk)
    {
        passes_.push_back({kind, counts[static_cast<std::size_t>(chunk)]++, chunk});
    }

    Counts forwards_{};
    Counts inputs_{};
    Counts weights_{};
    std::vector<Pass> passes_;
};

void warm_up(Order& order, int stages, int stage)
{
    for (int i = 0; i < 2 * (stages - stage) - 1; ++i)
        order.forward(0);
    for (int i = 0; i < stage; ++i) {
        order.forward(1);
        order.forward(0);
    }
    for (int i = 0; i < stages - stage; ++i) {
        order.forward(1);
        order.backward(1);
    }
}

void cool_down(Order& order, int stages, int stage)
{
    for (int i = 0; i < stage; ++i) {
        order.input(0);
        order.input(1);
    }
    for (int i = 0; i < stages - stage; ++i) {
        order.input(0);
        order.weights(0);
    }
    for (const int chunk : {1, 0})
        while (order.owes_weights(chunk))
            order.weights(chunk);
}

class ZbV final : public PipelineSchedule {
public:
    std::string_view name() const override { return "zb-v"; }
    std::string_view help() const override
    {
        return "two chunks per device, there and back, gradients of weights put off; next to no "
               "bubble in the memory of 1f1b";
    }

    std::string refusal(const PipelineShape& shape) const override
    {
        if (shape.chunks != 2)
            return fmt::format("zb-v runs two chunks per device, there and back, not {}; use "
                               "vpp = 2, or the schedule zb-h1 with vpp = 1",
                               shape.chunks);
        if (shape.stages < 2)
            return "zb-v needs at least 2 pipeline stages; use pp >= 2 or the schedule 1f1b with "
                   "vpp = 1";
        return {};
    }

    StagePlacement placement(const PipelineShape& shape) const override
    {
        return folded_placement(shape.stages);
    }

    bool ends_in_turn() const override { return true; }

    std::vector<Pass> passes(const PipelineShape& shape, int stage) const override
    {
        const int micro_batches = std::max(2 * shape.stages - 1, shape.micro_batches);
        Order order;
        warm_up(order, shape.stages, stage);
        while (order.forwards(1) < order.forwards(0) || order.forwards(0) < micro_batches) {
            if (order.forwards(0) < micro_batches)
                order.forward(0);
            order.backward(0);
            order.forward(1);
            order.backward(1);
        }
        cool_down(order, shape.stages, stage);
        return std::move(order).of(shape.micro_batches);
    }
};

} // namespace

const PipelineSchedule& zb_v_schedule()
{
    static const ZbV schedule;
    return schedule;
}

} // namespace trainyard
