#include "gui/topology/topology_scene.h"
#include "sim/base/units.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QLinearGradient>

namespace trainyard::gui {

namespace {

QString legend_text(const char* english)
{
    return QCoreApplication::translate("TopologyLegend", english);
}

// One after the other along a line, as far as there is room.
class LegendLine {
public:
    LegendLine(QPainter& painter, const TopologyScene& scene, const QRectF& place)
        : painter_(painter), scene_(scene), metrics_(scene.font), place_(place), x_(place.left())
    {}

    void write(const QString& what, double gap = 6)
    {
        const double width = metrics_.horizontalAdvance(what);
        if (x_ + width > place_.right()) {
            x_ = place_.right() + 1; // nothing behind it either
            return;
        }
        painter_.setPen(scene_.colours.text);
        painter_.drawText(QRectF(x_, place_.top(), width + 1, place_.height()),
                          Qt::AlignLeft | Qt::AlignVCenter, what);
        x_ += width + gap;
    }

    bool fits(double width) const { return x_ + width <= place_.right(); }

    QRectF take(double width, double height, double gap = 6)
    {
        const QRectF taken(x_, place_.center().y() - height / 2, width, height);
        x_ += width + gap;
        return taken;
    }

    void skip(double width) { x_ += width; }

private:
    QPainter& painter_;
    const TopologyScene& scene_;
    QFontMetricsF metrics_;
    QRectF place_;
    double x_;
};

void paint_scale(QPainter& painter, const TopologyScene& scene, LegendLine& line)
{
    line.write(scene.tint == Tint::mean ? legend_text("utilisation 0")
                                        : legend_text("utilisation, busiest 0"));
    const QRectF bar = line.take(110, 10);
    QLinearGradient gradient(bar.topLeft(), bar.topRight());
    for (int i = 0; i <= 5; ++i)
        gradient.setColorAt(i / 5.0, scene.colours.scale[static_cast<std::size_t>(i)]);
    painter.fillRect(bar, gradient);
    line.write(QStringLiteral("%1 %").arg(100 * scene.top), 14);
}

void paint_mark_keys(QPainter& painter, const TopologyScene& scene, LegendLine& line)
{
    const LinkColours& colours = scene.colours;
    const auto stroke = [&](const QPen& pen) {
        const QRectF place = line.take(28, 8);
        painter.setPen(pen);
        painter.drawLine(QPointF(place.left(), place.center().y()),
                         QPointF(place.right(), place.center().y()));
    };
    if (line.fits(90)) {
        const QRectF place = line.take(28, 8);
        const QPointF left(place.left(), place.center().y());
        const QPointF right(place.right(), place.center().y());
        painter.setPen(QPen(colours.of_use(1), 5, Qt::SolidLine, Qt::FlatCap));
        painter.drawLine(left, right);
        QPen dashes(colours.background, 1.7, Qt::CustomDashLine, Qt::FlatCap);
        dashes.setDashPattern({2, 3});
        painter.setPen(dashes);
        painter.drawLine(left, right);
        line.write(legend_text("full"), 14);
    }
    if (line.fits(110)) {
        stroke(QPen(colours.error, 2, Qt::DotLine));
        line.write(legend_text("× broken"), 14);
    }
    if (line.fits(90)) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(colours.warning);
        const QRectF place = line.take(9, 9);
        const QPointF corners[] = {{place.center().x(), place.top()},
                                   {place.right(), place.center().y()},
                                   {place.center().x(), place.bottom()},
                                   {place.left(), place.center().y()}};
        painter.drawConvexPolygon(corners, 4);
        painter.setBrush(Qt::NoBrush);
        line.write(legend_text("changed"), 14);
    }
}

} // namespace

void paint_legend(QPainter& painter, const TopologyScene& scene, const QRectF& place)
{
    const LinkColours& colours = scene.colours;
    painter.fillRect(place, colours.frame);
    painter.setPen(colours.stub);
    painter.drawLine(place.topLeft(), place.topRight());
    const double height = QFontMetricsF(scene.font).height();
    const QRectF line(8, place.top() + 5, place.width() - 12, height);
    const bool loaded = scene.shown == ShownLinks::load;
    if (loaded) {
        LegendLine first(painter, scene, line);
        paint_scale(painter, scene, first);
        paint_mark_keys(painter, scene, first);
    }
    LegendLine second(painter, scene, loaded ? line.translated(0, 5 + height) : line);
    if (loaded)
        second.write(scene.when, 14);
    const double most = most_capacity(scene);
    if (most > 0) {
        second.write(legend_text("width: capacity each way"), 10);
        for (const double part : {1.0, 0.1}) {
            const QRectF sample = second.take(24, 8);
            painter.setPen(
                QPen(colours.edge, width_of(part * most, most), Qt::SolidLine, Qt::FlatCap));
            painter.drawLine(QPointF(sample.left(), sample.center().y()),
                             QPointF(sample.right(), sample.center().y()));
            second.write(QString::fromStdString(to_display(Bandwidth(part * most))), 12);
        }
    }
    if (loaded)
        second.write(legend_text("the half next to a thing is what it sends"));
}

} // namespace trainyard::gui
