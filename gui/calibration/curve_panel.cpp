#include "gui/calibration/curve_panel.h"

#include "gui/widgets/boxes.h"

#include <QLabel>
#include <QScrollArea>
#include <algorithm>

namespace trainyard::gui {

namespace {

QString no_curve_text()
{
    return CurvePanel::tr(
        "Nothing is measured yet: open logs of nccl-tests or of trainyard calibrate, or a scenario "
        "for the curves of its profile.");
}

} // namespace

CurvePanel::CurvePanel(QWidget* parent) : Panel(parent), plot_(new CurvePlot), facts_(new QLabel)
{
    facts_->setWordWrap(true);
    facts_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    facts_->setAccessibleName(tr("the marked point, or the curve"));
    facts_->setMargin(4);
    facts_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    auto* const column = in_a_column(this, {}, {.spacing = 2});
    plot_->setMinimumHeight(8 * fontMetrics().lineSpacing()); // also where it only says what to do
    column->addWidget(plot_, 1);
    // Of one height, so that the plot does not jump.
    auto* const facts = new QScrollArea;
    facts->setWidget(facts_);
    facts->setWidgetResizable(true);
    facts->setFrameShape(QFrame::NoFrame);
    facts->setFixedHeight(5 * fontMetrics().lineSpacing() + 10);
    column->addWidget(facts);
    connect(plot_, &CurvePlot::markChanged, this, &CurvePanel::tell);
    connect(plot_, &CurvePlot::toggleWanted, this, &CurvePanel::toggle);
    draw(CurvePlot::View::fit);
}

void CurvePanel::set_curve(std::shared_ptr<const FittedCurve> curve, Curves others)
{
    const auto alike = [](const auto& a, const auto& b) { return a->is_same(*b); };
    const bool same =
        curve && curve_ && curve->is_same(*curve_) &&
        std::equal(others.begin(), others.end(), others_.begin(), others_.end(), alike);
    curve_ = std::move(curve);
    others_ = std::move(others);
    draw(same ? CurvePlot::View::keep : CurvePlot::View::fit);
}

void CurvePanel::set_quantity(CurveAxis quantity)
{
    if (quantity == quantity_)
        return;
    const std::optional<std::size_t> mark = plot_->mark();
    quantity_ = quantity;
    draw(CurvePlot::View::fit);
    plot_->set_mark(mark);
}

void CurvePanel::draw(CurvePlot::View view)
{
    CurveSeries series;
    if (curve_)
        series = series_of(curve_->study, quantity_, curve_->line_rate);
    else
        series.note = no_curve_text();
    std::vector<CurveSeries> beside;
    for (const auto& other : others_)
        beside.push_back(series_of(other->study, quantity_));
    plot_->set_others(std::move(beside));
    plot_->set_series(std::move(series), quantity_, view);
    tell();
}

void CurvePanel::toggle_mark()
{
    if (plot_->mark())
        toggle({*plot_->mark()});
}

void CurvePanel::toggle(const std::vector<std::size_t>& points)
{
    std::vector<Bytes> sizes;
    bool any_counts = false;
    for (const std::size_t point : points) {
        const CurvePoint& one = plot_->series().points[point];
        sizes.push_back(one.size);
        any_counts = any_counts || !one.excluded;
    }
    emit excludeWanted(sizes, any_counts);
}

void CurvePanel::tell()
{
    if (plot_->mark())
        facts_->setText(plot_->series().points[*plot_->mark()].facts);
    else
        facts_->setText(curve_ ? facts_of(curve_->study).join('\n') : QString());
}

void CurvePanel::paint_to(QPainter& painter, const QSize& size)
{
    plot_->paint_chart(painter, size);
}

TableData CurvePanel::table() const
{
    TableData out = table_of(curve_ ? curve_->study : CurveStudy{});
    if (others_.empty())
        return out;
    // All of them, each row with its curve's name.
    TableData all;
    all.columns = QStringList{QStringLiteral("curve")} + out.columns;
    Curves curves{curve_};
    curves.insert(curves.end(), others_.begin(), others_.end());
    for (const auto& curve : curves) {
        const QString name = series_of(curve->study, quantity_).title;
        for (const QStringList& row : table_of(curve->study).rows)
            all.rows.push_back(QStringList{name} + row);
    }
    return all;
}

} // namespace trainyard::gui
