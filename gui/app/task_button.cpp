#include "gui/app/task_button.h"

#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"

#include <QPainter>
#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr int task_margin = 14;

QFont title_font(const QFont& font)
{
    return bold(sized(font, 1.25));
}

} // namespace

TaskButton::TaskButton(const QString& title, const QString& says, QWidget* parent)
    : QAbstractButton(parent), says_(says)
{
    setText(title);
    setAccessibleName(title);
    setAccessibleDescription(says);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

// Two lines of what it says.
QSize TaskButton::sizeHint() const
{
    const QFontMetrics title(title_font(font()));
    return {26 * fontMetrics().averageCharWidth(),
            2 * task_margin + title.height() + 6 + 2 * fontMetrics().lineSpacing()};
}

// All lines of what it says, two at least.
int TaskButton::heightForWidth(int width) const
{
    const QRect place(0, 0, width - 2 * task_margin, 10'000);
    const int words = fontMetrics().boundingRect(place, Qt::TextWordWrap, says_).height();
    return sizeHint().height() + std::max(0, words - 2 * fontMetrics().lineSpacing());
}

void TaskButton::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool lit = underMouse() || isDown();
    const QRectF frame = QRectF(rect()).adjusted(1, 1, -1, -1);
    painter.setBrush(palette().color(isDown() ? QPalette::Midlight : QPalette::Base));
    painter.setPen(QPen(palette().color(lit || hasFocus() ? QPalette::Highlight : QPalette::Mid),
                        lit || hasFocus() ? 2 : 1));
    painter.drawRoundedRect(frame, 8, 8);
    const QRect inside = rect().adjusted(task_margin, task_margin, -task_margin, -task_margin);
    painter.setFont(title_font(font()));
    painter.setPen(palette().color(QPalette::Text));
    const int height = painter.fontMetrics().height();
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignTop | Qt::TextShowMnemonic, text());
    painter.setFont(font());
    painter.setPen(sign_colours(palette()).quiet);
    painter.drawText(inside.adjusted(0, height + 6, 0, 0),
                     Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, says_);
}

void TaskButton::enterEvent(QEnterEvent*)
{
    update();
}

void TaskButton::leaveEvent(QEvent*)
{
    update();
}

} // namespace trainyard::gui
