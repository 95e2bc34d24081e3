#include "gui/scenario/headline_card.h"

#include "gui/widgets/boxes.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFocusEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QStyleOptionFocusRect>
#include <QToolTip>

namespace trainyard::gui {

namespace {

// The mouse is the card's.
QLabel* card_label(double size, bool heavy)
{
    auto* const text = new QLabel;
    text->setFont(sized(heavy ? bold(text->font()) : text->font(), size));
    text->setAttribute(Qt::WA_TransparentForMouseEvents);
    return text;
}

} // namespace

HeadlineCard::HeadlineCard(QWidget* parent)
    : QWidget(parent),
      name_(card_label(0.85, false)),
      value_(card_label(1.5, true)),
      change_(card_label(0.95, true)),
      interval_(card_label(0.85, false))
{
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
    auto* const row = in_a_row({value_, {change_, 1, Qt::AlignBottom}}, {.spacing = 8});
    in_a_column(this, {name_, row, interval_}, {.spacing = 0});
}

QString HeadlineCard::change_text() const
{
    if (item_.trend == Trend::none)
        return item_.change;
    return item_.change + (item_.trend == Trend::better ? tr(" better") : tr(" worse"));
}

void HeadlineCard::show_item(const HeadlineItem& item, bool current)
{
    item_ = item;
    const SignColours colours = sign_colours(palette());
    const QColor text = palette().color(QPalette::WindowText);
    const QString change = change_text();
    name_->setText(item.name);
    value_->setText(item.value.isEmpty() ? QStringLiteral("–") : item.value);
    interval_->setText(item.interval);
    change_->setText(change);
    colour_text(name_, colours.quiet);
    colour_text(interval_, item.impossible ? colours.error : colours.quiet);
    QFont font = interval_->font();
    font.setBold(item.impossible);
    interval_->setFont(font);
    colour_text(change_, item.trend == Trend::better  ? colours.better
                         : item.trend == Trend::worse ? colours.worse
                                                      : text);
    colour_text(value_, current ? text : colours.quiet);
    setToolTip(item.explanation);
    setAccessibleDescription(item.explanation);
    setAccessibleName(
        QStringList{item.name, item.value, item.interval, change}.join(QStringLiteral(", ")));
}

void HeadlineCard::copy() const
{
    QApplication::clipboard()->setText(accessibleName());
}

void HeadlineCard::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && rect().contains(event->position().toPoint()))
        emit chosen(item_.view, item_.part);
}

void HeadlineCard::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy))
        copy();
    else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter ||
             event->key() == Qt::Key_Space)
        emit chosen(item_.view, item_.part);
    else
        QWidget::keyPressEvent(event);
}

void HeadlineCard::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu;
    menu.addAction(tr("&Copy"), this, &HeadlineCard::copy);
    menu.exec(event->globalPos());
}

// What the tool tip says is said to the keyboard too.
void HeadlineCard::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    if (event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason)
        QToolTip::showText(mapToGlobal(rect().bottomLeft()), toolTip(), this);
    update();
}

void HeadlineCard::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    QToolTip::hideText();
    update();
}

void HeadlineCard::paintEvent(QPaintEvent*)
{
    if (!hasFocus())
        return;
    QPainter painter(this);
    QStyleOptionFocusRect option;
    option.initFrom(this);
    style()->drawPrimitive(QStyle::PE_FrameFocusRect, &option, &painter, this);
}

} // namespace trainyard::gui
