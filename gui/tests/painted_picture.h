#pragma once

#include "gui/widgets/panel.h"

#include <QPainter>

namespace trainyard::gui::test {

// Whether a picture of that size is painted up to its four corners.
inline bool fills_picture(Panel& panel, const QSize& size)
{
    QImage image(size, QImage::Format_ARGB32);
    image.fill(Qt::magenta);
    QPainter painter(&image);
    panel.paint_to(painter, size);
    painter.end();
    const QRect all = image.rect();
    const QList<QPoint> corners{all.topLeft(), all.topRight(), all.bottomLeft(), all.bottomRight()};
    return std::none_of(corners.begin(), corners.end(), [&](const QPoint& corner) {
        return image.pixelColor(corner) == QColor(Qt::magenta);
    });
}

} // namespace trainyard::gui::test
