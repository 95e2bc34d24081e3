#pragma once

// What the naive engine has to do: every op of every step of every lane as an object, and every
// transfer with its members. What is given (durations, costs, links) is filled in; what happens
// (starts, ends, rates) is the engine's.

#include "sim/engine/engine.h"
#include "tests/support/naive_steps.h"

#include <algorithm>
#include <list>
#include <optional>

namespace trainyard::test {

struct NaiveTransfer;

struct NaiveOp {
    const Op* op = nullptr;
    std::size_t lane = 0;
    StreamKind stream_kind = StreamKind::compute;
    std::vector<NaiveOp*> waits;
    NaiveOp* before = nullptr; // on the same stream
    std::vector<NaiveTransfer*> transfers;
    std::uint32_t sm_share = 0;
    std::int64_t duration = 0;
    std::int64_t per_kernel = 0;
    std::int64_t late = 0;  // the host's, before it issues the op
    std::int64_t moved = 0; // when its transfers had begun, once it has ended

    std::optional<std::int64_t> first_issued;
    std::optional<std::int64_t> last_issued;
    std::optional<std::int64_t> start;
    std::optional<std::int64_t> device_end;
    std::optional<std::int64_t> end;
    u128 remaining = 0; // compute: ps x 2^20
    std::uint64_t share = 0;

    bool is_transfer() const
    {
        return op->kind == OpKind::collective || op->kind == OpKind::exchange;
    }
    bool active() const { return start && !end; }
    std::int64_t may_start() const { return is_transfer() ? *last_issued : *first_issued; }
};

struct NaiveTransfer {
    const TransferCost* cost = nullptr;
    std::size_t needed = 0;
    bool message = false;
    std::vector<NaiveOp*> members;
    NaiveOp* sender = nullptr;
    CollectiveKind collective = CollectiveKind::all_reduce;
    std::uint32_t scale = full_share;
    std::vector<LinkUse> links;
    const Group* group = nullptr;
    std::optional<NaiveSteps> steps;

    std::optional<std::int64_t> begun;
    std::optional<std::int64_t> end;
    u128 remaining = 0;
    std::uint64_t rate = 0;

    bool ready() const
    {
        if (message && cost->eager)
            return sender != nullptr && sender->start;
        return members.size() == needed &&
               std::all_of(members.begin(), members.end(),
                           [](const NaiveOp* op) { return op->start.has_value(); });
    }
    bool draining(std::int64_t now) const
    {
        return !steps && begun && !end && now >= *begun + cost->latency.value() && remaining > 0;
    }
    std::size_t place_of(const NaiveOp& op) const
    {
        const auto found = std::ranges::find(group->members, make_id<LaneId>(op.lane));
        return static_cast<std::size_t>(found - group->members.begin());
    }
    bool ended_for(const NaiveOp& op) const
    {
        return steps ? steps->done(place_of(op)) : end.has_value();
    }
    // Who has come last so far.
    std::int64_t last_arrival() const
    {
        std::int64_t last = 0;
        for (const NaiveOp* member : members)
            if (member->start)
                last = std::max(last, *member->start);
        return last;
    }
};

struct NaiveWork {
    std::vector<std::vector<NaiveOp>> lanes; // in issue order, all steps
    std::list<NaiveTransfer> transfers;
    bool sound = true; // all members of a transfer mean the same by it

    NaiveWork() = default;
    NaiveWork(NaiveWork&&) = default; // ops and transfers point at each other: never copied
};

NaiveWork naive_work(const Program& program, const Binding& binding, int steps);

} // namespace trainyard::test
