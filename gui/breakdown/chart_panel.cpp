#include "gui/breakdown/chart_panel.h"

#include "gui/widgets/boxes.h"
#include "gui/widgets/flat_button.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPushButton>
#include <QStackedLayout>
#include <QToolTip>

namespace trainyard::gui {

PaintItem::PaintItem(QCustomPlot* chart, Paint paint)
    : QCPAbstractItem(chart), paint_(std::move(paint))
{
    setClipToAxisRect(false);
}

ChartPanel::ChartPanel(QString key, QString title, QWidget* parent)
    : Panel(parent),
      key_(std::move(key)),
      title_(std::move(title)),
      tools_(new QHBoxLayout),
      body_(new QHBoxLayout),
      pages_(new QStackedLayout),
      chart_(new Chart),
      message_(new QLabel),
      offer_(new QPushButton)
{
    make_heading();
    in_a_column(this, {tools_, {body_, 1}}, {.margins = {4, 2, 4, 2}, .spacing = 2});
    body_->addLayout(pages_, 1);

    chart_->setFocusPolicy(Qt::StrongFocus);
    chart_->setMouseTracking(true);
    chart_->setAccessibleName(title_);
    chart_->installEventFilter(this);
    auto* const mark = new PaintItem(chart_, [this](QCPPainter& painter) { paint_mark(painter); });
    mark->setLayer(QStringLiteral("overlay"));
    pages_->addWidget(chart_);

    auto* const empty = new QWidget;
    auto* const lines = new QVBoxLayout(empty);
    message_->setWordWrap(true);
    message_->setAlignment(Qt::AlignCenter);
    message_->setForegroundRole(QPalette::PlaceholderText);
    lines->addStretch();
    lines->addWidget(message_);
    lines->addWidget(offer_, 0, Qt::AlignCenter);
    lines->addStretch();
    pages_->addWidget(empty);
    offer_->hide();
    connect(offer_, &QPushButton::clicked, this, [this] { offered(); });
}

void ChartPanel::make_heading()
{
    auto* const heading = new QLabel(title_);
    heading->setFont(bold(heading->font()));
    tools_->addWidget(heading);
    tools_->addStretch();
    const auto button = [this](const QString& text, const QString& tip, auto signal) {
        QToolButton* const tool = flat_button(text, tip);
        connect(tool, &QToolButton::clicked, this, signal);
        tools_->addWidget(tool);
    };
    button(tr("Table"), tr("Show as table: %1").arg(title_), &Panel::tableWanted);
    button(QStringLiteral("⤢"),
           tr("Enlarge or go back (Return, double click; Escape): %1").arg(title_),
           &ChartPanel::enlargeWanted);
}

QString ChartPanel::message() const
{
    return pages_->currentIndex() == 1 ? message_->text() : QString();
}

void ChartPanel::set_message(const QString& message)
{
    message_->setText(message);
    pages_->setCurrentIndex(message.isEmpty() ? 0 : 1);
}

void ChartPanel::offer(const QString& text)
{
    offer_->setText(text);
    offer_->setVisible(!text.isEmpty());
}

void ChartPanel::set_stale(bool stale)
{
    if (stale == stale_)
        return;
    stale_ = stale;
    chart_->set_pale(stale);
}

void ChartPanel::set_enlarged(bool enlarged)
{
    enlarged_ = enlarged;
}

void ChartPanel::paint_to(QPainter& painter, const QSize& size)
{
    if (pages_->currentIndex() == 1) {
        paint_message(painter, size, message_->text(), palette());
        return;
    }
    on_screen_ = false;
    fit(size);
    chart_->paint_chart(painter, size);
    on_screen_ = true;
    fit(chart_->size());
    chart_->replot(QCustomPlot::rpQueuedReplot);
}

void ChartPanel::put_legend_below()
{
    chart_->put_legend_below();
}

void ChartPanel::fit_legend(int width)
{
    Chart::fit_legend(*chart_->legend, width);
}

void ChartPanel::mark(std::optional<std::size_t> item)
{
    if (item && *item >= items())
        item.reset();
    if (item == marked_)
        return;
    marked_ = item;
    chart_->replot(QCustomPlot::rpQueuedReplot);
}

std::optional<std::size_t> ChartPanel::item_at(const QPointF& position) const
{
    for (std::size_t i = items(); i-- > 0;)
        if (bounds_of(i).contains(position))
            return i;
    return std::nullopt;
}

std::size_t ChartPanel::neighbour(std::size_t item, int key) const
{
    const bool back = key == Qt::Key_Left || key == Qt::Key_Up;
    if (back)
        return item > 0 ? item - 1 : item;
    return item + 1 < items() ? item + 1 : item;
}

void ChartPanel::paint_mark(QCPPainter& painter) const
{
    if (!on_screen_ || !marked_ || *marked_ >= items())
        return;
    painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(bounds_of(*marked_).adjusted(-1, -1, 1, 1));
}

void ChartPanel::show_tip(std::size_t item)
{
    const QPoint place = bounds_of(item).center().toPoint();
    QToolTip::showText(chart_->mapToGlobal(place), tip_of(item), chart_);
}

void ChartPanel::move_mark(int key)
{
    if (items() == 0)
        return;
    if (key == Qt::Key_Home || !marked_)
        mark(0);
    else if (key == Qt::Key_End)
        mark(items() - 1);
    else
        mark(neighbour(*marked_, key));
    show_tip(*marked_);
}

bool ChartPanel::handle_key(int key)
{
    switch (key) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Home:
    case Qt::Key_End:
        move_mark(key);
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        emit enlargeWanted();
        return true;
    case Qt::Key_Space:
        if (marked_)
            choose(*marked_);
        return true;
    case Qt::Key_Escape:
        if (marked_)
            mark(std::nullopt);
        else if (can_go_back())
            go_back();
        else if (enlarged_)
            emit leaveWanted();
        else
            return false;
        return true;
    default:
        return press(key);
    }
}

bool ChartPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != chart_)
        return Panel::eventFilter(watched, event);
    switch (event->type()) {
    case QEvent::ShortcutOverride:
        // Before the window's own: Escape goes back here.
        if (static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape &&
            (marked_ || enlarged_ || can_go_back()))
            event->accept();
        break;
    case QEvent::KeyPress:
        if (handle_key(static_cast<QKeyEvent*>(event)->key()))
            return true;
        break;
    case QEvent::MouseButtonDblClick:
        emit enlargeWanted();
        return true;
    case QEvent::MouseButtonPress: {
        const auto item = item_at(static_cast<QMouseEvent*>(event)->position());
        mark(item);
        if (item)
            choose(*item);
        break;
    }
    case QEvent::ToolTip: {
        const QPoint place = static_cast<QHelpEvent*>(event)->pos();
        if (const auto item = item_at(place))
            QToolTip::showText(chart_->mapToGlobal(place), tip_of(*item), chart_,
                               bounds_of(*item).toAlignedRect());
        else
            QToolTip::hideText();
        return true;
    }
    case QEvent::Resize:
        fit(static_cast<QResizeEvent*>(event)->size());
        break;
    default:
        break;
    }
    return false;
}

} // namespace trainyard::gui
