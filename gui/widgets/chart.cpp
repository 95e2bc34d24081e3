#include "gui/widgets/chart.h"

#include "gui/widgets/theme.h"

#include <QPicture>

namespace trainyard::gui {

Chart::Chart(QWidget* parent) : QCustomPlot(parent)
{
    setNoAntialiasingOnDrag(true);
    setMinimumSize(160, 120);
    apply_theme();
}

void Chart::paint_chart(QPainter& painter, const QSize& size)
{
    // Only its own painter draws a chart: recorded, it is any painter's.
    QPicture picture;
    QCPPainter recorder(&picture);
    recorder.setMode(QCPPainter::pmVectorized);
    recorder.setMode(QCPPainter::pmNoCaching);
    toPainter(&recorder, size.width(), size.height());
    recorder.end();
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

} // namespace trainyard::gui
