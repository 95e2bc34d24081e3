#pragma once

// What a timeline is laid out of: a lane's time, passes and streams, before their slices have
// places.

#include "gui/timeline/pass_rows.h"
#include "gui/timeline/timeline_data.h"

namespace trainyard::gui {

// One stream of a lane, over all steps.
struct StreamPart {
    StreamId stream;
    std::span<const std::uint32_t> records;
    std::uint32_t slices = 0;
    std::uint32_t first = 0; // into the columns
};

struct LanePart {
    std::uint8_t run = 0;
    LaneId lane;
    RankId rank;
    RoleId stage;
    NodeId node;
    double idle = 0; // share of its time; of the first run's rank where two are compared
    std::vector<TimePiece> pieces;
    std::uint32_t first_piece = 0; // into the columns
    std::array<std::vector<PassPiece>, pass_level_count> passes;
    std::array<std::uint32_t, pass_level_count> first_pass{}; // into the columns
    std::vector<StreamPart> streams;
};

// Of a transfer: when its data begins to move.
SimTime moving_from(const OpRecord& record);
// How many slices show it: one waits, one moves.
std::uint32_t slices_of(const OpRecord& record);
// The order in which the streams of a rank are shown.
int stream_place(StreamKind kind);
// Of its time.
double idle_share(std::span<const TimePiece> pieces);

void sort_parts(std::vector<LanePart>& parts, LaneOrder order);

} // namespace trainyard::gui
