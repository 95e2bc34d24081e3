#pragma once

// How long ops take on each lane and transfers in each group, worked out once per distinct cost.

#include "sim/engine/replay/cohorts.h"
#include "sim/engine/replay/column.h"

#include <deque>
#include <map>

namespace trainyard::engine::replay {

// How long something takes, by lane or group.
struct TimeTable {
    Column times;
    Time greatest = 0;
    TimeTable* kernel = nullptr; // of an op with kernels: one of them in the mean
};

// Compute whose kernels jitter: its times are drawn anew whenever it is played.
struct Drawing {
    std::uint32_t cohort = 0;
    std::uint32_t place = 0; // of the op in issue order
    std::uint16_t kernels = 1;
    std::size_t sum = 0;               // by phase_index: what the op adds to when it is counted
    bool counted = false;              // it is charged as it is played
    const TimeTable* steady = nullptr; // without jitter
    TimeTable* drawn = nullptr;
};

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

// What is known of costs, each by the place that has it: a cohort or a meeting.
template <class Key, class Entry>
class ByCost {
public:
    // Null if it is not there yet.
    const Entry* find(std::uint32_t where, CostId cost, const Key& key) const
    {
        if (where >= first_.size() || cost.value >= first_[where].size())
            return nullptr;
        for (std::uint32_t at = first_[where][cost.value]; at != none; at = entries_[at].next)
            if (entries_[at].key == key)
                return &entries_[at].entry;
        return nullptr;
    }
    const Entry& add(std::uint32_t where, CostId cost, Key key, Entry entry)
    {
        if (where >= first_.size())
            first_.resize(where + 1);
        if (cost.value >= first_[where].size())
            first_[where].resize(cost.value + 1, none);
        std::uint32_t& first = first_[where][cost.value];
        entries_.push_back({std::move(key), std::move(entry), first});
        first = static_cast<std::uint32_t>(entries_.size() - 1);
        return entries_.back().entry;
    }

private:
    struct Known {
        Key key;
        Entry entry;
        std::uint32_t next = none; // of the same place and cost
    };
    std::vector<std::vector<std::uint32_t>> first_; // by place, cost
    std::deque<Known> entries_;
};

// Which shape of group or neighbour the lanes of a cohort have, by index.
struct Variants {
    std::uint32_t one = 0;
    std::vector<std::uint32_t> each; // empty: all the one

    std::uint32_t of(std::size_t index) const { return each.empty() ? one : each[index]; }
};

class Tables {
public:
    Tables(const Program& program, const Binding& binding, const Cohorts& cohorts);

    // What compute, copies and host ops take by index of their cohort.
    const TimeTable* times(std::uint32_t cohort, const FlatOp& op);
    // Whether the op takes another time in every step: the first input of lanes where that is late.
    bool varies(std::uint32_t cohort, const FlatOp& op) const;
    // Gives such ops the times of a step.
    void begin_step(std::uint32_t step);

    // Whether lanes of the cohort jitter: then the times of its compute ops must be drawn.
    bool jitters(std::uint32_t cohort) const { return !jitters_[cohort].empty(); }
    // The number of what draws those of an op; `counted`: and adds them up.
    std::uint32_t draw_times(std::uint32_t cohort, const FlatOp& op, bool counted);
    const TimeTable* drawn(std::uint32_t drawing) const { return drawings_[drawing].drawn; }
    // Draws, for the step at hand, for some lanes of the cohort; `measured`: counts what is
    // counted.
    void draw(std::uint32_t drawing, std::size_t first, std::size_t count, bool measured);
    // What a compute op takes in the step at hand on one lane.
    Time drawn_time(std::uint32_t cohort, const FlatOp& op, std::size_t index);
    // By phase_index: the sum of what was counted, by index; empty: nothing.
    const std::vector<Column>& drawn_sums(std::uint32_t cohort) const { return sums_[cohort]; }

    // By group of the meeting: from the last arrival to the end. The seats' ops in their order;
    // null where they do not mean the same transfer.
    const TimeTable* collective(std::uint32_t meeting, std::span<const FlatOp* const> ops);

    // By index of the sender: likewise. Null where sender and receiver do not agree.
    const TimeTable* message(std::uint32_t sender, const FlatOp& send_op, const PartPlan& sent,
                             const FlatOp& receive_op, const PartPlan& received);

    // What a collective takes from compute, or one part of an exchange.
    const TransferLoad& load(std::uint32_t cohort, const FlatOp& op);
    const TransferLoad& load(std::uint32_t cohort, const PartPlan& part);

    const Amount& keep(Amount amount) { return amounts_.emplace_back(std::move(amount)); }

    // Of the groups and neighbours that a cohort's ops name. The lanes' groups meet.
    const Variants& variants(std::uint32_t cohort, GroupSlot slot);
    const Variants& variants(std::uint32_t cohort, PeerSlot slot);
    const TransferCost& cost(std::uint32_t variant, CostId id) const
    {
        return binding_.costs.transfers[variant][id.value];
    }

private:
    // Of one seat's op of a collective.
    struct SeatKey {
        CostId cost;
        ScaleSlot scale;
        CollectiveKind collective;
        friend bool operator==(const SeatKey&, const SeatKey&) = default;
    };
    struct OpKey {
        ScaleSlot scale;
        std::uint16_t kernels;
        friend bool operator==(const OpKey&, const OpKey&) = default;
    };
    struct MessageKey {
        std::uint32_t pipe;
        PeerSlot peer;
        PeerSlot their_peer;
        CostId their_cost;
        ScaleSlot scale;
        friend bool operator==(const MessageKey&, const MessageKey&) = default;
    };
    struct LoadKey {
        OpKind kind;
        std::uint8_t slot; // of the group or the peer
        friend bool operator==(const LoadKey&, const LoadKey&) = default;
    };

    // By index; empty: 1.
    const std::vector<std::uint32_t>& scales(std::uint32_t cohort, ScaleSlot slot);
    const Lane& lane(std::uint32_t cohort, std::uint32_t index) const
    {
        return binding_.lanes[cohorts_.all[cohort].lanes[index]];
    }
    TimeTable* keep(Column times);
    void find_jitters(std::uint32_t cohort);
    Time drawn_time(std::uint32_t cohort, std::uint32_t place, std::size_t index,
                    Time steady) const;
    Time latest_input(std::uint32_t cohort) const;
    Column durations(std::uint32_t cohort, const FlatOp& op);
    Variants find_variants(std::uint32_t cohort, GroupSlot slot) const;
    Variants find_variants(std::uint32_t cohort, PeerSlot slot) const;
    const TimeTable* tabulate(const Meeting& meeting, std::span<const FlatOp* const> ops);
    const TransferLoad& load(std::uint32_t cohort, CostId id, const LoadKey& key,
                             const Variants& variants);

    const Program& program_;
    const Binding& binding_;
    const Cohorts& cohorts_;
    std::deque<TimeTable> tables_;
    struct LateInput {
        std::uint32_t cohort;
        Column in_time; // what the op takes when it is not late
        TimeTable* table;
    };
    std::vector<LateInput> late_inputs_;
    struct LaneJitter {
        const Jitter* jitter = nullptr; // none: every factor is 1
        std::uint64_t key = 0;
    };
    std::vector<std::vector<LaneJitter>> jitters_; // by cohort, index; empty: no lane jitters
    std::vector<std::vector<Column>> sums_;        // by cohort, phase_index
    std::vector<Drawing> drawings_;
    std::vector<std::uint32_t> greatest_factors_;  // by cohort, of 2^20
    std::map<const TimeTable*, TimeTable*> rooms_; // by steady times: for those drawn next
    std::uint32_t step_ = 0;
    std::deque<Amount> amounts_;
    ByCost<OpKey, const TimeTable*> times_;   // by cohort
    ByCost<SeatKey, const TimeTable*> alone_; // collectives of one seat, by meeting
    ByCost<std::vector<SeatKey>, const TimeTable*> collectives_; // by meeting, first seat's cost
    ByCost<MessageKey, const TimeTable*> messages_;              // by sender
    ByCost<LoadKey, TransferLoad> loads_;                        // by cohort
    std::vector<std::optional<Variants>> group_variants_;        // by cohort x 256 + slot
    std::vector<std::optional<Variants>> peer_variants_;
    std::vector<std::optional<std::vector<std::uint32_t>>> scales_;
    std::vector<SeatKey> seats_; // of the collective at hand
};

} // namespace trainyard::engine::replay
