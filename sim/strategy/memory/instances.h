#pragma once

// A value for each instance of each tensor, told apart as its scope says.

#include "sim/program/program.h"

#include <bit>
#include <optional>
#include <utility>
#include <vector>

namespace trainyard {

// Tensor, layer and micro-batch (or the number of the use) as the scope tells them apart.
struct InstanceKey {
    std::uint32_t tensor = 0;
    std::uint16_t layer = 0;
    std::uint32_t micro_batch = 0; // or use

    bool operator==(const InstanceKey&) const = default;
    auto operator<=>(const InstanceKey&) const = default;
};

// The upper bits tell keys apart best.
constexpr std::uint64_t hash_of(const InstanceKey& key)
{
    const std::uint64_t packed =
        (std::uint64_t{key.tensor} << 40) ^ (std::uint64_t{key.layer} << 24) ^ key.micro_batch;
    return packed * 0x9e3779b97f4a7c15; // 2^64 / golden ratio
}

// A hash table with linear probing: tensors come and go tens of millions of times in a study, and
// few live at a time.
template <class Value>
class InstanceMap {
public:
    explicit InstanceMap(const Program& program) : slots_(64)
    {
        for (const Tensor& tensor : program.tensors)
            scopes_.push_back(tensor.scope);
    }

    // Made when it is not there. `number` of the use in the role.
    Value& at(TensorId tensor, const BlockUse& use, std::uint32_t number)
    {
        if (2 * size_ >= slots_.size())
            rebuild(2 * slots_.size(), [](const InstanceKey& key) { return key; });
        return add(key(tensor, use, number));
    }
    // The value, which is there no longer; nothing when it was not.
    std::optional<Value> take(TensorId tensor, const BlockUse& use, std::uint32_t number)
    {
        const std::size_t at = find(key(tensor, use, number));
        if (!slots_[at].used)
            return std::nullopt;
        const Value value = slots_[at].value;
        erase(at);
        return value;
    }

    template <class Visit>
    void for_each(Visit visit) const
    {
        for (const Slot& slot : slots_)
            if (slot.used)
                visit(slot.key, slot.value);
    }

    // All instances that `moves(key)` become those of micro-batches, or uses, that many later.
    template <class Moves>
    void shift(std::uint32_t micro_batches, std::uint32_t uses, Moves moves)
    {
        rebuild(slots_.size(), [&](const InstanceKey& key) {
            return moves(key) ? later(key, micro_batches, uses) : key;
        });
    }

    // The instance of the micro-batch, or use, that many later, where the scope tells them apart.
    InstanceKey later(InstanceKey key, std::uint32_t micro_batches, std::uint32_t uses) const
    {
        const TensorScope scope = scopes_[key.tensor];
        if (scope == TensorScope::use)
            key.micro_batch += uses;
        else if (scope == TensorScope::micro_batch || scope == TensorScope::layer_of_micro_batch)
            key.micro_batch += micro_batches;
        return key;
    }

private:
    InstanceKey key(TensorId tensor, const BlockUse& use, std::uint32_t number) const
    {
        switch (scopes_[tensor.value]) {
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

    struct Slot {
        InstanceKey key{};
        Value value{};
        bool used = false;
    };

    // Where the key is, or else the free slot where it would be.
    std::size_t find(const InstanceKey& key) const
    {
        std::size_t at = home(key);
        while (slots_[at].used && !(slots_[at].key == key))
            at = next(at);
        return at;
    }
    std::size_t home(const InstanceKey& key) const
    {
        return hash_of(key) >> (64 - std::countr_zero(slots_.size()));
    }
    std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

    Value& add(const InstanceKey& key)
    {
        Slot& slot = slots_[find(key)];
        if (!slot.used) {
            slot = {key, {}, true};
            ++size_;
        }
        return slot.value;
    }

    // Slots behind close up, so that a search ends at the first free one.
    void erase(std::size_t hole)
    {
        --size_;
        slots_[hole].used = false;
        for (std::size_t at = next(hole); slots_[at].used; at = next(at)) {
            const std::size_t mask = slots_.size() - 1;
            const std::size_t from_home = (at - home(slots_[at].key)) & mask;
            if (from_home < ((at - hole) & mask))
                continue;
            slots_[hole] = slots_[at];
            slots_[at].used = false;
            hole = at;
        }
    }

    template <class Rename>
    void rebuild(std::size_t slots, Rename rename)
    {
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
        size_ = 0;
        for (const Slot& slot : old)
            if (slot.used)
                add(rename(slot.key)) = slot.value;
    }

    std::vector<TensorScope> scopes_; // by tensor
    std::vector<Slot> slots_;         // a power of two of them, half of them free at least
    std::size_t size_ = 0;
};

} // namespace trainyard
