#pragma once

// The figures that are always in sight, as texts: with their interval, and their change against the
// pinned baseline.

#include "gui/model/live_run.h"

#include <QString>
#include <optional>
#include <vector>

namespace trainyard::gui {

enum class Trend : std::uint8_t { none, better, worse };

struct HeadlineItem {
    QString name;
    QString value;
    QString interval; // 90 %; empty: none is known
    QString change;   // against the baseline; empty: no baseline, or no change
    Trend trend = Trend::none;
    bool impossible = false; // `interval` says why this cannot be
    QString explanation;

    bool operator==(const HeadlineItem&) const = default;
};

// What a device costs in an hour, in any currency; prices are the user's, they have a date.
struct Price {
    double per_device_hour = 0; // 0: not said
    QString currency = QStringLiteral("USD");

    bool operator==(const Price&) const = default;
};

// Requires run.outcome. No change is told against a baseline without an outcome, nor where one of
// the two does not fit: what cannot be is neither better nor worse.
std::vector<HeadlineItem> headline_of(const RunView& run, const RunView* baseline,
                                      const Price& price);

} // namespace trainyard::gui
