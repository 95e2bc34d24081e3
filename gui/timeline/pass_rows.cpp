#include "gui/timeline/pass_rows.h"

#include <fmt/core.h>

namespace trainyard::gui {

namespace {

TimeKind pass_kind(Phase phase)
{
    switch (phase) {
    case Phase::forward:
        return TimeKind::forward;
    case Phase::backward:
    case Phase::recompute:
        return TimeKind::backward;
    case Phase::optimizer:
        return TimeKind::optimizer;
    case Phase::gradient_sync:
    case Phase::parameter_sync:
    case Phase::data:
    case Phase::other:
        break;
    }
    return TimeKind::other_compute;
}

std::string_view pass_word(TimeKind kind)
{
    switch (kind) {
    case TimeKind::forward:
        return "forward";
    case TimeKind::backward:
        return "backward";
    case TimeKind::optimizer:
        return "optimizer";
    default:
        return "other";
    }
}

// What the ops of one piece have in common.
struct PassKey {
    TimeKind kind = TimeKind::other_compute;
    std::uint16_t micro_batch = BlockUse::no_index;
    std::uint16_t layer = BlockUse::no_index; // of passes: none
    std::uint16_t step = 0;

    bool operator==(const PassKey&) const = default;
};

std::string name_of(const PassKey& key, const Program& program)
{
    if (key.layer != BlockUse::no_index)
        return layer_name(program, key.layer);
    if (key.micro_batch != BlockUse::no_index)
        return fmt::format("{} {}", pass_word(key.kind), key.micro_batch);
    return std::string(pass_word(key.kind));
}

} // namespace

std::vector<PassPiece> passes_of(const RecordGraph& graph, std::span<const std::uint32_t> compute,
                                 PassLevel level)
{
    std::vector<PassPiece> pieces;
    PassKey last;
    bool joins = false;
    for (const std::uint32_t index : compute) {
        const OpRecord& record = graph.records()[index];
        if (record.end <= record.start)
            continue;
        const Label& label = graph.program().labels[record.label.value];
        PassKey key{pass_kind(label.phase), record.micro_batch, BlockUse::no_index, record.step};
        if (level == PassLevel::layer) {
            key.layer = record.layer;
            if (key.layer == BlockUse::no_index) {
                joins = false;
                continue;
            }
        }
        if (joins && key == last) {
            pieces.back().to = record.end;
            ++pieces.back().ops;
            continue;
        }
        pieces.push_back(
            {record.start, record.end, key.kind, index, 1, name_of(key, graph.program())});
        last = key;
        joins = true;
    }
    return pieces;
}

} // namespace trainyard::gui
