#include "sim/strategy/lower/block_pieces.h"

namespace trainyard {

namespace {

template <class T>
std::uint16_t append(std::vector<T>& to, const std::vector<T>& from, std::uint16_t first,
                     std::uint16_t count)
{
    const auto at = static_cast<std::uint16_t>(to.size());
    to.insert(to.end(), from.begin() + first, from.begin() + first + count);
    return at;
}

} // namespace

std::vector<Block> cut_into_pieces(const Block& block,
                                   const std::function<bool(const Op&)>& ends_piece)
{
    std::vector<Block> pieces;
    bool open = false;
    for (const Op& op : block.ops) {
        if (!open)
            pieces.push_back({.name = block.name, .local_events = block.local_events});
        Block& piece = pieces.back();
        Op copy = op;
        copy.wait_first = append(piece.waits, block.waits, op.wait_first, op.wait_count);
        copy.part_first = append(piece.parts, block.parts, op.part_first, op.part_count);
        piece.ops.push_back(copy);
        open = !ends_piece(op);
    }
    return pieces;
}

} // namespace trainyard
