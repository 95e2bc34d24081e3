#include "gui/breakdown/tornado_panel.h"

#include "gui/widgets/theme.h"
#include "sim/base/parallel.h"
#include "sim/base/units.h"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QTimer>
#include <QToolButton>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr int unseen_ms = 300; // work as short as this shows no progress
constexpr double bar_thickness = 0.7;

// No step becomes shorter than nothing: the room for figures left of -100 % has no ticks.
class ChangeTicker : public QCPAxisTicker {
protected:
    QVector<double> createTickVector(double step, const QCPRange& range) override
    {
        return QCPAxisTicker::createTickVector(step, {std::max(-100.0, range.lower), range.upper});
    }
};

// "-12.3 %": what becomes of the step time.
QString change_text(const WhatIf& row)
{
    const double change = -100 * row.gain;
    const QString sign = change > 0.05    ? QStringLiteral("+")
                         : change < -0.05 ? QStringLiteral("−")
                                          : QStringLiteral("±");
    return QStringLiteral("%1%2 %").arg(sign).arg(std::abs(change), 0, 'f', 1);
}

QString figures_text(const WhatIf& row)
{
    return QStringLiteral("%1  %2").arg(change_text(row), text_of(to_display(row.step_time)));
}

QString words_of(const WhatIf& row)
{
    return QStringLiteral("%1: %2").arg(text_of(row.resource), text_of(row.change));
}

} // namespace

TornadoPanel::TornadoPanel(Workspace& workspace, QWidget* parent)
    : ChartPanel(QStringLiteral("breakdown-whatif"), tr("What if"), parent),
      workspace_(workspace),
      progress_(new QProgressBar),
      cancel_(new QToolButton)
{
    progress_->setMaximumWidth(120);
    progress_->setTextVisible(false);
    progress_->setAccessibleName(tr("Progress of the simulations"));
    cancel_->setText(tr("Cancel"));
    tools().insertWidget(2, progress_);
    tools().insertWidget(3, cancel_);
    progress_->hide();
    cancel_->hide();
    chart().yAxis->setRangeReversed(true);
    chart().yAxis->grid()->setVisible(false);
    chart().yAxis->setTickLength(0);
    chart().xAxis->setLabel(tr("change of the step time [%]"));
    chart().xAxis->setTicker(QSharedPointer<ChangeTicker>::create());
    new PaintItem(&chart(), [this](QCPPainter& painter) { paint_bars(painter); });

    connect(cancel_, &QToolButton::clicked, &task_, &BackgroundTask::cancel);
    connect(&task_, &BackgroundTask::busyChanged, this, &TornadoPanel::follow_task);
    connect(&task_, &BackgroundTask::busyChanged, this, &Panel::busyChanged);
    connect(&task_, &BackgroundTask::progressed, this,
            [this](const QString&, double done, double total) {
                progress_->setRange(0, static_cast<int>(total));
                progress_->setValue(static_cast<int>(done));
            });
    connect(&task_, &BackgroundTask::failed, this, [this](const QString& why) {
        rows_.clear();
        set_message(why);
    });
    connect(&workspace_, &Workspace::runChanged, this, &TornadoPanel::follow);
    connect(this, &Panel::sightChanged, this, &TornadoPanel::follow);
    follow();
}

void TornadoPanel::follow()
{
    const std::shared_ptr<const RunView>& run = workspace_.run();
    if (run == nullptr) {
        set_message(tr("What faster links, memory or devices would gain is shown here as soon as a "
                       "scenario is open and has been simulated."));
        offer({});
        return;
    }
    // One run is told twice where its ops are recorded too.
    const bool same = shown_ != nullptr && shown_->file == run->file;
    set_stale(shown_ != nullptr && (!same || !workspace_.current()));
    if (!workspace_.current()) {
        task_.cancel();
        return;
    }
    if (same || (task_.busy() && asked_->file == run->file))
        return;
    task_.cancel();
    const bool quick =
        run->summary.step_time.value.value() > 0 && run->outcome->engine.wall_ms <= quick_ms_;
    if (quick && in_sight()) {
        compute();
        return;
    }
    if (quick) { // the last ones, pale, until it is in sight
        if (rows_.empty())
            set_message(tr("Each improvement is simulated as soon as this is in sight."));
        return;
    }
    rows_.clear();
    shown_.reset();
    set_stale(false);
    set_message(tr("Each improvement is simulated by itself. That takes some time here: this run "
                   "alone took %1 s.")
                    .arg(run->outcome->engine.wall_ms / 1e3, 0, 'f', 2));
    offer(tr("Find out what would help"));
}

void TornadoPanel::prepare_picture()
{
    const bool shown = shown_ != nullptr && shown_->file == workspace_.run()->file;
    if (workspace_.current() && !shown && !busy())
        compute();
}

void TornadoPanel::compute()
{
    const std::shared_ptr<const RunView> run = workspace_.run();
    if (run == nullptr)
        return;
    asked_ = run;
    offer({});
    task_.start([this, run](const WorkControl& control) -> BackgroundTask::Answer {
        // One thread is left for the window.
        const Checked<std::vector<WhatIf>> rows =
            what_if(*run->outcome, {std::max(1, usable_threads() - 1), control});
        if (!rows)
            throw WorldError{trainyard::render(rows.error(), "")};
        return [this, run, rows = *rows] { take(run, rows); };
    });
    if (rows_.empty())
        set_message(tr("Simulating each improvement ..."));
}

void TornadoPanel::take(const std::shared_ptr<const RunView>& run, std::vector<WhatIf> rows)
{
    shown_ = run;
    rows_ = std::move(rows);
    set_stale(false);
    set_message(rows_.empty() ? tr("Nothing that could be improved takes part in this job.")
                              : QString());
    fill();
}

void TornadoPanel::follow_task()
{
    if (!task_.busy()) {
        progress_->hide();
        cancel_->hide();
        // Cancelled: it may be asked for again.
        if (shown_ == nullptr && workspace_.run() != nullptr && !message().isEmpty() &&
            rows_.empty() && workspace_.current())
        {
            set_message(tr("Cancelled."));
            offer(tr("Find out what would help"));
        }
        return;
    }
    progress_->setRange(0, 0);
    QTimer::singleShot(unseen_ms, this, [this] {
        progress_->setVisible(task_.busy());
        cancel_->setVisible(task_.busy());
    });
}

std::size_t TornadoPanel::items() const
{
    return std::min(room_, rows_.size());
}

void TornadoPanel::fit(const QSize& size)
{
    const int line = fontMetrics().height();
    const auto room =
        static_cast<std::size_t>(std::max(2, (size.height() - 5 * line) / (line * 5 / 4)));
    const bool changed = room != room_;
    room_ = room;
    if (!rows_.empty() && (changed || size.width() != chart().axisRect()->outerRect().width()))
        fill();
}

void TornadoPanel::fill()
{
    mark(std::nullopt);
    double low = 0;
    double high = 0;
    const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    const int width = chart().width() * 9 / 20;
    int names = 0;
    int figures = 0;
    // Where there is no room for what is done to it, the name of the resource alone: tips say all.
    const bool roomy = std::all_of(
        rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(items()),
        [&](const WhatIf& row) { return fontMetrics().horizontalAdvance(words_of(row)) <= width; });
    for (std::size_t i = 0; i < items(); ++i) {
        low = std::min(low, -100 * rows_[i].gain);
        high = std::max(high, -100 * rows_[i].gain);
        const QString name = fontMetrics().elidedText(
            roomy ? words_of(rows_[i]) : text_of(rows_[i].resource), Qt::ElideRight, width);
        ticker->addTick(static_cast<double>(i), name);
        names = std::max(names, fontMetrics().horizontalAdvance(name));
        figures = std::max(figures, fontMetrics().horizontalAdvance(figures_text(rows_[i])));
    }
    chart().yAxis->setTicker(ticker);
    // A line for those that are not shown.
    const double more = items() < rows_.size() ? 1 : 0;
    chart().yAxis->setRange(-0.5, std::max(1.0, static_cast<double>(items()) + more) - 0.5);
    // Room for the figures at the bars' ends.
    const double plot = std::max(60, chart().width() - names - 40);
    const double part = std::min(0.6, (figures + 12.0) / plot);
    const bool worse = high > 0.05;
    const double bars = std::max(high - low, 0.1);
    const double whole = bars / std::max(0.2, 1 - part * (worse ? 2 : 1) - 0.02);
    chart().xAxis->setRange(low - part * whole, high + (worse ? part : 0.02) * whole);
    chart().replot(QCustomPlot::rpQueuedReplot);
}

QRectF TornadoPanel::bounds_of(std::size_t item) const
{
    auto& plot = const_cast<TornadoPanel*>(this)->chart();
    const auto row = static_cast<double>(item);
    QRectF box(
        QPointF(plot.xAxis->coordToPixel(0), plot.yAxis->coordToPixel(row - bar_thickness / 2)),
        QPointF(plot.xAxis->coordToPixel(-100 * rows_[item].gain),
                plot.yAxis->coordToPixel(row + bar_thickness / 2)));
    box = box.normalized();
    if (box.width() < 2)
        box.setLeft(box.right() - 2);
    return box;
}

void TornadoPanel::paint_bars(QCPPainter& painter) const
{
    if (items() == 0)
        return;
    auto& plot = const_cast<TornadoPanel*>(this)->chart();
    painter.setFont(font());
    const SignColours signs = sign_colours(palette());
    for (std::size_t i = 0; i < items(); ++i) {
        const WhatIf& row = rows_[i];
        const bool better = row.gain >= 0;
        const QRectF box = bounds_of(i);
        painter.setPen(Qt::NoPen);
        painter.setBrush(better ? QBrush(signs.better) : QBrush(signs.worse, Qt::BDiagPattern));
        painter.drawRect(box);
        const QString text = figures_text(row);
        const double length = painter.fontMetrics().horizontalAdvance(text) + 6;
        QRectF place(0, box.top(), length, box.height());
        if (better)
            place.moveRight(box.left() - 2);
        else
            place.moveLeft(box.right() + 2);
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(place, Qt::AlignCenter, text);
    }
    const double zero = plot.xAxis->coordToPixel(0);
    painter.setPen(QPen(palette().color(QPalette::Text), 1));
    painter.drawLine(QPointF(zero, plot.axisRect()->top()),
                     QPointF(zero, plot.axisRect()->bottom()));
    if (items() < rows_.size()) {
        painter.setPen(signs.quiet);
        // In the row that was left free for it, beside the zero line and above the axis.
        const double y = plot.yAxis->coordToPixel(static_cast<double>(items()));
        const double line = painter.fontMetrics().height();
        painter.drawText(
            QRectF(plot.axisRect()->left(), y - line / 2, zero - 6 - plot.axisRect()->left(), line),
            Qt::AlignRight | Qt::AlignVCenter, tr("and %1 more").arg(rows_.size() - items()));
    }
}

QString TornadoPanel::tip_of(std::size_t item) const
{
    const WhatIf& row = rows_[item];
    return tr("<b>%1</b><br>step %2 instead of %3 (%4)")
        .arg(words_of(row).toHtmlEscaped(), text_of(to_display(row.step_time)),
             text_of(to_display(to_seconds(shown_->outcome->result->step_time))), change_text(row));
}

TableData TornadoPanel::table() const
{
    TableData out;
    out.columns = {tr("Resource"), tr("Change"), tr("Step [ms]"), tr("Change of the step [%]")};
    for (const WhatIf& row : rows_)
        out.rows.push_back({text_of(row.resource), text_of(row.change),
                            QString::number(row.step_time.value() * 1e3, 'g', 9),
                            QString::number(-100 * row.gain, 'f', 3)});
    return out;
}

} // namespace trainyard::gui
