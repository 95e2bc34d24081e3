#include "sim/engine/flatten.h"

#include "sim/engine/block_outline.h"

#include <algorithm>
#include <iterator>
#include <limits>
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
          role_(program.roles[role.value]),
          aliases_(aliases),
          omission_(omission),
          outlines_(program, costs)
    {
        flat_.kind.role = role;
        flat_.kind.collectives_per_step.resize(program.groups.size());
        last_in_step_.resize(role_.event_count);
        recorded_.resize(role_.event_count);
        recorders_.resize(role_.event_count);
    }

    FlatRole flatten() &&
    {
        lay_out_streams();
        find_last_records();
        for_each_use(role_, omission_, [&](std::uint32_t number) {
            if (omission_.times > 0)
                reach(number);
            add(number);
        });
        finish();
        return std::move(flat_);
    }

private:
    // What recorded an event last.
    struct Recorder {
        std::uint32_t use = std::numeric_limits<std::uint32_t>::max();
        LocalEvent event{};
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
        const auto event_of = [&](std::uint32_t use, const BlockOutline::Record& record) {
            return role_event(role_.order[use], record.event).value;
        };
        for (std::uint32_t use = omission_.from; use < to; ++use)
            for (const BlockOutline::Record& record : outlines_.of(role_.order[use].block).records)
            {
                std::optional<Place>& place = places[event_of(use, record)];
                if (use + near < to) {
                    place = Place{.left_out = true};
                    continue;
                }
                place = before[event_of(use - omission_.uses(), record)];
                place->carried_over = true;
            }
    }

    // Before a use is added.
    void reach(std::uint32_t number)
    {
        const std::uint32_t period = omission_.period;
        if (number + alike_before_seam * period == omission_.from)
            count_transfers(&Seam::Transfers::first);
        if (number + period == omission_.from)
            open_seam();
        if (number == omission_.to())
            close_seam();
        if (number == omission_.to() + period)
            count_transfers(&Seam::Transfers::last);
    }

    void count_transfers(std::uint32_t Seam::Transfers::*until)
    {
        const auto count = [&](const std::vector<std::uint32_t>& from,
                               std::vector<Seam::Transfers>& to) {
            to.resize(from.size());
            for (std::size_t i = 0; i < from.size(); ++i)
                to[i].*until = from[i];
        };
        count(flat_.kind.collectives_per_step, flat_.kind.seam.collectives);
        count(flat_.kind.parts_per_step, flat_.kind.seam.parts);
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
        count_transfers(&Seam::Transfers::seam);
        behind_seam_ = true;
    }

    // Dense streams in the order of their ids; only those that the role uses.
    void lay_out_streams()
    {
        std::vector<std::uint32_t> counts(program_.streams.size());
        std::size_t waits = 0;
        std::size_t parts = 0;
        for_each_use(role_, omission_, [&](std::uint32_t number) {
            const BlockUse& use = role_.order[number];
            const std::vector<std::uint32_t>& of_block = outlines_.of(use.block).counts;
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
            const BlockOutline& outline = outlines_.of(use.block);
            for (const BlockOutline::Record& record : outline.records)
                last_in_step_[role_event(use, record.event).value] =
                    Place{dense_[record.stream.value], next[record.stream.value] + record.position};
            for (std::size_t s = 0; s < next.size(); ++s)
                next[s] += outline.counts[s];
        });
    }

    void add(std::uint32_t number)
    {
        const BlockUse& use = role_.order[number];
        const BlockOutline& outline = outlines_.placed(use.block, dense_);
        const bool distinct = events_distinct(use, number, outline);
        const std::uint32_t segment = flat_.kind.host.barriers;
        for (const BlockOutline::PlacedOp& op : outline.ops) {
            const std::uint32_t position = next_[op.stream] + op.position;
            FlatOp& flat = flat_.kind.ops[flat_.kind.streams[op.stream].op_first + position];
            flat = op.flat;
            flat.order = order_++;
            flat.micro_batch = use.micro_batch;
            flat.layer = use.layer;
            if (flat.by_itself)
                flat.first_input = !std::exchange(input_seen_, true);
            else {
                if (flat.segment == 0)
                    flat.issue_offset += host_clock_;
                flat.segment += segment;
            }
            add_waits(use, outline, op, distinct, flat);
            if (flat.kind == OpKind::collective)
                flat.ordinal = flat_.kind.collectives_per_step[aliases_.groups[flat.group.value]]++;
            else if (flat.kind == OpKind::exchange)
                add_parts(use, flat);
            if (op.record.valid())
                recorded_[role_event(use, op.record).value] = Place{op.stream, position};
        }
        for (const std::uint8_t stream : outline.streams)
            next_[stream] += outline.counts[flat_.kind.streams[stream].id.value];
        flat_.kind.host.barriers += static_cast<std::uint32_t>(outline.barriers.size());
        std::ranges::copy(outline.barriers, std::back_inserter(flat_.kind.host.barrier_streams));
        host_clock_ = (outline.barriers.empty() ? host_clock_ : SimTime(0)) + outline.issue;
    }

    // Whether all that the block records goes to events of the role's of their own.
    bool events_distinct(const BlockUse& use, std::uint32_t number, const BlockOutline& outline)
    {
        for (const BlockOutline::Record& record : outline.records) {
            Recorder& last = recorders_[role_event(use, record.event).value];
            if (last.use == number && last.event != record.event)
                return false;
            last = {number, record.event};
        }
        return true;
    }

    // An earlier op of the same stream has finished anyway.
    void add_waits(const BlockUse& use, const BlockOutline& outline,
                   const BlockOutline::PlacedOp& op, bool distinct, FlatOp& flat)
    {
        std::vector<StepWait>& waits = flat_.kind.waits;
        const std::size_t first = waits.size();
        for (std::uint32_t w = flat.wait_first; w < flat.wait_first + flat.wait_count; ++w) {
            const BlockOutline::Wait& wait = outline.waits[w];
            if (wait.inside && distinct) {
                if (wait.stream != op.stream)
                    waits.push_back({next_[wait.stream] + wait.position, wait.stream});
                continue;
            }
            const EventId event = role_event(use, wait.event);
            const bool earlier_here = recorded_[event.value].has_value();
            const std::optional<Place>& place =
                earlier_here ? recorded_[event.value] : last_in_step_[event.value];
            flat_.kind.seam.complete &= !place || !place->left_out;
            if (!place || place->stream == op.stream)
                continue;
            waits.push_back({place->position, place->stream, !earlier_here, place->carried_over});
            if (!earlier_here)
                for_step_before_.push_back(waits.back());
            else if (behind_seam_)
                flat_.kind.seam.complete &= !looks_back(waits.back());
        }
        flat.wait_first = static_cast<std::uint32_t>(first);
        flat.wait_count = static_cast<std::uint16_t>(waits.size() - first);
    }

    // Whether what a wait is for is an op of the repetitions before the seam that must go alike.
    bool looks_back(const StepWait& wait) const
    {
        const Seam::Stream& of = flat_.kind.seam.streams[wait.stream];
        return wait.position < of.position &&
               wait.position + alike_before_seam * of.ops >= of.position && !wait.carried_over;
    }

    void add_parts(const BlockUse& use, FlatOp& flat)
    {
        const Block& block = program_.blocks[use.block.value];
        const std::size_t first =
            std::exchange(flat.part_first, static_cast<std::uint32_t>(flat_.kind.parts.size()));
        for (std::size_t i = first; i < first + flat.part_count; ++i) {
            const ExchangePart& part = block.parts[i];
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

    void finish()
    {
        flat_.kind.host.after_last = host_clock_;
        Seam& seam = flat_.kind.seam;
        if (omission_.times > 0) {
            if (omission_.to() + omission_.period == role_.order.size())
                count_transfers(&Seam::Transfers::last);
            seam.complete &= std::ranges::none_of(
                for_step_before_, [&](const StepWait& wait) { return looks_back(wait); });
            seam.parts.resize(flat_.kind.parts_per_step.size(), {});
        }
        flat_.kind.ways = static_cast<std::uint32_t>(ways_.size());
        auto& counts = flat_.kind.collectives_per_step;
        for (std::size_t i = 0; i < counts.size(); ++i)
            counts[i] = counts[aliases_.groups[i]];
    }

    const Program& program_;
    const Role& role_;
    const SlotAliases& aliases_;
    const Omission& omission_;
    FlatRole flat_;
    BlockOutlines outlines_;
    std::vector<std::pair<std::uint32_t, PeerSlot>> ways_; // pipe of the kind, peer
    std::vector<std::uint8_t> dense_;                      // by StreamId
    std::vector<std::uint32_t> next_;                      // position, by dense stream
    std::vector<std::optional<Place>> last_in_step_;       // by EventId
    std::vector<std::optional<Place>> recorded_;           // so far in this step
    std::vector<Recorder> recorders_;                      // by EventId
    std::uint32_t order_ = 0;
    SimTime host_clock_{};    // since the segment began
    bool input_seen_ = false; // an op of a worker
    bool behind_seam_ = false;
    std::vector<StepWait> for_step_before_; // waits for ops of it
};

} // namespace

FlatRole flatten(const Program& program, const CostTable& costs, RoleId role,
                 const SlotAliases& aliases, const Omission& omission)
{
    return Flattener(program, costs, role, aliases, omission).flatten();
}

} // namespace trainyard::engine
