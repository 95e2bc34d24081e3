#pragma once

// Passes of micro-batches over a rank's compute stream, and the layers in them: the parents of its
// ops, for pictures where single ops are too narrow to be read.

#include "sim/study/recorded/record_graph.h"

#include <span>
#include <string>

namespace trainyard::gui {

// From its first op's start to its last one's end.
struct PassPiece {
    SimTime from;
    SimTime to;
    TimeKind kind = TimeKind::other_compute;
    RecordIndex first = no_record; // op in it
    std::uint32_t ops = 0;
    std::string name; // "forward 3", "layer 17"

    bool operator==(const PassPiece&) const = default;
};

enum class PassLevel : std::uint8_t { pass, layer };
inline constexpr std::size_t pass_level_count = 2;

// `compute`: the stream's records, in time. Neighbours of one pass (and layer) are one piece, which
// ends where another begins; what is recomputed belongs to the backward pass that needs it. Layers
// of ops that belong to none are left out.
std::vector<PassPiece> passes_of(const RecordGraph& graph, std::span<const std::uint32_t> compute,
                                 PassLevel level);

} // namespace trainyard::gui
