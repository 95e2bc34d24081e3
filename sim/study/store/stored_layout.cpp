#include "sim/study/store/stored_layout.h"

namespace trainyard {

namespace {

constexpr std::string_view too_large = "memory"; // as a refusal; others are fields: "/strategy/pp"

} // namespace

LayoutChoice choice_at(const Statement& row, int column)
{
    const auto size = [&](int which) { return static_cast<int>(row.integer(column + which)); };
    const std::string schedule = row.text(column + 7);
    LayoutChoice choice{size(0),
                        size(1),
                        size(2),
                        size(3),
                        size(4),
                        size(5),
                        size(6),
                        find_schedule(schedule),
                        row.integer(column + 8),
                        row.integer(column + 9),
                        {stored_word<Recompute>(row.text(column + 10)), {}}};
    if (choice.schedule == nullptr)
        throw WorldError{"a store has the unknown schedule \"" + schedule + "\""};
    if (!row.is_null(column + 11))
        choice.recompute.layers = size(11);
    return choice;
}

Bytes bytes_at(const Statement& row, int column)
{
    return Bytes(static_cast<std::uint64_t>(row.integer(column)));
}

std::optional<std::string> refusal_of(const PointFacts& facts)
{
    switch (facts.kind) {
    case PointFacts::Kind::timed:
        return {};
    case PointFacts::Kind::too_large:
        return std::string(too_large);
    case PointFacts::Kind::refused:
    case PointFacts::Kind::beaten: // is not kept
        break;
    }
    return facts.pointer;
}

void refuse_for(PointFacts& facts, const std::string& refusal)
{
    const bool large = refusal == too_large;
    facts.kind = large ? PointFacts::Kind::too_large : PointFacts::Kind::refused;
    facts.pointer = large ? std::string() : refusal;
}

} // namespace trainyard
