#pragma once

// Where a constant comes from and how far it can be trusted.
//
// In files a constant is {"value": ..., "low": ..., "high": ..., "grade": ..., "source": ...} or
// the bare value. In memory the value is a plain member of its struct, and its provenance stands
// beside it under the member's dotted path ("peak.bf16"), so that formulas read like formulas.

#include "sim/base/json.h"
#include "sim/base/vocabulary.h"

#include <map>
#include <optional>
#include <string>

namespace trainyard {

struct Provenance {
    Grade grade = Grade::datasheet; // of a bare value too
    std::string source;             // empty when the file gives none
    Json low;                       // 90 % interval in the unit of the value; null: not known
    Json high;

    bool operator==(const Provenance&) const = default;
};

// By dotted path inside the struct they belong to.
using ProvenanceMap = std::map<std::string, Provenance>;

// The plain tree of `reader`'s node, each constant replaced by its value; lines are kept. Reports
// unknown grades, intervals that do not hold their value, misspelt keys.
struct PlainTree {
    Json json;
    ProvenanceMap provenance; // paths from this node
};
PlainTree without_provenance(const Reader& reader);

// The opposite. `schema` supplies the values of constants that a writer left out because they equal
// the default.
Json with_provenance(Json plain, const ProvenanceMap& provenance, const Json& schema);

// Those below `prefix` (a path without final dot), their paths cut to what follows.
ProvenanceMap below(const ProvenanceMap& provenance, const std::string& prefix);

// A number or a quantity as text, in SI units; nothing for other values.
std::optional<double> magnitude(const Json& value);

} // namespace trainyard
