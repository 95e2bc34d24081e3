#pragma once

// What a block adds to a role's flat ops, the same wherever it is used.

#include "sim/engine/compile.h"

namespace trainyard::engine {

// Positions count from the block's first op on a stream.
struct BlockOutline {
    struct Record {
        LocalEvent event;
        StreamId stream;
        std::uint32_t position;
    };
    struct Wait {
        bool inside = false;        // for an op of the same use, if none of its events are one
        std::uint8_t stream = 0;    // dense; inside
        std::uint32_t position = 0; // inside
        LocalEvent event{};
    };
    struct PlacedOp {
        FlatOp flat;             // waits and parts are the block's, host times from its begin or
                                 // its last barrier before, segments from its first
        std::uint8_t stream = 0; // dense
        std::uint32_t position = 0;
        LocalEvent record{};
    };

    std::vector<std::uint32_t> counts; // ops, by StreamId
    std::vector<Record> records;

    // Of BlockOutlines::placed:
    std::vector<PlacedOp> ops;
    std::vector<Wait> waits;
    std::vector<std::uint8_t> streams;  // dense, those that it has ops on
    std::vector<std::uint8_t> barriers; // dense streams of the ops that the host waits for
    SimTime issue{};                    // that the host takes behind the last of these
};

class BlockOutlines {
public:
    BlockOutlines(const Program& program, const CostTable& costs);

    // Without ops.
    const BlockOutline& of(BlockId block);
    // The same with ops. `dense` numbers the role's streams by StreamId; the same in each call.
    const BlockOutline& placed(BlockId block, const std::vector<std::uint8_t>& dense);

private:
    void place(const Block& block, const std::vector<std::uint8_t>& dense, BlockOutline& outline);
    void issue(const Op& op, BlockOutline& outline, BlockOutline::PlacedOp& placed) const;
    FlatOp without_use(const Op& op) const;

    const Program& program_;
    const CostTable& costs_;
    std::vector<BlockOutline> all_; // by BlockId; without counts: not known yet
};

} // namespace trainyard::engine
