#pragma once

// How long ops take on each lane and transfers in each group, worked out once per distinct cost.

#include "sim/engine/replay/cohorts.h"

#include <deque>
#include <map>
#include <tuple>

namespace trainyard::engine::replay {

using Time = std::int64_t; // ps
using Column = std::vector<Time>;

class Tables {
public:
    Tables(const Program& program, const Binding& binding, const Cohorts& cohorts)
        : program_(program), binding_(binding), cohorts_(cohorts)
    {}

    // By index of the cohort: what an op takes there, and its mean kernel time (empty for an op
    // without kernels).
    const Column& duration(std::uint32_t cohort, const FlatOp& op);
    const Column& kernel_time(std::uint32_t cohort, const FlatOp& op);

    // By group of the meeting: from the last arrival to the end. The seats' ops in their order;
    // null where they do not mean the same transfer.
    const Column* collective(std::uint32_t meeting, std::span<const FlatOp* const> ops);

    // By index of the sender: likewise. Null where sender and receiver do not agree.
    const Column* message(std::uint32_t sender, const FlatOp& send_op, const PartPlan& sent,
                          const FlatOp& receive_op, const PartPlan& received);

    const TransferCost& cost_of(std::uint32_t cohort, std::uint32_t index,
                                const PartPlan& part) const;

private:
    std::uint32_t scale_of(std::uint32_t cohort, std::uint32_t index, ScaleSlot slot) const;
    const Lane& lane(std::uint32_t cohort, std::uint32_t index) const
    {
        return binding_.lanes[cohorts_.all[cohort].lanes[index]];
    }

    const Program& program_;
    const Binding& binding_;
    const Cohorts& cohorts_;
    std::deque<Column> columns_;
    std::map<std::tuple<std::uint32_t, CostId, ScaleSlot>, const Column*> durations_;
    std::map<std::tuple<std::uint32_t, CostId, ScaleSlot, std::uint16_t>, const Column*>
        kernel_times_;
    std::map<std::vector<std::uint32_t>, const Column*> collectives_;
    std::map<std::vector<std::uint32_t>, const Column*> messages_;
};

} // namespace trainyard::engine::replay
