#pragma once

// A value for each instance of each tensor, told apart as its scope says.

#include "sim/program/program.h"

#include <unordered_map>

namespace trainyard {

template <class Value>
class InstanceMap {
public:
    explicit InstanceMap(const Program& program) : program_(program) {}

    // Made when it is not there. `number` of the use in the role.
    Value& at(TensorId tensor, const BlockUse& use, std::ptrdiff_t number)
    {
        return values_[key(tensor, use, static_cast<std::uint64_t>(number))];
    }

    template <class Visit>
    void for_each(Visit visit) const
    {
        for (const auto& [key, value] : values_)
            visit(TensorId{static_cast<std::uint32_t>(key >> instance_bits)}, value);
    }

private:
    static constexpr int instance_bits = 40;

    // Tensor above, instance below.
    std::uint64_t key(TensorId tensor, const BlockUse& use, std::uint64_t number) const
    {
        std::uint64_t instance = 0;
        switch (program_.tensors[tensor.value].scope) {
        case TensorScope::use:
            instance = number;
            break;
        case TensorScope::micro_batch:
            instance = use.micro_batch;
            break;
        case TensorScope::layer:
            instance = use.layer;
            break;
        case TensorScope::layer_of_micro_batch:
            instance = (std::uint64_t{use.layer} << 16) | use.micro_batch;
            break;
        case TensorScope::step:
            break;
        }
        return (std::uint64_t{tensor.value} << instance_bits) | instance;
    }

    const Program& program_;
    std::unordered_map<std::uint64_t, Value> values_;
};

} // namespace trainyard
