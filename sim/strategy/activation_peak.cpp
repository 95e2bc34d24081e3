#include "sim/strategy/activation_peak.h"

namespace trainyard {

namespace {

class Walk {
public:
    void forward(const std::vector<HeldLayer>& chunk)
    {
        for (const HeldLayer& layer : chunk)
            kind(layer) += layer.kept;
    }

    void backward(const std::vector<HeldLayer>& chunk)
    {
        for (auto layer = chunk.rbegin(); layer != chunk.rend(); ++layer) {
            meet(*layer, layer->transient + layer->regained);
            kind(*layer) -= layer->kept;
        }
    }

    // What was kept and what is brought back stay for the gradients of weights.
    void backward_input(const std::vector<HeldLayer>& chunk)
    {
        for (auto layer = chunk.rbegin(); layer != chunk.rend(); ++layer) {
            meet(*layer, layer->transient + layer->regained);
            if (layer->splits)
                kind(*layer) += layer->regained;
            else
                kind(*layer) -= layer->kept;
        }
    }

    void backward_weight(const std::vector<HeldLayer>& chunk)
    {
        for (const HeldLayer& layer : chunk)
            if (layer.splits)
                kind(layer) -= layer.kept + layer.regained;
    }

    const ActivationPeak& peak() const { return peak_; }

private:
    Bytes& kind(const HeldLayer& layer)
    {
        return layer.is_head() ? held_.logits : held_.activations;
    }

    void meet(const HeldLayer& layer, Bytes inside)
    {
        ActivationPeak now = held_;
        (layer.is_head() ? now.logits : now.workspace) += inside;
        if (now.total() > peak_.total())
            peak_ = now;
    }

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
        switch (pass.kind) {
        case PassKind::forward:
            walk.forward(chunk);
            break;
        case PassKind::backward:
            walk.backward(chunk);
            break;
        case PassKind::backward_input:
            walk.backward_input(chunk);
            break;
        case PassKind::backward_weight:
            walk.backward_weight(chunk);
            break;
        }
    }
    return walk.peak();
}

} // namespace trainyard
