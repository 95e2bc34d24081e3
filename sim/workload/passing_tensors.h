#pragma once

// Tensors of a layer that live within its forward or its backward pass.

#include "sim/workload/layer_parts.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard {

using LayerTensors = std::vector<LayerTensor>;

// Adds what is not kept.
class PassingTensors {
public:
    PassingTensors(const LayerShape& shape, LayerTensors& tensors) : s_(shape), tensors_(tensors) {}

    void forward(std::string name, std::int64_t bytes, std::string_view made_by,
                 std::string_view until)
    {
        add(std::move(name), bytes, TensorUse::forward, made_by, until);
    }

    void gradient(std::string name, std::int64_t bytes, std::string_view made_by,
                  std::string_view until)
    {
        add(std::move(name), bytes, TensorUse::gradient, made_by, until);
    }

    // The one that was added last is read by these weights' gradients, as products read it.
    void read_for_weights(std::string_view products)
    {
        LayerTensor& tensor = tensors_.back();
        tensor.put_off = products;
        tensor.operand = s_.narrow() ? s_.cast_bytes(tensor.bytes / s_.width) : tensor.bytes;
    }

    std::int64_t whole() const { return s_.width * s_.tokens * s_.hidden; }
    std::int64_t split() const { return s_.width * s_.split_tokens * s_.hidden; }

private:
    void add(std::string name, std::int64_t bytes, TensorUse use, std::string_view made_by,
             std::string_view until)
    {
        LayerTensor tensor;
        tensor.name = std::move(name);
        tensor.bytes = bytes;
        tensor.use = use;
        tensor.made_by = made_by;
        tensor.until = until;
        tensors_.push_back(std::move(tensor));
    }

    const LayerShape& s_;
    LayerTensors& tensors_;
};

} // namespace trainyard
