#include "gui/timeline/colours.h"

#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr double least_seen = 0.3; // of a colour, where hardly anything happens

QColor colour_of(std::string_view text)
{
    return QColor(QString::fromLatin1(text.data(), static_cast<qsizetype>(text.size())));
}

// In sRGB's own terms, as contrast formulas have it.
double lightness(const QColor& colour)
{
    return 0.299 * colour.redF() + 0.587 * colour.greenF() + 0.114 * colour.blueF();
}

Qt::BrushStyle style_of(Hatch hatch)
{
    switch (hatch) {
    case Hatch::slash:
        return Qt::BDiagPattern;
    case Hatch::backslash:
        return Qt::FDiagPattern;
    case Hatch::vertical:
        return Qt::VerPattern;
    case Hatch::horizontal:
        return Qt::HorPattern;
    case Hatch::cross:
        return Qt::DiagCrossPattern;
    case Hatch::dots:
        return Qt::Dense6Pattern;
    case Hatch::none:
        break;
    }
    return Qt::NoBrush;
}

KindPaint paint_of(TimeKind kind, const QColor& idle)
{
    const Fill& fill = fill_of(kind);
    KindPaint paint;
    paint.fill = fill.colour.empty() ? idle : colour_of(fill.colour);
    paint.ink = lightness(paint.fill) > 0.45 ? QColor(0, 0, 0) : QColor(255, 255, 255);
    QColor ink = colour_of(fill.ink);
    ink.setAlphaF(0.35F);
    paint.hatch = QBrush(ink, style_of(fill.hatch));
    return paint;
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
    dark = lightness(background) < 0.5;
    band = palette.color(QPalette::Window);
    grid = mixed(background, text, 0.12);
    quiet_text = mixed(background, text, 0.62);
    accent = dark ? QColor("#ffd75e") : QColor("#111111");
    path = dark ? QColor("#ff5c7a") : QColor("#c2003c");
    arrow = dark ? QColor("#ffffff") : QColor("#1a1a1a");
    glow = dark ? QColor("#ffd75e") : QColor("#7a00c2");
    const QColor idle = mixed(background, text, 0.13);
    for (std::size_t k = 0; k < time_kind_count; ++k) {
        kinds[k] = paint_of(static_cast<TimeKind>(k), idle);
        for (std::size_t share = 0; share < cells[k].size(); ++share) {
            const double seen = least_seen + (1 - least_seen) * static_cast<double>(share) /
                                                 static_cast<double>(cells[k].size() - 1);
            cells[k][share] = mixed(background, kinds[k].fill, seen).rgb();
        }
    }
}

} // namespace trainyard::gui
