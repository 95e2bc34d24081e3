#include "gui/explore/scatter_chart.h"

#include "gui/explore/ranges.h"
#include "gui/widgets/theme.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double point_size = 7;
constexpr double dot_reach = 9; // pixels from a point that still mean it
constexpr int least_brush = 5;  // pixels

} // namespace

// The scale of colours, below the legend.
class ScatterChart::ScaleKey : public QCPLayoutElement {
public:
    explicit ScaleKey(ScatterChart& chart) : QCPLayoutElement(&chart), chart_(chart) {}

    QSize minimumOuterSizeHint() const override
    {
        return chart_.colours_.scaled()
                   ? size_of_colours(chart_.colours_, chart_.store_, chart_.fontMetrics())
                   : QSize();
    }

protected:
    void applyDefaultAntialiasingHint(QCPPainter*) const override {}
    void draw(QCPPainter* painter) override
    {
        painter->setFont(chart_.font());
        if (chart_.colours_.scaled())
            paint_colours(*painter, rect(), chart_.colours_, chart_.store_, chart_.palette());
    }

private:
    ScatterChart& chart_;
};

ScatterChart::ScatterChart(const PointStore& store, Marks& marks, QWidget* parent)
    : Chart(parent), store_(store), marks_(marks)
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setNoAntialiasingOnDrag(false);
    make_layout();
    setInteraction(QCP::iRangeZoom);
    setSelectionRectMode(QCP::srmCustom);
    selectionRect()->setPen(QPen(palette().color(QPalette::Highlight), 1, Qt::DashLine));
    connect(selectionRect(), &QCPSelectionRect::accepted, this,
            [this](const QRect& rect, QMouseEvent* event) {
                brush(rect.normalized(), event->modifiers());
            });
    connect(this, &QCustomPlot::mouseDoubleClick, this, [this](QMouseEvent* event) {
        if (const auto point = point_at(event->pos()))
            emit opened(*point);
    });
    // A press that moves becomes a brush.
    connect(this, &QCustomPlot::mousePress, this,
            [this](QMouseEvent* event) { pressed_ = event->pos(); });
    connect(this, &QCustomPlot::mouseRelease, this, [this](QMouseEvent* event) {
        if ((event->pos() - pressed_).manhattanLength() >= least_brush)
            return;
        const auto point = point_at(event->pos());
        if (event->button() == Qt::RightButton) {
            if (point)
                emit menuWanted(*point, event->globalPosition().toPoint());
            return;
        }
        marks_.mark({});
        marks_.set_current(point);
    });
    connect(this, &QCustomPlot::mouseMove, this, [this](QMouseEvent* event) {
        if (event->buttons() != Qt::NoButton)
            return;
        if (const auto point = point_at(event->pos()))
            emit hovered(*point, event->globalPosition().toPoint());
        else
            QToolTip::hideText();
    });
    connect(xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this,
            [this](const QCPRange& range) {
                strip_->axis(QCPAxis::atBottom)->setRange(range);
                place_others(0);
                zoomed_ = zoomed_ || !fitting_;
            });
    connect(this, &QCustomPlot::afterLayout, this, &ScatterChart::place_name);
    connect(this, &Chart::themed, this, [this] {
        make_styles();
        draw_front();
    });
    connect(&marks_, &Marks::changed, this, &ScatterChart::draw_marks);
    connect(&marks_, &Marks::currentChanged, this, &ScatterChart::draw_marks);
    apply_theme();
}

void ScatterChart::make_layout()
{
    strip_ = new QCPAxisRect(this, false);
    strip_->addAxes(QCPAxis::atBottom | QCPAxis::atLeft);
    plotLayout()->addElement(1, 0, strip_);
    auto* const sides = new QCPMarginGroup(this);
    for (QCPAxisRect* const rect : {axisRect(0), strip_})
        rect->setMarginGroup(QCP::msLeft | QCP::msRight, sides);
    const int height = 3 * fontMetrics().height();
    strip_->setMinimumSize(0, height);
    strip_->setMaximumSize(QWIDGETSIZE_MAX, height);
    strip_->setAutoMargins(QCP::msLeft | QCP::msRight);
    strip_->setMargins(QMargins(0, 2, 0, 6));
    strip_->setRangeZoom({});
    QCPAxis* const across = strip_->axis(QCPAxis::atBottom);
    across->setTicks(false);
    across->grid()->setVisible(false);
    QCPAxis* const kinds = strip_->axis(QCPAxis::atLeft);
    kinds->grid()->setVisible(false);
    kinds->setRange(-0.5, 1.5);
    auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    ticker->addTick(0, tr("cannot be"));
    ticker->addTick(1, tr("does not fit"));
    kinds->setTicker(ticker);
    kinds->setTickLength(0);

    cloud_ = new PointCloud(xAxis, yAxis, points_);
    strip_cloud_ = new PointCloud(across, kinds, others_);
    mark_cloud_ = new PointCloud(xAxis, yAxis, marked_);
    mark_strip_cloud_ = new PointCloud(across, kinds, marked_others_);
    front_line_ = addGraph();
    current_ = addGraph();
    current_->setLineStyle(QCPGraph::lsNone);
    current_->removeFromLegend();
    here_mark_ = addGraph();
    here_strip_mark_ = addGraph(across, kinds);
    for (QCPGraph* const mark : {here_mark_, here_strip_mark_}) {
        mark->setLineStyle(QCPGraph::lsNone);
        mark->removeFromLegend();
    }
    capacity_line_ = new QCPItemStraightLine(this);
    for (QCPItemPosition* const end : {capacity_line_->point1, capacity_line_->point2})
        end->setTypeY(QCPItemPosition::ptAxisRectRatio);
    capacity_line_->setVisible(false);
    capacity_name_ = new QCPItemText(this);
    capacity_name_->setText(tr("capacity"));
    capacity_name_->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    capacity_name_->setPadding(QMargins(3, 1, 3, 1));
    capacity_name_->setVisible(false);
    here_name_ = new QCPItemText(this);
    here_name_->setText(tr("open scenario"));
    here_name_->setPadding(QMargins(name_gap, name_gap, name_gap, name_gap));
    here_name_->setVisible(false);
    beyond_ = new QCPItemText(this);
    beyond_->setClipAxisRect(strip_);
    beyond_->position->setAxisRect(strip_);
    beyond_->position->setType(QCPItemPosition::ptAxisRectRatio);
    beyond_->position->setCoords(1, 1);
    beyond_->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
    beyond_->setVisible(false);
    legend->setVisible(true);
    // Its lines close together, whatever the height.
    auto* const beside = new QCPLayoutGrid;
    beside->setMargins(QMargins(0, 0, fontMetrics().height() / 2, 0)); // off the picture's edge
    plotLayout()->addElement(0, 1, beside);
    beside->addElement(0, 0, legend);
    key_ = new ScaleKey(*this);
    beside->addElement(1, 0, key_);
    beside->setRowStretchFactor(0, 0.001);
    plotLayout()->setColumnStretchFactor(1, 0.001);
}

void ScatterChart::make_styles()
{
    if (cloud_ == nullptr)
        return;
    const SignColours signs = sign_colours(palette());
    const std::vector<PointStyle> styles = colours_.styles(palette());
    cloud_->set_styles(styles, point_size);
    strip_cloud_->set_styles({{signs.quiet, QCPScatterStyle::ssCross, false},
                              {signs.quiet, QCPScatterStyle::ssCrossSquare, false}},
                             point_size - 2);
    beyond_->setColor(signs.quiet);
    beyond_->setBrush(palette().color(QPalette::Base)); // over the points
    const QColor accent = palette().color(QPalette::Highlight);
    mark_cloud_->set_styles({{accent, QCPScatterStyle::ssCircle, false}}, point_size + 5);
    mark_strip_cloud_->set_styles({{accent, QCPScatterStyle::ssCircle, false}}, point_size + 3);
    front_line_->setPen(QPen(palette().color(QPalette::Text), 1.4));
    front_line_->setName(tr("Pareto front"));
    capacity_line_->setPen(QPen(signs.quiet, 1.4, Qt::DashLine));
    capacity_name_->setColor(signs.quiet);
    capacity_name_->setFont(font());
    current_->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCrossCircle,
                                              QPen(palette().color(QPalette::Text), 2), Qt::NoBrush,
                                              point_size + 10));
    for (QCPGraph* const sample : samples_)
        removeGraph(sample);
    samples_.clear();
    const QPen here(palette().color(QPalette::Text), 2);
    const QBrush inside(palette().color(QPalette::Base));
    here_mark_->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssDiamond, here, inside, point_size + 8));
    here_strip_mark_->setScatterStyle(here_mark_->scatterStyle());
    here_name_->setColor(here.color());
    here_name_->setFont(font());
    const std::size_t values = colours_.values();
    for (std::size_t i = 0; i < std::min(values, PointColours::most_values); ++i) {
        QCPGraph* const sample = addGraph();
        sample->setName(colours_.name_of(store_, i));
        sample->setLineStyle(QCPGraph::lsNone);
        sample->setScatterStyle(
            QCPScatterStyle(styles[i].shape, styles[i].colour, styles[i].colour, point_size));
        samples_.push_back(sample);
    }
    for (QCPItemText* const pin : pins_)
        pin->setColor(palette().color(QPalette::Text));
    legend->setVisible(front_.drawn() || values > 0);
    replot(rpQueuedReplot);
}

void ScatterChart::set_axes(const ScatterAxes& axes)
{
    axes_ = axes;
    colours_ = PointColours(store_, axes.colour);
    axes_.log_x = axes.log_x && !axes.x.axis;
    axes_.log_y = axes.log_y && !axes.y.axis;
    points_ = {};
    others_ = {};
    front_ = ParetoFront(axes.x.better, axes.y.better);
    constexpr double most = std::numeric_limits<double>::max();
    range_x_ = range_y_ = QCPRange();
    range_x_.lower = range_y_.lower = most;
    range_x_.upper = range_y_.upper = -most;
    capacities_.clear();
    cloud_->forget();
    strip_cloud_->forget();
    label_axis(*xAxis, axes_.x, axes_.log_x);
    label_axis(*yAxis, axes_.y, axes_.log_y);
    strip_->axis(QCPAxis::atBottom)->setScaleType(xAxis->scaleType());
    strip_->axis(QCPAxis::atBottom)->setRange(xAxis->range());
    zoomed_ = false;
    make_styles();
    follow();
    draw_capacity();
    if (store_.size() == 0)
        fit_ranges();
    draw_marks();
    draw_here();
    emit frontChanged();
}

void ScatterChart::add_point(std::uint32_t point)
{
    const auto spread = [&](const Metric& metric, std::uint64_t salt) {
        const double value = value_of(store_, point, metric);
        return metric.axis ? value + 0.6 * jitter(store_, point, salt) : value;
    };
    const double x = spread(axes_.x, 1);
    const double y = spread(axes_.y, 2);
    const bool drawn = store_.feasible(point);
    points_.x.push_back(drawn ? x : no_number);
    points_.y.push_back(drawn ? y : no_number);
    points_.style.push_back(colours_.style_of(store_, point));
    const double row = store_.kinds()[store_.kind(point)].memory ? 1 : 0;
    others_.x.push_back(no_number); // till it is placed
    others_.y.push_back(row + 0.7 * jitter(store_, point, 3));
    others_.style.push_back(0);
    const auto reach = [](QCPRange& range, double value) {
        range.lower = std::min(range.lower, value);
        range.upper = std::max(range.upper, value);
    };
    // Memory that a point lacks is in sight up to a tenth more than a device's, margin included.
    const double capacity = axes_.x.scale * store_.figure(point, "device_memory_bytes");
    if (axes_.x.figure == &figure_of("peak_memory_bytes") && capacity > 0)
        capacities_.insert(capacity);
    if (!drawn && !axes_.x.axis && !std::isnan(x))
        reach(range_x_, std::min(x, 1.04 * capacity));
    if (!drawn || std::isnan(x) || std::isnan(y))
        return;
    reach(range_x_, x);
    reach(range_y_, y);
}

// Where on the axis in sight a point stands that cannot be, and whether its x lies beyond: as a
// scatter's points where its x is known, else anywhere.
std::pair<double, bool> ScatterChart::place_across(std::uint32_t point) const
{
    const bool is_guest = point == PointStore::guest;
    const double x = value_of(store_, point, axes_.x);
    if (axes_.x.axis)
        return {is_guest ? x : x + 0.6 * jitter(store_, point, 1), false};
    const QCPRange& sight = xAxis->range();
    const auto at = [&](double share) {
        return xAxis->scaleType() == QCPAxis::stLogarithmic
                   ? sight.lower * std::pow(sight.upper / sight.lower, share)
                   : std::lerp(sight.lower, sight.upper, share);
    };
    constexpr double edge = 0.985;
    if (!std::isnan(x))
        return {std::clamp(x, at(1 - edge), at(edge)), x > sight.upper || x < sight.lower};
    return {at(is_guest ? 0.5
                        : static_cast<double>(store_.index(point)) /
                              static_cast<double>(store_.grid().points())),
            false};
}

void ScatterChart::place_others(std::uint32_t from)
{
    if (from == 0)
        beyond_count_ = 0;
    // The store may have begun anew, before the axes do.
    const auto count = std::min(static_cast<std::uint32_t>(others_.size()), store_.size());
    for (std::uint32_t point = from; point < count; ++point) {
        if (store_.feasible(point))
            continue;
        const auto [x, beyond] = place_across(point);
        others_.x[point] = x;
        others_.style[point] = beyond ? 1 : 0;
        beyond_count_ += beyond ? 1 : 0;
    }
    beyond_->setText(tr("at the edge: %L1 beyond").arg(beyond_count_));
    beyond_->setVisible(beyond_count_ > 0);
    if (from > 0)
        return;
    strip_cloud_->forget();
    draw_marks();
    draw_here();
}

void ScatterChart::follow()
{
    bool grown = false;
    const auto first = static_cast<std::uint32_t>(points_.size());
    if (colours_.follow(store_)) {
        for (std::uint32_t point = 0; point < first; ++point)
            points_.style[point] = colours_.style_of(store_, point);
        cloud_->forget();
    }
    for (std::uint32_t point = first; point < store_.size(); ++point) {
        add_point(point);
        if (store_.feasible(point))
            grown = front_.add({points_.x[point], points_.y[point], point}) || grown;
    }
    if (first == store_.size())
        return;
    place_others(first);
    draw_capacity();
    if (!zoomed_)
        fit_ranges();
    if (grown || first == 0)
        draw_front();
    replot(rpQueuedReplot);
    if (grown)
        emit frontChanged();
}

// Where the devices of all points have as much.
void ScatterChart::draw_capacity()
{
    const bool one = capacities_.size() == 1;
    capacity_line_->setVisible(one);
    capacity_name_->setVisible(one);
    if (!one)
        return;
    // Where the axis is worse: few points lie there.
    const bool low = axes_.y.better == Better::higher;
    capacity_name_->position->setCoords(*capacities_.begin(), low ? 1 : 0);
    capacity_name_->setPositionAlignment(Qt::AlignRight | (low ? Qt::AlignBottom : Qt::AlignTop));
    capacity_line_->point1->setCoords(*capacities_.begin(), 0);
    capacity_line_->point2->setCoords(*capacities_.begin(), 1);
}

void ScatterChart::fit()
{
    zoomed_ = false;
    fitting_ = true;
    fit_ranges();
    replot(rpQueuedReplot);
}

void ScatterChart::draw_front()
{
    ParetoFront shown = front_; // with the open scenario, also where it is beside the grid
    const bool beside = here_ == PointStore::guest && store_.has(*here_);
    if (const auto at = beside ? coordinates_of(*here_) : std::nullopt)
        shown.add({at->x(), at->y(), *here_});
    front_line_->data()->clear();
    for (const FrontPoint& one : shown.points())
        front_line_->addData(one.x, one.y);
    replot(rpQueuedReplot);
}

std::optional<std::uint32_t> ScatterChart::point_at(const QPointF& pixel) const
{
    if (axisRect(0)->rect().contains(pixel.toPoint()))
        return cloud_->nearest(pixel, dot_reach);
    return strip_->rect().contains(pixel.toPoint()) ? strip_cloud_->nearest(pixel, dot_reach)
                                                    : std::nullopt;
}

QPointF ScatterChart::place_of(std::uint32_t point) const
{
    return store_.feasible(point) ? cloud_->pixel_of(point) : strip_cloud_->pixel_of(point);
}

void ScatterChart::brush(const QRect& pixels, Qt::KeyboardModifiers modifiers)
{
    if (pixels.width() + pixels.height() < least_brush)
        return; // a click
    std::vector<std::uint32_t> found = cloud_->inside(pixels & axisRect(0)->rect());
    const std::vector<std::uint32_t> below = strip_cloud_->inside(pixels & strip_->rect());
    found.insert(found.end(), below.begin(), below.end());
    if (modifiers & Qt::ShiftModifier)
        found.insert(found.end(), marks_.points().begin(), marks_.points().end());
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    marks_.mark(std::move(found));
}

std::optional<std::uint32_t> ScatterChart::neighbour(std::uint32_t point, Qt::Key arrow) const
{
    const QPointF from = cloud_->pixel_of(point);
    std::optional<std::uint32_t> best;
    double least = std::numeric_limits<double>::max();
    for (std::uint32_t other = 0; other < points_.size(); ++other) {
        const QPointF way = cloud_->pixel_of(other) - from;
        const double along = arrow == Qt::Key_Left    ? -way.x()
                             : arrow == Qt::Key_Right ? way.x()
                             : arrow == Qt::Key_Up    ? -way.y()
                                                      : way.y();
        const double aside =
            std::abs(arrow == Qt::Key_Left || arrow == Qt::Key_Right ? way.y() : way.x());
        // Ahead, not to the side; what is aside counts as twice as far.
        if (!(along > 0.5) || aside > 2 * along || along + 2 * aside >= least)
            continue;
        least = along + 2 * aside;
        best = other;
    }
    return best;
}

} // namespace trainyard::gui
