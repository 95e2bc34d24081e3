#pragma once

// Where the step's time goes, bar by bar: which bars are worth showing where not all fit.

#include "sim/study/breakdown.h"
#include "sim/study/outcome.h"

#include <optional>

namespace trainyard::gui {

enum class BarOf : std::uint8_t { critical, mean, baseline, stage, rank };

struct TimeBar {
    BarOf of = BarOf::mean;
    std::string name;
    std::string note; // why it is shown; empty: it says so itself
    TimeShares shares{};
    std::optional<RankId> rank; // a single one

    bool operator==(const TimeBar&) const = default;
};

// Critical rank and mean, the baseline's (null: none), stages' means, single ranks: at most `most`
// (at least 2). Of many stages those evenly apart; of many ranks that differ half of them the
// furthest from the mean, the others from least to most time without waiting.
std::vector<TimeBar> time_bars(const Outcome& outcome, const Outcome* baseline, std::size_t most);

enum class BarUnit : std::uint8_t { seconds, share };

// A kind's piece of a bar, in seconds or as share of the bar.
struct BarPiece {
    std::size_t bar = 0;
    TimeKind kind = TimeKind::forward;
    double from = 0;
    double to = 0;

    bool operator==(const BarPiece&) const = default;
};

// Bar by bar, left to right; none is empty.
std::vector<BarPiece> pieces_of(const std::vector<TimeBar>& bars, BarUnit unit);

} // namespace trainyard::gui
