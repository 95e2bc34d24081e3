#pragma once

// What the topology's picture is made of, and where its parts lie. A value: the same scene paints
// the same picture on a screen, in a file and in a test.

#include "gui/topology/link_colours.h"
#include "gui/topology/topology_run.h"

#include <QFont>
#include <QPainter>
#include <QRectF>
#include <optional>

namespace trainyard::gui {

// From columns and rows to pixels.
struct PlanView {
    double left = 0; // column at the left side
    double low = 0;  // row at the lower side
    double sx = 1;   // pixels per column
    double sy = 1;   // pixels per row

    bool operator==(const PlanView&) const = default;
};

// What colours a bundle of several links.
enum class Tint : std::uint8_t { mean, worst };

// What the picture tells of links. Of a cluster that nothing runs on, what they have; as small as
// an icon, without words.
enum class ShownLinks : std::uint8_t { load, capacity, none };

enum class BundleWay : std::uint8_t { there, back };

// What lies under a point.
struct TopologyHit {
    std::optional<std::uint32_t> item;
    std::optional<std::uint32_t> bundle;
    BundleWay way = BundleWay::there;

    bool any() const { return item || bundle; }
    bool operator==(const TopologyHit&) const = default;
};

struct TopologyScene {
    const TopologyLayout* layout = nullptr; // not null
    const TopologyRun* run = nullptr;       // likewise, but where capacities are shown
    std::vector<BundleUse> uses;            // by bundle
    PlanView view;
    Tint tint = Tint::mean;
    ShownLinks shown = ShownLinks::load;
    double top = 1; // utilisation at the upper end of the colours
    LinkColours colours{QPalette()};
    QFont font;
    TopologyHit hovered;
    std::optional<std::uint32_t> current; // place that the keyboard is at
    std::optional<LinkId> selected;
    std::vector<std::uint32_t> glowing; // bundles that the selected op's bytes cross
    QString when;                       // what time it is of
};

struct TopologyFrame {
    QRectF names; // of rows
    QRectF body;
    QRectF legend;
};

TopologyFrame frame_of(const TopologyScene& scene, const QSizeF& size);

// All of it in sight.
PlanView fitted(const TopologyScene& scene, const QSizeF& size);
// Closer by `factor`; what lies at `about` stays there.
PlanView zoomed(const TopologyScene& scene, const QSizeF& size, double factor,
                const QPointF& about);
// Not so far off that nothing is in sight.
PlanView kept_near(PlanView view, const TopologyScene& scene, const QSizeF& size);

QPointF point_of(const TopologyScene& scene, const QRectF& body, double x, double y);
QRectF rect_of(const TopologyScene& scene, const QRectF& body, const LaidPlace& item);

// The line of a bundle between two things: straight, or an arc below two of one row.
struct BundleLine {
    QPointF from; // at its lower end
    QPointF bend; // of an arc
    QPointF to;
    bool arc = false;

    QPointF middle() const;
    QPointF at(double part) const;
};
BundleLine line_of(const TopologyScene& scene, const QRectF& body, const Bundle& bundle);

const WayUse& use_of(const BundleUse& use, BundleWay way);
double tinted(const WayUse& use, Tint tint);
// The upper end of the colours: 20 %, 50 % or all, whatever the busiest link needs.
double scale_top(const std::vector<BundleUse>& uses);
QColor colour_of(const TopologyScene& scene, const WayUse& use);
// The largest capacity of one direction of a bundle: the thickest line.
double most_capacity(const TopologyScene& scene);

// Things before links, near ones before further ones, none beyond `reach` pixels.
TopologyHit hit(const TopologyScene& scene, const QSizeF& size, const QPointF& at, double reach);

void paint_topology(QPainter& painter, const TopologyScene& scene, const QSizeF& size);
// Its parts, back to front.
void paint_links(QPainter& painter, const TopologyScene& scene, const QRectF& body);
void paint_things(QPainter& painter, const TopologyScene& scene, const QRectF& body);
void paint_legend(QPainter& painter, const TopologyScene& scene, const QRectF& place);

// The kinds of what is open, whose names stand below the things: the innermost first, a line each.
std::vector<PlaceKind> named_below(const TopologyLayout& layout);

// "node 3", "gpu5": as long as there is room for it.
QString label_of(const TopologyScene& scene, std::uint32_t place);

} // namespace trainyard::gui
