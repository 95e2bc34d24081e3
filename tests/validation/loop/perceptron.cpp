#include "tests/validation/loop/perceptron.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace trainyard::loop {
namespace {

std::size_t widest(const NetworkSizes& sizes)
{
    return std::ranges::max(sizes.widths);
}

// Room for each product of the network.
GemmSpace space_for(const NetworkSizes& sizes)
{
    const std::size_t most = std::max(widest(sizes), sizes.batch);
    return GemmSpace({most, most, most});
}

void fill_evenly(std::span<float> values, float from, float to, std::mt19937& random)
{
    std::uniform_real_distribution<float> draw(from, to);
    for (float& value : values)
        value = draw(random);
}

} // namespace

Perceptron::Perceptron(NetworkSizes sizes, unsigned seed)
    : sizes_(std::move(sizes)), space_(space_for(sizes_))
{
    std::size_t end = 0;
    for (std::size_t i = sizes_.layers(); i-- > 0;) {
        const std::size_t inputs = sizes_.widths[i];
        const std::size_t outputs = sizes_.widths[i + 1];
        layers_.insert(layers_.begin(), {inputs, outputs, end, end + outputs});
        end += outputs + inputs * outputs;
    }
    parameters_.assign(end, 0.0f);
    gradients_.assign(end, 0.0f);
    momentum_.assign(end, 0.0f);
    std::mt19937 random(seed);
    for (const Layer& layer : layers_) { // as He 2015: activations keep their size
        const float bound = std::sqrt(6.0f / static_cast<float>(layer.inputs));
        fill_evenly(std::span(parameters_).subspan(layer.weights, layer.inputs * layer.outputs),
                    -bound, bound, random);
        // Above 0, so that a unit without input is not just between open and closed.
        fill_evenly(std::span(parameters_).subspan(layer.biases, layer.outputs), 0.01f, 0.1f,
                    random);
    }
    for (const std::size_t width : sizes_.widths)
        activations_.emplace_back(sizes_.batch * width, 0.0f);
    targets_.assign(activations_.back().size(), 0.0f);
    changes_.assign(sizes_.batch * widest(sizes_), 0.0f);
    changes_before_ = changes_;
}

void Perceptron::draw_samples(unsigned seed)
{
    std::mt19937 random(seed);
    fill_evenly(activations_.front(), -1.0f, 1.0f, random);
    fill_evenly(targets_, 0.0f, 1.0f, random); // what rectifiers can reach
}

double Perceptron::forward()
{
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const Layer& layer = layers_[i];
        float* outputs = input_of(i + 1);
        multiply({sizes_.batch, layer.outputs, layer.inputs}, {input_of(i)},
                 {parameters_.data() + layer.weights}, outputs, space_);
        add_bias_and_clip(layer, outputs);
    }
    const std::vector<float>& outputs = activations_.back();
    const float share = 1.0f / static_cast<float>(sizes_.batch);
    double sum = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const float distance = outputs[i] - targets_[i];
        changes_[i] = distance * share;
        sum += static_cast<double>(distance * distance);
    }
    return sum / 2 / static_cast<double>(sizes_.batch);
}

void Perceptron::add_bias_and_clip(const Layer& layer, float* values) const
{
    const float* biases = parameters_.data() + layer.biases;
    for (std::size_t sample = 0; sample < sizes_.batch; ++sample, values += layer.outputs)
        for (std::size_t i = 0; i < layer.outputs; ++i)
            values[i] = std::max(values[i] + biases[i], 0.0f);
}

// Changes of what was clipped are none; sums of the others are the biases' gradients.
void Perceptron::clip_and_sum(const Layer& layer, const float* outputs, float* changes)
{
    float* biases = gradients_.data() + layer.biases;
    std::fill_n(biases, layer.outputs, 0.0f);
    for (std::size_t sample = 0; sample < sizes_.batch;
         ++sample, changes += layer.outputs, outputs += layer.outputs)
        for (std::size_t i = 0; i < layer.outputs; ++i) {
            changes[i] = outputs[i] > 0.0f ? changes[i] : 0.0f;
            biases[i] += changes[i];
        }
}

void Perceptron::backward(const std::function<void(std::size_t)>& made)
{
    for (std::size_t i = layers_.size(); i-- > 0;) {
        const Layer& layer = layers_[i];
        const std::size_t batch = sizes_.batch;
        clip_and_sum(layer, input_of(i + 1), changes_.data());
        made(layer.weights);
        multiply({batch, layer.inputs, layer.outputs}, {changes_.data()},
                 {parameters_.data() + layer.weights, MatrixOrder::columns}, changes_before_.data(),
                 space_);
        multiply({layer.inputs, layer.outputs, batch}, {input_of(i), MatrixOrder::columns},
                 {changes_.data()}, gradients_.data() + layer.weights, space_);
        made(layer.weights + layer.inputs * layer.outputs);
        std::swap(changes_, changes_before_);
    }
}

void Perceptron::update(float rate, float inertia)
{
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        momentum_[i] = inertia * momentum_[i] + gradients_[i];
        parameters_[i] -= rate * momentum_[i];
    }
}

std::vector<std::size_t> Perceptron::tensor_sizes() const
{
    std::vector<std::size_t> sizes;
    for (std::size_t i = layers_.size(); i-- > 0;) {
        sizes.push_back(layers_[i].outputs);
        sizes.push_back(layers_[i].inputs * layers_[i].outputs);
    }
    return sizes;
}

} // namespace trainyard::loop
