// What lies beside a CurvePlot's curve: other curves, switch points of its compact form, the
// legend.

#include "gui/calibration/curve_plot.h"

namespace trainyard::gui {

void CurvePlot::set_others(std::vector<CurveSeries> others)
{
    others_ = std::move(others);
    make_others();
    colour();
}

// Above the first curve's band, below its line.
void CurvePlot::make_others()
{
    for (QCPGraph* const graph : other_graphs_)
        removeGraph(graph);
    other_graphs_.clear();
    for (const CurveSeries& other : others_) {
        QCPGraph* const line =
            addGraph(above_->axis(QCPAxis::atBottom), above_->axis(QCPAxis::atLeft));
        QCPGraph* const points =
            addGraph(above_->axis(QCPAxis::atBottom), above_->axis(QCPAxis::atLeft));
        for (std::size_t i = 0; i < other.fitted.size(); ++i)
            line->addData(other.sizes[i], other.fitted[i]);
        for (const CurvePoint& point : other.points)
            if (!point.excluded)
                points->addData(static_cast<double>(point.size.value()), point.value);
        points->setLineStyle(QCPGraph::lsNone);
        (other.fitted.empty() ? line : points)->removeFromLegend();
        for (QCPGraph* const graph : {line, points})
            graph->setName(other.title);
        other_graphs_.push_back(line);
        other_graphs_.push_back(points);
    }
}

void CurvePlot::wrap_legend()
{
    legend->setVisible(legend->itemCount() > 0);
    fit_legend(*legend, viewport().width());
}

void CurvePlot::make_switches()
{
    for (QCPItemLine* const line : switch_lines_)
        removeItem(line);
    for (QCPItemText* const label : switch_labels_)
        removeItem(label);
    switch_lines_.clear();
    switch_labels_.clear();
    for (std::size_t i = 0; i < series_.switches.size(); ++i) {
        const auto size = static_cast<double>(series_.switches[i].value());
        const auto put = [&](QCPItemPosition* position, double up) {
            position->setTypeX(QCPItemPosition::ptPlotCoords);
            position->setTypeY(QCPItemPosition::ptAxisRectRatio);
            position->setAxes(above_->axis(QCPAxis::atBottom), above_->axis(QCPAxis::atLeft));
            position->setAxisRect(above_);
            position->setCoords(size, up);
        };
        auto* const line = new QCPItemLine(this);
        line->setClipAxisRect(above_);
        // Labels one beside the other, so that near ones do not meet, where the curve is not: times
        // of switches lie low, bandwidths high.
        const bool above = quantity_ == CurveAxis::time;
        const double in = 0.05 + 0.08 * static_cast<double>(i);
        const double up = above ? in : 1 - in;
        put(line->start, above ? 1 : 0);
        put(line->end, up);
        auto* const label = new QCPItemText(this);
        label->setClipAxisRect(above_);
        put(label->position, up);
        label->setPositionAlignment(Qt::AlignHCenter | Qt::AlignVCenter);
        label->setPadding(QMargins(3, 0, 3, 0));
        label->setText(tr("switch at %1").arg(size_text(series_.switches[i])));
        switch_lines_.push_back(line);
        switch_labels_.push_back(label);
    }
}

} // namespace trainyard::gui
