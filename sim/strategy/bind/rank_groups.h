#pragma once

// The communicators of every rank and their shapes on the cluster.

#include "sim/program/binding.h"
#include "sim/strategy/plan.h"

#include <limits>
#include <span>

namespace trainyard {

inline constexpr std::uint32_t no_group = 0xffffffff;

// One communicator. Its members are ascending.
struct RankGroup {
    std::size_t slot = 0; // GroupSlot
    std::vector<RankId> members;
    std::uint32_t shape = 0; // into Neighbourhood::shapes
};

struct RankPeer {
    RankId rank{};
    std::uint32_t shape = 0; // of the pair
};

// What each rank communicates with. Groups of one rank do not exist.
struct Neighbourhood {
    std::vector<GroupShape> shapes; // distinct
    std::vector<RankGroup> groups;
    std::vector<std::vector<std::uint32_t>> group_of; // [slot][rank]: group, or no_group
    std::vector<std::vector<RankPeer>> peers;         // by rank and slot; empty without pipeline
    std::vector<RoleId> role;                         // by rank: its pipeline stage
};

// Who says what an oversubscribed fabric leaves to a transfer: its cost, from what runs beside it
// as a rule, or the links that it shares in the engine.
enum class FabricLimit : std::uint8_t { costs, links };

// Rank i runs on device i. `pair_ratio`: how many times more than a trunk carries pairs and
// all-to-all ask of it at most; the ratio of the trunk where it is less.
Neighbourhood neighbourhood(const Program& program, const Job& job, const Topology& topology,
                            FabricLimit limit,
                            double pair_ratio = std::numeric_limits<double>::infinity());

// By group: its number rank by rank and slot by slot. It chooses among equal ways through a fabric.
std::vector<std::uint32_t> flow_numbers(const Neighbourhood& neighbourhood);

// The devices of ranks.
std::vector<DeviceId> devices_of(std::span<const RankId> ranks);

} // namespace trainyard
