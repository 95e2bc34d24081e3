#pragma once

// Packed sequences: several documents fill one sequence without padding, and a token sees its own
// document only.

#include "sim/base/field_names.h"

#include <cstdint>
#include <vector>

namespace trainyard {

struct Packing {
    std::int64_t document_length = 0;         // equal documents; the last takes what is left
    std::vector<std::int64_t> documents = {}; // or their lengths, which add up to the sequence's

    bool operator==(const Packing&) const = default;
};

// Lengths of the documents in a sequence. Requires a packing that fits.
std::vector<std::int64_t> documents_of(const Packing& packing, std::int64_t sequence_length);

template <>
const FieldTable<Packing>& fields_of<Packing>();

} // namespace trainyard
