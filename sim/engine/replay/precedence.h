#pragma once

// Which ops precede which on a lane, whatever the numbers: for each op, how many ops of each stream
// must have finished when it starts.

#include "sim/engine/compile.h"

#include <span>

namespace trainyard::engine::replay {

class Precedence {
public:
    // What is over of the step before is known only where that `matters`.
    enum class PreviousStep : std::uint8_t { ignored, matters };
    Precedence(const LaneKind& kind, PreviousStep before);

    std::size_t streams() const { return streams_; }

    // Of each stream, how many ops of this step have finished when `op` starts.
    std::span<const std::uint32_t> at_start(std::uint32_t op) const
    {
        return {counts_.data() + std::size_t{op} * width_, streams_};
    }

    // Of each stream, how many ops of the step before have finished when `op` starts.
    std::span<const std::uint32_t> before_at_start(std::uint32_t op) const
    {
        return {before_.data() + std::size_t{op} * width_, streams_};
    }

    std::uint8_t stream_of(std::uint32_t op) const { return stream_of_[op]; }
    std::uint32_t position_of(std::uint32_t op) const { return position_of_[op]; }
    // The op that ends host segment i.
    const std::vector<std::uint32_t>& barriers() const { return barriers_; }
    // The exchange of a part, and the part of that ordinal in its pipe.
    std::uint32_t op_of_part(std::uint32_t part) const { return op_of_part_[part]; }
    std::uint32_t part_at(std::uint32_t pipe, std::uint32_t ordinal) const
    {
        return parts_[pipe_first_[pipe] + ordinal];
    }

    // Whether `op` is among so many ops of each stream.
    bool over(std::span<const std::uint32_t> counts, std::uint32_t op) const
    {
        return counts[stream_of_[op]] > position_of_[op];
    }
    // Adds what is over once `op` has finished.
    void add_end_of(std::vector<std::uint32_t>& counts, std::uint32_t op) const;

private:
    using Row = std::uint32_t*; // of a table: a count for each stream

    void place_ops(const LaneKind& kind);
    void place_parts(const LaneKind& kind);
    void find_within_step(const LaneKind& kind);
    void find_over_previous_step(const LaneKind& kind);
    Row begin_row(std::vector<std::uint32_t>& table, std::uint32_t op) const;
    Row row(std::vector<std::uint32_t>& table, std::uint32_t op) const
    {
        return table.data() + std::size_t{op} * width_;
    }
    // Raises all counts to at least those of the other row.
    void raise(Row to, const std::uint32_t* from) const;
    // Raises all counts to what is over once `op` has finished.
    void raise_by_end(Row to, std::uint32_t op) const;

    std::size_t streams_;
    std::size_t width_;                 // of a row
    std::vector<std::uint32_t> counts_; // by op, stream
    std::vector<std::uint32_t> before_;
    // In the order in which the host issues them; every op comes behind those of its lane and step
    // that it needs.
    std::vector<std::uint32_t> issue_order_;
    std::vector<std::uint32_t> position_of_;
    std::vector<std::uint8_t> stream_of_;
    std::vector<std::uint32_t> barriers_;
    std::vector<std::uint32_t> op_of_part_;
    std::vector<std::uint32_t> pipe_first_; // into parts_
    std::vector<std::uint32_t> parts_;      // by pipe, ordinal
};

} // namespace trainyard::engine::replay
