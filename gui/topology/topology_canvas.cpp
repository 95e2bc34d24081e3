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
}

void TopologyCanvas::set_run(std::shared_ptr<const TopologyRun> run)
{
    const bool same = run_ && run && run_->graph == run->graph;
    run_ = std::move(run);
    scene_.run = run_.get();
    scene_.hovered = {};
    if (!same) {
        layout_ = run_ ? TopologyLayout(run_->graph) : TopologyLayout();
        scene_.layout = run_ ? &layout_ : nullptr;
        scene_.current.reset();
        fits_ = true;
        // A link of another cluster.
        Selection selection = view_.selection();
        if (selection.link && (!run_ || selection.link->value >= run_->capacity.size()))
            selection.link.reset();
        view_.select(selection);
    }
    scene_.selected = run_ ? view_.selection().link : std::nullopt;
    refresh_uses();
    if (run_ && fits_)
        fitAll();
    refresh_glow();
    emit selectionChanged();
}

void TopologyCanvas::set_message(const QString& message)
{
    message_ = message;
    update();
}

LoadTime TopologyCanvas::time() const
{
    if (view_.cursor() > view_.whole().from)
        return {view_.cursor(), view_.cursor()};
    // The timeline's whole may reach beyond the step by what begins or ends outside it.
    if (run_ && view_.range() == view_.whole())
        return step_of(*run_->outcome);
    return {view_.range().from, view_.range().to};
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
    if (behind_)
        return;
    refresh_uses();
    emit timeChanged();
}

void TopologyCanvas::refresh_uses()
{
    if (run_) {
        loads_ = link_loads(*run_, time());
        scene_.uses = bundle_uses(layout_, *run_, loads_);
        scene_.when = time_words(*run_, time());
        refresh_scale();
    }
    update();
}

// Means are told apart on a scale of their own; moments, which follow each other while it plays,
// keep theirs.
void TopologyCanvas::refresh_scale()
{
    scene_.top = run_ && !time().moment() ? scale_top(scene_.uses, scene_.tint) : 1;
}

void TopologyCanvas::read_selection()
{
    const std::optional<LinkId> link = view_.selection().link;
    refresh_glow();
    if (!run_ || link == scene_.selected)
        return;
    scene_.selected.reset();
    if (link && link->value < run_->capacity.size())
        scene_.selected = *link;
    update();
    emit selectionChanged();
}

// The bundles that the selected op's bytes cross.
void TopologyCanvas::refresh_glow()
{
    scene_.glowing.clear();
    const std::optional<std::size_t> record = view_.selection().record;
    if (run_ && record)
        for (const LinkId link : run_->loads->links_of(*record))
            scene_.glowing.push_back(layout_.bundle_of(link));
    std::ranges::sort(scene_.glowing);
    update();
}

void TopologyCanvas::select(std::optional<LinkId> link)
{
    Selection selection = view_.selection();
    selection.link = link;
    view_.select(selection);
    if (link)
        tell_accessibility(link_words(*run_, *link, time()));
}

std::vector<LinkId> TopologyCanvas::selected_bundle() const
{
    if (!run_ || !scene_.selected)
        return {};
    const Bundle& bundle = layout_.bundles()[layout_.bundle_of(*scene_.selected)];
    std::vector<LinkId> links;
    for (const std::span<const LinkId> way : {layout_.there(bundle), layout_.back(bundle)})
        links.insert(links.end(), way.begin(), way.end());
    return links;
}

void TopologyCanvas::go_to(LinkId link)
{
    if (!run_ || link.value >= run_->capacity.size())
        return;
    const PlacePair ends = run_->graph->links[link.value];
    layout_.reveal(ends.from);
    layout_.reveal(ends.to);
    refresh_uses();
    refresh_glow();
    if (fits_)
        fitAll();
    select(link);
    show_around(point_of_link(link));
}

void TopologyCanvas::go_to_place(std::uint32_t place)
{
    if (!run_ || place >= run_->graph->places.size())
        return;
    layout_.reveal(place);
    refresh_uses();
    refresh_glow();
    if (fits_)
        fitAll();
    set_current(layout_.items()[layout_.showing(place)].place);
}

void TopologyCanvas::set_open(std::uint32_t place, bool open)
{
    if (run_)
        refold(place, open);
}

// What is folded or unfolded stays under the eye.
void TopologyCanvas::refold(std::uint32_t place, bool open)
{
    if (!layout_.can_open(place))
        return;
    const auto left_of = [&] {
        double left = 0;
        for (const LaidFrame& frame : layout_.frames())
            if (frame.place == place)
                left = frame.left;
        if (!layout_.open(place))
            left = layout_.items()[layout_.item_of(place)].left;
        return left;
    };
    const double before = left_of();
    layout_.set_open(place, open);
    refresh_uses();
    refresh_glow();
    scene_.hovered = {};
    if (fits_) {
        fitAll();
    } else {
        scene_.view.left += left_of() - before;
        scene_.view = kept_near(scene_.view, scene_, size());
    }
    if (scene_.current) // what has opened gives way to the first thing in it
        scene_.current = layout_.items()[layout_.showing(*scene_.current)].place;
    update();
}

void TopologyCanvas::fitAll()
{
    if (!run_)
        return;
    scene_.view = fitted(scene_, size());
    fits_ = true;
    update();
}

void TopologyCanvas::openAll()
{
    if (!run_)
        return;
    layout_.set_all_open(
        {PlaceKind::zone, PlaceKind::pod, PlaceKind::rack, PlaceKind::switches, PlaceKind::node},
        true);
    refresh_uses();
    refresh_glow();
    fitAll();
}

void TopologyCanvas::closeAll()
{
    if (!run_)
        return;
    layout_.set_all_open(
        {PlaceKind::node, PlaceKind::switches, PlaceKind::rack, PlaceKind::pod, PlaceKind::zone},
        false);
    scene_.current.reset();
    refresh_uses();
    refresh_glow();
    fitAll();
}

QPoint TopologyCanvas::point_of_place(std::uint32_t place) const
{
    return rect_of(scene_, body(), layout_.items()[layout_.showing(place)]).center().toPoint();
}

QPoint TopologyCanvas::point_of_link(LinkId link) const
{
    const Bundle& bundle = layout_.bundles()[layout_.bundle_of(link)];
    if (bundle.a == bundle.b)
        return rect_of(scene_, body(), layout_.items()[bundle.a]).center().toPoint();
    const auto there = layout_.there(bundle);
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
    if (!run_)
        return;
    scene_.view = zoomed(scene_, size(), factor, about);
    fits_ = scene_.view.sx <= fitted(scene_, size()).sx * 1.0001;
    if (fits_)
        scene_.view = fitted(scene_, size());
    update();
}

void TopologyCanvas::pan(const QPointF& by)
{
    if (!run_)
        return;
    scene_.view.left -= by.x() / scene_.view.sx;
    scene_.view.low += by.y() / scene_.view.sy;
    scene_.view = kept_near(scene_.view, scene_, size());
    update();
}

void TopologyCanvas::paint_to(QPainter& painter, const QSize& size)
{
    if (!run_) {
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
