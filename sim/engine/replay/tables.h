#pragma once

// How long ops take on each lane and transfers in each group, computed once per distinct cost; and
// the columns that hold such times, which wide registers read and write whole.

#include "sim/engine/replay/kernels.h"
#include "sim/engine/replay/lane_classes.h"

#include <deque>
#include <map>
#include <new>

namespace trainyard::engine::replay {

template <class T>
struct LineAllocator {
    using value_type = T;

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&)
    {}

    T* allocate(std::size_t count)
    {
        return static_cast<T*>(::operator new(count * sizeof(T), line));
    }
    void deallocate(T* at, std::size_t) { ::operator delete(at, line); }

    friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }

private:
    static constexpr std::align_val_t line{64}; // of the cache: no register crosses one
};

inline constexpr std::size_t line_lanes = 8;

using Column = std::vector<Time, LineAllocator<Time>>;

// The distance from one column of so many lanes to the next: whole lines, and no power of two, with
// which all columns would share the same few sets of the cache.
constexpr std::size_t column_stride(std::size_t lanes)
{
    return (lanes + line_lanes - 1) / line_lanes * line_lanes + (lanes >= 512 ? 40 : 0);
}

// How long something takes, by lane or group.
struct TimeTable {
    Column times;
    Time greatest = 0;
    TimeTable* kernel = nullptr; // of an op with kernels: one of them in the mean
};

// Compute whose kernels jitter: its times are drawn anew whenever it is executed.
struct JitteredOp {
    std::uint32_t lane_class = 0;
    std::uint32_t place = 0; // of the op in issue order
    std::uint16_t kernels = 1;
    std::size_t sum = 0;               // by phase_index: what the op adds to when it is counted
    bool counted = false;              // it is charged as it is executed
    const TimeTable* steady = nullptr; // without jitter
    TimeTable* drawn = nullptr;
};

// A number for every lane of a lane class, or one for all.
struct PerLane {
    Time constant = 0;
    Column column; // empty: the constant

    Time of(std::size_t index) const { return column.empty() ? constant : column[index]; }
    bool zero() const { return column.empty() && constant == 0; }
};

// What a transfer takes from compute that it overlaps, in shares of 2^20: `resident` from arrival
// to end, `traffic` from `latency` after its begin until its end.
struct TransferLoad {
    PerLane resident;
    PerLane latency;
    PerLane traffic;
};

// Keeps what was computed for a cost, by the lane class or group class that has it.
template <class Key, class Entry>
class CostCache {
public:
    // Null if nothing was kept for the key yet.
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
    struct Node {
        Key key;
        Entry entry;
        std::uint32_t next = none; // of the same place and cost
    };
    std::vector<std::vector<std::uint32_t>> first_; // by place, cost
    std::deque<Node> entries_;
};

// Which shape of group or neighbour the lanes of a lane class have, by index.
struct Variants {
    std::uint32_t one = 0;
    std::vector<std::uint32_t> each; // empty: all the one

    std::uint32_t of(std::size_t index) const { return each.empty() ? one : each[index]; }
};

class Tables {
public:
    Tables(const Program& program, const Binding& binding, const LaneClasses& lane_classes);

    // What a compute, copy or host op takes, by index in its lane class.
    const TimeTable* times(std::uint32_t lane_class, const FlatOp& op);
    // Whether the op takes another time in every step: the first input of lanes where that is late.
    bool varies(std::uint32_t lane_class, const FlatOp& op) const;
    // Gives such ops the times of a step.
    void begin_step(std::uint32_t step);

    // Whether lanes of the class jitter: then the times of its compute ops must be drawn.
    bool jitters(std::uint32_t lane_class) const { return !jitters_[lane_class].empty(); }
    // Registers an op whose times are drawn, and gives its number. `counted`: what it takes is
    // added up.
    std::uint32_t draw_times(std::uint32_t lane_class, const FlatOp& op, bool counted);
    const TimeTable* drawn(std::uint32_t jittered) const { return jittered_ops_[jittered].drawn; }
    // Draws the times of some lanes for the step at hand. `measured`: adds them up if the op is
    // counted.
    void draw(std::uint32_t jittered, std::size_t first, std::size_t count, bool measured);
    // What a compute op takes in the step at hand on one lane.
    Time drawn_time(std::uint32_t lane_class, const FlatOp& op, std::size_t index);
    // The sums of what was counted, by phase_index and then by index; empty: nothing was.
    const std::vector<Column>& drawn_sums(std::uint32_t lane_class) const
    {
        return sums_[lane_class];
    }

    // How long a collective takes from the last arrival to the end, by group of its class. `ops`:
    // one for each member class. Null where they do not mean the same transfer.
    const TimeTable* collective(std::uint32_t group_class, std::span<const FlatOp* const> ops);

    // How long a message takes likewise, by index of the sender. Null where sender and receiver do
    // not agree.
    const TimeTable* message(std::uint32_t sender, const FlatOp& send_op, const PartPlan& sent,
                             const FlatOp& receive_op, const PartPlan& received);

    // What a collective takes from compute, or one part of an exchange.
    const TransferLoad& load(std::uint32_t lane_class, const FlatOp& op);
    const TransferLoad& load(std::uint32_t lane_class, const PartPlan& part);

    const PerLane& keep(PerLane values) { return per_lane_.emplace_back(std::move(values)); }

    // The variants of the groups and neighbours that ops of a lane class name. The groups must have
    // collectives.
    const Variants& variants(std::uint32_t lane_class, GroupSlot slot);
    const Variants& variants(std::uint32_t lane_class, PeerSlot slot);
    const TransferCost& cost(std::uint32_t variant, CostId id) const
    {
        return binding_.costs.transfers[variant][id.value];
    }

private:
    // Tells apart the ops of a member class in a collective.
    struct MemberKey {
        CostId cost;
        ScaleSlot scale;
        CollectiveKind collective;
        friend bool operator==(const MemberKey&, const MemberKey&) = default;
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

    // The scales by index; empty: all are full_share.
    const std::vector<std::uint32_t>& scales(std::uint32_t lane_class, ScaleSlot slot);
    const Lane& lane(std::uint32_t lane_class, std::uint32_t index) const
    {
        return binding_.lanes[classes_.all[lane_class].lanes[index]];
    }
    TimeTable* keep(Column times);
    void find_jitters(std::uint32_t lane_class);
    Time drawn_time(std::uint32_t lane_class, std::uint32_t place, std::size_t index,
                    Time steady) const;
    Time latest_input(std::uint32_t lane_class) const;
    Column durations(std::uint32_t lane_class, const FlatOp& op);
    Variants find_variants(std::uint32_t lane_class, GroupSlot slot) const;
    Variants find_variants(std::uint32_t lane_class, PeerSlot slot) const;
    const TimeTable* tabulate(const GroupClass& group_class, std::span<const FlatOp* const> ops);
    const TransferLoad& load(std::uint32_t lane_class, CostId id, const LoadKey& key,
                             const Variants& variants);

    const Program& program_;
    const Binding& binding_;
    const LaneClasses& classes_;
    std::deque<TimeTable> tables_;
    struct LateInput {
        std::uint32_t lane_class;
        Column in_time; // what the op takes when it is not late
        TimeTable* table;
    };
    std::vector<LateInput> late_inputs_;
    struct LaneJitter {
        const Jitter* jitter = nullptr; // none: every factor is 1
        std::uint64_t key = 0;
    };
    std::vector<std::vector<LaneJitter>> jitters_; // by lane class, index; empty: no lane jitters
    std::vector<std::vector<Column>> sums_;        // by lane class, phase_index
    std::vector<JitteredOp> jittered_ops_;
    std::vector<std::uint32_t> greatest_factors_;         // by lane class, of 2^20
    std::map<const TimeTable*, TimeTable*> drawn_tables_; // by steady times: for those drawn next
    std::uint32_t step_ = 0;
    std::deque<PerLane> per_lane_;
    CostCache<OpKey, const TimeTable*> times_; // by lane class
    CostCache<MemberKey, const TimeTable*>
        alone_; // collectives of one member class, by group class
    CostCache<std::vector<MemberKey>, const TimeTable*>
        collectives_;                                  // by group class, first member class's cost
    CostCache<MessageKey, const TimeTable*> messages_; // by sender
    CostCache<LoadKey, TransferLoad> loads_;           // by lane class
    std::vector<std::optional<Variants>> group_variants_; // by lane class x 256 + slot
    std::vector<std::optional<Variants>> peer_variants_;
    std::vector<std::optional<std::vector<std::uint32_t>>> scales_;
    std::vector<MemberKey> member_keys_; // of the collective at hand
};

} // namespace trainyard::engine::replay
