#pragma once

// The timeline's colours on light and dark: those of sim/report/kinds.h, hatches as second channel.

#include "sim/report/kinds.h"

#include <QBrush>
#include <QPalette>

namespace trainyard::gui {

struct KindPaint {
    QColor fill;
    QBrush hatch; // Qt::NoBrush: none
    QColor ink;   // of text on the fill
};

struct TimelineColours {
    explicit TimelineColours(const QPalette& palette);

    const KindPaint& of(TimeKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }

    bool dark = false;
    QColor background;
    QColor band; // behind the names and the axis
    QColor grid;
    QColor text;
    QColor quiet_text;
    QColor accent; // selected
    QColor path;   // critical
    QColor arrow;
    QColor glow; // peers
    std::array<KindPaint, time_kind_count> kinds;
};

QColor mixed(const QColor& a, const QColor& b, double share_of_b);

} // namespace trainyard::gui
