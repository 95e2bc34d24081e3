#include "gui/explore/time_bars.h"

#include "gui/model/qt_text.h"
#include "gui/widgets/theme.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr int bars_margin = 8;

int bar_height(const QFontMetrics& metrics)
{
    return metrics.height() + 8;
}

int name_width(const QFontMetrics& metrics)
{
    return metrics.horizontalAdvance(QStringLiteral("current scenario  "));
}

int memory_width(const QFontMetrics& metrics)
{
    return metrics.horizontalAdvance(QStringLiteral("  128 GB of 85.5 GB"));
}

int legend_cell(const QFontMetrics& metrics, TimeKind kind)
{
    return metrics.height() + 6 + metrics.horizontalAdvance(text_of(title_of(kind))) + 14;
}

} // namespace

TimeBars::TimeBars(QWidget* parent) : QWidget(parent)
{
    setAccessibleName(tr("where the time of each step goes"));
}

void TimeBars::set_result(std::shared_ptr<const ComparedResult> result)
{
    result_ = std::move(result);
    updateGeometry();
    update();
}

// Those that any of the runs shows.
std::vector<TimeKind> TimeBars::kinds() const
{
    std::vector<TimeShares> steps;
    for (const RunFigures& summary : result_->summaries)
        steps.push_back(summary.critical);
    return visible_kinds(steps);
}

int TimeBars::legend_rows(int width, const QFontMetrics& metrics) const
{
    int rows = 1;
    int at = 0;
    for (const TimeKind kind : kinds()) {
        const int cell = legend_cell(metrics, kind);
        if (at > 0 && at + cell > width) {
            ++rows;
            at = 0;
        }
        at += cell;
    }
    return rows;
}

std::vector<TimeBars::Piece> TimeBars::pieces(const QRect& rect, const QFontMetrics& metrics) const
{
    double longest = 0;
    for (const RunFigures& summary : result_->summaries)
        longest = std::max(longest, sum_of(summary.critical).value());
    const double left = rect.left() + bars_margin + name_width(metrics);
    const double width = std::max(20.0, rect.right() - bars_margin - memory_width(metrics) - left);
    std::vector<Piece> out;
    double top = rect.top() + bars_margin;
    for (std::size_t run = 0; run < result_->summaries.size(); ++run) {
        double at = left;
        for (const TimeKind kind : time_kinds()) {
            const double share = result_->summaries[run].critical[index_of(kind)].value() / longest;
            if (share <= 0)
                continue;
            out.push_back({run, kind, {at, top, share * width, 1.0 * metrics.height() + 2}});
            at += share * width;
        }
        top += bar_height(metrics);
    }
    return out;
}

void TimeBars::paint_legend(QPainter& painter, const QRect& rect) const
{
    const QFontMetrics metrics(painter.font());
    int x = rect.left();
    int y = rect.top();
    for (const TimeKind kind : kinds()) {
        const int cell = legend_cell(metrics, kind);
        if (x > rect.left() && x + cell > rect.right()) {
            x = rect.left();
            y += metrics.height() + 4;
        }
        const QRect box(x, y, metrics.height(), metrics.height());
        painter.fillRect(box, brush_of(fill_of(kind), palette()));
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(QRect(box.right() + 6, y, cell, metrics.height()), Qt::AlignVCenter,
                         text_of(title_of(kind)));
        x += cell;
    }
}

void TimeBars::paint_bars(QPainter& painter, const QRect& rect) const
{
    painter.fillRect(rect, palette().base());
    if (!result_ || result_->summaries.empty())
        return;
    const QFontMetrics metrics(painter.font());
    painter.save();
    painter.setClipRect(rect);
    for (const Piece& piece : pieces(rect, metrics))
        painter.fillRect(piece.rect, brush_of(fill_of(piece.kind), palette()));
    const QColor text = palette().color(QPalette::Text);
    for (std::size_t run = 0; run < result_->summaries.size(); ++run) {
        const RunFigures& summary = result_->summaries[run];
        const int top = rect.top() + bars_margin + static_cast<int>(run) * bar_height(metrics);
        painter.setPen(text);
        painter.drawText(
            QRect(rect.left() + bars_margin, top, name_width(metrics), metrics.height()),
            Qt::AlignVCenter, result_->names[run]);
        painter.setPen(summary.fits ? text : sign_colours(palette()).error);
        painter.drawText(QRect(rect.right() - bars_margin - memory_width(metrics), top,
                               memory_width(metrics), metrics.height()),
                         Qt::AlignVCenter | Qt::AlignRight,
                         tr("%1 of %2")
                             .arg(text_of(to_display(summary.peak_memory)),
                                  text_of(to_display(summary.capacity))));
    }
    const int below = rect.top() + bars_margin +
                      static_cast<int>(result_->summaries.size()) * bar_height(metrics) + 4;
    paint_legend(painter, QRect(rect.left() + bars_margin, below, rect.width() - 2 * bars_margin,
                                std::max(0, rect.bottom() - below)));
    painter.restore();
}

bool TimeBars::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip && result_) {
        auto* const help = static_cast<QHelpEvent*>(event);
        for (const Piece& piece : pieces(rect(), fontMetrics()))
            if (piece.rect.contains(help->pos())) {
                const TimeShares& shares = result_->summaries[piece.run].critical;
                QToolTip::showText(help->globalPos(),
                                   tr("%1: %2, %3 of %4")
                                       .arg(text_of(title_of(piece.kind)),
                                            text_of(to_display(shares[index_of(piece.kind)])),
                                            text_of(percent(share_of(shares, piece.kind))),
                                            result_->names[piece.run]),
                                   this);
                return true;
            }
        QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

void TimeBars::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paint_bars(painter, rect());
}

QSize TimeBars::sizeHint() const
{
    const QFontMetrics metrics(font());
    const int runs = result_ ? static_cast<int>(result_->summaries.size()) : 0;
    const int rows = runs > 0 ? legend_rows(width() - 2 * bars_margin, metrics) : 0;
    return {400, 2 * bars_margin + runs * bar_height(metrics) + rows * (metrics.height() + 4) + 4};
}

QSize TimeBars::minimumSizeHint() const
{
    return {200, sizeHint().height()};
}

} // namespace trainyard::gui
