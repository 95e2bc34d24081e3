#pragma once

// A network that trains on one core in float32: dense layers with biases and rectifiers, mean
// square error, momentum SGD. Every product and every pass over memory is one that a simulation
// counts.

#include "calibrate/measure/host_kernels/gemm.h"

#include <functional>
#include <span>
#include <vector>

namespace trainyard::loop {

struct NetworkSizes {
    std::vector<std::size_t> widths; // of the input and of each layer's output: at least two
    std::size_t batch = 1;           // samples of one rank

    std::size_t layers() const { return widths.size() - 1; }
};

class Perceptron {
public:
    // Equal seeds give equal parameters.
    Perceptron(NetworkSizes sizes, unsigned seed);

    // Other samples and targets for every seed.
    void draw_samples(unsigned seed);

    // Half the mean over samples of the squared distance to their targets.
    double forward();

    // After forward(). From the last layer to the first: gradients of what the layer computed and
    // of its biases; of its input (that of the first too, as if an embedding were before it); of
    // its weights. Calls `made` with how many of gradients() are final, whenever they are more.
    void backward(const std::function<void(std::size_t)>& made);

    // momentum' = inertia momentum + gradient; parameter -= rate momentum'.
    void update(float rate, float inertia);

    // All, in the order in which backward makes them: the last layer's biases, its weights (inputs
    // x outputs), and so on to the first layer.
    std::span<float> gradients() { return gradients_; }
    std::span<float> parameters() { return parameters_; } // in the same order
    // Elements of the tensors in that order.
    std::vector<std::size_t> tensor_sizes() const;

private:
    struct Layer {
        std::size_t inputs;
        std::size_t outputs;
        std::size_t biases;  // where they begin among the parameters
        std::size_t weights; // and these
    };

    float* input_of(std::size_t layer) { return activations_[layer].data(); }
    void add_bias_and_clip(const Layer& layer, float* values) const;
    void clip_and_sum(const Layer& layer, const float* outputs, float* changes);

    NetworkSizes sizes_;
    std::vector<Layer> layers_; // front to back
    std::vector<float> parameters_;
    std::vector<float> gradients_;
    std::vector<float> momentum_;
    std::vector<std::vector<float>> activations_; // the input, then each layer's output
    std::vector<float> targets_;
    std::vector<float> changes_; // the loss's gradient by an activation
    std::vector<float> changes_before_;
    GemmSpace space_;
};

} // namespace trainyard::loop
