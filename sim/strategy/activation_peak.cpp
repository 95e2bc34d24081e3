#include "sim/strategy/activation_peak.h"

namespace trainyard {

namespace {

class Walk {
public:
    void forward(const std::vector<HeldLayer>& chunk)
    {
        for (const HeldLayer& layer : chunk)
            (layer.is_head() ? held_.logits : held_.activations) += layer.kept;
    }

    void backward(const std::vector<HeldLayer>& chunk)
    {
        for (auto layer = chunk.rbegin(); layer != chunk.rend(); ++layer) {
            ActivationPeak now = held_;
            (layer->is_head() ? now.logits : now.workspace) += layer->transient + layer->regained;
            if (now.total() > peak_.total())
                peak_ = now;
            (layer->is_head() ? held_.logits : held_.activations) -= layer->kept;
        }
    }

    const ActivationPeak& peak() const { return peak_; }

private:
    ActivationPeak held_;
    ActivationPeak peak_;
};

} // namespace

ActivationPeak activation_peak(const std::vector<Pass>& passes,
                               const std::vector<std::vector<HeldLayer>>& chunks)
{
    Walk walk;
    for (const Pass& pass : passes) {
        const std::vector<HeldLayer>& chunk = chunks[static_cast<std::size_t>(pass.chunk)];
        if (pass.kind == PassKind::forward)
            walk.forward(chunk);
        else
            walk.backward(chunk);
    }
    return walk.peak();
}

} // namespace trainyard
