#include "gui/widgets/svg_picture.h"

#include <QBuffer>
#include <QFontInfo>
#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <QSvgGenerator>
#include <limits>
#include <vector>

namespace trainyard::gui {

namespace {

constexpr int dots_per_inch = 96; // of CSS: a picture is as large as on a screen

// Qt's generator leaves out whatever is filled with a tile. So each tile is given to it as a colour
// that nothing else has, and named in the text afterwards.
class Tiles {
public:
    QBrush stand_in(const QBrush& brush)
    {
        if (brush.style() != Qt::TexturePattern)
            return brush;
        const QImage tile = brush.texture().toImage().convertToFormat(QImage::Format_ARGB32);
        for (std::size_t i = 0; i < tiles_.size(); ++i)
            if (tiles_[i] == tile)
                return colour(i);
        tiles_.push_back(tile);
        return colour(tiles_.size() - 1);
    }

    void name_in(QByteArray& svg) const
    {
        QByteArray patterns;
        for (std::size_t i = 0; i < tiles_.size(); ++i) {
            const QByteArray name = "tile" + QByteArray::number(static_cast<int>(i));
            svg.replace("fill=\"" + colour(i).name().toLatin1() + '"',
                        "fill=\"url(#" + name + ")\"");
            patterns += pattern(tiles_[i], name);
        }
        svg.replace("<defs>\n", "<defs>\n" + patterns);
    }

private:
    // No theme has these: dark, and next to each other.
    static QColor colour(std::size_t tile) { return QColor(1, 0, static_cast<int>(tile) + 1); }

    static QByteArray pattern(const QImage& tile, const QByteArray& name)
    {
        QByteArray png;
        QBuffer buffer(&png);
        tile.save(&buffer, "PNG");
        const QByteArray size = "width=\"" + QByteArray::number(tile.width()) + "\" height=\"" +
                                QByteArray::number(tile.height()) + '"';
        return "<pattern id=\"" + name + "\" patternUnits=\"userSpaceOnUse\" " + size + "><image " +
               size + " xlink:href=\"data:image/png;base64," + png.toBase64() + "\"/></pattern>\n";
    }

    std::vector<QImage> tiles_;
};

// Passes on all that is painted, tiles replaced, letters in the font that is really there.
class PassingEngine : public QPaintEngine {
public:
    PassingEngine(QPainter& to, Tiles& tiles) : QPaintEngine(AllFeatures), to_(to), tiles_(tiles) {}

    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    Type type() const override { return User; }

    void updateState(const QPaintEngineState& now) override
    {
        const DirtyFlags changed = now.state();
        if (changed & DirtyTransform)
            to_.setTransform(now.transform());
        if (changed & DirtyPen)
            to_.setPen(now.pen());
        if (changed & DirtyBrush)
            to_.setBrush(tiles_.stand_in(now.brush()));
        if (changed & DirtyFont) {
            QFont font = now.font();
            font.setFamily(QFontInfo(font).family());
            to_.setFont(font);
        }
        if (changed & DirtyOpacity)
            to_.setOpacity(now.opacity());
        if (changed & DirtyHints)
            to_.setRenderHints(now.renderHints());
        if (changed & DirtyClipPath)
            clip(now.clipPath(), now.clipOperation());
        if (changed & DirtyClipRegion) {
            QPainterPath region;
            region.addRegion(now.clipRegion());
            clip(region, now.clipOperation());
        }
        if (changed & DirtyClipEnabled)
            clips_ = now.isClipEnabled();
    }

    void drawPath(const QPainterPath& path) override
    {
        const QPainterPath room = room_for(path.controlPointRect());
        if (room.isEmpty()) {
            to_.drawPath(path);
            return;
        }
        const QPen pen = to_.pen();
        if (to_.brush().style() != Qt::NoBrush)
            fill(path.intersected(room), to_.brush());
        if (pen.style() != Qt::NoPen)
            fill(QPainterPathStroker(pen).createStroke(path).intersected(room), pen.brush());
    }
    void drawPolygon(const QPointF* points, int count, PolygonDrawMode mode) override
    {
        const QPolygonF polygon(QList<QPointF>(points, points + count));
        if (const QPainterPath room = room_for(polygon.boundingRect()); !room.isEmpty()) {
            QPainterPath path;
            path.addPolygon(polygon);
            if (mode == PolylineMode) {
                const QBrush brush = to_.brush();
                to_.setBrush(Qt::NoBrush);
                drawPath(path);
                to_.setBrush(brush);
                return;
            }
            path.closeSubpath();
            path.setFillRule(mode == WindingMode ? Qt::WindingFill : Qt::OddEvenFill);
            drawPath(path);
        } else if (mode == PolylineMode)
            to_.drawPolyline(polygon);
        else
            to_.drawPolygon(polygon, mode == WindingMode ? Qt::WindingFill : Qt::OddEvenFill);
    }
    void drawTextItem(const QPointF& at, const QTextItem& item) override
    {
        to_.drawText(at, item.text());
    }
    void drawPixmap(const QRectF& to, const QPixmap& picture, const QRectF& from) override
    {
        to_.drawPixmap(to, picture, from);
    }
    void drawImage(const QRectF& to, const QImage& image, const QRectF& from,
                   Qt::ImageConversionFlags flags) override
    {
        to_.drawImage(to, image, from, flags);
    }

private:
    // Qt's generator clips nothing.
    void clip(const QPainterPath& path, Qt::ClipOperation how)
    {
        const QPainterPath mapped = to_.transform().map(path);
        clips_ = how != Qt::NoClip;
        clip_ = how == Qt::IntersectClip && !clip_.isEmpty() ? clip_.intersected(mapped) : mapped;
    }

    // What is drawn of something with these bounds, as it is given; empty: all of it.
    QPainterPath room_for(const QRectF& bounds) const
    {
        if (!clips_ || clip_.isEmpty())
            return {};
        const QPainterPath room = to_.transform().inverted().map(clip_);
        const double wide = to_.pen().style() == Qt::NoPen ? 0 : to_.pen().widthF() / 2;
        return room.contains(bounds.adjusted(-wide, -wide, wide, wide)) ? QPainterPath() : room;
    }

    void fill(const QPainterPath& path, const QBrush& brush)
    {
        const QPen pen = to_.pen();
        const QBrush before = to_.brush();
        to_.setPen(Qt::NoPen);
        to_.setBrush(brush);
        to_.drawPath(path);
        to_.setPen(pen);
        to_.setBrush(before);
    }

    QPainter& to_;
    Tiles& tiles_;
    QPainterPath clip_; // in the picture
    bool clips_ = false;
};

class PassingDevice : public QPaintDevice {
public:
    PassingDevice(PassingEngine& engine, const QSize& size) : engine_(engine), size_(size) {}

    QPaintEngine* paintEngine() const override { return &engine_; }

protected:
    int metric(PaintDeviceMetric which) const override
    {
        constexpr double mm_per_inch = 25.4;
        switch (which) {
        case PdmWidth:
            return size_.width();
        case PdmHeight:
            return size_.height();
        case PdmWidthMM:
            return qRound(size_.width() * mm_per_inch / dots_per_inch);
        case PdmHeightMM:
            return qRound(size_.height() * mm_per_inch / dots_per_inch);
        case PdmDpiX:
        case PdmDpiY:
        case PdmPhysicalDpiX:
        case PdmPhysicalDpiY:
            return dots_per_inch;
        case PdmDepth:
            return 32;
        case PdmDevicePixelRatio:
            return 1;
        case PdmDevicePixelRatioScaled:
            return qRound(devicePixelRatioFScale());
        default: // colours
            return std::numeric_limits<int>::max();
        }
    }

private:
    PassingEngine& engine_;
    QSize size_;
};

} // namespace

QByteArray svg_of(Panel& panel, const QSize& size)
{
    QByteArray svg;
    QBuffer buffer(&svg);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(size);
    generator.setViewBox(QRect(QPoint(), size));
    generator.setResolution(dots_per_inch);
    generator.setTitle(panel.title());
    Tiles tiles;
    {
        QPainter writer(&generator);
        PassingEngine engine(writer, tiles);
        PassingDevice device(engine, size);
        QPainter painter(&device);
        painter.setFont(panel.font());
        panel.paint_to(painter, size);
    }
    tiles.name_in(svg);
    // Where that font is not installed, one of its kind.
    const QByteArray family = QFontInfo(panel.font()).family().toUtf8();
    svg.replace("font-family=\"" + family + '"', "font-family=\"" + family + ", sans-serif\"");
    return svg;
}

} // namespace trainyard::gui
