#pragma once

// What was measured between pairs: GPU i (or the host) to GPU j.

#include "calibrate/import/notes.h"

#include <optional>

namespace trainyard {

enum class PairQuantity : std::uint8_t { bandwidth, latency };

struct PairMatrix {
    std::string test;         // "device_to_device_memcpy_read_ce", "Bidirectional P2P=Enabled", ...
    std::string title;        // as printed
    std::string rows = "GPU"; // what the rows are: "GPU", "CPU"
    PairQuantity quantity = PairQuantity::bandwidth;
    // By row and column, in bytes/s or seconds; empty: not measured.
    std::vector<std::vector<std::optional<double>>> values;

    bool operator==(const PairMatrix&) const = default;
};

struct ImportedPairs {
    std::vector<PairMatrix> matrices;
    ImportNotes notes;

    bool operator==(const ImportedPairs&) const = default;
};

// Takes nonsense out of a matrix: values of zero or less are no measurement; rates beyond
// `fastest_copy` are refused with a flag. False: nothing is left.
inline constexpr double fastest_copy = 20e12; // bytes/s; more than any HBM gives
bool keep_plausible(PairMatrix& matrix, ImportNotes& notes);

inline constexpr std::string_view pairs_format = "trainyard.pairs/1";
Json to_json(const std::vector<PairMatrix>& matrices);
bool is_pairs(const Json& json);

// Reads what to_json wrote.
ImportedPairs read_pairs(const Json& json);

// "device_to_device_memcpy_read_ce: 6 x 6, 21.8 to 26.4 GB/s, median 22.7".
std::string describe(const PairMatrix& matrix);

} // namespace trainyard
