#pragma once

// How long ops take on each lane and transfers in each group, worked out once per distinct cost.

#include "sim/engine/replay/cohorts.h"
#include "sim/engine/replay/kernels.h"

#include <deque>
#include <map>
#include <tuple>

namespace trainyard::engine::replay {

using Column = std::vector<Time>;

// A number for every lane of a cohort, or one for all.
struct Amount {
    Time constant = 0;
    Column column; // empty: the constant

    Time of(std::size_t index) const { return column.empty() ? constant : column[index]; }
    bool zero() const { return column.empty() && constant == 0; }
};

// What a transfer takes from compute beside it: while resident, and from some time after its begin
// until its end. Shares of 2^20.
struct TransferLoad {
    Amount resident;
    Amount latency;
    Amount traffic;
};

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

    // What a collective takes from compute, or one part of an exchange.
    const TransferLoad& load(std::uint32_t cohort, const FlatOp& op);
    const TransferLoad& load(std::uint32_t cohort, const PartPlan& part);

    const Amount& keep(Amount amount) { return amounts_.emplace_back(std::move(amount)); }

    // Of a collective or one part of an exchange.
    const TransferCost& cost_of(std::uint32_t cohort, std::uint32_t index, const FlatOp& op) const;
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
    std::deque<Amount> amounts_;
    std::map<std::tuple<std::uint32_t, CostId, ScaleSlot>, const Column*> durations_;
    std::map<std::tuple<std::uint32_t, CostId, ScaleSlot, std::uint16_t>, const Column*>
        kernel_times_;
    std::map<std::vector<std::uint32_t>, const Column*> collectives_;
    std::map<std::vector<std::uint32_t>, const Column*> messages_;
    template <class CostOf>
    const TransferLoad& load(const std::tuple<std::uint32_t, int, std::uint32_t, CostId>& key,
                             const CostOf& cost_of);
    std::map<std::tuple<std::uint32_t, int, std::uint32_t, CostId>, TransferLoad> loads_;
};

} // namespace trainyard::engine::replay
