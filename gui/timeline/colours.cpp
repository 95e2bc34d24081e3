#include "gui/timeline/colours.h"

#include "gui/widgets/theme.h"

namespace trainyard::gui {

namespace {

KindPaint paint_of(TimeKind kind, const QPalette& palette)
{
    const Fill& fill = fill_of(kind);
    const QColor colour = colour_of(fill, palette);
    return {colour, fill.hatch == Hatch::none ? QBrush(Qt::NoBrush) : brush_of(fill, palette),
            ink_on(colour)};
}

} // namespace

QColor mixed(const QColor& a, const QColor& b, double share_of_b)
{
    const auto mix = [&](float x, float y) { return static_cast<float>(x + (y - x) * share_of_b); };
    return QColor::fromRgbF(mix(a.redF(), b.redF()), mix(a.greenF(), b.greenF()),
                            mix(a.blueF(), b.blueF()));
}

TimelineColours::TimelineColours(const QPalette& palette)
    : background(palette.color(QPalette::Base)), text(palette.color(QPalette::Text))
{
    dark = theme_of(palette) == Theme::dark;
    band = palette.color(QPalette::Window);
    grid = mixed(background, text, 0.12);
    quiet_text = mixed(background, text, 0.62);
    accent = dark ? QColor("#ffd75e") : QColor("#111111");
    path = dark ? QColor("#ff5c7a") : QColor("#c2003c");
    arrow = dark ? QColor("#ffffff") : QColor("#1a1a1a");
    glow = dark ? QColor("#ffd75e") : QColor("#7a00c2");
    for (std::size_t k = 0; k < time_kind_count; ++k)
        kinds[k] = paint_of(static_cast<TimeKind>(k), palette);
}

} // namespace trainyard::gui
