#pragma once

// A plan under construction: every stream, group, label, cost request and block is stored once.

#include "sim/program/builder.h"
#include "sim/strategy/plan.h"

#include <map>
#include <utility>

namespace trainyard {

struct HeldStates;

class PlanBuilder {
public:
    PlanBuilder();

    StreamId compute_stream() const { return compute_; }
    // The stream of that name, added at its first use.
    StreamId communication_stream(const std::string& name);
    StreamId copy_stream(const std::string& name);
    StreamId worker_stream(const std::string& name);

    GroupSlot group(GroupKind kind);
    GroupKind kind_of(GroupSlot slot) const { return plan_.program.groups[slot.value].kind; }
    LabelId label(std::string name, Phase phase);
    LabelId transfer_label(std::string name, Phase phase, CollectiveKind kind, GroupKind group);
    MemoryEffectId memory(const TensorChanges& changes); // none when nothing changes

    CostId compute(ComputeRequest request);
    CostId transfer(const TransferRequest& request);

    // An equal block that is there already, else this one.
    BlockId block(Block block);
    void role(Role role, const HeldStates& held);

    // Stages have as many neighbours (pipeline/placement.h).
    void peer_slots(std::size_t count)
    {
        plan_.program.peer_slots = static_cast<std::uint8_t>(count);
    }
    // Expert ranks get unequal shares of the tokens.
    void has_expert_loads() { plan_.program.scale_slots = 2; }

    Plan finish() && { return std::move(plan_); }

private:
    StreamId stream(const std::string& name, StreamKind kind);

    Plan plan_;
    StreamId compute_;
    std::map<std::string, StreamId> streams_;
    std::map<GroupKind, GroupSlot> groups_;
    std::map<TensorChanges, MemoryEffectId> effects_;
    std::map<std::string, std::vector<BlockId>> blocks_; // by name
};

inline constexpr PeerSlot previous_stage{0}; // of the ring
inline constexpr PeerSlot next_stage{1};
inline constexpr ScaleSlot device_speed{0}; // of ops on the compute stream
inline constexpr ScaleSlot expert_load{1};  // of those that work on an expert rank's tokens

} // namespace trainyard
