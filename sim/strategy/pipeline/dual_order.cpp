#include "sim/strategy/pipeline/dual_order.h"

#include <array>
#include <queue>

namespace trainyard {

namespace {

enum class WeightGradients { now, later };

class Writer {
public:
    void forward(int direction)
    {
        out_.push_back({PassKind::forward, next(forwards_, direction), direction});
    }
    void backward(int direction, WeightGradients weights = WeightGradients::now)
    {
        const int micro_batch = next(backwards_, direction);
        if (weights == WeightGradients::now) {
            out_.push_back({PassKind::backward, micro_batch, direction});
            return;
        }
        out_.push_back({PassKind::backward_input, micro_batch, direction});
        owed_.push({PassKind::backward_weight, micro_batch, direction});
    }
    // The oldest that were put off.
    void weights()
    {
        out_.push_back(owed_.front());
        owed_.pop();
    }
    void both(int forward_direction, int backward_direction)
    {
        forward(forward_direction);
        out_.back().with_next = true;
        backward(backward_direction);
    }

    std::vector<Pass> take() && { return std::move(out_); }

private:
    using Counts = std::array<int, 2>;

    static int next(Counts& counts, int direction)
    {
        return counts[static_cast<std::size_t>(direction)]++;
    }

    Counts forwards_{};
    Counts backwards_{};
    std::queue<Pass> owed_;
    std::vector<Pass> out_;
};

// Steps 1 to 3: forward passes ahead, then the first backward passes.
void warm_up(Writer& write, const DualOrder& order)
{
    const int inner = order.half - order.position - 1;
    for (int i = 0; i < 2 * inner; ++i)
        write.forward(0);
    for (int i = 0; i < order.position + 1; ++i) {
        write.forward(0);
        write.forward(1);
    }
    for (int i = 0; i < inner; ++i) {
        write.backward(1, WeightGradients::later);
        write.weights();
        write.forward(1);
    }
}

// Steps 4 and 5. The innermost devices do not overlap their first two passes, which leaves a
// smaller bubble.
void steady(Writer& write, const DualOrder& order)
{
    const int inner = order.half - order.position - 1;
    for (int i = 0; i < order.passes - 2 * order.half + order.position + 1; ++i) {
        if (i == 0 && inner == 0) {
            write.forward(0);
            write.backward(1);
        } else {
            write.both(0, 1);
        }
        write.both(1, 0);
    }
    for (int i = 0; i < inner; ++i) {
        write.backward(1);
        write.both(1, 0);
    }
}

// Steps 6 to 8: backward passes are left, the second half of them split.
void cool_down(Writer& write, const DualOrder& order)
{
    const int both = order.position + 1;
    const bool odd = order.position % 2 == 1;
    for (int i = 0; i < both; ++i) {
        const bool second_half = i > both / 2 || (i == both / 2 && odd);
        write.backward(1, second_half ? WeightGradients::later : WeightGradients::now);
        write.backward(0, i >= both / 2 ? WeightGradients::later : WeightGradients::now);
    }
    for (int i = 0; i < order.half - order.position - 1; ++i) {
        write.weights();
        write.backward(0, WeightGradients::later);
    }
    for (int i = 0; i < both; ++i)
        write.weights();
}

} // namespace

std::vector<Pass> dual_passes(const DualOrder& order)
{
    Writer write;
    warm_up(write, order);
    steady(write, order);
    cool_down(write, order);
    return std::move(write).take();
}

} // namespace trainyard
