#include "gui/breakdown/roofline_panel.h"

#include "gui/widgets/theme.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

// From the smallest to the largest, a little beyond, and more than a decade.
QCPRange around(double low, double high)
{
    return {std::min(low / 2, high / 20), high * 3};
}

void make_plain(QCPAxis& axis)
{
    Chart::make_logarithmic(axis);
    axis.setNumberFormat(QStringLiteral("gb"));
    axis.setNumberPrecision(6);
}

void draw_shape(QCPPainter& painter, Phase phase, const QPointF& at, double side)
{
    const double half = side / 2;
    switch (phase) {
    case Phase::forward:
        painter.drawEllipse(at, half, half);
        break;
    case Phase::backward:
        painter.drawRect(QRectF(at - QPointF(half * 0.89, half * 0.89), QSizeF(side, side) * 0.89));
        break;
    case Phase::recompute:
        painter.drawPolygon(QPolygonF{at + QPointF(0, -half * 1.2), at + QPointF(half * 1.2, half),
                                      at + QPointF(-half * 1.2, half)});
        break;
    default:
        painter.drawPolygon(QPolygonF{at + QPointF(0, -half * 1.25), at + QPointF(half * 1.25, 0),
                                      at + QPointF(0, half * 1.25), at + QPointF(-half * 1.25, 0)});
        break;
    }
}

// Where a text may stand beside a mark, best first.
std::vector<QRectF> places_beside(const QPointF& at, double side, const QSizeF& text)
{
    const double away = side / 2 + 3;
    return {
        {at + QPointF(away, -text.height() / 2), text},
        {at + QPointF(-away - text.width(), -text.height() / 2), text},
        {at + QPointF(-text.width() / 2, -away - text.height()), text},
        {at + QPointF(-text.width() / 2, away), text},
        {at + QPointF(away * 0.7, away * 0.5), text},
        {at + QPointF(away * 0.7, -away * 0.5 - text.height()), text},
        {at + QPointF(-away * 0.7 - text.width(), away * 0.5), text},
    };
}

bool is_free(const QRectF& box, const QRectF& body, const std::vector<QRectF>& taken)
{
    return body.contains(box) &&
           std::ranges::none_of(taken, [&](const QRectF& other) { return other.intersects(box); });
}

} // namespace

RooflinePanel::RooflinePanel(Workspace& workspace, QWidget* parent)
    : ChartPanel(QStringLiteral("breakdown-roofline"), tr("Roofline by kernel class"), parent),
      workspace_(workspace),
      strip_(new QCPAxisRect(&chart(), false))
{
    // The strip on the right: rates of memory, for what has no operations.
    chart().plotLayout()->addElement(0, 1, strip_);
    chart().plotLayout()->setColumnStretchFactor(1, 0.25);
    strip_->addAxes(QCPAxis::atRight | QCPAxis::atBottom);
    make_plain(*chart().xAxis);
    make_plain(*chart().yAxis);
    QCPAxis* const rates = strip_->axis(QCPAxis::atRight);
    make_plain(*rates);
    QCPAxis* const below = strip_->axis(QCPAxis::atBottom);
    below->setTicks(false);
    below->setTickLabels(false);
    below->grid()->setVisible(false);
    below->setRange(0, 1);
    below->setLabel(tr("GB/s"));
    chart().xAxis->setLabel(tr("operations per byte [FLOP/byte]"));
    // The new axes in the window's colours too.
    QEvent added(QEvent::PaletteChange);
    QCoreApplication::sendEvent(&chart(), &added);
    auto* const group = new QCPMarginGroup(&chart());
    for (QCPAxisRect* const rect : {chart().axisRect(0), strip_})
        rect->setMarginGroup(QCP::msBottom | QCP::msTop, group);
    new PaintItem(&chart(), [this](QCPPainter& painter) { paint(painter); });
    connect(&workspace_, &Workspace::runChanged, this, &RooflinePanel::follow);
    connect(&workspace_.view(), &ViewState::selectionChanged, this, &RooflinePanel::follow);
    connect(this, &Panel::sightChanged, this, &RooflinePanel::follow);
    follow();
}

void RooflinePanel::follow()
{
    const std::shared_ptr<const RunView>& run = workspace_.run();
    set_stale(run != nullptr && !workspace_.current() && !workspace_.live().busy());
    if (run == nullptr) {
        set_message(
            tr("How fast each class of kernels runs, under what the device can do, is shown "
               "here as soon as a scenario is open and has been simulated."));
        return;
    }
    // The selected rank's, if it was simulated by itself; else the critical one's.
    const std::vector<Lane>& lanes = run->outcome->binding->lanes;
    LaneId lane = run->outcome->result->critical_lane;
    if (const std::optional<RankId> rank = workspace_.view().selection().rank)
        if (const auto found = std::ranges::find(lanes, *rank, &Lane::rank); found != lanes.end())
            lane = make_id<LaneId>(static_cast<std::size_t>(found - lanes.begin()));
    if (outcome_ == run->outcome && rank_ == lanes[lane.value].rank)
        return;
    outcome_ = run->outcome;
    rank_ = lanes[lane.value].rank;
    classes_ = kernel_classes(*outcome_, lane);
    std::erase_if(classes_, [](const KernelClass& one) {
        return !(one.time.value() > 0) || one.part == KernelPart::other;
    });
    std::ranges::stable_sort(classes_, std::ranges::greater{}, &KernelClass::time);
    roofs_ = roofs_of(*outcome_, classes_);
    mark(std::nullopt);
    set_message(classes_.empty() ? tr("This job computes nothing on its devices.") : QString());
    set_ranges();
    chart().replot(QCustomPlot::rpQueuedReplot);
}

void RooflinePanel::set_ranges()
{
    const Device& device = outcome_->cost->profile().hardware.device;
    const double memory = device.hbm_bandwidth.value();
    const double peak = roofs_.empty() ? memory : roofs_.front().peak.value();
    scale_ = peak >= 1e12 ? 1e12 : 1e9;
    double low = peak;
    double left = peak / std::max(memory, 1.0) / 4; // where the roofs meet
    double right = 4 * left;
    double slowest = memory;
    for (const KernelClass& one : classes_) {
        if (one.flops.value() > 0) {
            low = std::min(low, (one.flops / one.time).value());
            left = std::min(left, one.intensity() / 2);
            right = std::max(right, one.intensity());
        } else
            slowest = std::min(slowest, one.bytes / one.time.value());
    }
    chart().yAxis->setRange(around(low / scale_, peak / scale_));
    chart().xAxis->setRange(around(left, right));
    chart().yAxis->setLabel(scale_ == 1e12 ? tr("TFLOP/s") : tr("GFLOP/s"));
    // Room for two lines of text above the roof, however far down the slowest is.
    QCPRange rates = around(slowest / 1e9, memory / 1e9);
    rates.upper = std::max(rates.upper, memory / 1e9 * std::pow(memory / 1e9 / rates.lower, 0.3));
    strip_->axis(QCPAxis::atRight)->setRange(rates);
}

void RooflinePanel::fit(const QSize& size)
{
    const int width = fontMetrics().horizontalAdvance(tr("data only")) + 12;
    strip_->setMinimumSize(width, 20);
    strip_->setMaximumSize(std::max(width, size.width() / 5), QWIDGETSIZE_MAX);
}

Seconds RooflinePanel::all() const
{
    Seconds sum;
    for (const KernelClass& one : classes_)
        sum += one.time;
    return sum;
}

QString RooflinePanel::name_of(const KernelClass& one) const
{
    return tr("%1 %2").arg(text_of(title_of(one.part)), text_of(title_of(one.phase)));
}

QPointF RooflinePanel::place_of(std::size_t item) const
{
    const KernelClass& one = classes_[item];
    auto& plot = const_cast<RooflinePanel*>(this)->chart();
    if (!only_moves(item))
        return {plot.xAxis->coordToPixel(one.intensity()),
                plot.yAxis->coordToPixel(tera(one.flops / one.time))};
    // Side by side, so that marks of one rate stay apart.
    std::size_t nth = 0;
    std::size_t of = 0;
    for (std::size_t i = 0; i < classes_.size(); ++i)
        if (only_moves(i)) {
            nth += i < item ? 1U : 0U;
            ++of;
        }
    return {strip_->axis(QCPAxis::atBottom)
                ->coordToPixel((static_cast<double>(nth) + 0.5) / static_cast<double>(of)),
            strip_->axis(QCPAxis::atRight)->coordToPixel(one.bytes / one.time.value() / 1e9)};
}

double RooflinePanel::size_of(std::size_t item) const
{
    const double line = fontMetrics().height();
    return std::max(line * 0.45, 2.4 * line * std::sqrt(classes_[item].time / all()));
}

QRectF RooflinePanel::bounds_of(std::size_t item) const
{
    const double side = std::max(size_of(item), 8.0);
    return {place_of(item) - QPointF(side, side) / 2, QSizeF(side, side)};
}

std::vector<QRectF> RooflinePanel::paint_roofs(QCPPainter& painter) const
{
    auto& plot = const_cast<RooflinePanel*>(this)->chart();
    const QRect body = plot.axisRect()->rect();
    const double memory = outcome_->cost->profile().hardware.device.hbm_bandwidth.value() / scale_;
    const double left = plot.xAxis->range().lower;
    const double right = plot.xAxis->range().upper;
    const auto at = [&](double x, double y) {
        return QPointF(plot.xAxis->coordToPixel(x), plot.yAxis->coordToPixel(y));
    };
    const QColor ink = palette().color(QPalette::Text);
    const QColor quiet = sign_colours(palette()).quiet;
    std::vector<QRectF> written;
    const auto label = [&](const QString& text, double y, bool above) {
        const QFontMetrics metrics = painter.fontMetrics();
        QRectF box(0, 0, metrics.horizontalAdvance(text) + 4, metrics.height());
        box.moveTopLeft({body.left() + 4.0, above ? y - box.height() - 1 : y + 1});
        if (box.top() < body.top() - 1)
            return;
        painter.drawText(box, Qt::AlignCenter, text);
        written.push_back(box);
    };
    painter.save();
    painter.setClipRect(body);
    double top = 0;
    for (const Roof& roof : roofs_) {
        const double peak = tera(roof.peak);
        top = std::max(top, peak);
        painter.setPen(QPen(ink, 1.5));
        painter.drawLine(at(peak / memory, peak), at(right, peak));
        label(
            tr("%1 peak %2").arg(text_of(to_name(roof.precision)), text_of(to_display(roof.peak))),
            at(left, peak).y(), true);
        if (const double reached = tera(roof.reachable); reached > 0 && reached < peak) {
            painter.setPen(QPen(quiet, 1.2, Qt::DashLine));
            painter.drawLine(at(reached / memory, reached), at(right, reached));
            const QString text = tr("reachable %1").arg(text_of(to_display(roof.reachable)));
            if (body.width() > 4 * painter.fontMetrics().horizontalAdvance(text))
                label(text, at(left, reached).y(), false);
        }
    }
    painter.setPen(QPen(ink, 1.5));
    const QPointF low = at(left, left * memory);
    const QPointF ridge = at(top / memory, top);
    painter.drawLine(low, ridge);
    painter.restore();
    // No text over the slope.
    constexpr int steps = 32;
    for (int i = 0; i < steps; ++i)
        written.push_back(
            QRectF(low + (ridge - low) * i / steps, low + (ridge - low) * (i + 1) / steps)
                .normalized());
    return written;
}

std::vector<QRectF> RooflinePanel::paint_strip_roof(QCPPainter& painter) const
{
    const Bandwidth memory = outcome_->cost->profile().hardware.device.hbm_bandwidth;
    const QRect body = strip_->rect();
    const double y = strip_->axis(QCPAxis::atRight)->coordToPixel(memory.value() / 1e9);
    painter.setPen(QPen(palette().color(QPalette::Text), 1.5));
    painter.drawLine(QPointF(body.left(), y), QPointF(body.right(), y));
    const int line = painter.fontMetrics().height();
    const QRectF what(body.left(), body.top() + 2, body.width(), line);
    painter.drawText(what, Qt::AlignCenter, tr("data only"));
    // Below that, off the marks on the line.
    const QRectF rate = what.translated(0, line);
    if (rate.bottom() > y)
        return {what};
    painter.drawText(rate, Qt::AlignCenter, text_of(to_display(memory)));
    return {what, rate};
}

void RooflinePanel::paint_points(QCPPainter& painter, std::vector<QRectF> taken) const
{
    auto& plot = const_cast<RooflinePanel*>(this)->chart();
    for (std::size_t i = 0; i < classes_.size(); ++i)
        taken.push_back(bounds_of(i));
    for (std::size_t i = 0; i < classes_.size(); ++i) {
        QColor colour = series_colour(static_cast<std::size_t>(classes_[i].part));
        painter.setPen(QPen(palette().color(QPalette::Text), 1));
        colour.setAlphaF(0.85F);
        painter.setBrush(colour);
        draw_shape(painter, classes_[i].phase, place_of(i), size_of(i));
    }
    painter.setPen(palette().color(QPalette::Text));
    const QFontMetrics metrics = painter.fontMetrics();
    for (std::size_t i = 0; i < classes_.size(); ++i) {
        const QString text = only_moves(i) && !enlarged() ? text_of(title_of(classes_[i].part))
                                                          : name_of(classes_[i]);
        const QSizeF size(metrics.horizontalAdvance(text) + 2, metrics.height());
        const QRectF body = only_moves(i) ? strip_->rect() : plot.axisRect()->rect();
        for (const QRectF& box : places_beside(place_of(i), size_of(i), size))
            if (is_free(box, body, taken)) {
                painter.drawText(box, Qt::AlignCenter, text);
                taken.push_back(box);
                break;
            }
    }
}

void RooflinePanel::paint(QCPPainter& painter) const
{
    if (classes_.empty())
        return;
    painter.setFont(font());
    std::vector<QRectF> written = paint_roofs(painter);
    for (const QRectF& box : paint_strip_roof(painter))
        written.push_back(box);
    paint_points(painter, std::move(written));
}

QString RooflinePanel::tip_of(std::size_t item) const
{
    const KernelClass& one = classes_[item];
    const Bandwidth rate(one.bytes / one.time.value());
    QString tip =
        tr("<b>%1</b>, rank %2<br>%3 in %L4 kernels, %5 of its compute time, limited by %6")
            .arg(name_of(one))
            .arg(rank_->value)
            .arg(text_of(to_display(one.time)))
            .arg(one.count)
            .arg(text_of(percent(one.time / all())), text_of(title_of(one.limit())));
    if (one.flops.value() > 0)
        tip += tr("<br>%1, %2 FLOP/byte, %3")
                   .arg(text_of(to_display(one.flops)))
                   .arg(one.intensity(), 0, 'g', 4)
                   .arg(text_of(to_display(one.flops / one.time)));
    tip += tr("<br>%1 of memory, %2")
               .arg(text_of(to_display(Bytes(static_cast<std::uint64_t>(one.bytes)))),
                    text_of(to_display(rate)));
    constexpr std::size_t most = 5;
    for (std::size_t i = 0; i < std::min(most, one.rows.size()); ++i) {
        const KernelRow& row = one.rows[i];
        tip += tr("<br>&nbsp;%1%2: %L3 x %4")
                   .arg(text_of(row.name).toHtmlEscaped(),
                        row.shape.empty() ? QString()
                                          : QStringLiteral(" (%1)").arg(text_of(row.shape)))
                   .arg(row.count)
                   .arg(text_of(to_display(row.time / static_cast<double>(row.count))));
    }
    if (one.rows.size() > most)
        tip += tr("<br>&nbsp;and %1 more").arg(one.rows.size() - most);
    return tip;
}

TableData RooflinePanel::table() const
{
    TableData out;
    out.columns = {tr("Kernels"),       tr("Phase"),       tr("Time [ms]"),
                   tr("Share [%]"),     tr("Kernels run"), tr("Operations [TFLOP]"),
                   tr("Memory [GB]"),   tr("FLOP/byte"),   tr("Rate [TFLOP/s]"),
                   tr("Memory [GB/s]"), tr("Limited by")};
    const auto number = [](double value) { return QString::number(value, 'g', 6); };
    for (const KernelClass& one : classes_)
        out.rows.push_back(
            {text_of(title_of(one.part)), text_of(title_of(one.phase)),
             number(one.time.value() * 1e3), number(100 * (one.time / all())),
             QString::number(one.count), number(one.flops.value() / 1e12), number(one.bytes / 1e9),
             number(one.intensity()), number((one.flops / one.time).value() / 1e12),
             number(one.bytes / one.time.value() / 1e9), text_of(title_of(one.limit()))});
    return out;
}

} // namespace trainyard::gui
