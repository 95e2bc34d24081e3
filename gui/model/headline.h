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
    QString interval; // 90 %, and what is usual; empty: neither is known
    QString change;   // against another run; empty: there is none, or no change
    Trend trend = Trend::none;
    bool impossible = false; // `interval` says why this cannot be
    QString explanation;
    QString view; // key of the view that shows more; empty: the price
    QString part; // key of the part of that view; empty: all of it

    bool operator==(const HeadlineItem&) const = default;
};

// What a device costs in an hour, in any currency; prices are the user's, they have a date.
struct Price {
    double per_device_hour = 0; // 0: not said
    QString currency = QStringLiteral("USD");
    double tokens = 0; // of the whole training; 0: not said

    bool operator==(const Price&) const = default;
};

// What the library says of money, in the price's currency.
QString in_currency(QString text, const Price& price);

// A number as somebody would type it, no less exact: "2T", "500B", "2.5".
QString typed_count(double count);

// Requires run.outcome. No change is told against a run without an outcome, nor where one of the
// two does not fit: what cannot be is neither better nor worse.
std::vector<HeadlineItem> headline_of(const RunView& run, const RunView* other, const Price& price);

// Something that is so of a whole run.
struct StatusChip {
    enum class Kind : std::uint8_t { plain, warning, error };
    QString text;
    Kind kind = Kind::plain;
    QString explanation;

    bool operator==(const StatusChip&) const = default;
};

// What the figures rest on, and how they were simulated. Requires run.outcome.
std::vector<StatusChip> chips_of(const RunView& run);

} // namespace trainyard::gui
