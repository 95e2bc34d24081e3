#include "gui/widgets/chart.h"

#include "gui/widgets/theme.h"

#include <QGraphicsOpacityEffect>
#include <QPicture>
#include <algorithm>
#include <numeric>
#include <typeinfo>
#include <vector>

namespace trainyard::gui {

namespace {

constexpr int usual_ticks = 5;

// Whether the numbers of an axis have room beside each other.
bool have_room(const QCPAxis& axis, const QFontMetrics& letters)
{
    const QString format = axis.numberFormat();
    QVector<double> ticks;
    QVector<QString> numbers;
    axis.ticker()->generate(axis.range(), QLocale::c(), format.front(), axis.numberPrecision(),
                            ticks, nullptr, &numbers);
    const double between = letters.horizontalAdvance(QStringLiteral("00"));
    double end = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < ticks.size(); ++i) {
        if (!axis.range().contains(ticks[i]))
            continue;
        const double middle = axis.coordToPixel(ticks[i]);
        const double half = letters.horizontalAdvance(numbers[i]) / 2.0;
        if (middle - half < end + between)
            return false;
        end = middle + half;
    }
    return true;
}

} // namespace

Chart::Chart(QWidget* parent) : QCustomPlot(parent)
{
    setNoAntialiasingOnDrag(true);
    setMinimumSize(160, 120);
    connect(this, &QCustomPlot::beforeReplot, this, &Chart::fit_ticks);
    apply_theme();
}

void Chart::paint_chart(QPainter& painter, const QSize& size)
{
    // Only its own painter draws a chart: recorded, it is any painter's.
    const QRect seen = viewport();
    setViewport(QRect(QPoint(), size));
    fit_ticks();
    QPicture picture;
    QCPPainter recorder(&picture);
    recorder.setMode(QCPPainter::pmVectorized);
    recorder.setMode(QCPPainter::pmNoCaching);
    toPainter(&recorder, size.width(), size.height());
    recorder.end();
    setViewport(seen);
    painter.fillRect(QRect(QPoint(), size), palette().base());
    painter.drawPicture(0, 0, picture);
}

void Chart::make_logarithmic(QCPAxis& axis)
{
    axis.setScaleType(QCPAxis::stLogarithmic);
    axis.setTicker(QSharedPointer<QCPAxisTickerLog>::create());
    axis.setNumberFormat(QStringLiteral("eb"));
    axis.setNumberPrecision(0);
}

void Chart::fit_ticks()
{
    // The widths of axes are known after the layout only.
    for (const auto phase :
         {QCPLayoutElement::upPreparation, QCPLayoutElement::upMargins, QCPLayoutElement::upLayout})
        plotLayout()->update(phase);
    for (QCPAxisRect* const rect : axisRects())
        for (QCPAxis* const axis : rect->axes(QCPAxis::atBottom)) {
            QCPAxisTicker& ticker = *axis->ticker();
            if (typeid(ticker) != typeid(QCPAxisTicker) || axis->scaleType() != QCPAxis::stLinear)
                continue;
            for (int count = usual_ticks; count > 0; --count) {
                ticker.setTickCount(count);
                if (have_room(*axis, QFontMetrics(axis->tickLabelFont())))
                    break;
            }
        }
}

void Chart::changeEvent(QEvent* event)
{
    QCustomPlot::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        apply_theme();
}

void Chart::apply_theme()
{
    const QColor text = palette().color(QPalette::Text);
    const SignColours signs = sign_colours(palette());
    setBackground(palette().base());
    for (QCPAxisRect* const rect : axisRects()) {
        for (QCPAxis* const axis : rect->axes()) {
            axis->setBasePen(QPen(signs.quiet));
            axis->setTickPen(QPen(signs.quiet));
            axis->setSubTickPen(QPen(signs.grid));
            axis->setTickLabelColor(text);
            axis->setLabelColor(text);
            axis->setTickLabelFont(font());
            axis->setLabelFont(font());
            axis->grid()->setPen(QPen(signs.grid));
            axis->grid()->setSubGridVisible(false);
            axis->grid()->setZeroLinePen(QPen(signs.quiet));
        }
    }
    if (legend != nullptr) {
        legend->setBrush(palette().base());
        legend->setTextColor(text);
        legend->setFont(font());
        legend->setBorderPen(QPen(signs.grid));
    }
    emit themed();
    replot(rpQueuedReplot);
}

void Chart::set_pale(bool pale)
{
    if (!pale)
        return setGraphicsEffect(nullptr);
    auto* const faint = new QGraphicsOpacityEffect(this);
    faint->setOpacity(0.4);
    setGraphicsEffect(faint);
}

void Chart::put_legend_below()
{
    auto* const below = new QCPLayoutGrid;
    plotLayout()->addElement(plotLayout()->rowCount(), 0, below);
    below->addElement(0, 0, legend);
    plotLayout()->setRowStretchFactor(plotLayout()->rowCount() - 1, 0.001);
    below->setMargins(QMargins());
    legend->setVisible(true);
    legend->setFillOrder(QCPLegend::foColumnsFirst);
    legend->setBorderPen(Qt::NoPen);
    legend->setBrush(Qt::NoBrush);
    legend->setMargins(QMargins(4, 0, 4, 2));
    legend->setRowSpacing(0);
    legend->setColumnSpacing(8);
    const int height = fontMetrics().height();
    legend->setIconSize(height, height * 2 / 3);
}

void Chart::fit_legend(QCPLegend& legend, int width)
{
    const QFontMetrics metrics(legend.font());
    std::vector<int> widths;
    for (int i = 0; i < legend.itemCount(); ++i)
        if (auto* const item = qobject_cast<QCPPlottableLegendItem*>(legend.item(i)))
            widths.push_back(metrics.horizontalAdvance(item->plottable()->name()) +
                             legend.iconSize().width() + legend.iconTextPadding() +
                             legend.columnSpacing() + 4);
    // Columns are as wide as the widest of theirs.
    const auto needed = [&](std::size_t columns) {
        std::vector<int> widest(columns, 0);
        for (std::size_t i = 0; i < widths.size(); ++i)
            widest[i % columns] = std::max(widest[i % columns], widths[i]);
        return std::accumulate(widest.begin(), widest.end(), 0);
    };
    std::size_t columns = std::max<std::size_t>(widths.size(), 1);
    while (columns > 1 && needed(columns) > width - 10)
        --columns;
    legend.setWrap(static_cast<int>(columns));
    legend.setFillOrder(QCPLegend::foColumnsFirst, true);
}

} // namespace trainyard::gui
