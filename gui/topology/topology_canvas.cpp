#include "gui/topology/topology_canvas.h"

#include "gui/topology/link_facts.h"

#include <QAccessible>
#include <algorithm>

namespace trainyard::gui {

TopologyCanvas::TopologyCanvas(ViewState& view, QWidget* parent) : QWidget(parent), view_(view)
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMinimumSize(320, 180);
    setAccessibleName(tr("Topology"));
    read_palette();
    connect(&view_, &ViewState::rangeChanged, this, &TopologyCanvas::read_view);
    connect(&view_, &ViewState::cursorChanged, this, &TopologyCanvas::read_view);
    connect(&view_, &ViewState::selectionChanged, this, &TopologyCanvas::read_selection);
    connect(&task_, &BackgroundTask::busyChanged, this, &TopologyCanvas::busyChanged);
    connect(&task_, &BackgroundTask::failed, this, [this](const QString& message) {
        set_message(message);
        set_run(nullptr);
    });
}

void TopologyCanvas::set_message(const QString& message)
{
    message_ = message;
    update();
}

void TopologyCanvas::set_tint(Tint tint)
{
    scene_.tint = tint;
    refresh_scale();
    update();
}

void TopologyCanvas::read_palette()
{
    scene_.colours = LinkColours(palette());
    scene_.font = font();
    update();
}

void TopologyCanvas::set_following(bool following)
{
    following_ = following;
    if (following && behind_)
        read_view();
}

void TopologyCanvas::read_view()
{
    behind_ = !following_;
    if (!behind_)
        refresh();
}

// A step's use is told apart up to its busiest link; moments, which follow each other while it
// plays, keep one scale.
void TopologyCanvas::refresh_scale()
{
    scene_.top = picture_ && !time().moment() ? scale_top(scene_.uses) : 1;
}

void TopologyCanvas::read_selection()
{
    const Selection& selection = view_.selection();
    if (picture_ && selection.record != glow_of_)
        refresh();
    if (!picture_ || selection.link == scene_.selected)
        return;
    scene_.selected.reset();
    if (selection.link && selection.link->value < run()->capacity.size())
        scene_.selected = *selection.link;
    update();
    emit selectionChanged();
}

void TopologyCanvas::select(std::optional<LinkId> link)
{
    Selection selection = view_.selection();
    selection.link = link;
    view_.select(selection);
    if (link)
        tell_accessibility(link_words(*run(), *link, time()));
}

std::vector<LinkId> TopologyCanvas::selected_bundle() const
{
    if (!picture_ || !scene_.selected)
        return {};
    const TopologyLayout& layout = layout_of();
    const Bundle& bundle = layout.bundles()[layout.bundle_of(*scene_.selected)];
    std::vector<LinkId> links;
    for (const std::span<const LinkId> way : {layout.there(bundle), layout.back(bundle)})
        links.insert(links.end(), way.begin(), way.end());
    return links;
}

void TopologyCanvas::go_to(LinkId link)
{
    if (!picture_ || link.value >= run()->capacity.size())
        return;
    const PlacePair ends = run()->graph->links[link.value];
    change_layout(
        [ends](TopologyLayout& layout) {
            layout.reveal(ends.from);
            layout.reveal(ends.to);
        },
        [this, link] {
            if (link.value >= run()->capacity.size())
                return;
            if (fits_)
                fitAll();
            select(link);
            show_around(point_of_link(link));
        });
}

void TopologyCanvas::go_to_place(std::uint32_t place)
{
    if (!picture_ || place >= run()->graph->places.size())
        return;
    change_layout([place](TopologyLayout& layout) { layout.reveal(place); },
                  [this, place, graph = run()->graph] {
                      if (graph != run()->graph)
                          return;
                      if (fits_)
                          fitAll();
                      set_current(layout_of().items()[layout_of().showing(place)].place);
                  });
}

void TopologyCanvas::set_open(std::uint32_t place, bool open)
{
    if (picture_)
        refold(place, open);
}

// What is folded or unfolded stays under the eye.
void TopologyCanvas::refold(std::uint32_t place, bool open)
{
    if (!layout_of().can_open(place))
        return;
    const auto left_of = [this, place] {
        double left = 0;
        for (const LaidFrame& frame : layout_of().frames())
            if (frame.place == place)
                left = frame.left;
        if (!layout_of().open(place) && layout_of().item_of(place) != no_place)
            left = layout_of().items()[layout_of().item_of(place)].left;
        return left;
    };
    change_layout([place, open](TopologyLayout& layout) { layout.set_open(place, open); },
                  [this, left_of, before = left_of(), graph = run()->graph] {
                      if (graph != run()->graph)
                          return;
                      if (fits_) {
                          fitAll();
                      } else {
                          scene_.view.left += left_of() - before;
                          scene_.view = kept_near(scene_.view, scene_, size());
                      }
                  });
}

void TopologyCanvas::fitAll()
{
    if (!picture_)
        return;
    scene_.view = fitted(scene_, size());
    fits_ = true;
    update();
}

void TopologyCanvas::openAll()
{
    change_layout(
        [](TopologyLayout& layout) {
            layout.set_all_open({PlaceKind::zone, PlaceKind::pod, PlaceKind::part, PlaceKind::rack,
                                 PlaceKind::switches, PlaceKind::node},
                                true);
        },
        [this] { fitAll(); });
}

void TopologyCanvas::closeAll()
{
    scene_.current.reset();
    change_layout(
        [](TopologyLayout& layout) {
            layout.set_all_open({PlaceKind::node, PlaceKind::switches, PlaceKind::rack,
                                 PlaceKind::part, PlaceKind::pod, PlaceKind::zone},
                                false);
        },
        [this] { fitAll(); });
}

QPoint TopologyCanvas::point_of_place(std::uint32_t place) const
{
    return rect_of(scene_, body(), layout_of().items()[layout_of().showing(place)])
        .center()
        .toPoint();
}

QPoint TopologyCanvas::point_of_link(LinkId link) const
{
    const TopologyLayout& layout = layout_of();
    const Bundle& bundle = layout.bundles()[layout.bundle_of(link)];
    if (bundle.a == bundle.b)
        return rect_of(scene_, body(), layout.items()[bundle.a]).center().toPoint();
    const auto there = layout.there(bundle);
    const bool is_there = std::ranges::find(there, link) != there.end();
    return line_of(scene_, body(), bundle).at(is_there ? 0.3 : 0.7).toPoint();
}

void TopologyCanvas::show_around(const QPointF& point)
{
    const QRectF inner = body().adjusted(20, 20, -20, -20);
    if (!inner.contains(point))
        pan(inner.center() - point);
}

void TopologyCanvas::zoom(double factor, const QPointF& about)
{
    if (!picture_)
        return;
    scene_.view = zoomed(scene_, size(), factor, about);
    fits_ = scene_.view.sx <= fitted(scene_, size()).sx * 1.0001;
    if (fits_)
        scene_.view = fitted(scene_, size());
    update();
}

void TopologyCanvas::pan(const QPointF& by)
{
    if (!picture_)
        return;
    scene_.view.left -= by.x() / scene_.view.sx;
    scene_.view.low += by.y() / scene_.view.sy;
    scene_.view = kept_near(scene_.view, scene_, size());
    update();
}

void TopologyCanvas::paint_to(QPainter& painter, const QSize& size)
{
    if (!picture_) {
        painter.fillRect(QRect({}, size), scene_.colours.background);
        painter.setPen(scene_.colours.quiet_text);
        painter.setFont(scene_.font);
        painter.drawText(QRect({}, size).adjusted(20, 20, -20, -20),
                         Qt::AlignCenter | Qt::TextWordWrap, message_);
        return;
    }
    TopologyScene still = scene_;
    still.hovered = {};
    still.current.reset();
    if (fits_)
        still.view = fitted(still, size);
    paint_topology(painter, still, size);
}

void TopologyCanvas::tell_accessibility(const QString& text)
{
    setAccessibleDescription(text);
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
}

} // namespace trainyard::gui
