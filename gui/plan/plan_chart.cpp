#include "gui/plan/plan_chart.h"

#include "gui/widgets/boxes.h"
#include "gui/widgets/theme.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double dot_size = 7;
constexpr double ring_size = 14;
constexpr double reach_px = 12; // from a dot that still mean it

// The dots of a plot in the order in which keys walk them.
std::vector<PlanDot> walked(const PlanPlot& plot)
{
    std::vector<PlanDot> out;
    for (const PlanSeries& series : plot.series)
        out.insert(out.end(), series.dots.begin(), series.dots.end());
    std::ranges::stable_sort(out, {}, &PlanDot::x);
    return out;
}

// Room beside the outermost dots.
QCPRange widened(double low, double high, bool logarithmic)
{
    if (logarithmic)
        return {low / 1.3, high * 1.3};
    const double room = high > low ? (high - low) * 0.12 : std::max(std::abs(high) * 0.1, 1e-9);
    return {std::max(0.0, low - room), high + room};
}

} // namespace

PlanChart::PlanChart(QString key, QString title, QWidget* parent)
    : Panel(parent), key_(std::move(key)), title_(std::move(title)), chart_(new Chart)
{
    in_a_column(this, {chart_});
    setObjectName(key_);
    chart_->setFocusPolicy(Qt::StrongFocus);
    chart_->setAccessibleName(title_);
    chart_->installEventFilter(this);
    chart_->put_legend_below();
    connect(chart_, &QCustomPlot::beforeReplot, this,
            [this] { Chart::fit_legend(*chart_->legend, chart_->width()); });
    connect(chart_, &Chart::themed, this, &PlanChart::colour);
}

void PlanChart::paint_to(QPainter& painter, const QSize& size)
{
    if (plot_.empty())
        paint_message(painter, size, message_, palette());
    else
        chart_->paint_chart(painter, size);
}

TableData PlanChart::table() const
{
    TableData out;
    out.columns = {tr("what"), tr("series"), plot_.x_title, plot_.y_title};
    for (const PlanSeries& series : plot_.series)
        for (const PlanDot& dot : series.dots)
            out.rows.push_back({plan_->entries[dot.entry].name, series.name,
                                QString::number(dot.x, 'g', 9), QString::number(dot.y, 'g', 9)});
    return out;
}

void PlanChart::show_message(const QString& message)
{
    message_ = message;
    plan_.reset();
    plot_ = {};
    draw();
}

void PlanChart::show_plot(std::shared_ptr<const ShownPlan> plan, PlanPlot plot)
{
    plan_ = std::move(plan);
    plot_ = std::move(plot);
    current_.reset();
    draw();
}

void PlanChart::draw()
{
    drawn_.clear();
    chart_->clearGraphs();
    for (const PlanSeries& series : plot_.series) {
        QCPGraph* const graph = chart_->addGraph();
        graph->setName(series.name);
        graph->setLineStyle(series.joined ? QCPGraph::lsLine : QCPGraph::lsNone);
        QCPGraph* const chosen = chart_->addGraph();
        chosen->setLineStyle(QCPGraph::lsNone);
        chosen->removeFromLegend();
        for (const PlanDot& dot : series.dots) {
            graph->addData(dot.x, dot.y);
            if (dot.chosen)
                chosen->addData(dot.x, dot.y);
        }
        drawn_.push_back({graph, chosen});
    }
    best_ = chart_->addGraph(); // in the legend alone, where a ring has less room
    best_->setName(tr("best"));
    best_->setLineStyle(QCPGraph::lsNone);
    mark_ = chart_->addGraph();
    mark_->setLineStyle(QCPGraph::lsNone);
    mark_->removeFromLegend();
    chart_->xAxis->setLabel(plot_.x_title);
    chart_->yAxis->setLabel(plot_.y_title);
    chart_->legend->setVisible(!plot_.series.empty());
    fit_range();
    colour();
}

void PlanChart::fit_range()
{
    const std::vector<PlanDot> dots = walked(plot_);
    if (dots.empty())
        return;
    const auto [left, right] = std::ranges::minmax(dots, {}, &PlanDot::x);
    const auto [low, high] = std::ranges::minmax(dots, {}, &PlanDot::y);
    if (plot_.log_x) {
        // Numbers of GPUs are read off, not powers of ten: those that have room.
        constexpr double apart = 1.3;
        const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
        double last = 0;
        for (const PlanDot& dot : dots)
            if (dot.x >= last * apart) {
                ticker->addTick(dot.x, QString::number(dot.x, 'f', 0));
                last = dot.x;
            }
        chart_->xAxis->setScaleType(QCPAxis::stLogarithmic);
        chart_->xAxis->setTicker(ticker);
    } else {
        chart_->xAxis->setScaleType(QCPAxis::stLinear);
        chart_->xAxis->setTicker(QSharedPointer<QCPAxisTicker>::create());
    }
    chart_->xAxis->setRange(widened(left.x, right.x, plot_.log_x));
    chart_->yAxis->setRange(widened(low.y, high.y, false));
}

void PlanChart::colour()
{
    const QColor text = palette().color(QPalette::Text);
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
        const QColor own = series_colour(i);
        drawn_[i].graph->setPen(QPen(own, 1.5));
        drawn_[i].graph->setScatterStyle(
            QCPScatterStyle(i % 2 == 0 ? QCPScatterStyle::ssDisc : QCPScatterStyle::ssSquare,
                            QPen(own), QBrush(own), dot_size));
        drawn_[i].chosen->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(text, 2),
                                                          QBrush(Qt::NoBrush), ring_size));
    }
    if (best_ != nullptr)
        best_->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(text, 1.5),
                                               QBrush(Qt::NoBrush), dot_size + 1));
    if (mark_ != nullptr)
        mark_->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssSquare,
                                               QPen(palette().color(QPalette::Highlight), 2),
                                               QBrush(Qt::NoBrush), ring_size + 4));
    chart_->replot(QCustomPlot::rpQueuedReplot);
}

void PlanChart::set_current(std::optional<std::size_t> entry)
{
    current_ = entry;
    if (mark_ == nullptr)
        return;
    mark_->data()->clear();
    for (const PlanDot& dot : walked(plot_))
        if (entry && dot.entry == *entry)
            mark_->addData(dot.x, dot.y);
    chart_->replot(QCustomPlot::rpQueuedReplot);
}

std::optional<QPointF> PlanChart::place_of(std::size_t entry) const
{
    for (const PlanDot& dot : walked(plot_))
        if (dot.entry == entry)
            return QPointF(chart_->xAxis->coordToPixel(dot.x), chart_->yAxis->coordToPixel(dot.y));
    return std::nullopt;
}

std::optional<std::size_t> PlanChart::entry_at(const QPointF& place) const
{
    return plot_.nearest(
        [&](const PlanDot& dot) {
            return std::hypot(chart_->xAxis->coordToPixel(dot.x) - place.x(),
                              chart_->yAxis->coordToPixel(dot.y) - place.y());
        },
        reach_px);
}

void PlanChart::step(int by)
{
    const std::vector<PlanDot> dots = walked(plot_);
    if (dots.empty())
        return;
    const auto at = current_ ? std::ranges::find(dots, *current_, &PlanDot::entry) : dots.end();
    const auto last = static_cast<std::ptrdiff_t>(dots.size()) - 1;
    const std::ptrdiff_t next =
        at == dots.end() ? 0 : std::clamp<std::ptrdiff_t>(at - dots.begin() + by, 0, last);
    emit picked(dots[static_cast<std::size_t>(next)].entry);
}

bool PlanChart::take_key(int key)
{
    switch (key) {
    case Qt::Key_Left:
    case Qt::Key_Down:
        step(-1);
        return true;
    case Qt::Key_Right:
    case Qt::Key_Up:
        step(1);
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (current_)
            emit opened(*current_);
        return true;
    default:
        return false;
    }
}

bool PlanChart::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != chart_)
        return Panel::eventFilter(watched, event);
    switch (event->type()) {
    case QEvent::KeyPress:
        return take_key(static_cast<QKeyEvent*>(event)->key());
    case QEvent::MouseButtonPress: {
        const auto* const mouse = static_cast<QMouseEvent*>(event);
        const auto entry = entry_at(mouse->position());
        if (!entry)
            return false;
        chart_->setFocus();
        emit picked(*entry);
        if (mouse->button() == Qt::RightButton)
            emit menuWanted(*entry, mouse->globalPosition().toPoint());
        return true;
    }
    case QEvent::MouseButtonDblClick:
        if (const auto entry = entry_at(static_cast<QMouseEvent*>(event)->position()))
            emit opened(*entry);
        return true;
    case QEvent::ToolTip: {
        const auto* const help = static_cast<QHelpEvent*>(event);
        if (const auto entry = entry_at(help->pos()))
            QToolTip::showText(help->globalPos(), plan_->entries[*entry].name, chart_);
        else
            QToolTip::hideText();
        return true;
    }
    default:
        return false;
    }
}

} // namespace trainyard::gui
