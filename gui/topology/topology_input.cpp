// Keys, mouse and wheel of the topology.

#include "gui/topology/link_facts.h"
#include "gui/topology/topology_canvas.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double link_reach = 7;  // pixels from a line that still hit it
constexpr double zoom_step = 1.4; // of a key
constexpr double pan_step = 60;   // pixels

} // namespace

void TopologyCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    if (picture_)
        paint_topology(painter, scene_, size());
    else
        paint_to(painter, size());
    if (hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(palette().color(QPalette::Highlight));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void TopologyCanvas::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    if (!picture_)
        return;
    if (fits_)
        fitAll();
    else
        scene_.view = kept_near(scene_.view, scene_, size());
}

void TopologyCanvas::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        read_palette();
}

void TopologyCanvas::leaveEvent(QEvent*)
{
    hover({});
}

void TopologyCanvas::hover(const TopologyHit& hit)
{
    if (hit == scene_.hovered)
        return;
    scene_.hovered = hit;
    update();
}

void TopologyCanvas::mousePressEvent(QMouseEvent* event)
{
    pressed_ = last_ = event->position();
    dragging_ = false;
}

void TopologyCanvas::mouseMoveEvent(QMouseEvent* event)
{
    if (!picture_)
        return;
    if (!(event->buttons() & (Qt::LeftButton | Qt::MiddleButton))) {
        hover(hit(scene_, size(), event->position(), link_reach));
        return;
    }
    constexpr double slack = 4;
    const QPointF moved = event->position() - pressed_;
    dragging_ = dragging_ || std::hypot(moved.x(), moved.y()) > slack;
    if (dragging_) {
        pan(event->position() - last_);
        last_ = event->position();
    }
}

void TopologyCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    if (!picture_ || dragging_ || event->button() != Qt::LeftButton)
        return;
    const TopologyHit at = hit(scene_, size(), event->position(), link_reach);
    if (at.bundle)
        select(use_of(scene_.uses[*at.bundle], at.way).busiest);
    else if (at.item)
        set_current(layout_of().items()[*at.item].place);
    else {
        set_current(std::nullopt);
        select(std::nullopt);
    }
}

void TopologyCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (!picture_)
        return;
    const TopologyHit at = hit(scene_, size(), event->position(), link_reach);
    if (!at.item)
        return;
    const LaidPlace& item = layout_of().items()[*at.item];
    if (item.folded)
        refold(item.place, true);
    else
        refold(run()->graph->places[item.place].parent, false);
}

void TopologyCanvas::wheelEvent(QWheelEvent* event)
{
    const QPointF turned = event->angleDelta();
    if (event->modifiers() & Qt::ShiftModifier)
        pan({turned.y() != 0 ? turned.y() : turned.x(), 0});
    else
        zoom(std::pow(1.2, turned.y() / 120), event->position());
    event->accept();
}

void TopologyCanvas::contextMenuEvent(QContextMenuEvent* event)
{
    if (!picture_)
        return;
    if (event->reason() == QContextMenuEvent::Mouse) {
        const TopologyHit at = hit(scene_, size(), event->pos(), link_reach);
        if (at.bundle)
            select(use_of(scene_.uses[*at.bundle], at.way).busiest);
        else if (at.item)
            set_current(layout_of().items()[*at.item].place);
    }
    emit menuWanted(event->globalPos());
}

void TopologyCanvas::set_current(std::optional<std::uint32_t> place)
{
    scene_.current = place;
    if (place) {
        tell_accessibility(QString::fromStdString(run()->graph->places[*place].name));
        show_around(point_of_place(*place));
    }
    emit placeChanged();
    update();
}

// To the next thing of the same row.
void TopologyCanvas::step_sideways(int by)
{
    const std::vector<LaidPlace>& items = layout_of().items();
    if (items.empty())
        return;
    if (!scene_.current) {
        set_current(items.front().place);
        return;
    }
    const LaidPlace& at = items[layout_of().item_of(*scene_.current)];
    const LaidPlace* next = nullptr;
    for (const LaidPlace& item : items) {
        const double off = by * (item.middle() - at.middle());
        if (item.low == at.low && off > 0 &&
            (next == nullptr || off < by * (next->middle() - at.middle())))
            next = &item;
    }
    if (next != nullptr)
        set_current(next->place);
}

// To the nearest thing above or below that a link leads to; else the nearest at all.
void TopologyCanvas::step_rows(int by)
{
    if (!scene_.current) {
        step_sideways(1);
        return;
    }
    const std::vector<LaidPlace>& items = layout_of().items();
    const std::uint32_t own = layout_of().item_of(*scene_.current);
    const LaidPlace& at = items[own];
    std::vector<bool> joined(items.size());
    for (const Bundle& bundle : layout_of().bundles()) {
        joined[bundle.a] = joined[bundle.a] || bundle.b == own;
        joined[bundle.b] = joined[bundle.b] || bundle.a == own;
    }
    const LaidPlace* next = nullptr;
    std::tuple<bool, double, double> best;
    for (std::uint32_t i = 0; i < items.size(); ++i) {
        const double off = by * (items[i].low - at.low);
        if (off <= 0)
            continue;
        const std::tuple rank(!joined[i], off, std::abs(items[i].middle() - at.middle()));
        if (next == nullptr || rank < best) {
            next = &items[i];
            best = rank;
        }
    }
    if (next != nullptr)
        set_current(next->place);
}

// Through the directions of links at the current thing; of all where there is none.
void TopologyCanvas::step_links(int by)
{
    std::vector<LinkId> links;
    const std::uint32_t own = scene_.current ? layout_of().item_of(*scene_.current) : no_place;
    for (std::size_t i = 0; i < layout_of().bundles().size(); ++i) {
        const Bundle& bundle = layout_of().bundles()[i];
        if (bundle.stub || bundle.a == bundle.b ||
            (own != no_place && bundle.a != own && bundle.b != own))
            continue;
        for (const WayUse* use : {&scene_.uses[i].there, &scene_.uses[i].back})
            if (use->links > 0)
                links.push_back(use->busiest);
    }
    if (links.empty())
        return;
    const auto count = static_cast<std::ptrdiff_t>(links.size());
    const auto at = scene_.selected ? std::ranges::find(links, *scene_.selected) : links.end();
    const std::ptrdiff_t index = at == links.end() ? (by > 0 ? -1 : 0) : at - links.begin();
    const LinkId next = links[static_cast<std::size_t>((index + by + count) % count)];
    select(next);
    show_around(point_of_link(next));
}

bool TopologyCanvas::key_moves(int key)
{
    switch (key) {
    case Qt::Key_Left:
        step_sideways(-1);
        return true;
    case Qt::Key_Right:
        step_sideways(1);
        return true;
    case Qt::Key_Up:
        step_rows(1);
        return true;
    case Qt::Key_Down:
        step_rows(-1);
        return true;
    case Qt::Key_BracketLeft:
        step_links(-1);
        return true;
    case Qt::Key_BracketRight:
        step_links(1);
        return true;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoom(zoom_step,
             scene_.current ? QPointF(point_of_place(*scene_.current)) : body().center());
        return true;
    case Qt::Key_Minus:
        zoom(1 / zoom_step,
             scene_.current ? QPointF(point_of_place(*scene_.current)) : body().center());
        return true;
    case Qt::Key_A:
        pan({pan_step, 0});
        return true;
    case Qt::Key_D:
        pan({-pan_step, 0});
        return true;
    case Qt::Key_F:
        fitAll();
        return true;
    default:
        return false;
    }
}

void TopologyCanvas::keyPressEvent(QKeyEvent* event)
{
    if (picture_ && (event->matches(QKeySequence::Find) || event->text() == QLatin1String("/"))) {
        emit searchWanted();
        return;
    }
    const auto edits = [&](char what) { emit editWanted(QChar::fromLatin1(what)); };
    if (!picture_ || (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier))) {
        QWidget::keyPressEvent(event);
        return;
    }
    if (key_moves(event->key()))
        return;
    switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (scene_.current && layout_of().can_open(*scene_.current))
            refold(*scene_.current, true);
        break;
    case Qt::Key_Backspace:
        if (scene_.current)
            refold(run()->graph->places[*scene_.current].parent, false);
        break;
    case Qt::Key_Escape:
        if (!scene_.selected && !scene_.current)
            view_.set_cursor(view_.whole().from);
        set_current(std::nullopt);
        select(std::nullopt);
        break;
    case Qt::Key_Space:
        emit playWanted();
        break;
    case Qt::Key_B:
        edits('b');
        break;
    case Qt::Key_M:
        edits('m');
        break;
    case Qt::Key_H:
        edits('h');
        break;
    case Qt::Key_R:
        edits('r');
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

QString TopologyCanvas::tip_of(const TopologyHit& at) const
{
    if (at.item)
        return tip_of_place(scene_, *at.item);
    return at.bundle ? tip_of_bundle(scene_, *at.bundle, at.way) : QString();
}

bool TopologyCanvas::show_tooltip(QHelpEvent* event)
{
    const QString tip =
        picture_ ? tip_of(hit(scene_, size(), event->pos(), link_reach)) : QString();
    if (tip.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(event->globalPos(), tip, this);
    return true;
}

bool TopologyCanvas::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip)
        return show_tooltip(static_cast<QHelpEvent*>(event));
    // Escape is the window's while it can cancel something.
    if (event->type() == QEvent::ShortcutOverride) {
        auto* const key = static_cast<QKeyEvent*>(event);
        if (key->matches(QKeySequence::Find)) { // elsewhere it finds fields
            event->accept();
            return true;
        }
        if ((key->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) == 0 &&
            key->key() != Qt::Key_Escape && !key->text().isEmpty())
        {
            event->accept();
            return true;
        }
    }
    return QWidget::event(event);
}

} // namespace trainyard::gui
