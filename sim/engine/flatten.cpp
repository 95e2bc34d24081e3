#include "sim/engine/flatten.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace trainyard::engine {

namespace {

// Where an op lies: its stream (dense) and its position there.
struct Place {
    std::uint8_t stream = 0;
    std::uint32_t position = 0;
    bool left_out = false;     // has no like before the seam
    bool carried_over = false; // the like of one that is left out
};

class Flattener {
public:
    Flattener(const Program& program, const CostTable& costs, RoleId role,
              const SlotAliases& aliases, const Omission& omission)
        : program_(program),
          costs_(costs),
          role_(program.roles[role.value]),
          aliases_(aliases),
          omission_(omission)
    {
        flat_.kind.role = role;
        flat_.kind.collectives_per_step.resize(program.groups.size());
        outlines_.resize(program.blocks.size());
        last_in_step_.resize(role_.event_count);
        recorded_.resize(role_.event_count);
    }

    FlatRole flatten() &&
    {
        lay_out_streams();
        find_last_records();
        for_each_use(role_, omission_, [&](std::uint32_t number) {
            if (omission_.times > 0 && number + omission_.period == omission_.from)
                open_seam();
            if (begins_behind_seam(number))
                close_seam();
            const BlockUse& use = role_.order[number];
            const Block& block = program_.blocks[use.block.value];
            const std::vector<FlatOp>& flat = outline_of(use.block).flat;
            for (std::size_t i = 0; i < block.ops.size(); ++i)
                add(use, block.ops[i], flat[i]);
        });
        finish();
        return std::move(flat_);
    }

private:
    // What a block adds to the streams, the same wherever it is used.
    struct Outline {
        struct Record {
            LocalEvent event;
            StreamId stream;
            std::uint32_t position; // among the block's ops of that stream
        };
        std::vector<std::uint32_t> counts; // ops, by StreamId; empty: not known yet
        std::vector<Record> records;
        std::vector<FlatOp> flat; // its ops, but for what depends on the use
    };

    bool begins_behind_seam(std::uint32_t use) const
    {
        return omission_.times > 0 && use == omission_.to();
    }

    // What waits behind the seam for an op that is left out waits for its like before the seam.
    void carry_over(std::vector<std::optional<Place>>& places)
    {
        const std::vector<std::optional<Place>> before = places;
        const std::uint32_t to = omission_.to();
        const std::uint32_t near = std::min(alike_before_seam, omission_.times) * omission_.period;
        const auto event_of = [&](std::uint32_t use, const Outline::Record& record) {
            return role_event(role_.order[use], record.event).value;
        };
        for (std::uint32_t use = omission_.from; use < to; ++use)
            for (const Outline::Record& record : outline_of(role_.order[use].block).records) {
                std::optional<Place>& place = places[event_of(use, record)];
                if (use + near < to) {
                    place = Place{.left_out = true};
                    continue;
                }
                place = before[event_of(use - omission_.uses(), record)];
                place->carried_over = true;
            }
    }

    void open_seam()
    {
        Seam& seam = flat_.kind.seam;
        seam.segment = flat_.kind.host.barriers;
        seam.issue = host_clock_;
        for (const std::uint32_t next : next_)
            seam.streams.push_back({next, next});
    }

    void close_seam()
    {
        Seam& seam = flat_.kind.seam;
        seam.left_out = omission_;
        seam.host_stops = seam.segment != flat_.kind.host.barriers;
        seam.segment = flat_.kind.host.barriers;
        seam.issue = host_clock_ - seam.issue;
        for (std::size_t s = 0; s < next_.size(); ++s)
            seam.streams[s] = {next_[s], next_[s] - seam.streams[s].position};
        carry_over(recorded_);
    }

    const Outline& outline_of(BlockId block)
    {
        Outline& outline = outlines_[block.value];
        if (!outline.counts.empty())
            return outline;
        outline.counts.resize(program_.streams.size());
        for (const Op& op : program_.blocks[block.value].ops) {
            const std::uint32_t position = outline.counts[op.stream.value]++;
            if (op.record.valid())
                outline.records.push_back({op.record, op.stream, position});
            outline.flat.push_back(without_use(op));
        }
        return outline;
    }

    FlatOp without_use(const Op& op) const
    {
        FlatOp flat;
        flat.kind = op.kind;
        flat.phase = program_.labels[op.label.value].phase;
        flat.cost = op.cost;
        flat.label = op.label;
        flat.kernels = op.kernels;
        flat.group = op.group;
        flat.scale = op.scale;
        flat.part_count = op.kind == OpKind::exchange ? op.part_count : 0;
        if (op.kind != OpKind::collective && op.kind != OpKind::exchange)
            flat.duration = costs_.compute[op.cost.value];
        return flat;
    }

    // Dense streams in the order of their ids; only those that the role uses.
    void lay_out_streams()
    {
        std::vector<std::uint32_t> counts(program_.streams.size());
        std::size_t waits = 0;
        std::size_t parts = 0;
        for_each_use(role_, omission_, [&](std::uint32_t number) {
            const BlockUse& use = role_.order[number];
            const std::vector<std::uint32_t>& of_block = outline_of(use.block).counts;
            for (std::size_t s = 0; s < counts.size(); ++s)
                counts[s] += of_block[s];
            waits += program_.blocks[use.block.value].waits.size();
            parts += program_.blocks[use.block.value].parts.size();
        });
        flat_.kind.waits.reserve(waits);
        flat_.kind.parts.reserve(parts);
        dense_.resize(counts.size());
        std::uint32_t first = 0;
        for (std::size_t s = 0; s < counts.size(); ++s) {
            if (counts[s] == 0)
                continue;
            dense_[s] = static_cast<std::uint8_t>(flat_.kind.streams.size());
            flat_.kind.streams.push_back(
                {make_id<StreamId>(s), program_.streams[s].kind, first, counts[s]});
            first += counts[s];
        }
        flat_.kind.op_count = first;
        flat_.kind.ops.resize(first);
        next_.resize(flat_.kind.streams.size());
    }

    EventId role_event(const BlockUse& use, LocalEvent event) const
    {
        return role_.events[use.event_first + event.value];
    }

    // The op that a wait for `event` means when none of its own step came before it.
    void find_last_records()
    {
        std::vector<std::uint32_t> next(program_.streams.size());
        for_each_use(role_, omission_, [&](std::uint32_t number) {
            if (begins_behind_seam(number))
                carry_over(last_in_step_);
            const BlockUse& use = role_.order[number];
            const Outline& outline = outline_of(use.block);
            for (const Outline::Record& record : outline.records)
                last_in_step_[role_event(use, record.event).value] =
                    Place{dense_[record.stream.value], next[record.stream.value] + record.position};
            for (std::size_t s = 0; s < next.size(); ++s)
                next[s] += outline.counts[s];
        });
    }

    void add(const BlockUse& use, const Op& op, const FlatOp& outline)
    {
        const std::uint8_t stream = dense_[op.stream.value];
        const std::uint32_t position = next_[stream]++;
        FlatOp& flat = flat_.kind.ops[flat_.kind.streams[stream].op_first + position];
        flat = outline;
        flat.order = order_++;
        flat.micro_batch = use.micro_batch;
        flat.layer = use.layer;
        add_waits(use, op, stream, flat);
        add_kind(use, op, flat);
        issue(op, stream, flat);
        if (op.record.valid())
            recorded_[role_event(use, op.record).value] = Place{stream, position};
    }

    // An earlier op of the same stream has finished anyway.
    void add_waits(const BlockUse& use, const Op& op, std::uint8_t stream, FlatOp& flat)
    {
        const Block& block = program_.blocks[use.block.value];
        flat.wait_first = static_cast<std::uint32_t>(flat_.kind.waits.size());
        for (std::size_t i = 0; i < op.wait_count; ++i) {
            const EventId event = role_event(use, block.waits[op.wait_first + i]);
            const bool earlier_here = recorded_[event.value].has_value();
            const std::optional<Place>& place =
                earlier_here ? recorded_[event.value] : last_in_step_[event.value];
            flat_.kind.seam.complete &= !place || !place->left_out;
            if (place && place->stream != stream)
                flat_.kind.waits.push_back(
                    {place->position, place->stream, !earlier_here, place->carried_over});
        }
        flat.wait_count = static_cast<std::uint16_t>(flat_.kind.waits.size() - flat.wait_first);
    }

    void add_kind(const BlockUse& use, const Op& op, FlatOp& flat)
    {
        if (op.kind == OpKind::collective) {
            flat.ordinal = flat_.kind.collectives_per_step[aliases_.groups[op.group.value]]++;
            return;
        }
        if (op.kind != OpKind::exchange)
            return;
        const Block& block = program_.blocks[use.block.value];
        flat.part_first = static_cast<std::uint32_t>(flat_.kind.parts.size());
        for (std::size_t i = 0; i < op.part_count; ++i) {
            const ExchangePart& part = block.parts[op.part_first + i];
            const std::uint32_t pipe = pipe_of(part);
            flat_.kind.parts.push_back({.pipe = pipe,
                                        .ordinal = flat_.kind.parts_per_step[pipe]++,
                                        .peer = part.peer,
                                        .direction = part.direction,
                                        .way = way_of(pipe, part.peer),
                                        .cost = part.cost});
        }
    }

    std::uint32_t pipe_of(const ExchangePart& part)
    {
        const PipeEnd end{PeerSlot{aliases_.peers[part.peer.value]}, part.direction, part.channel};
        auto& ends = flat_.pipe_ends;
        const auto found = std::find(ends.begin(), ends.end(), end);
        const auto index = static_cast<std::uint32_t>(found - ends.begin());
        if (found == ends.end()) {
            ends.push_back(end);
            flat_.kind.parts_per_step.push_back(0);
        }
        return index;
    }

    std::uint16_t way_of(std::uint32_t pipe, PeerSlot peer)
    {
        const auto found = std::find(ways_.begin(), ways_.end(), std::pair(pipe, peer));
        const auto way = static_cast<std::uint16_t>(found - ways_.begin());
        if (found == ways_.end())
            ways_.emplace_back(pipe, peer);
        return way;
    }

    // Compute and copies start with their first kernel, transfers join with their last; host ops
    // start when the host gets there.
    void issue(const Op& op, std::uint8_t stream, FlatOp& flat)
    {
        flat.by_itself = flat_.kind.streams[stream].kind == StreamKind::worker;
        if (flat.by_itself) {
            flat.first_input = !std::exchange(input_seen_, true);
            return;
        }
        const SimTime per_kernel = costs_.host_per_kernel[static_cast<std::size_t>(flat.phase)];
        const SimTime all =
            op.kind == OpKind::host ? SimTime(0) : per_kernel * std::int64_t{op.kernels};
        const bool transfers = op.kind == OpKind::collective || op.kind == OpKind::exchange;
        const SimTime until_start = transfers || op.kernels == 0 ? all : std::min(all, per_kernel);
        flat.segment = flat_.kind.host.barriers;
        flat.issue_offset = host_clock_ + until_start;
        flat.issue_rest = all - until_start;
        host_clock_ += all;
        if (op.kind == OpKind::host || op.blocks_host) {
            flat.ends_segment = true;
            ++flat_.kind.host.barriers;
            flat_.kind.host.barrier_streams.push_back(stream);
            host_clock_ = SimTime(0);
        }
    }

    void finish()
    {
        flat_.kind.host.after_last = host_clock_;
        flat_.kind.ways = static_cast<std::uint32_t>(ways_.size());
        auto& counts = flat_.kind.collectives_per_step;
        for (std::size_t i = 0; i < counts.size(); ++i)
            counts[i] = counts[aliases_.groups[i]];
    }

    const Program& program_;
    const CostTable& costs_;
    const Role& role_;
    const SlotAliases& aliases_;
    const Omission& omission_;
    FlatRole flat_;
    std::vector<Outline> outlines_;                        // by BlockId
    std::vector<std::pair<std::uint32_t, PeerSlot>> ways_; // pipe of the kind, peer
    std::vector<std::uint8_t> dense_;                      // by StreamId
    std::vector<std::uint32_t> next_;                      // position, by dense stream
    std::vector<std::optional<Place>> last_in_step_;       // by EventId
    std::vector<std::optional<Place>> recorded_;           // so far in this step
    std::uint32_t order_ = 0;
    SimTime host_clock_{};    // since the segment began
    bool input_seen_ = false; // an op of a worker
};

} // namespace

FlatRole flatten(const Program& program, const CostTable& costs, RoleId role,
                 const SlotAliases& aliases, const Omission& omission)
{
    return Flattener(program, costs, role, aliases, omission).flatten();
}

} // namespace trainyard::engine
