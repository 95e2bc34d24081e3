#include "gui/topology/topology_scene.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double margin_columns = 0.6;
constexpr double widest_column = 90;
constexpr double highest_row = 110;

double distance_to(const QPointF& at, const QPointF& from, const QPointF& to, double& along)
{
    const QPointF line = to - from;
    const double length = QPointF::dotProduct(line, line);
    along = length > 0 ? std::clamp(QPointF::dotProduct(at - from, line) / length, 0.0, 1.0) : 0;
    const QPointF off = at - (from + along * line);
    return std::hypot(off.x(), off.y());
}

// What the folded boxes of a row are.
const char* box_title(const TopologyScene& scene, const LaidRow& row)
{
    for (const LaidPlace& item : scene.layout->items())
        if (item.low == row.y)
            switch (scene.layout->graph()->places[item.place].kind) {
            case PlaceKind::zone:
                return "zones";
            case PlaceKind::pod:
                return "pods";
            case PlaceKind::rack:
                return "racks";
            default:
                return "nodes";
            }
    return "";
}

double thing_height(const TopologyScene& scene)
{
    return std::clamp(0.32 * scene.view.sy, 5.0, QFontMetricsF(scene.font).height() + 8);
}

} // namespace

TopologyFrame frame_of(const TopologyScene& scene, const QSizeF& size)
{
    if (scene.shown == ShownLinks::none)
        return {{}, QRectF(QPointF(), size), {}};
    const QFontMetricsF metrics(scene.font);
    const double names = metrics.horizontalAdvance(QStringLiteral("NVSwitch")) + 16;
    const double legend =
        scene.shown == ShownLinks::load ? 2 * metrics.height() + 18 : metrics.height() + 10;
    TopologyFrame frame;
    frame.names = QRectF(0, 0, names, std::max(1.0, size.height() - legend));
    frame.body = QRectF(names, 0, std::max(1.0, size.width() - names), frame.names.height());
    frame.legend = QRectF(0, frame.names.bottom(), size.width(), legend);
    return frame;
}

PlanView fitted(const TopologyScene& scene, const QSizeF& size)
{
    const QRectF body = frame_of(scene, size).body;
    const double columns = scene.layout->width() + 2 * margin_columns;
    const double rows = scene.layout->height() + 1;
    const auto lines =
        static_cast<double>(std::max<std::size_t>(1, named_below(*scene.layout).size()));
    const double names = lines * QFontMetricsF(scene.font).height();
    PlanView view;
    view.sx = std::min(widest_column, body.width() / columns);
    view.sy = std::clamp((body.height() - names) / rows, 1.0, highest_row);
    view.left = scene.layout->width() / 2 - body.width() / view.sx / 2;
    view.low = scene.layout->height() / 2 - (body.height() + names) / view.sy / 2;
    return view;
}

std::vector<PlaceKind> named_below(const TopologyLayout& layout)
{
    std::vector<PlaceKind> kinds;
    for (const PlaceKind kind : {PlaceKind::node, PlaceKind::rack, PlaceKind::part, PlaceKind::pod})
        if (std::ranges::any_of(layout.frames(), [&](const LaidFrame& frame) {
                return layout.graph()->places[frame.place].kind == kind;
            }))
            kinds.push_back(kind);
    return kinds;
}

// Rows grow more slowly than columns: there are few of them.
PlanView zoomed(const TopologyScene& scene, const QSizeF& size, double factor, const QPointF& about)
{
    const QRectF body = frame_of(scene, size).body;
    const PlanView whole = fitted(scene, size);
    const PlanView& now = scene.view;
    PlanView next = now;
    next.sx = std::clamp(now.sx * factor, std::min(whole.sx, now.sx), 2 * widest_column);
    next.sy = std::clamp(whole.sy * std::sqrt(next.sx / whole.sx), 0.5 * whole.sy,
                         std::max(1.5 * highest_row, whole.sy));
    next.left = now.left + (about.x() - body.left()) * (1 / now.sx - 1 / next.sx);
    next.low = now.low + (body.bottom() - about.y()) * (1 / now.sy - 1 / next.sy);
    return kept_near(next, scene, size);
}

PlanView kept_near(PlanView view, const TopologyScene& scene, const QSizeF& size)
{
    const QRectF body = frame_of(scene, size).body;
    const auto keep = [](double low, double length, double whole, double margin) {
        if (length >= whole + 2 * margin)
            return (whole - length) / 2; // all in sight, in the middle
        return std::clamp(low, -margin, whole + margin - length);
    };
    view.left = keep(view.left, body.width() / view.sx, scene.layout->width(), margin_columns);
    view.low = keep(view.low, body.height() / view.sy, scene.layout->height(), 0.6);
    return view;
}

QPointF point_of(const TopologyScene& scene, const QRectF& body, double x, double y)
{
    return {body.left() + (x - scene.view.left) * scene.view.sx,
            body.bottom() - (y - scene.view.low) * scene.view.sy};
}

QRectF rect_of(const TopologyScene& scene, const QRectF& body, const LaidPlace& item)
{
    const double half = thing_height(scene) / 2;
    const QPointF low = point_of(scene, body, item.left, item.low);
    const QPointF high = point_of(scene, body, item.right, item.high);
    return {QPointF(low.x(), high.y() - half), QPointF(high.x(), low.y() + half)};
}

QPointF BundleLine::at(double part) const
{
    if (!arc)
        return from + part * (to - from);
    return (1 - part) * (1 - part) * from + 2 * part * (1 - part) * bend + part * part * to;
}

QPointF BundleLine::middle() const
{
    return at(0.5);
}

BundleLine line_of(const TopologyScene& scene, const QRectF& body, const Bundle& bundle)
{
    const LaidPlace& a = scene.layout->items()[bundle.a];
    const LaidPlace& b = scene.layout->items()[bundle.b];
    const QRectF low = rect_of(scene, body, a);
    const QRectF high = rect_of(scene, body, b);
    if (a.low == b.low) { // side by side: below them
        const QPointF from(low.center().x(), low.bottom());
        const QPointF to(high.center().x(), high.bottom());
        const double depth = std::min(0.9 * scene.view.sy, 0.25 * std::abs(to.x() - from.x()) + 12);
        return {from, (from + to) / 2 + QPointF(0, depth), to, true};
    }
    // Wide things are met above or below the other end.
    const auto meet = [](const QRectF& wide, double other) {
        const double inset = std::min(6.0, wide.width() / 4);
        return wide.width() > 60 ? std::clamp(other, wide.left() + inset, wide.right() - inset)
                                 : wide.center().x();
    };
    const double x = meet(low, high.center().x());
    return {{x, low.top()}, {}, {meet(high, x), high.bottom()}, false};
}

const WayUse& use_of(const BundleUse& use, BundleWay way)
{
    return way == BundleWay::there ? use.there : use.back;
}

double tinted(const WayUse& use, Tint tint)
{
    return tint == Tint::mean ? use.mean() : use.worst;
}

double scale_top(const std::vector<BundleUse>& uses)
{
    double most = 0;
    for (const BundleUse& use : uses)
        most = std::max(most, use.worst());
    for (const double top : {0.2, 0.5})
        if (most <= top)
            return top;
    return 1;
}

QColor colour_of(const TopologyScene& scene, const WayUse& use)
{
    return scene.colours.of_use(tinted(use, scene.tint) / scene.top);
}

double most_capacity(const TopologyScene& scene)
{
    double most = 0;
    const std::vector<Bundle>& bundles = scene.layout->bundles();
    for (std::size_t i = 0; i < bundles.size(); ++i)
        if (bundles[i].a != bundles[i].b)
            most = std::max({most, scene.uses[i].there.capacity, scene.uses[i].back.capacity});
    return most;
}

TopologyHit hit(const TopologyScene& scene, const QSizeF& size, const QPointF& at, double reach)
{
    const QRectF body = frame_of(scene, size).body;
    if (!body.contains(at))
        return {};
    TopologyHit found;
    const std::vector<LaidPlace>& items = scene.layout->items();
    for (std::uint32_t i = 0; i < items.size(); ++i)
        if (rect_of(scene, body, items[i]).adjusted(-1, -1, 1, 1).contains(at))
            found.item = i;
    if (found.item)
        return found;
    double nearest = reach;
    const std::vector<Bundle>& bundles = scene.layout->bundles();
    for (std::uint32_t i = 0; i < bundles.size(); ++i) {
        if (bundles[i].a == bundles[i].b || bundles[i].stub)
            continue;
        const BundleLine line = line_of(scene, body, bundles[i]);
        const int pieces = line.arc ? 12 : 1;
        for (int piece = 0; piece < pieces; ++piece) {
            double along = 0;
            const double off = distance_to(at, line.at(static_cast<double>(piece) / pieces),
                                           line.at(static_cast<double>(piece + 1) / pieces), along);
            if (off > nearest)
                continue;
            nearest = off;
            found.bundle = i;
            found.way = (piece + along) / pieces < 0.5 ? BundleWay::there : BundleWay::back;
        }
    }
    if (found.bundle) { // one-way links have but one
        const Bundle& bundle = bundles[*found.bundle];
        if (bundle.first == bundle.back)
            found.way = BundleWay::back;
        else if (bundle.back == bundle.end)
            found.way = BundleWay::there;
    }
    return found;
}

void paint_topology(QPainter& painter, const TopologyScene& scene, const QSizeF& size)
{
    const TopologyFrame frame = frame_of(scene, size);
    painter.setFont(scene.font);
    painter.fillRect(QRectF(QPointF(), size), scene.colours.background);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.save();
    painter.setClipRect(frame.body);
    paint_links(painter, scene, frame.body);
    paint_things(painter, scene, frame.body);
    painter.restore();
    if (scene.shown == ShownLinks::none)
        return;
    painter.fillRect(frame.names, scene.colours.background);
    painter.setPen(scene.colours.quiet_text);
    for (const LaidRow& row : scene.layout->rows()) {
        const double y = point_of(scene, frame.body, 0, row.y).y();
        const double half = QFontMetricsF(scene.font).height() / 2;
        const QString name =
            QString::fromLatin1(row.boxes ? box_title(scene, row) : layer_title(row.layer));
        if (y > half && y < frame.names.bottom() - half)
            painter.drawText(QRectF(6, y - half, frame.names.width() - 8, 2 * half),
                             Qt::AlignLeft | Qt::AlignVCenter, name);
    }
    paint_legend(painter, scene, frame.legend);
}

} // namespace trainyard::gui
