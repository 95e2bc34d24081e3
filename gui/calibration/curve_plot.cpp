#include "gui/calibration/curve_plot.h"

#include "gui/calibration/axis_tickers.h"
#include "gui/model/qt_text.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"
#include "sim/report/kinds.h"

namespace trainyard::gui {

namespace {

constexpr double ring_radius = 8; // pixels

QCPScatterStyle marker(QCPScatterStyle::ScatterShape shape, const QColor& ink, const QColor& fill,
                       double size)
{
    return QCPScatterStyle(shape, QPen(ink, 1.6), fill, size);
}

double x_of(const CurvePoint& point)
{
    return static_cast<double>(point.size.value());
}

} // namespace

CurvePlot::CurvePlot(QWidget* parent) : Chart(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("times over size, and errors at sizes left out"));
    make_panes();
    make_graphs();
    make_fixed_items();
    setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    connect(this, &Chart::themed, this, &CurvePlot::colour);
    connect(selectionRect(), &QCPSelectionRect::accepted, this, [this](const QRect& rect) {
        std::vector<std::size_t> chosen;
        for (std::size_t i = 0; i < series_.points.size(); ++i)
            if (rect.normalized().contains(position_of(i).toPoint()))
                chosen.push_back(i);
        if (!chosen.empty())
            emit toggleWanted(chosen);
    });
    apply_theme();
}

void CurvePlot::make_panes()
{
    plotLayout()->clear();
    above_ = new QCPAxisRect(this);
    below_ = new QCPAxisRect(this);
    title_ = new QCPTextElement(this);
    plotLayout()->addElement(0, 0, title_);
    legend = new QCPLegend;
    plotLayout()->addElement(1, 0, legend);
    legend->setLayer(QStringLiteral("legend"));
    legend->setFillOrder(QCPLegend::foColumnsFirst);
    legend->setColumnSpacing(14);
    plotLayout()->addElement(2, 0, above_);
    plotLayout()->addElement(3, 0, below_);
    for (const int row : {0, 1})
        plotLayout()->setRowStretchFactor(row, 0.001); // no higher than its letters
    plotLayout()->setRowStretchFactor(2, 1.9);
    plotLayout()->setRowSpacing(0);
    auto* const margins = new QCPMarginGroup(this);
    for (QCPAxisRect* const pane : {above_, below_}) {
        pane->setMarginGroup(QCP::msLeft | QCP::msRight, margins);
        QCPAxis* const sizes = pane->axis(QCPAxis::atBottom);
        sizes->setScaleType(QCPAxis::stLogarithmic);
        sizes->setTicker(QSharedPointer<SizeTicker>::create());
    }
    above_->axis(QCPAxis::atBottom)->setTickLabels(false);
    above_->axis(QCPAxis::atLeft)->setScaleType(QCPAxis::stLogarithmic);
    below_->axis(QCPAxis::atBottom)->setLabel(tr("size of the buffer"));
    below_->axis(QCPAxis::atLeft)->setLabel(tr("residual [%]"));
    below_->axis(QCPAxis::atLeft)->ticker()->setTickCount(4);
    below_->axis(QCPAxis::atLeft)->setSubTicks(false);
    below_->setRangeDrag(Qt::Horizontal);
    below_->setRangeZoom(Qt::Horizontal);
    const auto link = [](QCPAxis* from, QCPAxis* to) {
        connect(from, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), to,
                qOverload<const QCPRange&>(&QCPAxis::setRange));
    };
    link(above_->axis(QCPAxis::atBottom), below_->axis(QCPAxis::atBottom));
    link(below_->axis(QCPAxis::atBottom), above_->axis(QCPAxis::atBottom));
}

void CurvePlot::make_graphs()
{
    QCPAxis* const size = above_->axis(QCPAxis::atBottom);
    QCPAxis* const value = above_->axis(QCPAxis::atLeft);
    const auto add = [&](const QString& name) {
        QCPGraph* const graph = addGraph(size, value);
        graph->setName(name);
        if (name.isEmpty())
            graph->removeFromLegend();
        return graph;
    };
    low_ = add({});
    high_ = add(tr("9 of 10 measurements"));
    high_->setChannelFillGraph(low_);
    compact_ = add(tr("compact form"));
    line_rate_ = add(tr("line rate"));
    fitted_ = add(tr("fit"));
    intervals_ = new QCPErrorBars(size, value);
    intervals_->removeFromLegend();
    measured_ = add(tr("measured"));
    intervals_->setDataPlottable(measured_);
    excluded_ = add(tr("excluded"));
    replaced_ = add(tr("excluded by the fit"));
    residuals_ = addGraph(below_->axis(QCPAxis::atBottom), below_->axis(QCPAxis::atLeft));
    excluded_residuals_ = addGraph(below_->axis(QCPAxis::atBottom), below_->axis(QCPAxis::atLeft));
    for (QCPGraph* const graph : {residuals_, excluded_residuals_}) {
        graph->removeFromLegend();
        graph->setLineStyle(QCPGraph::lsImpulse);
    }
    for (QCPGraph* const graph : {measured_, excluded_, replaced_})
        graph->setLineStyle(QCPGraph::lsNone);
}

void CurvePlot::make_fixed_items()
{
    const auto on = [](QCPItemPosition* position, QCPAxisRect* pane, bool coordinates_up) {
        position->setTypeX(QCPItemPosition::ptAxisRectRatio);
        position->setTypeY(coordinates_up ? QCPItemPosition::ptPlotCoords
                                          : QCPItemPosition::ptAxisRectRatio);
        position->setAxisRect(pane);
        position->setAxes(pane->axis(QCPAxis::atBottom), pane->axis(QCPAxis::atLeft));
    };
    good_ = new QCPItemRect(this);
    on(good_->topLeft, below_, true);
    on(good_->bottomRight, below_, true);
    good_->topLeft->setCoords(0, 5);
    good_->bottomRight->setCoords(1, -5);
    good_->setClipAxisRect(below_);
    good_->setLayer(QStringLiteral("background"));
    note_ = new QCPItemText(this);
    on(note_->position, above_, false);
    note_->setClipToAxisRect(false);
    note_->setPositionAlignment(Qt::AlignCenter);
    note_->position->setCoords(0.5, 0.5);
    note_->setPadding(QMargins(4, 1, 4, 1));
    for (auto [ring, pane] : {std::pair(&ring_, above_), std::pair(&residual_ring_, below_)}) {
        *ring = new QCPItemEllipse(this);
        (*ring)->setClipAxisRect(pane);
        (*ring)->topLeft->setType(QCPItemPosition::ptAbsolute);
        (*ring)->bottomRight->setType(QCPItemPosition::ptAbsolute);
    }
    // Pixels follow whatever moves the axes, also in pictures of other sizes.
    connect(this, &QCustomPlot::afterLayout, this, &CurvePlot::show_mark);
    connect(this, &QCustomPlot::afterLayout, this, &CurvePlot::wrap_note);
    connect(this, &QCustomPlot::beforeReplot, this, &CurvePlot::wrap_legend);
}

void CurvePlot::colour()
{
    const SignColours signs = sign_colours(palette());
    const QColor text = palette().color(QPalette::Text);
    const QColor base = palette().color(QPalette::Base);
    const bool dark = theme_of(palette()) == Theme::dark;
    const QColor fit(dark ? "#56b4e9" : "#0072b2"); // as on the pages of `trainyard fit`
    const QColor compact(dark ? "#e69f00" : "#d55e00");
    QColor band = fit;
    band.setAlpha(dark ? 80 : 45);
    QPen edge(fit, 1);
    edge.setStyle(Qt::DotLine);
    for (QCPGraph* const graph : {low_, high_})
        graph->setPen(edge);
    high_->setBrush(band);
    compact_->setPen(QPen(compact, 1.4, Qt::DashLine));
    fitted_->setPen(QPen(fit, 2));
    line_rate_->setPen(QPen(text, 1.2, Qt::DashDotLine));
    for (std::size_t i = 0; i < other_graphs_.size(); ++i) {
        const QColor own(text_of(series_colours[i / 2 % series_colours.size()]));
        other_graphs_[i]->setPen(i % 2 == 0 ? QPen(own, 2) : QPen(Qt::NoPen));
        if (i % 2 == 1)
            other_graphs_[i]->setScatterStyle(marker(QCPScatterStyle::ssDiamond, own, base, 7));
    }
    measured_->setScatterStyle(marker(QCPScatterStyle::ssCircle, text, base, 7));
    intervals_->setPen(QPen(text, 1.2));
    intervals_->setWhiskerWidth(6);
    excluded_->setScatterStyle(marker(QCPScatterStyle::ssCrossCircle, signs.worse, base, 10));
    replaced_->setScatterStyle(marker(QCPScatterStyle::ssCross, signs.worse, base, 9));
    residuals_->setPen(QPen(fit, 1.4));
    residuals_->setScatterStyle(marker(QCPScatterStyle::ssCircle, text, base, 6));
    excluded_residuals_->setPen(QPen(signs.worse, 1, Qt::DashLine));
    excluded_residuals_->setScatterStyle(
        marker(QCPScatterStyle::ssCrossCircle, signs.worse, base, 9));
    QColor good = signs.better;
    good.setAlpha(40);
    good_->setBrush(good);
    good_->setPen(QPen(signs.better, 1, Qt::DotLine));
    title_->setFont(bold(font()));
    title_->setTextColor(text);
    note_->setFont(font());
    note_->setColor(text);
    note_->setBrush(base);
    for (QCPItemEllipse* const ring : {ring_, residual_ring_})
        ring->setPen(QPen(palette().color(QPalette::Highlight), 2.2));
    legend->setBorderPen(Qt::NoPen);
    for (QCPItemLine* const line : switch_lines_)
        line->setPen(QPen(compact, 1, Qt::DotLine));
    for (QCPItemText* const label : switch_labels_) {
        label->setColor(text);
        label->setFont(font());
        label->setBrush(base);
    }
    replot(rpQueuedReplot);
}

void CurvePlot::set_series(CurveSeries series, CurveAxis quantity, View view)
{
    series_ = std::move(series);
    quantity_ = quantity;
    if (mark_ && *mark_ >= series_.points.size())
        mark_.reset();
    if (view == View::fit)
        mark_.reset();
    QCPAxis* const value = above_->axis(QCPAxis::atLeft);
    value->setTicker(QSharedPointer<DecadeTicker>::create(
        quantity == CurveAxis::time ? DecadeTicker::Unit::seconds : DecadeTicker::Unit::plain));
    value->setLabel(series_.value_label);
    fill();
    make_switches();
    colour();
    if (view == View::fit)
        show_all();
    emit markChanged();
}

void CurvePlot::fill()
{
    const auto lines = [&](QCPGraph* graph, const std::vector<double>& values) {
        graph->data()->clear();
        for (std::size_t i = 0; i < values.size(); ++i)
            graph->addData(series_.sizes[i], values[i]);
    };
    lines(low_, series_.low);
    lines(high_, series_.high);
    lines(compact_, series_.compact);
    lines(fitted_, series_.fitted);
    fitted_->setName(series_.points.empty() ? tr("table") : tr("fit"));
    line_rate_->data()->clear();
    if (!series_.line_rate.empty()) {
        line_rate_->setName(series_.line_rate_name);
        line_rate_->addData(series_.smallest, series_.line_rate.front());
        line_rate_->addData(series_.largest, series_.line_rate.back());
    }
    for (QCPGraph* const graph : {measured_, excluded_, replaced_, residuals_, excluded_residuals_})
        graph->data()->clear();
    QVector<double> minus;
    QVector<double> plus;
    for (const CurvePoint& point : series_.points) {
        (point.excluded ? excluded_ : measured_)->addData(x_of(point), point.value);
        if (!point.excluded) {
            minus << point.value - point.low;
            plus << point.high - point.value;
        }
        if (point.residual)
            (point.excluded ? excluded_residuals_ : residuals_)
                ->addData(x_of(point), *point.residual);
    }
    intervals_->setData(minus, plus);
    for (const CurvePoint& point : series_.replaced)
        replaced_->addData(x_of(point), point.value);
    for (QCPGraph* const graph :
         {compact_, fitted_, measured_, excluded_, replaced_, high_, line_rate_})
    {
        const bool any = !graph->data()->isEmpty();
        graph->setVisible(any);
        any ? graph->addToLegend(legend) : graph->removeFromLegend(legend);
    }
    title_->setText(series_.title);
    // Where nothing else is drawn.
    note_->position->setAxisRect(series_.fitted.empty() ? above_ : below_);
    note_->setVisible(!series_.note.isEmpty());
}

void CurvePlot::show_all()
{
    double smallest = series_.smallest;
    double largest = series_.largest;
    double least = series_.least;
    double most = series_.most;
    for (const CurveSeries& other : others_) {
        smallest = std::min(smallest, other.smallest);
        largest = std::max(largest, other.largest);
        if (other.least > 0) {
            least = least > 0 ? std::min(least, other.least) : other.least;
            most = std::max(most, other.most);
        }
    }
    above_->axis(QCPAxis::atBottom)->setRange(smallest, largest);
    if (least > 0)
        above_->axis(QCPAxis::atLeft)->setRange(least, most);
    below_->axis(QCPAxis::atLeft)->setRange(-series_.residual_range, series_.residual_range);
    replot(rpQueuedReplot);
}

// Into lines as wide as its pane.
void CurvePlot::wrap_note()
{
    const QFontMetrics metrics(note_->font());
    const int room = note_->position->axisRect()->width() - 2 * metrics.height();
    QStringList lines{QString()};
    for (const QString& word : series_.note.split(' ')) {
        const QString longer = lines.last().isEmpty() ? word : lines.last() + ' ' + word;
        if (lines.last().isEmpty() || metrics.horizontalAdvance(longer) <= room)
            lines.last() = longer;
        else
            lines << word;
    }
    note_->setText(lines.join('\n'));
}

void CurvePlot::show_mark()
{
    for (QCPItemEllipse* const ring : {ring_, residual_ring_})
        ring->setVisible(false);
    if (!mark_)
        return;
    const CurvePoint& point = series_.points[*mark_];
    const auto put = [](QCPItemEllipse* ring, const QPointF& at) {
        ring->setVisible(true);
        ring->topLeft->setCoords(at - QPointF(ring_radius, ring_radius));
        ring->bottomRight->setCoords(at + QPointF(ring_radius, ring_radius));
    };
    put(ring_, position_of(*mark_));
    if (point.residual)
        put(residual_ring_, QPointF(below_->axis(QCPAxis::atBottom)->coordToPixel(x_of(point)),
                                    below_->axis(QCPAxis::atLeft)->coordToPixel(*point.residual)));
}

QPointF CurvePlot::position_of(std::size_t point) const
{
    const CurvePoint& one = series_.points[point];
    return {above_->axis(QCPAxis::atBottom)->coordToPixel(x_of(one)),
            above_->axis(QCPAxis::atLeft)->coordToPixel(one.value)};
}

} // namespace trainyard::gui
