#pragma once

// Colours and widths of links: utilisation on one scale whose lightness runs one way, so that it
// reads without telling hues apart; capacity as width.

#include <QColor>
#include <QPalette>
#include <array>

namespace trainyard::gui {

struct LinkColours {
    explicit LinkColours(const QPalette& palette);

    // 0 to 1; above it is drawn as 1 (a link cannot do more than it has).
    QColor of_use(double use) const;

    bool dark = false;
    QColor background;
    QColor frame; // behind what is open
    QColor edge;  // of things
    QColor thing; // GPU, NIC, switch
    QColor text;
    QColor quiet_text;
    QColor accent;
    QColor error;
    QColor warning;
    QColor stub;
    std::array<QColor, 6> scale; // at 0, 0.2, ... 1
};

// From this utilisation on a link is as good as full.
inline constexpr double saturated = 0.995;

// In pixels, of a link or bundle that has `capacity` where `most` is the largest.
double width_of(double capacity, double most);

} // namespace trainyard::gui
