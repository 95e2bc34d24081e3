#pragma once

// Colours of the window, light and dark, and the fills of kinds of time on them.

#include "sim/report/kinds.h"

#include <QBrush>
#include <QPalette>

class QApplication;

namespace trainyard::gui {

enum class Theme : std::uint8_t { light, dark };

// What the desktop wants. Asked before a theme is applied it is right with every Qt; later Qt 6.5
// or newer is needed, older ones go on to say what they said first.
Theme system_theme();

QPalette palette_of(Theme theme);

// Fusion with that palette; every widget is told. The wheel changes no value without the focus.
void apply_theme(QApplication& application, Theme theme);

// What a palette is, whoever made it.
Theme theme_of(const QPalette& palette);

// Of a kind of time. `with_hatch` draws the second channel: for areas wide enough to show it.
enum class Channel : std::uint8_t { colour, with_hatch };
QBrush brush_of(const Fill& fill, const QPalette& palette, Channel channel = Channel::with_hatch);
QColor colour_of(const Fill& fill, const QPalette& palette);

// The i-th of several series.
QColor series_colour(std::size_t index);

// Black or white, whichever can be read on it (WCAG 2 relative luminance).
QColor ink_on(const QColor& background);

// Of texts and marks that say better, worse, and wrong; never without a sign or words beside them.
struct SignColours {
    QColor better;
    QColor worse;
    QColor error;
    QColor warning;
    QColor quiet; // less important text, still legible
    QColor grid;
};
SignColours sign_colours(const QPalette& palette);

} // namespace trainyard::gui
