#pragma once

// Equivalence classes of lanes: which lanes run the same ops with the same kinds of neighbours.
//
// The lanes of a class are of one kind, and their neighbours, pipe by pipe, are of one class again.
// So all lanes of a class wait for the same ops, and only times differ from lane to lane.

#include "sim/engine/compile.h"

#include <optional>

namespace trainyard::engine::replay {

inline constexpr std::uint32_t none = 0xffffffff;

// The other end of a pipe of a lane class.
struct PipeLink {
    std::uint32_t lane_class = none;
    std::uint32_t pipe = none;
    std::vector<std::uint32_t> partners; // its index by own index; empty: the same index
};

struct LaneClass {
    const LaneKind* kind = nullptr;
    std::vector<std::uint32_t> lanes;         // ascending LaneIds; "index" is a place in here
    std::vector<std::uint32_t> multiplicity;  // of the lanes, by index
    std::vector<PipeLink> pipes;              // by pipe of the kind
    std::vector<GroupSlot> first_slots;       // by GroupSlot: the first that stands for the group
    std::vector<std::uint32_t> group_classes; // by GroupSlot; none where no collectives are
};

struct MemberClass {
    std::uint32_t lane_class = 0;
    GroupSlot slot{}; // the first that stands for the group

    friend bool operator==(const MemberClass&, const MemberClass&) = default;
};

struct Member {
    std::uint32_t member_class = 0;
    std::uint32_t index = 0; // of the lane in the member class's lane class
};

// An equivalence class of groups: their collectives are the same ops of the same lane classes.
struct GroupClass {
    std::vector<MemberClass> classes;  // of its members
    std::uint32_t per_step = 0;        // collectives of each group
    std::vector<std::uint32_t> groups; // GroupIds
    std::vector<std::uint32_t> first;  // by group, and the end: into members
    std::vector<Member> members;
    // Where all members are of one lane class, in even rows: member m of group (sheet x stride +
    // column) is lane (sheet x size + m) x stride + column. 0: they are irregular.
    std::uint32_t stride = 0;
    std::uint32_t size = 0;
};

struct LaneClasses {
    std::vector<LaneClass> all;
    std::vector<std::uint32_t> class_of; // by LaneId
    std::vector<std::uint32_t> index_of; // by LaneId: in its lane class
    std::vector<GroupClass> group_classes;
};

// Gives nothing if some member of a group never comes to its collectives, or neighbours disagree
// about the number of their messages.
std::optional<LaneClasses> classify_lanes(const Program& program, const Binding& binding,
                                          const CompiledProgram& compiled);

} // namespace trainyard::engine::replay
