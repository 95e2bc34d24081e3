#include "gui/timeline/colours.h"
#include "gui/topology/topology_scene.h"
#include "gui/widgets/theme.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard::gui {

namespace {

QPainterPath path_of(const BundleLine& line, double from, double to)
{
    QPainterPath path(line.at(from));
    const int segments = line.arc ? 8 : 1;
    for (int i = 1; i <= segments; ++i)
        path.lineTo(line.at(from + (to - from) * i / segments));
    return path;
}

// One direction: half of the line, next to the end that sends.
void paint_half(QPainter& painter, const TopologyScene& scene, const QPainterPath& path,
                const WayUse& use, double width)
{
    if (use.links == 0)
        return;
    const LinkColours& colours = scene.colours;
    if (use.dead == use.links) {
        painter.setPen(QPen(colours.error, std::max(1.2, width / 3), Qt::DotLine));
        painter.drawPath(path);
        return;
    }
    painter.setPen(QPen(colour_of(scene, use), width, Qt::SolidLine, Qt::FlatCap));
    painter.drawPath(path);
    if (use.worst >= saturated) { // second channel
        painter.setPen(
            QPen(colours.background, std::max(1.0, width / 3), Qt::CustomDashLine, Qt::FlatCap));
        QPen dashes = painter.pen();
        dashes.setDashPattern({2, 3});
        painter.setPen(dashes);
        painter.drawPath(path);
    }
}

void paint_cross(QPainter& painter, const QPointF& at, const QColor& colour)
{
    constexpr double half = 4.5;
    painter.setPen(QPen(colour, 2));
    painter.drawLine(at + QPointF(-half, -half), at + QPointF(half, half));
    painter.drawLine(at + QPointF(-half, half), at + QPointF(half, -half));
}

void paint_diamond(QPainter& painter, const QPointF& at, const LinkColours& colours)
{
    constexpr double half = 4.5;
    painter.setPen(QPen(colours.background, 1));
    painter.setBrush(colours.warning);
    const QPointF corners[] = {at + QPointF(0, -half), at + QPointF(half, 0), at + QPointF(0, half),
                               at + QPointF(-half, 0)};
    painter.drawConvexPolygon(corners, 4);
    painter.setBrush(Qt::NoBrush);
}

// What is wrong with links of it.
void paint_marks(QPainter& painter, const TopologyScene& scene, const BundleLine& line,
                 const BundleUse& use)
{
    if (use.there.dead + use.back.dead > 0)
        paint_cross(painter, line.middle(), scene.colours.error);
    else if (use.there.changed + use.back.changed > 0)
        paint_diamond(painter, line.middle(), scene.colours);
}

struct Halo {
    QColor colour;
    double more = 0;
};

void paint_halo(QPainter& painter, const BundleLine& line, double width, const Halo& halo)
{
    painter.setPen(QPen(halo.colour, width + halo.more, Qt::SolidLine, Qt::RoundCap));
    painter.drawPath(path_of(line, 0, 1));
}

QString number_of(const std::string& name)
{
    const auto begin = name.find_last_not_of("0123456789");
    return QString::fromStdString(name.substr(begin == std::string::npos ? 0 : begin + 1));
}

void paint_label(QPainter& painter, const TopologyScene& scene, const QRectF& rect,
                 std::uint32_t place, const QColor& ink)
{
    const QFontMetricsF metrics(scene.font);
    const Place& at = scene.layout->graph()->places[place];
    if (rect.height() < metrics.height() - 2 || scene.shown == ShownLinks::none)
        return;
    painter.setPen(ink);
    const QString brief = at.kind == PlaceKind::switches ? QStringLiteral("×%1").arg(at.pieces)
                          : at.kind == PlaceKind::part
                              ? QString::fromStdString(at.name.substr(at.name.find(' ') + 1))
                              : number_of(at.name);
    for (const QString& text : {label_of(scene, place), brief})
        if (metrics.horizontalAdvance(text) + 4 <= rect.width()) {
            painter.drawText(rect, Qt::AlignCenter, text);
            return;
        }
}

void paint_thing(QPainter& painter, const TopologyScene& scene, const QRectF& rect,
                 std::uint32_t item)
{
    const LinkColours& colours = scene.colours;
    const LaidPlace& laid = scene.layout->items()[item];
    const Place& place = scene.layout->graph()->places[laid.place];
    QColor fill = colours.thing;
    bool broken = false;
    if (laid.folded && place.kind != PlaceKind::switches)
        if (const std::uint32_t inside = scene.layout->inside_of(item); inside != no_place) {
            const WayUse& use = scene.uses[inside].there; // all of them are
            fill = colour_of(scene, use);
            broken = use.dead + use.changed > 0;
        }
    const bool current = scene.current == laid.place;
    const bool hovered = scene.hovered.item == item;
    painter.setBrush(fill);
    painter.setPen(QPen(current   ? colours.accent
                        : hovered ? colours.text
                                  : colours.edge,
                        current ? 2.5 : 1));
    const double radius = std::min({4.0, rect.width() / 4, rect.height() / 4});
    if (laid.folded) // more lies behind it
        painter.drawRoundedRect(rect.translated(2, -2), radius, radius);
    painter.drawRoundedRect(rect, radius, radius);
    painter.setBrush(Qt::NoBrush);
    paint_label(painter, scene, rect, laid.place, ink_on(fill));
    if (broken)
        paint_cross(painter, rect.topRight() + QPointF(-6, 6), colours.error);
}

// Of all things, where they lie lowest.
double lowest_side(const TopologyScene& scene, const QRectF& body)
{
    const auto& items = scene.layout->items();
    const auto lowest = std::ranges::min_element(items, {}, &LaidPlace::low);
    return lowest == items.end() ? body.bottom() : rect_of(scene, body, *lowest).bottom() + 1;
}

// Of what is open; around more than a node a bracket says how far it reaches.
void paint_names_below(QPainter& painter, const TopologyScene& scene, const QRectF& body)
{
    const QFontMetricsF metrics(scene.font);
    const std::vector<PlaceKind> kinds = named_below(*scene.layout);
    const double below = lowest_side(scene, body);
    for (const LaidFrame& frame : scene.layout->frames()) {
        const PlaceKind kind = scene.layout->graph()->places[frame.place].kind;
        const auto line = std::ranges::find(kinds, kind);
        const double left = point_of(scene, body, frame.left, 0).x();
        const double right = point_of(scene, body, frame.right, 0).x();
        if (line == kinds.end() || right < body.left() || left > body.right())
            continue;
        const double top = below + static_cast<double>(line - kinds.begin()) * metrics.height();
        if (kind != PlaceKind::node) {
            painter.setPen(QPen(scene.colours.edge, 1));
            painter.drawLine(QPointF(left + 2, top + 1), QPointF(right - 2, top + 1));
        }
        // Of what reaches beyond the picture the name stands in the part in sight.
        const QRectF place = QRectF(left, top, right - left, metrics.height()).intersected(body);
        const QString name = label_of(scene, frame.place);
        painter.setPen(scene.colours.quiet_text);
        if (metrics.horizontalAdvance(name) + 4 < place.width())
            painter.drawText(place, Qt::AlignCenter, name);
    }
}

} // namespace

QString label_of(const TopologyScene& scene, std::uint32_t place)
{
    const Place& at = scene.layout->graph()->places[place];
    const std::size_t slash = at.name.rfind('/');
    return QString::fromStdString(slash == std::string::npos ? at.name : at.name.substr(slash + 1));
}

void paint_links(QPainter& painter, const TopologyScene& scene, const QRectF& body)
{
    const std::vector<Bundle>& bundles = scene.layout->bundles();
    const double most = most_capacity(scene);
    std::vector<std::uint32_t> order(bundles.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { // busy ones in front
        const BundleUse& use = scene.uses[i];
        return std::max(tinted(use.there, scene.tint), tinted(use.back, scene.tint));
    });
    const std::uint32_t selected =
        scene.selected ? scene.layout->bundle_of(*scene.selected) : no_place;
    // Lines must not swallow each other where things are small.
    const double widest = std::clamp(0.6 * scene.view.sx, 2.0, 9.0);
    std::vector<std::pair<BundleLine, std::uint32_t>> marked;
    QColor crossed = scene.colours.accent; // by the selected op
    crossed.setAlphaF(0.4F);
    for (const std::uint32_t i : order) {
        const Bundle& bundle = bundles[i];
        if (bundle.a == bundle.b)
            continue;
        const BundleLine line = line_of(scene, body, bundle);
        if (!body.intersects(QRectF(line.from, line.to).normalized().adjusted(-9, -9, 9, 30)))
            continue;
        if (bundle.stub) {
            painter.setPen(QPen(scene.colours.stub, 1.2));
            painter.drawLine(line.from, line.to);
            continue;
        }
        const BundleUse& use = scene.uses[i];
        const double capacity = std::max(use.there.capacity, use.back.capacity);
        const double width = std::min(widest, width_of(capacity, most));
        if (selected == i || scene.hovered.bundle == i)
            paint_halo(painter, line, width,
                       {selected == i ? scene.colours.accent : scene.colours.edge, 6});
        else if (std::ranges::binary_search(scene.glowing, i))
            paint_halo(painter, line, width, {crossed, 4});
        paint_half(painter, scene, path_of(line, 0, use.back.links > 0 ? 0.5 : 1), use.there,
                   width);
        paint_half(painter, scene, path_of(line, use.there.links > 0 ? 0.5 : 0, 1), use.back,
                   width);
        if (use.there.dead + use.back.dead + use.there.changed + use.back.changed > 0)
            marked.emplace_back(line, i);
    }
    for (const auto& [line, i] : marked)
        paint_marks(painter, scene, line, scene.uses[i]);
}

void paint_things(QPainter& painter, const TopologyScene& scene, const QRectF& body)
{
    const std::vector<LaidPlace>& items = scene.layout->items();
    for (std::uint32_t i = 0; i < items.size(); ++i) {
        const QRectF rect = rect_of(scene, body, items[i]);
        if (body.intersects(rect.adjusted(-2, -2, 2, 2)))
            paint_thing(painter, scene, rect, i);
    }
    if (scene.shown != ShownLinks::none)
        paint_names_below(painter, scene, body);
}

} // namespace trainyard::gui
