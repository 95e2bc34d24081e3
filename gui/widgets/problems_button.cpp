#include "gui/widgets/problems_button.h"

#include "gui/widgets/theme.h"

#include <QEvent>

namespace trainyard::gui {

namespace {

QString text_for(int errors, int warnings)
{
    const auto counted = [](int count, const QString& one, const QString& many) {
        return count == 1 ? one : many.arg(count);
    };
    QStringList parts;
    if (errors > 0)
        parts << counted(errors, ProblemsButton::tr("1 error"), ProblemsButton::tr("%1 errors"));
    if (warnings > 0)
        parts << counted(warnings, ProblemsButton::tr("1 warning"),
                         ProblemsButton::tr("%1 warnings"));
    return parts.isEmpty() ? ProblemsButton::tr("No problems") : parts.join(QStringLiteral(", "));
}

} // namespace

ProblemsButton::ProblemsButton(QWidget* parent) : QToolButton(parent)
{
    setAutoRaise(true);
    setFocusPolicy(Qt::StrongFocus);
    set_counts(0, 0);
}

void ProblemsButton::set_counts(int errors, int warnings)
{
    errors_ = errors;
    warnings_ = warnings;
    const QString text = text_for(errors, warnings);
    const QString sign = errors > 0     ? QStringLiteral("✖ ")
                         : warnings > 0 ? QStringLiteral("⚠ ")
                                        : QStringLiteral("✓ ");
    setText(sign + text);
    setAccessibleName(text);
    setToolTip(tr("%1: show or hide the list").arg(text));
    follow_colours();
}

void ProblemsButton::follow_colours()
{
    const SignColours colours = sign_colours(palette());
    const QColor colour = errors_ > 0     ? colours.error
                          : warnings_ > 0 ? colours.warning
                                          : colours.quiet;
    if (palette().color(QPalette::ButtonText) == colour)
        return;
    QPalette own;
    own.setColor(QPalette::ButtonText, colour);
    setPalette(own);
}

void ProblemsButton::changeEvent(QEvent* event)
{
    QToolButton::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        follow_colours();
}

} // namespace trainyard::gui
