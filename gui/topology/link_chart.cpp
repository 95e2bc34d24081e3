#include "gui/topology/link_facts.h"
#include "gui/topology/link_pane.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolButton>
#include <QToolTip>

namespace trainyard::gui {

namespace {

constexpr std::size_t pieces = 600; // as many as a wide chart has pixels, about

double milliseconds(SimTime time)
{
    return to_seconds(time).value() * 1e3;
}

constexpr double giga = 1e9;

} // namespace

LinkChart::LinkChart(ViewState& view, QWidget* parent)
    : Panel(parent), view_(view), chart_(new Chart)
{
    in_a_column(this, {chart_});
    setFocusPolicy(Qt::StrongFocus);
    chart_->setAccessibleName(title());
    setAccessibleName(title());
    load_ = chart_->addGraph();
    load_->setLineStyle(QCPGraph::lsStepLeft);
    capacity_ = new QCPItemStraightLine(chart_);
    cursor_ = new QCPItemStraightLine(chart_);
    chart_->xAxis->setLabel(tr("time since the step began [ms]"));
    chart_->yAxis->setLabel(tr("load [GB/s]"));
    colour();
    connect(chart_, &Chart::themed, this, &LinkChart::colour);
    connect(&view_, &ViewState::rangeChanged, this, &LinkChart::fill);
    connect(&view_, &ViewState::cursorChanged, this, &LinkChart::fill_cursor);
    connect(chart_, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
        if (run_)
            view_.set_cursor(step_of(*run_->outcome).from +
                             SimTime(static_cast<std::int64_t>(
                                 1e9 * chart_->xAxis->pixelToCoord(event->position().x()))));
    });
    connect(chart_, &QCustomPlot::mouseMove, this, [this](QMouseEvent* event) {
        if (run_ && link_)
            QToolTip::showText(event->globalPosition().toPoint(),
                               tip_at(chart_->xAxis->pixelToCoord(event->position().x())), chart_);
    });
}

void LinkChart::colour()
{
    const SignColours signs = sign_colours(palette());
    QColor line = series_colour(0);
    load_->setPen(QPen(line, 1.5));
    line.setAlphaF(0.3F);
    load_->setBrush(line);
    capacity_->setPen(QPen(signs.error, 1.2, Qt::DashLine));
    cursor_->setPen(QPen(palette().color(QPalette::Text), 1));
}

void LinkChart::show_link(std::shared_ptr<const TopologyRun> run, std::optional<LinkId> link)
{
    run_ = std::move(run);
    link_ = run_ ? link : std::nullopt;
    fill();
}

void LinkChart::fill()
{
    QVector<double> times;
    QVector<double> loads;
    capacity_->setVisible(link_.has_value());
    if (link_) {
        const SimTime origin = step_of(*run_->outcome).from;
        const TimeRange range = view_.range();
        const std::vector<double> means =
            run_->loads->over_time(*link_, range.from, range.to, pieces);
        double most = 0;
        for (std::size_t i = 0; i <= pieces; ++i) {
            const double share = static_cast<double>(i) / pieces;
            times << milliseconds(range.from - origin) + share * milliseconds(range.length());
            loads << means[std::min(i, pieces - 1)] / giga;
            most = std::max(most, loads.back());
        }
        const double capacity = run_->capacity[link_->value] / giga;
        capacity_->point1->setCoords(0, capacity);
        capacity_->point2->setCoords(1, capacity);
        chart_->xAxis->setRange(times.front(), times.back());
        const double built = run_->graph->topology->link(*link_).capacity.value() / giga;
        chart_->yAxis->setRange(0, 1.08 * std::max(most, capacity > 0 ? capacity : built));
    }
    load_->setData(times, loads, true);
    fill_cursor();
}

void LinkChart::fill_cursor()
{
    const bool set = run_ != nullptr && view_.cursor() > view_.whole().from;
    cursor_->setVisible(set);
    if (set) {
        const double at = milliseconds(view_.cursor() - step_of(*run_->outcome).from);
        cursor_->point1->setCoords(at, 0);
        cursor_->point2->setCoords(at, 1);
    }
    chart_->replot(QCustomPlot::rpQueuedReplot);
}

QString LinkChart::tip_at(double at) const
{
    const auto found = load_->data()->findBegin(at);
    if (found == load_->data()->constEnd())
        return {};
    return tr("%1: %2 GB/s of %3 GB/s at %4 ms")
        .arg(QString::fromStdString(run_->name(*link_)))
        .arg(found->value, 0, 'g', 4)
        .arg(run_->capacity[link_->value] / giga, 0, 'g', 4)
        .arg(found->key, 0, 'g', 6);
}

// Arrows move the cursor by a hundredth of what is in sight.
void LinkChart::keyPressEvent(QKeyEvent* event)
{
    const SimTime step = view_.range().length() / 100;
    if (event->key() == Qt::Key_Left)
        view_.set_cursor(view_.cursor() - step);
    else if (event->key() == Qt::Key_Right)
        view_.set_cursor(view_.cursor() + step);
    else if (event->key() == Qt::Key_Escape)
        view_.set_cursor(view_.whole().from);
    else
        Panel::keyPressEvent(event);
}

void LinkChart::paint_to(QPainter& painter, const QSize& size)
{
    if (!link_) {
        paint_message(painter, size,
                      tr("Choose a link of the topology: its load over time is shown here."),
                      palette());
        return;
    }
    chart_->paint_chart(painter, size);
}

TableData LinkChart::table() const
{
    TableData table;
    table.columns = {tr("Time since the step began [ms]"), tr("Load [GB/s]"),
                     tr("Capacity [GB/s]")};
    const double capacity = link_ ? run_->capacity[link_->value] / giga : 0;
    for (const QCPGraphData& point : *load_->data())
        table.rows.push_back({QString::number(point.key, 'g', 10),
                              QString::number(point.value, 'g', 6),
                              QString::number(capacity, 'g', 6)});
    return table;
}

} // namespace trainyard::gui
