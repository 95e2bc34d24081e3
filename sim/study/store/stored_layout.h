#pragma once

// Columns of a store that several of its tables have.

#include "sim/base/fields.h"
#include "sim/database/database.h"
#include "sim/study/search/points.h"

namespace trainyard {

// The value of a word. Throws WorldError at one that no version of this program wrote.
template <class Enum>
Enum stored_word(const std::string& name)
{
    for (const auto& [value, own] : enum_names<Enum>())
        if (own == name)
            return value;
    throw WorldError{"a store has the unknown word \"" + name + "\""};
}

// From that column on: tp, cp, pp, vpp, ep, etp, zero, schedule, global_batch, micro_batch,
// recompute, recompute_layers. Throws WorldError at words that no version of this program wrote.
LayoutChoice choice_at(const Statement& row, int column);

Bytes bytes_at(const Statement& row, int column); // 0 where it has none

// What stands in `refusal` of a point that was not timed.
void refuse_for(PointFacts& facts, const std::string& refusal);
std::optional<std::string> refusal_of(const PointFacts& facts);

} // namespace trainyard
