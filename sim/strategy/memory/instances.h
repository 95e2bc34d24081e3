#pragma once

// A value for each instance of each tensor, told apart as its scope says.

#include "sim/program/program.h"

#include <optional>
#include <unordered_map>
#include <utility>

namespace trainyard {

// Tensor, layer and micro-batch (or the number of the use) as the scope tells them apart.
struct InstanceKey {
    std::uint32_t tensor = 0;
    std::uint16_t layer = 0;
    std::uint32_t micro_batch = 0; // or use

    bool operator==(const InstanceKey&) const = default;
};

struct InstanceHash {
    std::size_t operator()(const InstanceKey& key) const noexcept
    {
        std::uint64_t mixed =
            (std::uint64_t{key.tensor} << 40) ^ (std::uint64_t{key.layer} << 24) ^ key.micro_batch;
        mixed *= 0x9e3779b97f4a7c15; // 2^64 / golden ratio
        return static_cast<std::size_t>(mixed ^ (mixed >> 29));
    }
};

template <class Value>
class InstanceMap {
public:
    explicit InstanceMap(const Program& program) : program_(program) {}

    // Made when it is not there. `number` of the use in the role.
    Value& at(TensorId tensor, const BlockUse& use, std::uint32_t number)
    {
        return values_[key(tensor, use, number)];
    }
    // The value, which is there no longer; nothing when it was not.
    std::optional<Value> take(TensorId tensor, const BlockUse& use, std::uint32_t number)
    {
        const auto found = values_.find(key(tensor, use, number));
        if (found == values_.end())
            return std::nullopt;
        const Value value = found->second;
        values_.erase(found);
        return value;
    }

    template <class Visit>
    void for_each(Visit visit) const
    {
        for (const auto& [key, value] : values_)
            visit(key, value);
    }

    // All instances become those of micro-batches (and uses) that many later.
    void shift(std::uint32_t micro_batches, std::uint32_t uses)
    {
        std::unordered_map<InstanceKey, Value, InstanceHash> shifted;
        for (const auto& [key, value] : values_) {
            InstanceKey later = key;
            later.micro_batch += moves(key) == Moves::micro_batch ? micro_batches
                                 : moves(key) == Moves::use       ? uses
                                                                  : 0;
            shifted.emplace(later, value);
        }
        values_ = std::move(shifted);
    }

    enum class Moves { nothing, micro_batch, use };
    // What InstanceKey::micro_batch is of an instance.
    Moves moves(const InstanceKey& key) const
    {
        switch (program_.tensors[key.tensor].scope) {
        case TensorScope::use:
            return Moves::use;
        case TensorScope::micro_batch:
        case TensorScope::layer_of_micro_batch:
            return Moves::micro_batch;
        default:
            return Moves::nothing;
        }
    }

private:
    InstanceKey key(TensorId tensor, const BlockUse& use, std::uint32_t number) const
    {
        switch (program_.tensors[tensor.value].scope) {
        case TensorScope::use:
            return {tensor.value, 0, number};
        case TensorScope::micro_batch:
            return {tensor.value, 0, use.micro_batch};
        case TensorScope::layer:
            return {tensor.value, use.layer, 0};
        case TensorScope::layer_of_micro_batch:
            return {tensor.value, use.layer, use.micro_batch};
        case TensorScope::step:
            break;
        }
        return {tensor.value, 0, 0};
    }

    const Program& program_;
    std::unordered_map<InstanceKey, Value, InstanceHash> values_;
};

} // namespace trainyard
