#include "tests/support/flaws.h"

#include <fmt/core.h>

#include <span>

namespace trainyard {

namespace {

class MemoryChecker {
public:
    explicit MemoryChecker(const Program& program) : program_(program) {}

    std::vector<std::string> flaws() &&
    {
        check_tensors();
        for (std::size_t i = 0; i < program_.memory_effects.size(); ++i)
            check_effect(i);
        if (!flaws_.empty())
            return std::move(flaws_); // the rest follows indices
        for (const Block& block : program_.blocks)
            check_block(block);
        for (const Role& role : program_.roles)
            check_role(role);
        return std::move(flaws_);
    }

private:
    void require(bool holds, std::string flaw)
    {
        if (!holds)
            flaws_.push_back(std::move(flaw));
    }

    std::span<const MemoryEvent> events_of(const MemoryEffect& effect) const
    {
        return std::span(program_.memory_events).subspan(effect.event_first, effect.event_count);
    }

    const Tensor& tensor_of(const MemoryEvent& event) const
    {
        return program_.tensors[event.tensor.value];
    }

    void check_tensors()
    {
        for (const Tensor& tensor : program_.tensors)
            require(tensor.bytes > 0, fmt::format("tensor \"{}\" of no bytes", tensor.name));
        for (const MemoryEvent& event : program_.memory_events)
            require(event.tensor.value < program_.tensors.size(),
                    "a memory event of no such tensor");
    }

    void check_effect(std::size_t index)
    {
        const MemoryEffect& effect = program_.memory_effects[index];
        const std::string where = fmt::format("memory effect {}: ", index);
        if (std::size_t{effect.event_first} + effect.event_count > program_.memory_events.size()) {
            require(false, where + "events out of range");
            return;
        }
        if (effect.event_count == 0 || !flaws_.empty())
            return;
        MemoryEffect sum = effect;
        sum.at_start = sum.at_end = 0;
        for (const MemoryEvent& event : events_of(effect)) {
            const Tensor& tensor = tensor_of(event);
            const std::int64_t bytes = on_device(tensor.kind) ? tensor.bytes : 0;
            (event.moment == Moment::start ? sum.at_start : sum.at_end) +=
                event.action == MemoryAction::allocate ? bytes : -bytes;
        }
        require(sum == effect, where + "its bytes are not those of its events");
    }

    // Calls visit(event) for the events of a block in order: each op's at its start, then its end.
    template <class Visit>
    void for_each_event(const Block& block, Visit visit) const
    {
        for (const Op& op : block.ops) {
            if (!op.memory.valid())
                continue;
            const auto events = events_of(program_.memory_effects[op.memory.value]);
            for (const Moment moment : {Moment::start, Moment::end})
                for (const MemoryEvent& event : events)
                    if (event.moment == moment)
                        visit(event);
        }
    }

    void check_block(const Block& block)
    {
        std::vector<int> live(program_.tensors.size(), 0);
        const auto complain = [&](const Tensor& tensor, std::string_view what) {
            require(false, fmt::format("block \"{}\": {} \"{}\"", block.name, what, tensor.name));
        };
        for_each_event(block, [&](const MemoryEvent& event) {
            const Tensor& tensor = tensor_of(event);
            if (tensor.scope != TensorScope::use)
                return;
            const bool allocates = event.action == MemoryAction::allocate;
            int& count = live[event.tensor.value];
            if (count != (allocates ? 0 : 1))
                complain(tensor, allocates ? "allocates twice" : "frees what it does not hold:");
            count = allocates ? 1 : 0;
        });
        for (std::size_t i = 0; i < live.size(); ++i)
            if (live[i] != 0)
                complain(program_.tensors[i], "ends with");
    }

    void check_role(const Role& role)
    {
        std::int64_t held = 0;
        for (const auto* list : {&role.held, &role.held_from_update})
            for (const TensorId id : *list) {
                if (id.value >= program_.tensors.size()) {
                    require(false, fmt::format("role \"{}\" holds no such tensor", role.name));
                    return;
                }
                const Tensor& tensor = program_.tensors[id.value];
                held += on_device(tensor.kind) ? tensor.bytes : 0;
            }
        require(
            role.held.empty() || held == role.static_memory,
            fmt::format("role \"{}\": its static memory is not that of what it holds", role.name));
        check_balance(role);
    }

    void check_balance(const Role& role)
    {
        std::vector<std::int64_t> uses(program_.blocks.size(), 0);
        for (const BlockUse& use : role.order)
            ++uses[use.block.value];
        std::vector<std::int64_t> left(program_.tensors.size(), 0);
        for (std::size_t b = 0; b < uses.size(); ++b)
            if (uses[b] > 0)
                for_each_event(program_.blocks[b], [&](const MemoryEvent& event) {
                    left[event.tensor.value] +=
                        event.action == MemoryAction::allocate ? uses[b] : -uses[b];
                });
        for (std::size_t i = 0; i < left.size(); ++i)
            require(left[i] == 0,
                    fmt::format("role \"{}\": a step allocates \"{}\" {} times more than it frees",
                                role.name, program_.tensors[i].name, left[i]));
    }

    const Program& program_;
    std::vector<std::string> flaws_;
};

} // namespace

std::vector<std::string> memory_flaws(const Program& program)
{
    return MemoryChecker(program).flaws();
}

} // namespace trainyard
