#include "gui/widgets/theme.h"

#include "gui/model/qt_text.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QIcon>
#include <QPainter>
#include <QPixmap>
#include <QProxyStyle>
#include <QScrollBar>
#include <QStyleHints>
#include <QStyleOption>
#include <QWheelEvent>
#include <cmath>

namespace trainyard::gui {

namespace {

struct Tone {
    const char* window;
    const char* base;
    const char* alternate;
    const char* text;
    const char* faint; // disabled and placeholder text
    const char* button;
    const char* edge;
    const char* accent;
    const char* accent_text;
    const char* link;
};

constexpr Tone light_tone{"#f4f5f7", "#ffffff", "#f4f6f9", "#1b1f24", "#767d86",
                          "#e9ecef", "#c4c9d0", "#0b63b0", "#ffffff", "#0b63b0"};
// The window is lighter than the base by as much as shows where an empty box to tick is.
constexpr Tone dark_tone{"#2a2d32", "#17191c", "#1e2125", "#e7e9ec", "#969da6",
                         "#3a3f46", "#565c66", "#2f7fd0", "#ffffff", "#6db3f2"};

// 6 x 6 pixels, as the patterns of our pages.
QPixmap hatch_tile(const Fill& fill, const QColor& colour)
{
    constexpr int side = 6;
    QPixmap tile(side, side);
    tile.fill(colour);
    QPainter painter(&tile);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor ink(text_of(fill.ink));
    ink.setAlphaF(0.5F);
    painter.setPen(QPen(ink, 1.4));
    switch (fill.hatch) {
    case Hatch::slash:
        painter.drawLine(QPointF(-1, 1), QPointF(1, -1));
        painter.drawLine(QPointF(0, side), QPointF(side, 0));
        painter.drawLine(QPointF(side - 1, side + 1), QPointF(side + 1, side - 1));
        break;
    case Hatch::backslash:
        painter.drawLine(QPointF(-1, side - 1), QPointF(1, side + 1));
        painter.drawLine(QPointF(0, 0), QPointF(side, side));
        painter.drawLine(QPointF(side - 1, -1), QPointF(side + 1, 1));
        break;
    case Hatch::vertical:
        painter.drawLine(QPointF(side / 2.0, 0), QPointF(side / 2.0, side));
        break;
    case Hatch::horizontal:
        painter.drawLine(QPointF(0, side / 2.0), QPointF(side, side / 2.0));
        break;
    case Hatch::cross:
        painter.drawLine(QPointF(0, 0), QPointF(side, side));
        painter.drawLine(QPointF(0, side), QPointF(side, 0));
        break;
    case Hatch::dots:
        painter.setPen(Qt::NoPen);
        painter.setBrush(ink);
        painter.drawEllipse(QPointF(side / 2.0, side / 2.0), 1.2, 1.2);
        break;
    case Hatch::none:
        break;
    }
    return tile;
}

// What the wheel changes, but for bars: those scroll.
bool takes_wheel(const QWidget& widget)
{
    const bool value = qobject_cast<const QAbstractSlider*>(&widget) != nullptr &&
                       qobject_cast<const QScrollBar*>(&widget) == nullptr;
    return value || qobject_cast<const QAbstractSpinBox*>(&widget) != nullptr ||
           qobject_cast<const QComboBox*>(&widget) != nullptr;
}

// To what the widget lies in, outwards until someone takes it.
void pass_on(const QWidget& widget, QWheelEvent& event)
{
    QPointF at = event.position();
    for (const QWidget* inner = &widget; !inner->isWindow(); inner = inner->parentWidget()) {
        at = inner->mapToParent(at);
        QWheelEvent passed(at, event.globalPosition(), event.pixelDelta(), event.angleDelta(),
                           event.buttons(), event.modifiers(), event.phase(), event.inverted());
        passed.ignore();
        QCoreApplication::sendEvent(inner->parentWidget(), &passed);
        if (passed.isAccepted())
            break;
    }
    event.accept(); // it has been everywhere
}

class WindowStyle : public QProxyStyle {
public:
    WindowStyle() : QProxyStyle(QStringLiteral("Fusion")) {}
    using QProxyStyle::polish;
    using QProxyStyle::unpolish;

    // A click on a slider goes there.
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* more) const override
    {
        return hint == SH_Slider_AbsoluteSetButtons
                   ? static_cast<int>(Qt::LeftButton)
                   : QProxyStyle::styleHint(hint, option, widget, more);
    }

    // Fusion's arrow of a toolbar that is too long is black on any window.
    QIcon standardIcon(StandardPixmap which, const QStyleOption* option,
                       const QWidget* widget) const override
    {
        if (which != SP_ToolBarHorizontalExtensionButton)
            return QProxyStyle::standardIcon(which, option, widget);
        const QPalette palette = option != nullptr ? option->palette : QApplication::palette();
        constexpr int size = 32; // of any icon
        QPixmap picture(size, size);
        picture.fill(Qt::transparent);
        QPainter painter(&picture);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(palette.color(QPalette::ButtonText), size / 10.0));
        for (const int left : {size / 5, size / 2})
            painter.drawPolyline(
                QPolygon({{left, size / 4}, {left + size / 4, size / 2}, {left, 3 * size / 4}}));
        return QIcon(picture);
    }

    // The wheel scrolls what a value lies in: it changes the value only where someone went to it,
    // by a click or a key. Qt itself lets the wheel give boxes the focus.
    void polish(QWidget* widget) override
    {
        QProxyStyle::polish(widget);
        if (!takes_wheel(*widget))
            return;
        if (widget->focusPolicy() == Qt::WheelFocus)
            widget->setFocusPolicy(Qt::StrongFocus);
        widget->installEventFilter(this);
    }

    void unpolish(QWidget* widget) override
    {
        widget->removeEventFilter(this);
        QProxyStyle::unpolish(widget);
    }

    bool eventFilter(QObject* object, QEvent* event) override
    {
        auto* const widget = qobject_cast<QWidget*>(object);
        if (widget == nullptr || event->type() != QEvent::Wheel || widget->hasFocus())
            return QProxyStyle::eventFilter(object, event);
        pass_on(*widget, *static_cast<QWheelEvent*>(event));
        return true;
    }

    // Fusion draws the edges of boxes darker than the window, whatever its colour: on a dark one
    // they cannot be seen.

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override
    {
        QProxyStyle::drawPrimitive(element, option, painter, widget);
        const bool box =
            element == PE_IndicatorCheckBox || element == PE_IndicatorItemViewItemCheck;
        if (!box || theme_of(option->palette) == Theme::light)
            return;
        const bool enabled = (option->state & State_Enabled) != 0;
        painter->save();
        painter->setBrush(Qt::NoBrush);
        painter->setPen(option->palette.color(enabled ? QPalette::PlaceholderText : QPalette::Mid));
        painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
        painter->restore();
    }
};

double luminance(const QColor& colour)
{
    const auto linear = [](double channel) {
        return channel <= 0.03928 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
           0.0722 * linear(colour.blueF());
}

} // namespace

Theme system_theme()
{
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
    return QGuiApplication::styleHints()->colorScheme() == Qt::ColorScheme::Dark ? Theme::dark
                                                                                 : Theme::light;
#else
    static const Theme first = theme_of(QGuiApplication::palette());
    return first;
#endif
}

QPalette palette_of(Theme theme)
{
    const Tone& tone = theme == Theme::dark ? dark_tone : light_tone;
    QPalette palette;
    palette.setColor(QPalette::Window, tone.window);
    palette.setColor(QPalette::WindowText, tone.text);
    palette.setColor(QPalette::Base, tone.base);
    palette.setColor(QPalette::AlternateBase, tone.alternate);
    palette.setColor(QPalette::Text, tone.text);
    palette.setColor(QPalette::PlaceholderText, tone.faint);
    palette.setColor(QPalette::Button, tone.button);
    palette.setColor(QPalette::ButtonText, tone.text);
    palette.setColor(QPalette::BrightText, Qt::white);
    palette.setColor(QPalette::ToolTipBase, tone.base);
    palette.setColor(QPalette::ToolTipText, tone.text);
    palette.setColor(QPalette::Highlight, tone.accent);
    palette.setColor(QPalette::HighlightedText, tone.accent_text);
    palette.setColor(QPalette::Link, tone.link);
    palette.setColor(QPalette::LinkVisited, tone.link);
    palette.setColor(QPalette::Mid, tone.edge);
    palette.setColor(QPalette::Midlight, QColor(tone.button).lighter(105));
    palette.setColor(QPalette::Light, QColor(tone.button).lighter(112));
    palette.setColor(QPalette::Dark, QColor(tone.edge).darker(125));
    palette.setColor(QPalette::Shadow, QColor(tone.edge).darker(180));
    for (const QPalette::ColorRole role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, tone.faint);
    palette.setColor(QPalette::Disabled, QPalette::Highlight, tone.edge);
    return palette;
}

void apply_theme(QApplication& application, Theme theme)
{
    application.setStyle(new WindowStyle);
    application.setPalette(palette_of(theme));
}

Theme theme_of(const QPalette& palette)
{
    return luminance(palette.color(QPalette::Base)) < 0.2 ? Theme::dark : Theme::light;
}

QColor colour_of(const Fill& fill, const QPalette& palette)
{
    if (fill.colour.empty())
        return theme_of(palette) == Theme::dark ? QColor(0x5d, 0x68, 0x76)
                                                : QColor(0xe8, 0xea, 0xee);
    return QColor(text_of(fill.colour));
}

QBrush brush_of(const Fill& fill, const QPalette& palette, Channel channel)
{
    const QColor colour = colour_of(fill, palette);
    if (channel == Channel::colour || fill.hatch == Hatch::none)
        return colour;
    return QBrush(hatch_tile(fill, colour));
}

QColor series_colour(std::size_t index)
{
    const std::string_view name = series_colours[index % series_colours.size()];
    return QColor(text_of(name));
}

QColor ink_on(const QColor& background)
{
    const double light = luminance(background);
    return (light + 0.05) * (light + 0.05) > 1.05 * 0.05 ? QColor(Qt::black) : QColor(Qt::white);
}

SignColours sign_colours(const QPalette& palette)
{
    if (theme_of(palette) == Theme::dark)
        return {"#4cc38a", "#ff8f6b", "#ff7b72", "#e3b341", "#a5acb5", "#34383f"};
    return {"#0a7a4b", "#b3480a", "#b42318", "#8a5a00", "#5a626c", "#dfe3e8"};
}

} // namespace trainyard::gui
