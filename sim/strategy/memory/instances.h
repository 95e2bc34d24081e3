#pragma once

// A value for each instance of each tensor of a role, told apart as its scope says.

#include "sim/program/program.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace trainyard {

// The place is that of the layer, the micro-batch, both or the use, as the scope tells instances
// apart; 0 where it does not.
struct InstanceKey {
    std::uint32_t tensor = 0;
    std::uint32_t place = 0;

    bool operator==(const InstanceKey&) const = default;
    auto operator<=>(const InstanceKey&) const = default;
};

// Tensors of one scope that live in one place have a frame together, as long as one of them lives:
// they come and go tens of millions of times in a study, and few places are alive at a time.
template <class Value>
class InstanceMap {
public:
    InstanceMap(const Program& program, const Role& role)
    {
        for (const Tensor& tensor : program.tensors) {
            Scope& scope = scopes_[index(tensor.scope)];
            tensors_.push_back({tensor.scope, static_cast<std::uint32_t>(scope.tensors.size())});
            scope.tensors.push_back(static_cast<std::uint32_t>(tensors_.size() - 1));
        }
        std::uint32_t micro_batches = 0;
        for (const BlockUse& use : role.order) {
            if (use.layer != BlockUse::no_index)
                layers_ = std::max(layers_, use.layer + std::uint32_t{1});
            if (use.micro_batch != BlockUse::no_index)
                micro_batches = std::max(micro_batches, use.micro_batch + std::uint32_t{1});
        }
        // One more of each for the uses that have none.
        ++layers_;
        const auto uses = static_cast<std::uint32_t>(role.order.size());
        set_places(TensorScope::use, uses, {.per_use = 1});
        set_places(TensorScope::micro_batch, micro_batches + 1, {.per_micro_batch = 1});
        set_places(TensorScope::layer, layers_, {});
        set_places(TensorScope::layer_of_micro_batch, (micro_batches + 1) * layers_,
                   {.per_micro_batch = layers_});
        set_places(TensorScope::step, 1, {});
        no_micro_batch_ = micro_batches;
    }

    // Where the instances of a use are, by TensorScope.
    using Places = std::array<std::uint32_t, 5>;

    // `number` of the use in the role.
    Places places_of(const BlockUse& use, std::uint32_t number) const
    {
        const std::uint32_t layer = std::min(std::uint32_t{use.layer}, layers_ - 1);
        const std::uint32_t micro_batch = std::min(std::uint32_t{use.micro_batch}, no_micro_batch_);
        Places places{};
        places[index(TensorScope::use)] = number;
        places[index(TensorScope::micro_batch)] = micro_batch;
        places[index(TensorScope::layer)] = layer;
        places[index(TensorScope::layer_of_micro_batch)] = micro_batch * layers_ + layer;
        return places;
    }

    // Made when it is not there.
    Value& at(TensorId tensor, const Places& places)
    {
        return add({tensor.value, places[index(tensors_[tensor.value].scope)]});
    }
    // The value, which is there no longer; nothing when it was not.
    std::optional<Value> take(TensorId tensor, const Places& places)
    {
        const Known& known = tensors_[tensor.value];
        Scope& scope = scopes_[index(known.scope)];
        const std::uint32_t place = places[index(known.scope)];
        const std::uint32_t frame = scope.frames[place];
        if (frame == none)
            return std::nullopt;
        Slot& slot = scope.slots[frame * scope.tensors.size() + known.column];
        if (!slot.used)
            return std::nullopt;
        slot.used = false;
        if (--scope.living[frame].tensors == 0) {
            scope.frames[place] = none;
            scope.spare.push_back(frame);
        }
        return slot.value;
    }

    template <class Visit>
    void for_each(Visit visit) const
    {
        for (const Scope& scope : scopes_)
            for (std::size_t i = 0; i < scope.slots.size(); ++i)
                if (const Slot& slot = scope.slots[i]; slot.used)
                    visit(InstanceKey{scope.tensors[i % scope.tensors.size()],
                                      scope.living[i / scope.tensors.size()].place},
                          slot.value);
    }

    bool contains(const InstanceKey& key) const { return find(key) != nullptr; }
    // Whether it is there and was not marked since the last `clear_marks`.
    bool mark(const InstanceKey& key)
    {
        Slot* const slot = find(key);
        return slot != nullptr && !std::exchange(slot->marked, true);
    }
    void clear_marks()
    {
        for (Scope& scope : scopes_)
            for (Slot& slot : scope.slots)
                slot.marked = false;
    }

    // All instances that `moves(key)` become those of micro-batches, or uses, that many later.
    template <class Moves>
    void shift(std::uint32_t micro_batches, std::uint32_t uses, Moves moves)
    {
        std::vector<std::pair<InstanceKey, Value>> all;
        for_each([&](const InstanceKey& key, const Value& value) {
            all.emplace_back(moves(key) ? later(key, micro_batches, uses) : key, value);
        });
        for (Scope& scope : scopes_)
            scope.clear();
        for (const auto& [key, value] : all)
            add(key) = value;
    }

    // The instance of the micro-batch, or use, that many later, where the scope tells them apart.
    InstanceKey later(InstanceKey key, std::uint32_t micro_batches, std::uint32_t uses) const
    {
        const Step& step = scopes_[index(tensors_[key.tensor].scope)].step;
        key.place += step.per_micro_batch * micro_batches + step.per_use * uses;
        return key;
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::size_t index(TensorScope scope)
    {
        return static_cast<std::size_t>(scope);
    }

    struct Known {
        TensorScope scope = TensorScope::use;
        std::uint32_t column = 0; // in the frames of its scope
    };
    struct Slot {
        Value value{};
        bool used = false;
        bool marked = false;
    };
    struct Living {
        std::uint32_t place = 0;
        std::uint32_t tensors = 0; // that live
    };
    // How far apart the places of micro-batches, or uses, are that follow each other.
    struct Step {
        std::uint32_t per_micro_batch = 0;
        std::uint32_t per_use = 0;
    };
    struct Scope {
        std::vector<std::uint32_t> tensors; // by column
        std::vector<std::uint32_t> frames;  // by place; none: nothing lives there
        std::vector<Living> living;         // by frame
        std::vector<Slot> slots;            // by frame and column
        std::vector<std::uint32_t> spare;   // frames
        Step step;

        void clear()
        {
            std::ranges::fill(frames, none);
            living.clear();
            slots.clear();
            spare.clear();
        }
    };

    void set_places(TensorScope scope, std::uint32_t places, Step step)
    {
        scopes_[index(scope)].step = step;
        if (!scopes_[index(scope)].tensors.empty())
            scopes_[index(scope)].frames.assign(places, none);
    }

    template <class Map>
    static auto find_in(Map& map, const InstanceKey& key)
    {
        const Known& known = map.tensors_[key.tensor];
        auto& scope = map.scopes_[index(known.scope)];
        const std::uint32_t frame =
            key.place < scope.frames.size() ? scope.frames[key.place] : none;
        auto* const slot =
            frame == none ? nullptr : &scope.slots[frame * scope.tensors.size() + known.column];
        return slot != nullptr && slot->used ? slot : nullptr;
    }
    const Slot* find(const InstanceKey& key) const { return find_in(*this, key); }
    Slot* find(const InstanceKey& key) { return find_in(*this, key); }

    Value& add(const InstanceKey& key)
    {
        const Known& known = tensors_[key.tensor];
        Scope& scope = scopes_[index(known.scope)];
        if (scope.frames[key.place] == none)
            open_frame(scope, key.place);
        const std::uint32_t frame = scope.frames[key.place];
        Slot& slot = scope.slots[frame * scope.tensors.size() + known.column];
        if (!slot.used) {
            slot = {.value = {}, .used = true};
            ++scope.living[frame].tensors;
        }
        return slot.value;
    }

    static void open_frame(Scope& scope, std::uint32_t place)
    {
        if (scope.spare.empty()) {
            scope.spare.push_back(static_cast<std::uint32_t>(scope.living.size()));
            scope.living.emplace_back();
            scope.slots.resize(scope.slots.size() + scope.tensors.size());
        }
        scope.frames[place] = scope.spare.back();
        scope.living[scope.spare.back()].place = place;
        scope.spare.pop_back();
    }

    std::vector<Known> tensors_;
    std::array<Scope, 5> scopes_; // by TensorScope
    std::uint32_t layers_ = 0;
    std::uint32_t no_micro_batch_ = 0;
};

} // namespace trainyard
