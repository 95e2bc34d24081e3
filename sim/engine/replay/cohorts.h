#pragma once

// Lanes side by side: who runs the same ops, and whom they meet.
//
// A cohort is lanes of one kind whose neighbours, pipe by pipe, are of one cohort again. So what a
// cohort waits for is the same op for all its lanes, and only times differ from lane to lane.

#include "sim/engine/compile.h"

#include <optional>

namespace trainyard::engine::replay {

inline constexpr std::uint32_t none = 0xffffffff;

// The other end of a pipe of a cohort.
struct PipeLink {
    std::uint32_t cohort = none;
    std::uint32_t pipe = none;
    std::vector<std::uint32_t> partners; // its index by own index; empty: the same index
};

struct Cohort {
    const LaneKind* kind = nullptr;
    std::vector<std::uint32_t> lanes;        // ascending LaneIds; "index" is a place in here
    std::vector<std::uint32_t> multiplicity; // of the lanes, by index
    std::vector<PipeLink> pipes;             // by pipe of the kind
    std::vector<GroupSlot> first_slots;      // by GroupSlot: the first that stands for the group
    std::vector<std::uint32_t> meetings;     // by GroupSlot; none where no collectives are
};

struct Seat {
    std::uint32_t cohort = 0;
    GroupSlot slot{}; // the first that stands for the group

    friend bool operator==(const Seat&, const Seat&) = default;
};

struct Member {
    std::uint32_t seat = 0;
    std::uint32_t index = 0; // of the lane in the seat's cohort
};

// Groups whose collectives are the same ops of the same cohorts.
struct Meeting {
    std::vector<Seat> seats;
    std::uint32_t per_step = 0;        // collectives of each group
    std::vector<std::uint32_t> groups; // GroupIds
    std::vector<std::uint32_t> first;  // by group, and the end: into members
    std::vector<Member> members;
    // Where one cohort sits alone in even rows: member m of group (sheet x stride + column) is lane
    // (sheet x size + m) x stride + column. 0: irregular.
    std::uint32_t stride = 0;
    std::uint32_t size = 0;
};

struct Cohorts {
    std::vector<Cohort> all;
    std::vector<std::uint32_t> cohort_of; // by LaneId
    std::vector<std::uint32_t> index_of;  // by LaneId: in its cohort
    std::vector<Meeting> meetings;
};

// Nothing if some member of a group never comes to its collectives, or neighbours disagree about
// the number of their messages.
std::optional<Cohorts> gather_cohorts(const Program& program, const Binding& binding,
                                      const CompiledProgram& compiled);

} // namespace trainyard::engine::replay
