#include "tests/support/replay_flaws.h"

#include "sim/strategy/memory/host_order.h"
#include "sim/strategy/memory/instances.h"

#include <fmt/core.h>

namespace trainyard {

std::vector<std::string> replay_flaws(const Program& program, const Role& role)
{
    const HostOrder order(program);
    InstanceMap<bool> live(program, role);
    std::vector<std::string> flaws;
    StepWalk(order, role)
        .whole([&](MemoryPlace place, std::uint32_t use, const MemoryEvent& event) {
            const bool allocates = event.action == MemoryAction::allocate;
            bool& lives = live.at(event.tensor, live.places_of(role.order[use], use));
            if (lives == allocates)
                flaws.push_back(fmt::format("role \"{}\", use {}: \"{}\" is {}", role.name,
                                            place.use, program.tensors[event.tensor.value].name,
                                            allocates ? "allocated while it is there"
                                                      : "freed while it is not there"));
            lives = allocates;
            return flaws.size() < 5;
        });
    if (flaws.empty())
        live.for_each([&](const InstanceKey& key, bool lives) {
            if (lives)
                flaws.push_back(fmt::format("role \"{}\": \"{}\" is left at the end", role.name,
                                            program.tensors[key.tensor].name));
        });
    return flaws;
}

} // namespace trainyard
